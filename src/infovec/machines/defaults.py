"""Starting values from the data: what a kernel or a likelihood is when the user gives none or only a name."""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import mul
from typing import Final, TypeAlias

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from .._types import Floats, Inputs, Mask, Rows
from ..errors import ParameterError
from ..kernels import RBF, Bias, Categorical, Kernel, On
from ..kernels.geometry import scale_columns
from ..kernels.named import of_scaled, of_variance
from ..likelihoods import Gaussian, Laplace, Likelihood, Logit, NullCategory, Ordinal, Poisson, Probit, StudentT
from ..numerics.moments import Moments
from ..numerics.outliers import usual_reach
from ..runtime import at_once
from ..shards import FarInputs, View

__all__ = [
    "CLASS_LIKELIHOODS",
    "CLASS_VARIANCE",
    "NULL_WIDTH",
    "ORDINAL_VARIANCE",
    "REAL_LIKELIHOODS",
    "centre_and_spread",
    "column_spreads",
    "default_kernel",
    "latent_variance",
    "length_scales",
    "missing_share",
    "mixed_kernel",
    "named",
    "noise_beside",
    "ordinal",
    "real_score",
]

CLASS_VARIANCE: Final = 100.0
"""Prior variance of the latent function for classes: they are expected to be nearly separable."""

ORDINAL_VARIANCE: Final = 5.0
"""The same for ordered categories, where a category is an interval of the latent function."""

NULL_WIDTH: Final = 0.4
"""Of a null category, in standard deviations of the latent function."""

_CONSTANT = 1e-13  # of the largest target: differences that are rounding
_NOISE_SHARE = 0.1  # of the variance of real targets
_LATENT_SHARE = 3.0  # the same of the latent function
_Weight: TypeAlias = Floats | None
_Maker: TypeAlias = Callable[[Floats, _Weight], Likelihood]
_LARGE = 1e140  # whose square is a number with room to spare
_PIXELS = 64  # columns that may be in a common unit
_BLOCK = 1 << 19  # numbers in double precision at a time
_BYTES = 48  # for each of them, on the way


def default_kernel(
    X: Inputs,
    variance: float,
    weight: _Weight = None,
    form: Kernel | None = None,
    codes: Sequence[int] | Rows = (),
    gaps: Sequence[int] | Rows = (),
) -> Kernel:
    """Return an RBF kernel, or one of a named form, scaled to the columns of X, plus a bias of a tenth of its variance.

    Forms that see where the origin is have it in the middle of dense columns. Columns with codes of categories have a
    kernel for such, which multiplies the other one; those of them that say where values are missing, the gaps, have
    one of their own.
    """
    numbers = np.setdiff1d(np.arange(X.shape[1]), codes)
    inside = X[:, numbers] if len(codes) else X
    deviation, extent = column_spreads(inside, weight)
    scale = length_scales(deviation, extent)
    if len(codes) and np.ndim(scale):
        varying = int(np.sum(extent > 0.0))
        scale = scale * np.sqrt((varying + len(codes)) / max(1, varying))
    centre = 0.0 if form is None or form.shift_invariant or sparse.issparse(X) else usual_reach(inside, weight)[0]
    return mixed_kernel(numbers, scale, codes, 1.0 / X.shape[1], variance, form, centre, gaps)


def mixed_kernel(
    numbers: Rows,
    scale: float | Floats,
    codes: Sequence[int] | Rows,
    relevance: float | Floats,
    variance: float,
    form: Kernel | None = None,
    centre: float | Floats = 0.0,
    gaps: Sequence[int] | Rows = (),
) -> Kernel:
    r"""Return the kernel of rows with numbers and categories: both must be alike for the function to be.

    .. math:: k(x, z) = v \exp\Bigl(-\sum_{j \in \text{numbers}} \frac{(x_j - z_j)^2}{2 \ell_j^2}
        -\sum_{j \in \text{categories}} r_j \, 1[x_j \ne z_j]\Bigr) + b

    with a bias b of a tenth of v; numbers may have another form than the first sum. What says where values are missing
    is a part of the second sum that has a kernel of its own, so that its relevances move together, but not with those
    of categories: of values that are missing by chance there is nothing to know.

    Parameters
    ----------
    numbers, codes : array of int
        Columns of either kind.
    scale, relevance : float or array
        Length scales of numbers and relevances of categories.
    variance : float
    form : Kernel, optional
    centre : float or array
        Of the numbers.
    gaps : array of int
        Those of ``codes`` that say where values are missing.
    """
    if not len(codes):
        return of_variance(of_scaled(form or RBF(), centre, scale), variance)
    bias = Bias(0.1 * variance)
    relevances, missing = np.broadcast_to(relevance, (len(codes),)), np.isin(codes, gaps)
    parts = list[Kernel]()
    if len(numbers):
        inside = RBF(scale, variance) if form is None else of_variance(of_scaled(form, centre, scale), variance)
        parts.append(On(inside, tuple(numbers)))
    for kind in (~missing, missing):
        if kind.any():
            own = relevances[kind] if np.ndim(relevance) else relevance
            parts.append(On(Categorical(own, 1.0 if parts else variance), tuple(np.asarray(codes)[kind])))
    return reduce(mul, parts) + bias


def length_scales(deviation: Floats, extent: Floats) -> float | Floats:
    """One length scale for each column, so that their units do not matter; one for many columns in a common unit.

    It is the spread of the column times the root of their number; the spread is the standard deviation, or a sixth of
    the range where that is more, so that a rarely used column does not outweigh the others. Constant columns get the
    average. From 64 columns on, the widest of them at most twice as wide as the median, they are taken for pixels or
    the like: what varies little is then worth less, and the scale is the root of the summed variances, about the
    distance of two rows.
    """
    varying = extent > 0
    if not varying.any():
        return 1.0
    if len(extent) >= _PIXELS and extent.max() <= 2.0 * np.median(extent[varying]):
        return float(np.sqrt(np.sum(deviation**2)))
    spread = np.maximum(deviation, extent / 6.0)
    return np.where(varying, spread, spread[varying].mean()) * np.sqrt(varying.sum())


def column_spreads(X: Inputs, weight: _Weight = None) -> tuple[Floats, Floats]:
    """Standard deviation and range of every column without its outliers, in little memory; weights count for both."""
    centre, reach = usual_reach(X, weight)
    unit = np.where((reach > _LARGE) | ((reach > 0.0) & (reach < 1.0 / _LARGE)), np.maximum(reach, 1e-300), 1.0)
    if np.any(unit != 1.0):  # squares would leave the range of the numbers
        if isinstance(X, FarInputs):
            scaled = X.seen(View(scale=unit))
        else:
            scaled = scale_columns(X.astype(np.float64), 1.0 / unit, "unit")
        deviation, extent = column_spreads(scaled, weight)
        return unit * deviation, unit * extent
    if isinstance(X, FarInputs):
        moments = reduce(Moments.merged, [part for _, part in X.map(Moments.of_rows, centre, reach)])
        if weight is None:
            return moments.deviation, moments.extent
        return _deviation(sum(part for _, part in X.map(_sums, centre, reach, rowwise=(weight,)))), moments.extent
    if not sparse.issparse(X):
        moments = Moments.of_rows(X, centre, reach)
        deviation = moments.deviation if weight is None else _deviation(_sums(X, weight, centre, reach))
        return deviation, moments.extent
    X = X.copy()
    X.data[np.abs(X.data) > reach[X.indices]] = 0.0
    share = np.full(X.shape[0], 1.0 / X.shape[0]) if weight is None else weight / weight.sum()
    mean, square = X.T @ share, X.multiply(X).T @ share
    extent = (X.max(axis=0) - X.min(axis=0)).toarray()
    return np.sqrt(np.maximum(square - mean**2, 0.0)), np.asarray(extent, dtype=np.float64).ravel()


def _sums(X: Inputs, weight: Floats, centre: Floats, reach: Floats) -> Floats:
    """Weights of the numbers that are no outliers, of every column, and sums of these and their squares."""
    step, sums = max(1, at_once(_BLOCK, _BYTES) // max(1, X.shape[1])), np.zeros((3, X.shape[1]))
    for start in range(0, len(X), step):
        z = X[start : start + step] - centre  # what is far from zero would lose its digits
        z[np.abs(z) > reach] = np.nan
        there, z = ~np.isnan(z), np.nan_to_num(z)
        sums += np.stack([weight[start : start + step] @ part for part in (there, z, z**2)])
    return sums


def _deviation(sums: Floats) -> Floats:
    """Standard deviations from weights, and sums and squares with them."""
    count, total, square = sums
    count = np.maximum(count, 1e-300)
    return np.sqrt(np.maximum(square / count - (total / count) ** 2, 0.0))


def _spread(y: Floats, weight: _Weight) -> float:
    """Variance of real targets; one for a constant."""
    mean = np.average(y, weights=weight)
    var = float(np.average((y - mean) ** 2, weights=weight))
    return var if var > _CONSTANT**2 * float(np.max(np.abs(y))) ** 2 else 1.0


def _median(y: Floats, weight: _Weight) -> float:
    """The number with half of the weight on either side."""
    if weight is None:
        return float(np.median(y))
    order = np.argsort(y, kind="stable")
    total = np.cumsum(weight[order])
    low, high = (np.searchsorted(total, 0.5 * total[-1], side=side) for side in ("left", "right"))
    return float(0.5 * (y[order[low]] + y[order[min(high, len(y) - 1)]]))


def _robust_spread(y: Floats, weight: _Weight) -> float:
    """The same by the median absolute deviation, which outliers do not move."""
    deviation = 1.4826 * _median(np.abs(y - _median(y, weight)), weight)
    return deviation**2 if deviation > 1e-10 * float(np.max(np.abs(y))) else _spread(y, weight)


def latent_variance(likelihood: Likelihood, y: Floats, weight: _Weight = None) -> float:
    """Prior variance of the latent function for real targets."""
    if likelihood.counts:
        return _spread(np.log(y + 0.5), weight)
    if isinstance(likelihood, Gaussian):
        return _LATENT_SHARE * _spread(y, weight)
    return _LATENT_SHARE * _robust_spread(y, weight)


def noise_beside(variance: float) -> float:
    """Noise variance that goes with a ``latent_variance`` of real targets."""
    return _NOISE_SHARE / _LATENT_SHARE * variance


def centre_and_spread(robust: bool, y: Floats, weight: _Weight = None) -> tuple[float, float]:
    """Where real targets lie and how far they spread: what a fit takes for zero and for one.

    Outliers do not move either where noise has heavy tails. A constant is as far from zero as it is, or one.
    """
    size = float(np.max(np.abs(y), initial=0.0)) or 1.0
    z = y / size  # no overflow
    centre = _median(z, weight) if robust else float(np.average(z, weights=weight))
    z = z - centre
    constant = float(np.max(np.abs(z), initial=0.0)) <= _CONSTANT
    variance = 1.0 if constant else _robust_spread(z, weight) if robust else _spread(z, weight)
    return size * centre, size * float(np.sqrt(variance))


def real_score(likelihood: Likelihood) -> str:
    """The gain, since the entropy hardly looks at the targets; the entropy where the gain would go after outliers."""
    return "information_gain" if likelihood.log_concave else "entropy"


def _class_bias(y: Floats, weight: _Weight) -> float:
    """Fraction of +1 as a probit (NIPS03 section 4; the Thesis's reading of r)."""
    return float(ndtri(np.average(y > 0, weights=weight)))


def missing_share(known: Mask, weight: _Weight) -> float:
    """Share of rows without label, one of either kind counted beside them."""
    count = np.ones(len(known)) if weight is None else weight
    return float((count[~known].sum() + 1.0) / (count.sum() + 2.0))


def _null_category(y: Floats, weight: _Weight) -> NullCategory:
    known = y != 0.0
    missing = missing_share(known, weight)
    bias = _class_bias(y[known], None if weight is None else weight[known])
    return NullCategory(bias, NULL_WIDTH * float(np.sqrt(CLASS_VARIANCE)), missing, missing)


def _gaussian(y: Floats, weight: _Weight) -> Gaussian:
    return Gaussian(_NOISE_SHARE * _spread(y, weight), bias=float(np.average(y, weights=weight)))


def _laplace(y: Floats, weight: _Weight) -> Laplace:
    scale = float(np.sqrt(0.5 * _NOISE_SHARE * _robust_spread(y, weight)))
    return Laplace(scale=scale, bias=_median(y, weight))


def _student_t(y: Floats, weight: _Weight) -> StudentT:
    scale = float(np.sqrt(_NOISE_SHARE * _robust_spread(y, weight)))
    return StudentT(scale=scale, df=4.0, bias=_median(y, weight))


def _poisson(y: Floats, weight: _Weight) -> Poisson:
    return Poisson(bias=float(np.log(max(float(np.average(y, weights=weight)), 1e-3))))


def ordinal(y: Floats, n_categories: int, variance: float, weight: _Weight = None) -> Ordinal:
    """Cut points at which the prior predicts the category frequencies (each counted once more)."""
    counts = np.bincount(y.astype(np.intp), weights=weight, minlength=n_categories) + 1.0
    below = np.cumsum(counts)[:-1] / counts.sum()
    return Ordinal(np.sqrt(1.0 + variance) * ndtri(below))


CLASS_LIKELIHOODS: Final[Mapping[str, _Maker]] = {
    "probit": lambda y, weight: Probit(bias=_class_bias(y, weight)),
    "logit": lambda y, weight: Logit(bias=1.7 * _class_bias(y, weight)),
    "null_category": lambda y, weight: _null_category(y, weight),
}
REAL_LIKELIHOODS: Final[Mapping[str, _Maker]] = {
    "gaussian": _gaussian,
    "laplace": _laplace,
    "poisson": _poisson,
    "student_t": _student_t,
}


def named(makers: Mapping[str, _Maker], likelihood: str | Likelihood, y: Floats, weight: _Weight = None) -> Likelihood:
    """Return a likelihood as given, or by name with starting values from the targets."""
    if isinstance(likelihood, Likelihood):
        return likelihood
    if not isinstance(likelihood, str) or likelihood not in makers:
        raise ParameterError(f"likelihood must be a Likelihood or one of {sorted(makers)}, got {likelihood!r}")
    return makers[likelihood](y, weight)
