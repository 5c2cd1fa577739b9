r"""The class wins whose latent value plus noise is the largest: integrals over where the winner stands.

Given that the winner of row i, class y, stands at t, the other classes are independent, each below t with a
probability of its own. So all that C classes need is one integral, whatever their number (SLH appendix D),

.. math:: Z = \int p_y(t) \prod_{j \ne y} F_j(t) \, dt,

with :math:`F_c` and :math:`p_c` distribution and density of :math:`f_c + \epsilon_c` under :math:`f_c \sim N(\mu_c,
\sigma_c^2)`. Everything here is log-concave in t. The trapezoidal rule converges exponentially for such integrands; its
nodes lie where the integrand is (not where the cavity is), and are doubled where half of them say something else.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from ..._types import Floats, Mask, Rows
from ...runtime import at_once, check

__all__ = ["ClassMoments", "Noise", "Shape", "Standing", "moments", "moments_bytes", "standing", "win_log_proba"]

_DROP = 30.0  # nodes end where the integrand is e^-30 of its peak
_FIRST, _MOST = 32, 2**14  # nodes
_STANDING = 128  # nodes of all that is asked of the winner
_ENTRIES = 2**18  # numbers in one block of the work
_BYTES = 120  # for each of them: the integrands of all classes, slopes and curvatures of their parts
_CLIMBS, _APPROACHES = 128, 128  # Newton steps at most: short ones, where a rival is far ahead and variances are small


class ClassMoments(NamedTuple):
    """Log normaliser of a row, shape (n,), and its derivatives in the mean of every class, shape (n, C).

    ``g`` is d log Z / d mean, ``nu`` is minus the second derivative.
    """

    log_z: Floats
    g: Floats
    nu: Floats


class Shape(NamedTuple):
    """The log of a function, its slope and minus its curvature."""

    log: Floats
    slope: Floats
    curve: Floats


class Noise(ABC):
    """What is added to a latent value that is N(0, var); all methods work elementwise."""

    agreement: float
    """Of all nodes with half of them. The error is at most about the square; for a Gaussian the fourth power."""

    widest_step: float
    """Between nodes where a rival may stand, in standard deviations of it: else both may miss it."""

    @abstractmethod
    def below(self, t: Floats, var: Floats) -> Shape:
        """Log probability of the sum to be below t, with derivatives."""

    @abstractmethod
    def density(self, t: Floats, var: Floats) -> Shape:
        """Log density of the sum at t, its slope and minus its curvature."""

    @abstractmethod
    def log_both(self, t: Floats, var: Floats) -> tuple[Floats, Floats]:
        """Log probability to be below t, and log density there."""

    @abstractmethod
    def spread(self, var: Floats) -> tuple[Floats, Floats, Floats]:
        """Variance of the sum, and how far to the left and right its density falls by more than e^-30."""


def _entries() -> int:
    """Numbers in one block of the work, of which several threads may have one."""
    return at_once(_ENTRIES, 2 * _BYTES)


def moments_bytes() -> int:
    """Memory that a block of the work takes on the way, on two threads."""
    return 2 * _BYTES * _entries()


def moments(noise: Noise, labels: Rows, mean: Floats, var: Floats) -> ClassMoments:
    r"""Log normaliser of every row and its derivatives in the means.

    With w the density of t given that y wins, and :math:`h_j = F_j'/F_j`,

    .. math:: g_j = -E_w[h_j], \quad \nu_j = -E_w[h_j'] - V_w[h_j], \qquad
              g_y = -\sum_j g_j, \quad \nu_y = -E_w[(\log p_y)''] - V_w[(\log p_y)'],

    where SLH appendix D needs two dimensions for the own class.

    Parameters
    ----------
    noise : Noise
    labels : array of int, shape (n,)
    mean, var : array of shape (n, C)
        Of independent latent values.
    """
    n, C = mean.shape
    out = ClassMoments(np.empty(n), np.empty((n, C)), np.empty((n, C)))
    step = max(1, _entries() // (_FIRST * max(C - 1, 1)))
    for start in range(0, n, step):
        at = slice(start, min(start + step, n))
        part = _block(noise, _Rivals.of(labels[at], mean[at], var[at]))
        others = _others(labels[at], C)
        rows = np.arange(len(others))
        out.log_z[at] = part.log_z
        for full, own, rest in ((out.g[at], part.g_own, part.g), (out.nu[at], part.nu_own, part.nu)):
            full[rows, labels[at]] = own
            np.put_along_axis(full, others, rest, axis=1)
    return out


def _others(labels: Rows, C: int) -> Rows:
    """The classes that are not the label, shape (n, C - 1)."""
    j = np.arange(C - 1)
    return j + (j >= labels[:, None])


class _Rivals(NamedTuple):
    """Own class and all others of some rows, own mean taken as zero."""

    own_var: Floats  # (n,)
    gap: Floats  # (n, C - 1): mean of the other less the own mean
    var: Floats  # (n, C - 1)

    @classmethod
    def of(cls, labels: Rows, mean: Floats, var: Floats) -> "_Rivals":
        own, others = labels[:, None], _others(labels, mean.shape[1])
        means, variances = (np.take_along_axis(v, others, axis=1) for v in (mean, var))
        return cls(np.take_along_axis(var, own, axis=1)[:, 0], means - np.take_along_axis(mean, own, axis=1), variances)

    def take(self, at: Rows) -> "_Rivals":
        return _Rivals(*(v[at] for v in self))

    def others(self, noise: Noise, t: Floats) -> Shape:
        """At points t of shape (n, k): arrays of shape (n, C - 1, k)."""
        return noise.below(t[:, None, :] - self.gap[:, :, None], self.var[:, :, None])

    def density(self, noise: Noise, t: Floats) -> Shape:
        """The own density at t."""
        return noise.density(t, self.own_var[:, None])

    def integrand(self, noise: Noise, t: Floats) -> Shape:
        """Own density times the probabilities of all others to be below."""
        return Shape(
            *(own + rest.sum(axis=1) for own, rest in zip(self.density(noise, t), self.others(noise, t), strict=True))
        )


class _Parts(NamedTuple):
    log_z: Floats
    g_own: Floats
    nu_own: Floats
    g: Floats
    nu: Floats


def _block(noise: Noise, rivals: _Rivals) -> _Parts:
    """Moments of some rows; those whose nodes are too few get twice as many, again and again."""
    n, m = rivals.gap.shape
    low, high = _range(noise, rivals)
    out = _Parts(np.empty(n), np.empty(n), np.empty(n), np.empty((n, m)), np.empty((n, m)))
    todo, nodes = np.arange(n), _FIRST
    while todo.size:
        left = []
        step = max(1, _entries() // (nodes * max(m, 1)))
        for start in range(0, len(todo), step):
            check()
            at = todo[start : start + step]
            found, good = _trapezoid(noise, rivals.take(at), low[at], high[at], nodes)
            good |= nodes >= _MOST
            for column, new in zip(out, found, strict=True):
                column[at[good]] = new[good]
            left.append(at[~good])
        todo, nodes = np.concatenate(left), 2 * nodes
    return out


def _range(noise: Noise, rivals: _Rivals) -> tuple[Floats, Floats]:
    """Where the integrand is more than e^-30 of its peak, by Newton steps.

    The peak is to the right of the own density's. To the ends they start outside: a concave function lies below its
    tangents, so that they come closer from outside and never step inside.
    """
    total, to_left, to_right = noise.spread(rivals.own_var)
    right = np.max(rivals.gap + noise.spread(rivals.var)[2], axis=1, initial=0.0) + to_right
    low, high, mode = np.zeros((len(total), 1)), right[:, None], np.zeros((len(total), 1))
    for _ in range(_CLIMBS):
        peak, slope, curve = rivals.integrand(noise, mode)
        step = slope / np.maximum(curve, 0.1 / total[:, None])
        if np.all(np.abs(step * slope) < 0.1):  # twice what the peak is higher, in nats
            break
        low, high = np.where(slope > 0.0, mode, low), np.where(slope > 0.0, high, mode)
        outside = (mode + step <= low) | (mode + step >= high)
        mode = np.where(outside, 0.5 * (low + high), mode + step)
    ends = np.stack([-to_left, right], axis=1)
    for _ in range(_APPROACHES):
        value, slope, _ = rivals.integrand(noise, ends)
        move = (peak - _DROP - value) / np.where(slope == 0.0, 1.0, slope)
        ends = ends + move
        if np.all(np.abs(move) < 0.05 * (ends[:, 1:] - ends[:, :1])):
            break
    return ends.min(axis=1), ends.max(axis=1)  # rounding may let them change places


def _trapezoid(noise: Noise, rivals: _Rivals, low: Floats, high: Floats, nodes: int) -> tuple[_Parts, Floats]:
    """Moments by the given number of steps, and whether half of them agree."""
    width = (high - low) / nodes
    t = low[:, None] + width[:, None] * np.arange(nodes + 1)
    own, others = rivals.density(noise, t), rivals.others(noise, t)
    terms = own.log + others.log.sum(axis=1)
    top = terms.max(axis=1)
    weights = np.exp(terms - top[:, None])
    total, half = weights.sum(axis=1), 2.0 * weights[:, ::2].sum(axis=1)
    weights /= total[:, None]
    g_own, g = -_mean(weights, own.slope), np.einsum("ik,ijk->ij", weights, others.slope)
    drift = g_own + 2.0 * _mean(weights[:, ::2], own.slope[:, ::2])
    unit = 1.0 / np.sqrt(noise.spread(rivals.own_var)[0])
    good = (np.abs(half - total) <= noise.agreement * total) & (np.abs(drift) <= noise.agreement * (g_own + unit))
    good &= ~_misses(noise, rivals.gap, rivals.var, low, high, width)
    nu_own = _mean(weights, own.curve - (own.slope + g_own[:, None]) ** 2)
    nu = np.einsum("ik,ijk->ij", weights, others.curve - (others.slope - g[:, :, None]) ** 2)
    return _Parts(
        top + np.log(width * total), g.sum(axis=1), np.maximum(nu_own, 0.0), -g, np.maximum(nu, 0.0)
    ), good  # fmt: skip


def _misses(noise: Noise, mean: Floats, var: Floats, low: Floats, high: Floats, width: Floats) -> Mask:
    """Whether the steps are too wide for one of the classes that may stand between the ends."""
    total, to_left, to_right = noise.spread(var)
    there = (mean + to_right > low[:, None]) & (mean - to_left < high[:, None])
    return np.any(there & (width[:, None] > noise.widest_step * np.sqrt(total)), axis=1)


def _mean(weights: Floats, values: Floats) -> Floats:
    return np.einsum("ik,ik->i", weights, values)


def win_log_proba(noise: Noise, mean: Floats, var: Floats) -> Floats:
    r"""Log probability of every class to win, shape (n, C), all by one set of nodes for each row.

    .. math:: P(y) = \int \frac{p_y(t)}{F_y(t)} \prod_j F_j(t) \, dt
    """
    n, C = mean.shape
    out = np.empty((n, C))
    for start in range(0, n, max(1, _entries() // (2 * _FIRST * C))):
        at = slice(start, min(start + max(1, _entries() // (2 * _FIRST * C)), n))
        out[at] = _win_block(noise, mean[at], var[at])
    return out - logsumexp(out, axis=1, keepdims=True)


def _win_block(noise: Noise, mean: Floats, var: Floats) -> Floats:
    out, todo, nodes = np.empty(mean.shape), np.arange(len(mean)), 2 * _FIRST
    low, high = _common_range(noise, mean, var)
    while todo.size:
        left = []
        step = max(1, _entries() // (nodes * mean.shape[1]))
        for start in range(0, len(todo), step):
            check()
            at = todo[start : start + step]
            width = (high[at] - low[at]) / nodes
            terms = _all_integrands(noise, mean[at], var[at], low[at, None] + width[:, None] * np.arange(nodes + 1))
            top = terms.max(axis=2, keepdims=True)
            weights = np.exp(terms - top)
            total, half = weights.sum(axis=2), 2.0 * weights[:, :, ::2].sum(axis=2)
            good = np.all(np.abs(half - total) <= noise.agreement * total, axis=1)
            good &= ~_misses(noise, mean[at], var[at], low[at], high[at], width)
            good |= nodes >= _MOST
            out[at[good]] = (top[:, :, 0] + np.log(width[:, None] * total))[good]
            left.append(at[~good])
        todo, nodes = np.concatenate(left), 2 * nodes
    return out


def _all_integrands(noise: Noise, mean: Floats, var: Floats, t: Floats) -> Floats:
    """Logs of the integrands of all classes at points t of shape (n, k): shape (n, C, k)."""
    s, var = t[:, None, :] - mean[:, :, None], var[:, :, None]
    below, density = noise.log_both(s, var)
    return density - below + below.sum(axis=1, keepdims=True)


def _common_range(noise: Noise, mean: Floats, var: Floats) -> tuple[Floats, Floats]:
    """Where the integrand of some class is more than e^-30 of its peak, from coarse to fine."""
    _, to_left, to_right = noise.spread(var)
    low, high = np.min(mean - to_left, axis=1), np.max(mean + to_right, axis=1)
    for _ in range(2):
        t = np.linspace(low, high, _FIRST + 1, axis=1)
        terms = _all_integrands(noise, mean, var, t)
        inside = np.any(terms > terms.max(axis=2, keepdims=True) - _DROP, axis=1)
        first, last = np.argmax(inside, axis=1), _FIRST - np.argmax(inside[:, ::-1], axis=1)
        rows = np.arange(len(t))
        low, high = t[rows, np.maximum(first - 1, 0)], t[rows, np.minimum(last + 1, _FIRST)]
    return low, high


class Standing(NamedTuple):
    """Where the winner stands: probabilities of the classes, (n, C), their slopes in the own means, the mean place."""

    proba: Floats
    slope: Floats
    place: Floats  # (n,)


def standing(noise: Noise, mean: Floats, var: Floats) -> Standing:
    r"""Probabilities, their slopes and the mean of the largest value, by one set of nodes for each row.

    .. math:: P(y) = \int w_y(t) \, dt, \qquad
              \frac{\partial P(y)}{\partial \mu_y} = -\int (\log p_y)'(t) \, w_y(t) \, dt,
              \qquad E \max = \sum_y \int t \, w_y(t) \, dt, \qquad w_y = p_y \prod_{j \ne y} F_j
    """
    n, C = mean.shape
    found = Standing(np.empty((n, C)), np.empty((n, C)), np.empty(n))
    step = max(1, _entries() // (_STANDING * C))
    for start in range(0, n, step):
        at = slice(start, min(start + step, n))
        low, high = _common_range(noise, mean[at], var[at])
        t = low[:, None] + ((high - low) / _STANDING)[:, None] * np.arange(_STANDING + 1)
        weights = np.exp(_all_integrands(noise, mean[at], var[at], t)) * ((high - low) / _STANDING)[:, None, None]
        slope = noise.density(t[:, None, :] - mean[at, :, None], var[at, :, None]).slope
        found.proba[at] = weights.sum(axis=2)
        found.slope[at] = -np.einsum("ict,ict->ic", weights, slope)
        found.place[at] = np.einsum("ict,it->i", weights, t)
    return found
