r"""Draws of the auxiliary variables: unit normals in the cone where the own class is the largest (GR06 appendix D).

Where the winner stands has the density :math:`\phi(t - m_y) \prod_{j \ne y} \Phi(t - m_j)`, and below it the other
classes are independent. The logarithm of the product is concave, so that a tangent to it is an envelope, and the
normal density times the exponential of a line is a normal density of unit variance again. At least one of
:math:`\sqrt C` draws from it is taken in the mean, however far outside the cone the means are.
"""

import numpy as np
from scipy.special import erfcx, ndtri_exp

from .._types import Floats, Rows
from ..numerics.normal import hazard, hazard_excess, log_ndtr

__all__ = ["draw_in_cone", "rivals", "winner_mode"]

_STEPS, _CLOSE = 12, 1e-3  # of Newton's method, which takes two to four; the draws are exact wherever it ends
_DEEP = -5.0
_SQRT_HALF = np.sqrt(0.5)


def rivals(mean: Floats, labels: Rows) -> tuple[Floats, Rows]:
    """Means of the other classes less that of the own one, shape (n, C - 1), and which classes they are."""
    j = np.arange(mean.shape[1] - 1)
    others = j + (j >= labels[:, None])
    own = np.take_along_axis(mean, labels[:, None], axis=1)
    return np.take_along_axis(mean, others, axis=1) - own, others


def winner_mode(gap: Floats, steps: int = _STEPS, close: float = _CLOSE) -> Floats:
    r"""Where the winner most likely stands, own mean zero.

    .. math:: t = \sum_j h(t - \mu_j)

    The difference of both sides is concave with a slope between 1 and C, so that Newton's method cannot fail.
    """
    t = np.maximum(0.5 * gap.max(axis=1, initial=0.0), 0.5)
    for _ in range(steps):
        z = t[:, None] - gap
        h = hazard(z)
        step = (h.sum(axis=1) - t) / (1.0 + (h * hazard_excess(z, h)).sum(axis=1))
        t = t + step
        if np.all(np.abs(step) < close):
            break
    return t


def draw_in_cone(mean: Floats, labels: Rows, rng: np.random.Generator) -> Floats:
    """Draw exactly from N(mean, I) given that the own class is the largest, row by row.

    Parameters
    ----------
    mean : array of shape (n, C)
    labels : array of int, shape (n,)
    rng : Generator
    """
    gap, others = rivals(mean, labels)
    t = _draw_winner(gap, rng)
    z = t[:, None] - gap
    below = ndtri_exp(log_ndtr(z) - rng.standard_exponential(gap.shape))  # inverse distribution function
    own = np.take_along_axis(mean, labels[:, None], axis=1)
    y = np.empty(mean.shape)
    np.put_along_axis(y, labels[:, None], own + t[:, None], axis=1)
    np.put_along_axis(y, others, own + gap + np.minimum(below, z), axis=1)
    return y


def _draw_winner(gap: Floats, rng: np.random.Generator) -> Floats:
    """Draw the own variable, own mean zero, by rejection from the normal density that the tangent makes."""
    at = winner_mode(gap)
    z = at[:, None] - gap
    h = hazard(z)
    centre = h.sum(axis=1)
    out, todo = np.empty(len(gap)), np.arange(len(gap))
    while todo.size:
        t = centre[todo] + rng.standard_normal(todo.size)
        taken = _below_tangent(z[todo], h[todo], t - at[todo]) > -rng.standard_exponential(todo.size)
        out[todo[taken]] = t[taken]
        todo = todo[~taken]
    return out


def _below_tangent(z: Floats, h: Floats, step: Floats) -> Floats:
    r"""Sum over the others of :math:`\log \Phi(z + \delta) - \log \Phi(z) - \delta h(z)`, nowhere positive.

    Far in the tail it is :math:`-\delta^2 / 2 - \delta (h(z) + z)` and a ratio of scaled error functions, where nothing
    cancels.
    """
    delta = np.broadcast_to(step[:, None], z.shape)
    value = np.asarray(log_ndtr(z + delta) - log_ndtr(z) - delta * h)
    deep = z < _DEEP
    if deep.any():
        a, d = z[deep], delta[deep]
        scaled = np.log(erfcx(-_SQRT_HALF * np.minimum(a + d, 30.0))) - np.log(erfcx(-_SQRT_HALF * a))
        value[deep] = -0.5 * d * d - d * hazard_excess(a) + scaled
    return value.sum(axis=1)
