"""Regression."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr
from sklearn.base import RegressorMixin
from sklearn.utils.validation import assert_all_finite, check_consistent_length, column_or_1d

from .._types import Floats, Inputs
from ..errors import ParameterError
from ..kernels import Kernel
from ..learning import Learning
from ..likelihoods import Gaussian, Likelihood, StudentT, Transformed, plain
from ..likelihoods.mixtures import central, quantile
from ..likelihoods.tails import log_density, residual_density
from ..machines.defaults import REAL_LIKELIHOODS, centre_and_spread, latent_variance, named, real_score
from ..machines.fit import Ended
from ..machines.sample import Sample
from ..machines.unit import Unit
from ..numerics.residuals import normal_scores
from ..runtime import Callback, outside
from ..scores import Score
from .base import Read
from .far_means import warn_of_far_means
from .images import Invariances
from .inputs import read
from .lazy import for_far_rows
from .outputs import SeveralTargets, for_each_target
from .records import in_files
from .score_method import MethodBesideParameter
from .targets import transform_of
from .tasks import grouped, with_groups
from .values import given_kernel

__all__ = ["IVMRegressor"]

_INFINITE = (
    "the prediction for row {row} is infinite, since its mean or variance is beyond the largest number: the model "
    "knows next to nothing of that row. Give a kernel of smaller variance, or a unit of the targets that makes them "
    "smaller, or ask predict_latent"
)
_WITHOUT_MEAN = (
    "{noise!r} around its transform has tails so heavy that a target has no {what}: predict gives {instead}. Take "
    "likelihood='gaussian' for {what}s"
)


@in_files
class IVMRegressor(RegressorMixin, SeveralTargets):  # type: ignore[misc]
    """Informative vector machine for real targets and counts: sparse Gaussian process regression.

    The unit of the targets does not matter, nor how far they are from zero: the fit works with standardised ones, to a
    millionth of their spread where parameters are learned.

    Parameters
    ----------
    kernel : Kernel or str, optional
        Covariance of the latent function, in the unit of y. None scales an RBF kernel and a bias to X and y; a name,
        such as "matern" or "rbf + linear", does so with another form (see ``IVMClassifier``). None, or "auto", gets
        a Matern term beside it, main effects, or both, where evidence and rows left out agree.
    likelihood : {"gaussian", "laplace", "student_t", "poisson"} or Likelihood
        By name noise and offset are set from the targets; else they are in the unit of y. With "poisson" counts may
        scatter by more than a Poisson distribution does, if evidence and rows left out agree that they do
        (``likelihood_.scatter``).
    score : {"auto", "entropy", "information_gain", "predictive", "variance", "random", "projected_gain"} or callable
        "auto" takes the information gain, since with Gaussian noise the entropy does not look at the targets; for
        noise that is not log-concave it takes the entropy, since the gain would go after outliers.
    target : {"identity", "auto", "log", "yeo-johnson"}
        Monotone transform of the targets around which there is noise: for prices, waiting times and others that spread
        unevenly. The power of Yeo and Johnson's is found by the evidence of some of the rows; "auto" takes what
        evidence and rows left out agree on, if ``kernel`` and ``likelihood`` are left to names, "gaussian" the latter.
        Predictions are of the target itself; ``kernel_`` and the latent function are in the unit of the transform,
        which ``likelihood_`` names (``Transformed``).
    approximation, n_active, learn, block_size, pool_size, initial, selection, blur, refine, max_memory, max_time, \
dtype, n_jobs, warm_start, callback, random_state, verbose, invariances, rounds, move
        As for IVMClassifier.

    Attributes
    ----------
    active_, active_vectors_, site_precision_, site_mean_, kernel_, likelihood_, posterior_, log_evidence_, \
history_, stop_reason_, dtype_, moved_, n_features_in_, feature_names_in_
        As for IVMClassifier.
    outputs_ : list of IVMRegressor
        With a y of several columns: a model of each. All have the same active rows, and parameters of their own.
        Predictions have the targets along their last axis; the other attributes are those of ``outputs_[k]``.
    residual_quantiles_ : array
        What residuals of rows left out are like, for ``predict_quantiles``: quantiles of their normal scores.

    Examples
    --------
    >>> from infovec import IVMRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = IVMRegressor(n_active=100, random_state=0).fit(X, y)
    >>> mean, std = model.predict(X[:3], return_std=True)
    >>> mean.shape, bool((std > 0).all())
    ((3,), True)
    """

    _fitted = (*SeveralTargets._fitted, "outputs_", "residual_quantiles_")
    score = MethodBesideParameter(with_groups(RegressorMixin.score))

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        likelihood: str | Likelihood = "gaussian",
        approximation: str = "projected",
        n_active: int | float | str = 500,
        score: str | Score = "auto",
        learn: str | Learning | None = "ep",
        block_size: int | str = "auto",
        pool_size: int | str | None = "auto",
        initial: ArrayLike | None = None,
        selection: str = "auto",
        blur: bool | str = "auto",
        refine: str | None = "auto",
        max_memory: float | str | None = None,
        max_time: float | None = None,
        dtype: str = "float32",
        n_jobs: int | None = None,
        warm_start: bool = False,
        callback: Callback | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        invariances: Invariances = None,
        rounds: int = 1,
        move: str | bool = False,
        target: str = "identity",
    ) -> None:
        super().__init__(
            kernel=kernel, likelihood=likelihood, approximation=approximation, n_active=n_active, score=score,
            learn=learn, block_size=block_size, pool_size=pool_size, initial=initial,
            selection=selection, blur=blur, refine=refine, max_memory=max_memory, max_time=max_time, dtype=dtype,
            n_jobs=n_jobs, warm_start=warm_start, callback=callback, random_state=random_state, verbose=verbose,
            invariances=invariances, rounds=rounds, move=move,
        )  # fmt: skip
        self.target = target

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _read_targets(self, X: object, y: object, sample_weight: ArrayLike | None) -> Read:
        inputs, numbers = read(self, given_kernel(self.kernel), X, y, real=True)
        sample, likelihood = self._in_unit(self._sample(inputs, numbers, sample_weight))
        targets = sample.unit.inside(sample.y, self.learn is not None)
        likelihood = named(REAL_LIKELIHOODS, likelihood, targets, sample.weight)
        sample.weigh(likelihood, targets)  # checks them before their logarithm is taken
        score = vars(self)["score"]
        score = real_score(likelihood) if isinstance(score, str) and score == "auto" else score
        return Read(sample, targets, likelihood, latent_variance(likelihood, targets, sample.weight), score)

    def _in_unit(self, sample: Sample) -> tuple[Sample, str | Likelihood]:
        """Choose the unit that the fit works in, where everything that was given can be said in another one."""
        transform, given = transform_of(self, sample)
        kernel, some = given_kernel(self.kernel), named(REAL_LIKELIHOODS, given, np.zeros(1))
        unit = Unit() if transform is None else Unit.of_transform(transform, sample.y, sample.weight)
        if (
            (isinstance(self.learn, Learning) and self.learn.has_units)
            or some.in_unit(0.0, 1.0) is None
            or (kernel is not None and kernel.times(1.0) is None)
        ):
            return replace(sample, unit=unit), given
        robust, y = not isinstance(plain(some), Gaussian), unit.transformed(sample.y)
        unit = unit.of(y, *centre_and_spread(robust, y, sample.weight))
        if isinstance(given, Likelihood):
            unit, given = unit.likelihood(given)
        return replace(sample, unit=unit), given

    @for_each_target(axis=-1)
    @for_far_rows
    def predict(self, X: object, return_std: bool = False, *, return_cov: bool = False) -> Any:
        """Predict the mean of the target.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        return_std : bool
            Whether to return the standard deviation of the target as well, noise included.
        return_cov : bool
            Whether to return the covariances of the targets instead, noise included on the diagonal, whose root is the
            standard deviation.

        Returns
        -------
        mean : array of shape (n_samples,)
        std : array of shape (n_samples,)
        cov : array of shape (n_samples, n_samples)
        """
        if return_cov and return_std:
            raise ParameterError(
                "predict gives standard deviations or covariances, not both: leave out return_std; they are the roots "
                "of the diagonal"
            )
        if return_cov:
            latent, cov = self._latent_together(self._read(X))
            noise, own = self.likelihood_.for_new_rows(), (latent, np.diagonal(cov))
            mean = noise.predict(*own)[0]
            warn_of_far_means(self, own, mean)
            return mean, noise.covariance(latent, cov)
        known = self._latent(X)
        mean, std = central(self.likelihood_, *known)
        warn_of_far_means(self, known, mean)
        noise = self.likelihood_.for_new_rows()
        if return_std and isinstance(noise, StudentT) and noise.df <= 2.0:
            warnings.warn(
                f"Student's t noise of {noise.df:.3g} degrees of freedom has no standard deviation, so that of the "
                "target is infinite. Give a likelihood with df above 2, where learning leaves it, or ask "
                "predict_latent for the standard deviation of the function alone",
                stacklevel=outside(),
            )
        elif np.any(np.isinf(mean)) or (return_std and np.any(np.isinf(std))):
            row = int(np.argmax(np.isinf(mean) | np.isinf(std)))
            warnings.warn(_INFINITE.format(row=row), stacklevel=outside())
        return (mean, std) if return_std else mean

    @for_each_target(axis=-1)
    @for_far_rows
    def predict_quantiles(self, X: object, q: ArrayLike = (0.025, 0.5, 0.975)) -> Floats:
        """Predict quantiles of the target: intervals that hold on average over rows, whatever residuals are like.

        The standard deviation of ``predict`` says how far targets are off; how they are distributed is learned from
        the residuals of training rows that are left out. With few rows it is what the likelihood says.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        q : float or array-like of shape (n_quantiles,)
            Probabilities, between 0 and 1; by default those of the median and of an interval of 95 %.

        Returns
        -------
        quantiles : array of shape (n_samples, n_quantiles), or (n_samples,) for one probability
            Counts are whole.
        """
        levels = np.atleast_1d(np.asarray(q, dtype=np.float64))
        if levels.ndim > 1 or not np.all((levels > 0.0) & (levels < 1.0)):
            raise ParameterError(f"q must be probabilities strictly between 0 and 1, got {q!r}")
        mean, var = self._latent(X)
        likelihood = self.likelihood_.for_new_rows()
        share = ndtr(normal_scores(self.residual_quantiles_, levels))
        columns = [quantile(likelihood, p, mean, var) for p in share]
        found = np.stack(columns, axis=1) if columns else np.empty((len(mean), 0))
        if likelihood.counts:
            found = np.maximum(np.rint(found), 0.0)
        return found if np.ndim(q) else found[:, 0]

    def _store(self, ended: Ended) -> None:
        super()._store(ended)
        assert ended.result.residuals is not None
        self.residual_quantiles_: Floats = ended.result.residuals
        noise = self.likelihood_
        if isinstance(noise, Transformed) and not noise.has_moment(2):
            instead = "half of the interval with 68 % of targets for it"
            what = "standard deviation"
            if not noise.has_moment(1):
                what, instead = "mean", f"their median, and {instead.replace('for it', 'for a standard deviation')}"
            told = _WITHOUT_MEAN.format(noise=noise.likelihood, what=what, instead=instead)
            warnings.warn(told, stacklevel=outside())

    def _testimony(self, X: Inputs) -> dict[str, Floats]:
        if "outputs_" in vars(self):
            return super()._testimony(X)
        mean, var = self.likelihood_.predict(*self._latent(X))
        return {**super()._testimony(X), "target_mean": mean, "target_var": var}

    predict_latent = for_each_target(axis=-1)(SeveralTargets.predict_latent)
    sample_y = for_each_target(axis=1)(SeveralTargets.sample_y)

    def log_density(self, X: object, y: ArrayLike, groups: ArrayLike | None = None) -> Floats:
        """Return the log predictive density of known targets: larger is better, noise included.

        With Gaussian noise it is the density that goes with ``predict_quantiles``: Student's t, as wide and with tails
        as heavy as residuals of training rows that are left out, and with few rows nearly normal. Other noise has a
        shape of its own, and its own density.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        groups : array-like of shape (n_samples,), optional
            Tasks of the rows, for a model that was fitted with such.

        Returns
        -------
        log_density : array of shape (n_samples,)
            Of several targets that of all together, which are independent given the row.
        """
        outputs = vars(self).get("outputs_")
        if outputs is not None:
            columns = np.asarray(y, dtype=np.float64).reshape(-1, len(outputs)).T
            return np.sum([one.log_density(X, t, groups) for one, t in zip(outputs, columns, strict=True)], axis=0)
        mean, var = self._latent(grouped(X, groups))
        targets: Floats = column_or_1d(y, dtype=np.float64)
        assert_all_finite(targets, input_name="y")
        check_consistent_length(mean, targets)
        noise = self.likelihood_.for_new_rows()
        if not noise.conjugate:
            return noise.log_predictive(targets, mean, var)
        return log_density(noise, residual_density(self.residual_quantiles_), targets, mean, var)
