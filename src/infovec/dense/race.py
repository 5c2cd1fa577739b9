r"""Derivatives of the log probability of a class under the multinomial probit, as Laplace's approximation needs them.

With w the density of where the winner stands, :math:`r_a` the slope of the log of the integrand in the mean of class a,
:math:`c_a` its curvature and :math:`e_a` its third derivative, the derivatives of log P are cumulants under w (GR06
appendix E writes the second as moments of the truncated auxiliary variables).
"""

from typing import NamedTuple

import numpy as np

from .._types import Floats, Rows
from ..numerics.normal import hazard, hazard_excess, log_ndtr
from ..runtime import at_once, parts
from .cone import rivals, winner_mode

__all__ = ["RaceCurvature", "race_curvature", "race_log_prob", "race_trace_slope"]

_REACH, _NODES = 8.5, 48  # the integrand falls at least as fast as the normal density; nodes for three classes
_ENTRIES, _BYTES = 2**18, 120  # numbers in one block of the work
_LOG_SQRT_2PI = 0.5 * np.log(2.0 * np.pi)


class RaceCurvature(NamedTuple):
    """Log P of every row, its slopes (n, C), and minus its second derivatives (n, C, C)."""

    log_prob: Floats
    g: Floats
    W: Floats


class _Nodes(NamedTuple):
    """Where the winner of each row may stand, with the other classes first and the own class last."""

    log_prob: Floats  # (n,)
    w: Floats  # (n, k): probabilities of the nodes
    r: Floats  # (n, k, C): slopes
    c: Floats  # (n, k, C - 1): curvatures of the others; that of the own class is -1
    e: Floats  # (n, k, C - 1): third derivatives
    order: Rows  # (n, C): which classes they are


class _Weights(NamedTuple):
    """The trapezoidal rule about the mode: the logarithm of the integrand is curved by 1 at least and by C at most."""

    log_prob: Floats  # (n,)
    w: Floats  # (n, k)
    t: Floats  # (n, k): where the winner stands above its mean
    z: Floats  # (n, k, C - 1): and above those of the others

    @classmethod
    def of(cls, gap: Floats) -> "_Weights":
        C = gap.shape[1] + 1
        count = int(np.ceil(_NODES * np.sqrt(max(C, 3) / 3.0)))
        t, width = np.linspace(-_REACH, _REACH, count, retstep=True)
        t = winner_mode(gap)[:, None] + t
        z = t[:, :, None] - gap[:, None, :]
        log_w = -0.5 * t * t - _LOG_SQRT_2PI + log_ndtr(z).sum(axis=2)
        top = log_w.max(axis=1, keepdims=True)
        w = np.exp(log_w - top)
        total = w.sum(axis=1, keepdims=True)
        return cls((top + np.log(width * total))[:, 0], w / total, t, z)


def race_log_prob(labels: Rows, f: Floats) -> Floats:
    """Log probability of the labels given latent values, by nodes that are known beforehand to be enough.

    It is ``MultivariateProbit.log_prob``, whose nodes are looked for, since latent values may vary there; here they do
    not.
    """
    out = np.empty(len(f))
    for at in parts(len(f), _rows(f.shape[1])):
        out[at] = _Weights.of(rivals(f[at], labels[at])[0]).log_prob
    return out


def _nodes(labels: Rows, f: Floats) -> _Nodes:
    gap, others = rivals(f, labels)
    log_prob, w, t, z = _Weights.of(gap)
    h = hazard(z)
    excess = hazard_excess(z, h)
    e = h * (1.0 - excess * (h + excess))
    order = np.concatenate([others, labels[:, None]], axis=1)
    r = np.concatenate([-h, t[:, :, None]], axis=2)
    return _Nodes(log_prob, w, r, -h * excess, e, order)


def race_curvature(labels: Rows, f: Floats) -> RaceCurvature:
    r"""Log probability of the labels and its first and second derivatives.

    .. math:: \partial_a \log P = E_w[r_a], \qquad
              \partial_a \partial_b \log P = \delta_{ab} E_w[c_a] + V_w[r_a, r_b]

    Second derivatives in the own class are those that make the sum over all classes vanish, as it does: nothing
    changes when a number is added to all of them.

    Parameters
    ----------
    labels : array of int, shape (n,)
    f : array of shape (n, C)
        Latent values.
    """
    n, C = f.shape
    out = RaceCurvature(np.empty(n), np.empty((n, C)), np.empty((n, C, C)))
    for at in parts(n, _rows(C)):
        nodes = _nodes(labels[at], f[at])
        out.log_prob[at] = nodes.log_prob
        mean = np.einsum("ik,ika->ia", nodes.w, nodes.r[:, :, :-1])
        centred = nodes.r[:, :, :-1] - mean[:, None]
        W = -np.einsum("ik,ika,ikb->iab", nodes.w, centred, centred, optimize=True)
        W[:, np.arange(C - 1), np.arange(C - 1)] -= np.einsum("ik,ika->ia", nodes.w, nodes.c)
        W = np.concatenate([W, -W.sum(axis=1, keepdims=True)], axis=1)
        W = np.concatenate([W, -W.sum(axis=2, keepdims=True)], axis=2)
        rows, order = np.arange(at.start, at.stop)[:, None], nodes.order
        out.g[rows, order] = np.concatenate([mean, -mean.sum(axis=1, keepdims=True)], axis=1)
        out.W[rows[:, :, None], order[:, :, None], order[:, None, :]] = W
    return out


def race_trace_slope(labels: Rows, f: Floats, S: Floats) -> Floats:
    r"""Slope of tr S W in the latent values, for given matrices S of each row.

    .. math:: \partial_a \partial_b \partial_j \log P = \delta_{abj} E_w[e_a] + \delta_{ab} V_w[c_a, r_j]
              + \delta_{aj} V_w[c_a, r_b] + \delta_{bj} V_w[c_b, r_a] + \kappa_w[r_a, r_b, r_j]

    with the third cumulant :math:`\kappa_w`.

    Parameters
    ----------
    labels : array of int, shape (n,)
    f : array of shape (n, C)
    S : array of shape (n, C, C)
        Symmetric.
    """
    n, C = f.shape
    out = np.empty((n, C))
    for at in parts(n, _rows(C)):
        nodes = _nodes(labels[at], f[at])
        w, c, order = nodes.w, nodes.c, nodes.order
        r = nodes.r - np.einsum("ik,ika->ia", w, nodes.r)[:, None]
        own = np.take_along_axis(np.take_along_axis(S[at], order[:, :, None], axis=1), order[:, None, :], axis=2)
        Sr = np.einsum("ika,iab->ikb", r, own)
        diagonal = np.einsum("iaa->ia", own)[:, None, :-1]
        squares = np.einsum("ika,ika->ik", r, Sr) + (diagonal * c).sum(axis=2)
        slope = np.einsum("ik,ik,ika->ia", w, squares, r[:, :, :-1], optimize=True)
        slope += np.einsum("ik,ika->ia", w, diagonal * nodes.e + 2.0 * c * Sr[:, :, :-1])
        full = np.concatenate([slope, -slope.sum(axis=1, keepdims=True)], axis=1)
        np.put_along_axis(out[at], order, -full, axis=1)
    return out


def _rows(C: int) -> int:
    """Rows of one block."""
    return at_once(max(_ENTRIES // (_NODES * C), 1), _BYTES * _NODES * C)
