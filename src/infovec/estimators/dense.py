"""The dense Gaussian process classifier: all rows, and inference by one of four ways."""

import time
import warnings
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from .._types import Array, Floats, Inputs, Rows
from ..dense.diagnostics import effective_sample_size
from ..dense.learn import ONLY_KERNELS
from ..dense.probabilities import class_proba
from ..errors import ParameterError
from ..kernels import Kernel
from ..learning import Learning
from ..likelihoods import Discrete
from ..likelihoods.classes import ClassLikelihood
from ..posterior import AuxiliaryPosterior, DrawnPosterior, ModePosterior
from ..runtime import outside, work_within
from ..shards import FarInputs
from .dense_fit import Outcome, fit_dense
from .dense_settings import DenseSettings
from .doubts import best_labels
from .inputs import read
from .latent import Latent, known
from .lazy import for_far_rows
from .limits import memory_limit, threads
from .records import in_files
from .relevances import Relevances
from .saving import Savable
from .settings import check_kernel
from .spans import relevances_with_intervals
from .tasks import codes_of, gaps_of, kernel_on
from .values import given_kernel
from .warm import kept

__all__ = ["GPClassifier"]

_MANY = 5000  # rows from which on the sparse machine is the better choice


@in_files
class GPClassifier(ClassifierMixin, Savable, Latent, BaseEstimator):  # type: ignore[misc]
    """Gaussian process classifier for up to a few thousand rows, with inference by one of four ways.

    It is the model that ``IVMClassifier`` sees through its active rows, with all of them: two classes have one latent
    function, more have one for each class, all of the same kernel.

    Parameters
    ----------
    kernel : Kernel or str, optional
        Covariance of the latent functions, also by name as for ``IVMClassifier``. None scales an RBF kernel and a bias
        to the columns of X; where length scales are drawn it is that of Girolami and Rogers (2006), of variance one
        with a length scale for each column.
    inference : {"variational", "ep", "laplace", "gibbs"}
        "variational" maximises a lower bound on the marginal likelihood. "ep" is expectation propagation, the closest
        to "gibbs" of the three that do not sample. "laplace" is a normal distribution at the mode of the posterior.
        "gibbs" draws from the posterior, and is exact but for Monte Carlo errors, which it states. Its chains leap as
        well as they sweep, for which there are two more matrices of every class, where memory allows.
    learn : {"auto", "bound", "ep", "laplace", "importance", "mcmc", None}
        How the parameters of the kernel are found, whatever the inference after it. "bound", "ep" and "laplace"
        maximise the variational bound, the evidence of EP or that of Laplace, by gradients, on at most 1000 rows drawn
        at random, and where columns differ learn a length scale for each of them, as ``IVMClassifier`` does, unless
        the kernel is given as an object. "auto" is "laplace" for that inference and "ep" for the others: the bound
        prefers functions that are too smooth. "importance" is the variational importance sampler over the length
        scales; "mcmc" draws the parameters with the functions, for ``inference="gibbs"``: predictions are then averages
        over kernels. None leaves the kernel as given.
    likelihood : {"auto", "probit", "logit"}
        "auto" is the probit, but for "laplace" the logit, whose cost grows with the number of classes and not with its
        cube. "logit" is for "laplace" and "ep".
    shared_kernel : bool
        Whether all classes have one kernel, with one factorisation. Else more than two classes have one each, which is
        not for "ep" and not for kernels that are drawn, and "auto" is "bound"; ``kernel_`` is then a list.
    n_samples : int
        Draws of "gibbs" and "mcmc", of all chains together; or of the precisions in every iteration of "importance".
    n_chains, burn_in : int
        Chains of "gibbs", and how many of the first draws of each are dropped.
    evidence : {"annealing", "prior", None}
        How "gibbs" estimates the log marginal likelihood: by annealed importance sampling, by the mean likelihood of
        draws of the prior (too low with more than some ten rows), or not at all.
    max_memory : float or str, optional
        Bytes, or a text such as "2GB"; None is half of what is available. What would take more is refused.
    n_jobs : int, optional
        Threads of the linear algebra.
    random_state : int, RandomState or None
        Of draws, and of the rows that parameters are learned on.
    verbose : int
        Whether to show progress.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_classes_ : int
    kernel_, likelihood_ : the model as fitted
        A list of the kernels of all classes with ``shared_kernel=False``. With ``learn="mcmc"`` the kernel at the
        mean of the logarithms of its parameters.
    posterior_ : AuxiliaryPosterior, SeparateAuxiliaryPosterior, DrawnPosterior, ProjectedPosterior, ClassPosterior, \
FactorisedPosterior or ModePosterior
    log_evidence_ : float
        Log marginal likelihood: the lower bound on it of "variational", the approximations of "ep" and "laplace", the
        estimate of "gibbs", which is NaN with ``evidence=None`` and with "mcmc".
    converged_ : bool
        Whether inference came to rest, or the chains agree with each other.
    history_ : dict
        "criterion" and "theta" of every step of learning by gradients; "bound", "precision" and "ess" of every
        iteration of the importance sampler.
    diagnostics_ : dict
        Of "gibbs": the smallest effective sample size "ess" and the largest "r_hat" of the latent functions, and the
        standard error "evidence_error"; of "importance" the effective sample size of the weights; of draws of the
        kernel their "theta", a row for each.
    n_samples_fit_, fit_seconds_
        Rows of the training data and seconds of the fit.
    n_features_in_ : int
    feature_names_in_ : array of str
    table_ : TableSchema
        As for IVMClassifier.

    Examples
    --------
    >>> from infovec import GPClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GPClassifier(random_state=0).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.9
    True
    """

    _fitted: ClassVar[tuple[str, ...]] = (
        "n_features_in_", "feature_names_in_", "n_samples_fit_", "fit_seconds_", "classes_", "n_classes_", "posterior_",
        "kernel_", "likelihood_", "log_evidence_", "converged_", "history_", "diagnostics_", "table_",
    )  # fmt: skip
    _moving: ClassVar[Learning] = ONLY_KERNELS  # of all parameters
    classes_: Array
    likelihood_: Discrete | ClassLikelihood  # type: ignore[assignment]

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        inference: str = "variational",
        learn: str | None = "auto",
        likelihood: str = "auto",
        n_samples: int = 1000,
        n_chains: int = 4,
        burn_in: int = 500,
        evidence: str | None = "annealing",
        max_memory: float | str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        shared_kernel: bool = True,
    ) -> None:
        self.kernel = kernel
        self.inference = inference
        self.learn = learn
        self.likelihood = likelihood
        self.n_samples = n_samples
        self.n_chains = n_chains
        self.burn_in = burn_in
        self.evidence = evidence
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.shared_kernel = shared_kernel

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags

    @property
    def active_vectors_(self) -> Inputs:
        """Inputs of all training rows."""
        return self.posterior_.X

    def fit(self, X: object, y: object) -> Self:
        """Find the parameters of the kernel, and infer with all rows. When it fails, an earlier fit is still there.

        Parameters
        ----------
        X : array-like, CSR matrix or DataFrame of shape (n_samples, n_features)
            As for IVMClassifier. Or a sequence of objects, for a kernel that takes them.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        self
        """
        with kept(self):
            start = time.perf_counter()
            limit = memory_limit(self.max_memory)
            with threads(self.n_jobs), work_within(limit):
                check_kernel(self.kernel)
                inputs, labels = self._read_rows(X, y)
                settings = DenseSettings.of(self, inputs.shape[0], self.n_classes_, limit)
                seed = check_random_state(self.random_state).randint(2**31 - 1)
                noise, rng = settings.noise(self.n_classes_), np.random.default_rng(seed)
                own = kernel_on(self, inputs) if given_kernel(self.kernel) else self.kernel
                given = (codes_of(self), gaps_of(self)), own
                found = fit_dense(inputs, labels, *given, noise, settings, rng)
            self._store(found)
            self.n_samples_fit_, self.fit_seconds_ = len(labels), time.perf_counter() - start
        return self

    def _read_rows(self, X: object, y: object) -> tuple[Inputs, Rows]:
        inputs, labels = read(self, given_kernel(self.kernel), X, y)
        if isinstance(inputs, FarInputs):
            raise ParameterError("GPClassifier needs all rows in memory, which these are not; use IVMClassifier")
        check_classification_targets(labels)
        self.classes_, index = np.unique(labels, return_inverse=True)
        self.n_classes_ = len(self.classes_)
        if self.n_classes_ == 1:
            raise ParameterError(f"y has one class only, {self.classes_[0]}; a classifier needs rows of two classes")
        if len(index) > _MANY:
            warnings.warn(
                f"GPClassifier works with matrices of all {len(index)} rows by all rows; for more than {_MANY} "
                "IVMClassifier is far faster and hardly worse",
                stacklevel=outside(),
            )
        return inputs.astype(np.float64) if inputs.dtype != object else inputs, index.astype(np.intp)

    def _store(self, found: Outcome) -> None:
        own = getattr(found.posterior, "kernels", ()) if not isinstance(found.posterior, DrawnPosterior) else ()
        self.kernel_ = list(own) or found.posterior.kernel
        self.likelihood_, self.posterior_ = found.likelihood, found.posterior
        self.log_evidence_, self.converged_ = float(found.log_evidence), bool(found.converged)
        self.history_, self.diagnostics_ = found.history, found.diagnostics

    @for_far_rows
    def predict_log_proba(self, X: object) -> Floats:
        """Predict the log probability of every class.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        log_proba : array of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        inputs, posterior = self._read(X), self.posterior_
        if isinstance(posterior, AuxiliaryPosterior | DrawnPosterior):
            return posterior.log_proba(inputs, self.likelihood_)
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused
            if isinstance(posterior, ModePosterior):
                assert isinstance(self.likelihood_, ClassLikelihood)
                return np.log(np.maximum(class_proba(self.likelihood_, *known(*posterior.predict_cov(inputs))), 1e-300))
            return self.likelihood_.log_proba(*known(*posterior.predict(inputs)))

    @for_far_rows
    def predict_proba(self, X: object, return_error: bool = False) -> Any:
        """Predict the probability of every class, the uncertainty about the functions averaged over.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        return_error : bool
            Whether to return the Monte Carlo errors as well: zero where there are no draws.

        Returns
        -------
        proba : array of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        error : array of shape (n_samples, n_classes)
            Standard errors of these from the finite number of draws.
        """
        proba = np.exp(self.predict_log_proba(X))
        return (proba, self._monte_carlo_error(X)) if return_error else proba

    @for_far_rows
    def predict(self, X: object, reject: float | None = None) -> Array:
        """Predict the most probable class.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        reject : float, optional
            What it costs to give no label, where a wrong label costs one: between 0 and 1. Rows whose most probable
            label is wrong with a larger probability get None, and the labels are then an array of objects (Chow 1970).

        Returns
        -------
        y : array of shape (n_samples,)
        """
        log_proba = self.predict_log_proba(X)
        return best_labels(self.classes_, log_proba, reject)

    @for_far_rows
    def decision_function(self, X: object) -> Floats:
        """Return log odds: of the second class for two classes, of every class against the rest for more.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        log_odds : array of shape (n_samples,) or (n_samples, n_classes)
        """
        log_proba = self.predict_log_proba(X)
        if self.n_classes_ == 2:
            return log_proba[:, 1] - log_proba[:, 0]
        rest = [logsumexp(np.delete(log_proba, c, axis=1), axis=1) for c in range(self.n_classes_)]
        return np.asarray(log_proba - np.stack(rest, axis=1))

    def relevances(self, feature_names: Any = None) -> Relevances:
        """Return how much every column counts, the most relevant first.

        Parameters
        ----------
        feature_names : sequence of str, optional
            ``feature_names_in_`` if None.

        Returns
        -------
        relevances : Relevances
            With ``columns``, ``relevance``, ``length_scale`` and ``note``; where length scales were drawn
            (``learn="importance"`` or "mcmc") with ``low`` and ``high``, an interval of 95 % for each length scale.
        """
        check_is_fitted(self)
        return relevances_with_intervals(self, feature_names)

    def _monte_carlo_error(self, X: object) -> Floats:
        inputs, posterior = self._read(X), self.posterior_
        if isinstance(posterior, DrawnPosterior):
            each = np.exp([part.log_proba(inputs, self.likelihood_) for part in posterior.parts])
        elif isinstance(posterior, AuxiliaryPosterior) and len(posterior.force) > 1:
            each = np.exp(np.concatenate(list(posterior.log_probas(inputs, self.likelihood_)), axis=1))
        else:
            return np.zeros((inputs.shape[0], self.n_classes_))
        chains = each.reshape(self.n_chains, -1, *each.shape[1:])
        return np.asarray(each.std(axis=0) / np.sqrt(effective_sample_size(chains)))

    def _testimony(self, X: Inputs) -> dict[str, Array]:
        log_proba = self.predict_log_proba(X)
        return {**super()._testimony(X), "log_proba": log_proba, "label": self.classes_[np.argmax(log_proba, axis=1)]}
