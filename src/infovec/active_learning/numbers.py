"""What the unknown target of a row would tell, for real targets and counts: integrals over the target."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import NamedTuple, cast

import numpy as np
from numpy.polynomial import chebyshev
from scipy.special import betaln, digamma, gammainccinv, gammaincinv, gammaln, wrightomega

from .._types import Floats
from ..errors import ParameterError
from ..likelihoods import Gaussian, Laplace, Likelihood, Poisson, StudentT, Tilted, untransformed
from ..numerics.quadrature import gauss_hermite, gauss_legendre, tilted_log_prob
from ..scores import Score

__all__ = ["number_information", "over_targets"]

_PANEL = 64  # nodes
_REACH = 8.7  # standard deviations beyond which nothing is left of a Gaussian
_TAIL = 40.0  # scales beyond which nothing is left of an exponential
_HEAVY = 1e15  # one over the probability of a tail that may be left out
_INTEGERS, _BEYOND = 256, 96  # counts that are summed one by one, and nodes of the integral over those beyond
_HERMITE = 48
_FEW, _MOST = 64, 512  # ratios of variances that are done one by one, and nodes between which all others are
_AT_ONCE, _NOTHING = 16, 1e-12  # rows, for the memory, and the least ratio that says something
_AGREEMENT = 1e-11
_NEVER = -1e300  # log probability of what cannot be
_NORMALISED = 1e-3  # by how much probabilities of a likelihood of the user's own may miss one


class _Targets(NamedTuple):
    """Targets, one row of them for each row, with the weights of sums over them, both of shape (n, k)."""

    y: Floats
    weight: Floats


def number_information(likelihood: Likelihood, mean: Floats, var: Floats) -> Floats:
    r"""Mutual information between target and function, in nats.

    .. math:: I(y; f) = H[y] - E_f H[y \mid f], \qquad
              \text{Gaussian noise: } \tfrac12 \log\Bigl(1 + \frac{\sigma^2}{s}\Bigr)
    """
    likelihood = untransformed(likelihood)
    if isinstance(likelihood, Gaussian):
        return 0.5 * np.log1p(var / np.asarray(likelihood.variance))
    if isinstance(likelihood, Laplace | StudentT):
        return _of_ratio(likelihood, var, lambda v: _additive(likelihood, v))
    if isinstance(likelihood, Poisson) and not likelihood.scatter:
        return _of_counts(likelihood, mean, var)
    targets = _targets(likelihood, mean, var)
    log_p, told = _each(targets, mean, var, lambda y, m, v: tilted_log_prob(likelihood.log_prob, y, m, v))
    return np.asarray(np.sum(_shares(targets, log_p) * np.maximum(told - np.maximum(log_p, _NEVER), 0.0), axis=1))


def over_targets(likelihood: Likelihood, mean: Floats, var: Floats, score: Score) -> Floats:
    """Mean of a score without unit of the tilted moments over the target, weighted as it is predicted."""
    likelihood = untransformed(likelihood)
    if isinstance(likelihood, Gaussian):  # what is asked here does not look at the target
        return score(*likelihood.tilted(mean + likelihood.bias, mean, var), mean, var)
    if isinstance(likelihood, Laplace | StudentT):
        return _of_ratio(likelihood, var, lambda v: _over(likelihood, np.full(len(v), -likelihood.bias), v, score))
    return _over(likelihood, mean, var, score)


def _over(likelihood: Likelihood, mean: Floats, var: Floats, score: Score) -> Floats:
    targets = _targets(likelihood, mean, var)
    pure = isinstance(likelihood, Poisson) and not likelihood.scatter
    tilted = partial(_poisson, cast(Poisson, likelihood)) if pure else likelihood.tilted
    found = Tilted(*_each(targets, mean, var, tilted))
    shares = _shares(targets, found.log_z)
    return np.asarray(np.sum(shares * score(*found, mean[:, None], var[:, None]), axis=1))


def _additive(likelihood: Laplace | StudentT, var: Floats) -> Floats:
    """Entropy of function and noise together less that of the noise."""
    zero = np.full(len(var), -likelihood.bias)
    targets = _targets(likelihood, zero, var)
    (log_p,) = _each(targets, zero, var, lambda y, m, v: (likelihood.tilted(y, m, v).log_z,))
    return np.maximum(-np.sum(targets.weight * np.exp(log_p) * log_p, axis=1) - _noise_entropy(likelihood), 0.0)


def _noise_entropy(likelihood: Laplace | StudentT) -> float:
    if isinstance(likelihood, Laplace):
        return 1.0 + float(np.log(2.0 * likelihood.scale))
    k = likelihood.df
    shape = 0.5 * (k + 1.0) * (digamma(0.5 * (k + 1.0)) - digamma(0.5 * k)) + 0.5 * np.log(k) + betaln(0.5 * k, 0.5)
    return float(shape + np.log(likelihood.scale))


def _of_ratio(likelihood: Laplace | StudentT, var: Floats, function: Callable[[Floats], Floats]) -> Floats:
    """Return a function of the variance alone; of many rows by a polynomial in its logarithm."""

    def some_at_a_time(var: Floats) -> Floats:
        return np.concatenate([function(var[k : k + _AT_ONCE]) for k in range(0, len(var), _AT_ONCE)])

    if len(var) <= _FEW:
        return some_at_a_time(var)
    var = np.maximum(var, _NOTHING * likelihood.scale**2)
    low, high = np.log(np.min(var)), np.log(np.max(var)) + 1e-9
    at, n = (2.0 * np.log(var) - low - high) / (high - low), 16
    while True:
        nodes = np.cos(np.pi * (np.arange(n) + 0.5) / n)
        values = some_at_a_time(np.exp(0.5 * (low + high + (high - low) * nodes)))
        coefficients = chebyshev.chebfit(nodes, values, n - 1)
        if np.max(np.abs(coefficients[-3:])) < _AGREEMENT or n >= _MOST:
            return np.asarray(chebyshev.chebval(at, coefficients))
        n *= 2


def _of_counts(likelihood: Poisson, mean: Floats, var: Floats) -> Floats:
    r"""Sum over counts of how much each of them tells.

    .. math:: D\bigl[p(f \mid y) \,\|\, p(f)\bigr] = y \, (\mu + b + \sigma^2 g_y) - (y + 1) \frac{Z_{y+1}}{Z_y}
              - \log y! - \log Z_y
    """
    targets = _targets(likelihood, mean, var)
    y = targets.y
    found = Tilted(*_each(targets, mean, var, lambda y, m, v: _poisson(likelihood, y, m, v)))
    (after,) = _each(_Targets(y + 1.0, y), mean, var, lambda y, m, v: (_poisson(likelihood, y, m, v).log_z,))
    rate = np.exp(np.log(y + 1.0) + after - found.log_z)  # mean of exp(f + b) given y
    told = _log_count(y, (mean + likelihood.bias)[:, None] + var[:, None] * found.g, rate) - found.log_z
    return np.asarray(np.sum(_shares(targets, found.log_z) * np.maximum(told, 0.0), axis=1))


def _log_count(y: Floats, log_rate: Floats, rate: Floats) -> Floats:
    """Mean of log p(y | f) by those of f + b and exp(f + b), around the mode as ``Poisson.log_prob`` does."""
    base = np.maximum(y, 1.0)
    return y * (log_rate - np.log(base)) - (rate - base) - (gammaln(y + 1.0) - y * np.log(base) + base)


def _poisson(likelihood: Poisson, y: Floats, mean: Floats, var: Floats) -> Tilted:
    """Tilted moments of counts, nodes around the mode, which is known: y = exp(f + b) + (f - mean) / var."""
    m, v = mean + likelihood.bias, np.maximum(var, 1e-12)
    mode = m + v * y - wrightomega(np.log(v) + m + v * y).real
    width = 1.0 / np.sqrt(np.exp(mode) + 1.0 / v)
    nodes, log_weights = gauss_hermite(_HERMITE)
    f = mode[:, None] + width[:, None] * nodes
    terms = (
        likelihood.log_prob(y[:, None], f - likelihood.bias) - 0.5 * (f - m[:, None]) ** 2 / v[:, None] + log_weights
    )
    top = terms.max(axis=1)
    weights = np.exp(terms - top[:, None])
    total = weights.sum(axis=1)
    weights /= total[:, None]
    first = (weights * (f - m[:, None])).sum(axis=1)
    spread = (weights * (f - m[:, None] - first[:, None]) ** 2).sum(axis=1)
    log_z = top + np.log(total * width) - 0.5 * np.log(2.0 * np.pi * v)
    return Tilted(log_z, first / v, np.maximum((1.0 - spread / v) / v, 0.0))


def _each(targets: _Targets, mean: Floats, var: Floats, function: Callable[..., tuple[Floats, ...]]) -> list[Floats]:
    """Values of a function of targets, means and variances, each of shape (n, k)."""
    n, k = targets.y.shape
    found = function(targets.y.ravel(), np.repeat(mean, k), np.repeat(var, k))
    return [np.asarray(part).reshape(n, k) for part in found]


def _shares(targets: _Targets, log_p: Floats) -> Floats:
    shares = targets.weight * np.exp(log_p)
    missing = np.abs(shares.sum(axis=1) - 1.0)
    if np.any(missing > _NORMALISED):
        raise ParameterError(
            f"the probabilities of all targets of row {int(np.argmax(missing))} add up to "
            f"{1.0 - missing.max():.3g} only: the likelihood is none of plain numbers or counts; use score='variance'"
        )
    return shares


def _targets(likelihood: Likelihood, mean: Floats, var: Floats) -> _Targets:
    if likelihood.counts:
        return _counts(mean + getattr(likelihood, "bias", 0.0), var, getattr(likelihood, "scatter", 0.0))
    nodes, log_weights = gauss_legendre(_PANEL)
    middle, total = (np.asarray(part, dtype=np.float64) for part in likelihood.predict(mean, var))
    sd = np.sqrt(np.maximum(var, 1e-100))
    ends = [np.zeros(len(mean)), _REACH * sd]
    if isinstance(likelihood, Laplace):
        ends.append(ends[-1] + _TAIL * likelihood.scale)
    elif isinstance(likelihood, StudentT):
        ends += [ends[-1] + 3.0 * likelihood.scale]
    else:
        own = np.sqrt(np.where(np.isfinite(total), total, 1.0))
        ends = [np.zeros(len(mean)), own, 4.0 * own, 16.0 * own]
    pieces = [
        (low[:, None] + (high - low)[:, None] * nodes, (high - low)[:, None] * np.exp(log_weights))
        for low, high in pairwise(ends)
    ]
    if isinstance(likelihood, StudentT):  # a tail that is a power
        far = np.log(_HEAVY) / likelihood.df + np.log1p(likelihood.df)
        growth = far * nodes
        start = ends[-1][:, None]
        pieces.append((start * np.exp(growth), start * np.exp(growth) * far * np.exp(log_weights)))
    away, weight = (np.concatenate(part, axis=1) for part in zip(*pieces, strict=True))
    return _Targets(np.concatenate([middle[:, None] - away, middle[:, None] + away], axis=1), np.tile(weight, 2))


def _counts(log_rate: Floats, var: Floats, scatter: float = 0.0) -> _Targets:
    r"""Counts that are summed, and an integral over those beyond (midpoint rule of Euler and Maclaurin).

    .. math:: \sum_{y \ge N} p(y) = \int_{N - 1/2}^\infty p(y) \, dy + \tfrac1{24} \bigl(p(N) - p(N - 1)\bigr) + \dots
    """
    reach = _REACH * np.sqrt(var)
    least, most = (np.exp(np.minimum(log_rate + s * reach, 600.0)) for s in (-1.0, 1.0))
    if scatter:  # quantiles of the number that each row multiplies its rate with
        r = 1.0 / scatter
        least, most = least * scatter * gammaincinv(r, 1.0 / _HEAVY), most * scatter * gammainccinv(r, 1.0 / _HEAVY)
    low = np.maximum(np.floor(least - 9.0 * np.sqrt(least) - 9.0), 0.0)
    high = np.ceil(most + 9.0 * np.sqrt(most) + 40.0)
    first = low[:, None] + np.arange(_INTEGERS + 1)
    weight = np.ones_like(first)
    start = low + _INTEGERS - 0.5
    beyond = high > start
    weight[:, -2], weight[:, -1] = np.where(beyond, 1.0 - 1.0 / 24.0, 1.0), np.where(beyond, 1.0 / 24.0, 1.0)
    nodes, log_weights = gauss_legendre(_BEYOND)
    length = np.log(np.where(beyond, high / start, 1.0))[:, None]
    far = start[:, None] * np.exp(length * nodes)
    return _Targets(
        np.concatenate([first, far], axis=1), np.concatenate([weight, far * length * np.exp(log_weights)], axis=1)
    )
