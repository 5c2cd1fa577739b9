"""What the three estimators share: the fit from targets to posterior, and the latent prediction."""

import sys
import time
from abc import ABCMeta, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._types import Floats, Inputs
from ..evidence import log_evidence
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..posterior import FactorisedPosterior
from ..selection import Driver, Progress, Schedule
from ..shards import LocalShard
from .defaults import default_kernel
from .inputs import read
from .settings import active_size, check_choice, check_kernel, initial_rows, open_size, precision, score_function

__all__ = ["InformativeVectorMachine"]

_SMALL_STUBS = 1_000_000  # numbers in a stub matrix that is kept in double precision whatever dtype says


class InformativeVectorMachine(BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    """Common base; see the estimators for the parameters."""

    kernel_: Kernel
    likelihood_: Likelihood
    posterior_: FactorisedPosterior

    def __init__(
        self,
        kernel: Kernel | None = None,
        likelihood: str | Likelihood = "gaussian",
        approximation: str = "factorised",
        n_active: int | float = 500,
        score: Any = "entropy",
        learn: str | None = None,
        block_size: int | str = "auto",
        pool_size: int | str | None = "auto",
        initial: Any = None,
        dtype: str = "float32",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.likelihood = likelihood
        self.approximation = approximation
        self.n_active = n_active
        self.score = score
        self.learn = learn
        self.block_size = block_size
        self.pool_size = pool_size
        self.initial = initial
        self.dtype = dtype
        self.random_state = random_state
        self.verbose = verbose

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor parameters.

        Parameters
        ----------
        deep : bool
            Kept for scikit-learn; there are no nested estimators.
        """
        return {**super().get_params(deep), "score": vars(self)["score"]}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Select the active rows and fit their sites.

        When it fails, whatever was fitted before is still there.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Or a sequence of objects, for a kernel that takes them.
        y : array-like of shape (n_samples,)
            Targets.

        Returns
        -------
        self
        """
        before = dict(vars(self))
        try:
            self._check_settings()
            self._fit(X, y)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    @abstractmethod
    def _fit(self, X: Any, y: Any) -> None:
        """Read the targets, choose the likelihood and fit the posterior."""

    def _check_settings(self) -> None:
        check_choice("approximation", self.approximation, ["factorised"])
        check_choice("learn", self.learn, [None])
        check_kernel(self.kernel)

    def _fit_posterior(self, X: Inputs, y: Floats, likelihood: Likelihood, variance: float, score: Any) -> None:
        """Select the active rows and store the posterior; ``variance`` is for the default kernel."""
        n = X.shape[0]
        wanted = active_size(self.n_active, n)
        initial = initial_rows(self.initial, n, wanted)
        block_size, pool_size = open_size("block_size", self.block_size), open_size("pool_size", self.pool_size)
        schedule = Schedule.choose(block_size, pool_size, n, wanted)
        priority = check_random_state(self.random_state).random_sample(n)
        kernel = default_kernel(X, variance) if self.kernel is None else self.kernel
        asked = precision(self.dtype)
        dtype = "float64" if n * wanted <= _SMALL_STUBS else asked
        choose_by = score_function(score)
        inputs = _in_precision(X, kernel, dtype)
        shard = LocalShard(np.arange(n), inputs, y, priority, kernel, likelihood, choose_by, wanted, dtype)
        driver = Driver([shard], kernel, likelihood, choose_by, wanted, schedule)
        driver.include(initial)
        stop_reason = driver.run(wanted, _ProgressLines() if self.verbose else None)
        self._store(driver, X, kernel, likelihood, str(stop_reason))

    def _store(self, driver: Driver, X: Inputs, kernel: Kernel, likelihood: Likelihood, stop_reason: str) -> None:
        d = driver.size
        self.kernel_, self.likelihood_, self.stop_reason_ = kernel, likelihood, stop_reason
        self.posterior_ = driver.posterior(X)
        self.active_ = driver.active[:d].copy()
        self.active_vectors_ = self.posterior_.X
        self.site_precision_, self.site_mean_ = self.posterior_.precision, self.posterior_.site_mean
        self.history_ = {
            "row": self.active_, "score": driver.scores[:d].copy(), "seconds": driver.seconds[:d].copy()
        }  # fmt: skip
        self.log_evidence_ = log_evidence(
            self.posterior_,
            driver.y[:d],
            likelihood.take(self.active_),
            driver.log_likelihood_outside(),
        )

    def _read(self, X: Any) -> Inputs:
        """Inputs to predict for, in double precision."""
        check_is_fitted(self)
        X = read(self, self.kernel_, X)
        return X.astype(np.float64) if self.kernel_.numeric else X

    def _latent(self, X: Any) -> tuple[Floats, Floats]:
        """Latent mean and variance."""
        inputs = self._read(X)
        return self.posterior_.predict(inputs)

    def predict_latent(self, X: Any, return_std: bool = True) -> Any:
        """Predict the latent function.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        return_std : bool
            Whether to return the standard deviation as well.

        Returns
        -------
        mean : array of shape (n_samples,)
        std : array of shape (n_samples,)
            Uncertainty about the function itself; the noise of the target is not part of it.

        Notes
        -----
        The bias of the likelihood is not part of the latent function: with Gaussian noise the target is the latent
        function plus ``likelihood_.bias`` plus noise, with the probit a class is decided by their sum.
        """
        if not return_std:
            inputs = self._read(X)
            return self.posterior_.mean(inputs)
        mean, var = self._latent(X)
        return mean, np.sqrt(var)


def _in_precision(X: Inputs, kernel: Kernel, dtype: str) -> Inputs:
    """Inputs in the precision of the stubs; columns are centred first where the kernel does not mind."""
    if not kernel.numeric:
        return X
    if dtype == "float32" and kernel.shift_invariant and isinstance(X, np.ndarray):
        return (X - X.mean(axis=0, dtype=np.float64)).astype(np.float32)
    return X.astype(dtype, copy=False)


class _ProgressLines:
    """Prints a line now and then, and at the end."""

    def __init__(self) -> None:
        self.next = time.perf_counter() + 1.0

    def __call__(self, progress: Progress) -> None:
        done = progress.included == progress.wanted
        if done or time.perf_counter() > self.next:
            self.next = time.perf_counter() + 1.0
            print(
                f"infovec: {progress.included} of {progress.wanted} rows included, "
                f"score {progress.score:.4g}, {progress.seconds:.1f} s",
                file=sys.stderr,
            )
