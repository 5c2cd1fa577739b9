"""Starting values from the data: what a kernel or a likelihood is when the user gives none or only a name."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from .._types import Floats, Inputs
from ..errors import ParameterError
from ..kernels import RBF, Bias, Kernel
from ..likelihoods import Gaussian, Laplace, Likelihood, Logit, Ordinal, Poisson, Probit, StudentT
from ..numerics.moments import Moments

__all__ = [
    "CLASS_LIKELIHOODS",
    "CLASS_VARIANCE",
    "ORDINAL_VARIANCE",
    "REAL_LIKELIHOODS",
    "column_spreads",
    "default_kernel",
    "latent_variance",
    "length_scales",
    "named",
    "ordinal",
    "real_score",
]

CLASS_VARIANCE: Final = 100.0
"""Prior variance of the latent function for classes: they are expected to be nearly separable."""

ORDINAL_VARIANCE: Final = 5.0
"""The same for ordered categories, where a category is an interval of the latent function."""

_NOISE_SHARE = 0.1  # of the variance of real targets
_Maker: TypeAlias = Callable[[Floats], Likelihood]


def default_kernel(X: Inputs, variance: float) -> Kernel:
    """Return an RBF kernel scaled to the columns of X, plus a bias of a tenth of its variance."""
    return RBF(length_scales(*column_spreads(X)), variance) + Bias(0.1 * variance)


def length_scales(deviation: Floats, extent: Floats) -> float | Floats:
    """One length scale for columns in a common unit (the widest at most twice the median), else one for each.

    A common scale is the root of the summed variances: about the distance of two rows. Otherwise it is the spread of
    each column times the root of their number; the spread is the standard deviation, or a sixth of the range where
    that is more, so that a rarely used column does not outweigh the others. Constant columns get the average.
    """
    varying = extent > 0
    if not varying.any():
        return 1.0
    if extent.max() <= 2.0 * np.median(extent[varying]):
        return float(np.sqrt(np.sum(deviation**2)))
    spread = np.maximum(deviation, extent / 6.0)
    return np.where(varying, spread, spread[varying].mean()) * np.sqrt(varying.sum())


def column_spreads(X: Inputs) -> tuple[Floats, Floats]:
    """Standard deviation and range of every column, in little memory."""
    if not sparse.issparse(X):
        moments = Moments.of_rows(X)
        return moments.deviation, moments.extent
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    square = np.asarray(X.multiply(X).mean(axis=0), dtype=np.float64).ravel()
    extent = (X.max(axis=0) - X.min(axis=0)).toarray()
    return np.sqrt(np.maximum(square - mean**2, 0.0)), np.asarray(extent, dtype=np.float64).ravel()


def _spread(y: Floats) -> float:
    """Variance of real targets; one for a constant."""
    var = float(np.var(y))
    return var if var > 1e-20 * float(np.max(np.abs(y))) ** 2 else 1.0


def _robust_spread(y: Floats) -> float:
    """The same by the median absolute deviation, which outliers do not move."""
    deviation = 1.4826 * float(np.median(np.abs(y - np.median(y))))
    return deviation**2 if deviation > 1e-10 * float(np.max(np.abs(y))) else _spread(y)


def latent_variance(likelihood: Likelihood, y: Floats) -> float:
    """Prior variance of the latent function for real targets."""
    if isinstance(likelihood, Poisson):
        return _spread(np.log(y + 0.5))
    if isinstance(likelihood, Gaussian):
        return 3.0 * _spread(y)
    return 3.0 * _robust_spread(y)


def real_score(likelihood: Likelihood) -> str:
    """The gain, since the entropy hardly looks at the targets; the entropy where the gain would go after outliers."""
    return "information_gain" if likelihood.log_concave else "entropy"


def _class_bias(y: Floats) -> float:
    """Fraction of +1 as a probit (NIPS03 section 4; the Thesis's reading of r)."""
    return float(ndtri(np.mean(y > 0)))


def _gaussian(y: Floats) -> Gaussian:
    return Gaussian(_NOISE_SHARE * _spread(y), bias=float(np.mean(y)))


def _laplace(y: Floats) -> Laplace:
    return Laplace(scale=float(np.sqrt(0.5 * _NOISE_SHARE * _robust_spread(y))), bias=float(np.median(y)))


def _student_t(y: Floats) -> StudentT:
    return StudentT(scale=float(np.sqrt(_NOISE_SHARE * _robust_spread(y))), df=4.0, bias=float(np.median(y)))


def _poisson(y: Floats) -> Poisson:
    return Poisson(bias=float(np.log(max(float(np.mean(y)), 1e-3))))


def ordinal(y: Floats, n_categories: int, variance: float) -> Ordinal:
    """Cut points at which the prior predicts the category frequencies (each counted once more)."""
    counts = np.bincount(y.astype(np.intp), minlength=n_categories) + 1.0
    below = np.cumsum(counts)[:-1] / counts.sum()
    return Ordinal(np.sqrt(1.0 + variance) * ndtri(below))


CLASS_LIKELIHOODS: Final[Mapping[str, _Maker]] = {
    "probit": lambda y: Probit(bias=_class_bias(y)),
    "logit": lambda y: Logit(bias=1.7 * _class_bias(y)),
}
REAL_LIKELIHOODS: Final[Mapping[str, _Maker]] = {
    "gaussian": _gaussian,
    "laplace": _laplace,
    "poisson": _poisson,
    "student_t": _student_t,
}


def named(makers: Mapping[str, _Maker], likelihood: str | Likelihood, y: Floats) -> Likelihood:
    """Return a likelihood as given, or by name with starting values from the targets."""
    if isinstance(likelihood, Likelihood):
        return likelihood
    if not isinstance(likelihood, str) or likelihood not in makers:
        raise ParameterError(f"likelihood must be a Likelihood or one of {sorted(makers)}, got {likelihood!r}")
    return makers[likelihood](y)
