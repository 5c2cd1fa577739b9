"""Probabilities of classes whose latent values are not independent."""

from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.linalg import helmert
from scipy.special import ndtri, softmax
from scipy.stats import qmc

from .._types import Floats
from ..likelihoods.classes import ClassLikelihood, Softmax
from ..runtime import at_once, parts

__all__ = ["class_proba"]

_REACH = 7.0  # of a trapezoidal rule, in standard deviations
_LEVELS = {1: (1, 13, 25, 49, 97), 2: (1, 9, 17, 25)}  # its nodes along each of one direction or two
_WIDTH = 1.5  # of its steps, in units of the noise
_MANY, _MANY_PLAIN = 2**7, 2**12  # points where there are more directions; where each of them costs next to nothing
_ENTRIES, _BYTES = 2**20, 64


def class_proba(likelihood: ClassLikelihood, mean: Floats, cov: Floats) -> Floats:
    r"""Probabilities of all classes under latent values N(mean, cov), shape (n, C).

    Only differences of classes count, H f with orthonormal rows of H. As much of their covariance as possible is taken
    for independent noise of variances v of the classes, for which the likelihood has an exact integral:

    .. math:: H S H^T = t \, H \, \mathrm{diag}(v) H^T + R, \qquad v_i + v_j \approx V[f_i - f_j], \qquad R \ge 0

    with the largest t. Two classes, and three of which none varies against another, are exact. Else R has C - 2
    directions: a trapezoidal rule for three classes or four, points of a Sobol sequence for more. Softmax of more than
    three classes, whose integral is a table, is averaged over many points of all directions instead.

    Parameters
    ----------
    likelihood : ClassLikelihood
        Of a race: ``MultivariateProbit`` or ``Softmax``.
    mean : array of shape (n, C)
    cov : array of shape (n, C, C)
    """
    n, C = mean.shape
    if C > 3 and isinstance(likelihood, Softmax):
        return _at_points(mean + likelihood.bias, cov)
    part = _split(cov)
    out = np.empty((n, C))
    sd = np.sqrt(np.sum(part.left**2, axis=1).max(axis=1, initial=0.0))
    levels = np.array(_LEVELS.get(C - 2, (1, _MANY)))
    needed = np.where(sd < 1e-7, 1.0, np.maximum(2.0 * _REACH * sd / _WIDTH, 2.0))
    level = np.minimum(np.searchsorted(levels, needed), len(levels) - 1)
    for k in np.unique(level):
        x, weights = _points(C - 2, int(levels[k]))
        rows = np.flatnonzero(level == k)
        for at in parts(len(rows), at_once(max(_ENTRIES // (len(x) * C), 1), _BYTES * len(x) * C)):
            own = rows[at]
            means = mean[own, None] + np.einsum("icd,kd->ikc", part.left[own], x)
            var = np.broadcast_to(part.var[own, None], means.shape).reshape(-1, C)
            p = softmax(likelihood.log_weights(means.reshape(-1, C), var), axis=1).reshape(means.shape)
            out[own] = np.einsum("ikc,k->ic", p, weights)
    return out


def _at_points(mean: Floats, cov: Floats) -> Floats:
    """Mean softmax over points of N(mean, cov)."""
    n, C = mean.shape
    H = helmert(C)
    lam, U = np.linalg.eigh(H @ cov @ H.T)
    root = np.einsum("dc,ide->ice", H, U * np.sqrt(np.maximum(lam, 0.0))[:, None, :])
    x, _ = _points(C - 1, _MANY_PLAIN)
    out = np.empty((n, C))
    for at in parts(n, at_once(max(_ENTRIES // x.size, 1), _BYTES * x.size)):
        out[at] = softmax(mean[at, None] + np.einsum("icd,kd->ikc", root[at], x), axis=2).mean(axis=1)
    return out


class _Split(NamedTuple):
    var: Floats  # (n, C): independent
    left: Floats  # (n, C, C - 2): directions of what is left, times its standard deviations


def _split(cov: Floats) -> _Split:
    n, C = cov.shape[:2]
    H = helmert(C)
    A = H @ cov @ H.T
    tiny = 1e-10 * (np.trace(A, axis1=1, axis2=2) / C + 1e-300)
    lam, U = np.linalg.eigh(A)
    half = U / np.sqrt(np.maximum(lam, tiny[:, None]))[:, None, :]  # A^-1/2
    best, kept = np.zeros((n, C)), np.full(n, -1.0)
    for v in (_matched(cov), np.ones((n, C))):
        B = (H * v[:, None, :]) @ H.T
        top = np.linalg.eigvalsh(half.transpose(0, 2, 1) @ B @ half)[:, -1]
        scaled = v / np.maximum(top, 1e-300)[:, None]
        share = scaled.sum(axis=1)
        best, kept = np.where((share > kept)[:, None], scaled, best), np.maximum(share, kept)
    rest, V = np.linalg.eigh(A - (H * best[:, None, :]) @ H.T)
    rest = np.where(rest > 1e-9 * lam[:, -1:], rest, 0.0)
    left = np.einsum("dc,ide->ice", H, V[:, :, 1:] * np.sqrt(rest[:, None, 1:]))
    return _Split(best, left)


def _matched(cov: Floats) -> Floats:
    """Variances whose sums in pairs are nearest to those of the differences; of two classes, half of it."""
    C = cov.shape[1]
    own = np.einsum("icc->ic", cov)
    V = own[:, :, None] + own[:, None, :] - 2.0 * cov
    if C == 2:
        return np.full((len(cov), 2), 0.5) * V[:, :1, 1]
    row, total = V.sum(axis=2), V.sum(axis=(1, 2))[:, None] / 2.0
    v = (row - total / (C - 1)) / (C - 2)
    return np.maximum(v, 1e-6 * total / C**2)


@lru_cache
def _points(d: int, count: int) -> tuple[Floats, Floats]:
    """Points of a standard normal distribution of d dimensions, and their weights."""
    if d == 0 or count == 1:
        return np.zeros((1, d)), np.ones(1)
    if d <= 2:
        nodes = np.linspace(-_REACH, _REACH, count)
        weights = np.exp(-0.5 * nodes**2)
        every = np.array(list(product(range(count), repeat=d)))
        w = np.prod(weights[every], axis=1)
        keep = w > 1e-8  # without the corners of a square
        return nodes[every[keep]], w[keep] / w[keep].sum()
    cube = qmc.Sobol(d, scramble=True, seed=0).random(count // 2)
    half = ndtri(np.clip(cube, 1e-12, 1.0 - 1e-12))
    return np.concatenate([half, -half]), np.full(2 * len(half), 0.5 / len(half))
