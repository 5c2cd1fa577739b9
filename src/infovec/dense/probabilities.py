"""Probabilities of classes whose latent values are not independent."""

from functools import lru_cache
from itertools import product

import numpy as np
from scipy.special import ndtri, softmax
from scipy.stats import qmc

from .._types import Floats
from ..likelihoods.classes import ClassLikelihood, Softmax
from ..runtime import at_once, parts

__all__ = ["class_proba"]

_ORDERS = {1: 20, 2: 10}  # Gauss-Hermite nodes along each direction
_MANY = 8  # binary logarithm of the points where there are more directions
_FINE, _COARSE = 11, 9  # the same for the softmax, of few classes and of many
_ENTRIES, _BYTES = 2**20, 64


def class_proba(likelihood: ClassLikelihood, mean: Floats, cov: Floats) -> Floats:
    r"""Probabilities of all classes under latent values N(mean, cov), shape (n, C).

    Only differences of classes count. Of their covariance the part that all directions have is independent noise of
    every class, for which the likelihood has an exact integral,

    .. math:: P S P = \lambda P + \sum_k (\lambda_k - \lambda) u_k u_k^T, \qquad P = I - 1 1^T / C,

    with the smallest eigenvalue :math:`\lambda` but for that of the common direction. What is left has C - 2
    directions: none for two classes; products of Gauss-Hermite nodes for three or four, else points of a Sobol
    sequence. The softmax is plain where latent values are known, so that all C - 1 directions are drawn for it.

    Parameters
    ----------
    likelihood : ClassLikelihood
        Of a race: ``MultivariateProbit`` or ``Softmax``.
    mean : array of shape (n, C)
    cov : array of shape (n, C, C)
    """
    if isinstance(likelihood, Softmax):
        return _softmax_proba(mean + likelihood.bias, cov)
    n, C = mean.shape
    P = np.eye(C) - 1.0 / C
    shift = np.trace(cov, axis1=1, axis2=2)[:, None, None] + 1.0  # the common direction comes last
    lam, U = np.linalg.eigh(P @ cov @ P + shift * (np.eye(C) - P))
    least = np.maximum(lam[:, :1], 0.0)
    left = np.sqrt(np.maximum(lam[:, 1 : C - 1] - least, 0.0))[:, None, :] * U[:, :, 1 : C - 1]  # (n, C, C - 2)
    x, weights = _points(C - 2)
    out = np.empty((n, C))
    for at in parts(n, at_once(max(_ENTRIES // (len(x) * C), 1), _BYTES * len(x) * C)):
        means = mean[at, None] + np.einsum("icd,kd->ikc", left[at], x)
        var = np.broadcast_to(least[at, None], means.shape).reshape(-1, C)
        p = np.exp(likelihood.log_proba(means.reshape(-1, C), var)).reshape(means.shape)
        out[at] = np.einsum("ikc,k->ic", p, weights)
    return out


def _softmax_proba(mean: Floats, cov: Floats) -> Floats:
    n, C = mean.shape
    P = np.eye(C) - 1.0 / C
    lam, U = np.linalg.eigh(P @ cov @ P)
    root = np.sqrt(np.maximum(lam[:, 1:], 0.0))[:, None, :] * U[:, :, 1:]  # (n, C, C - 1)
    x, out = _sobol(C - 1, _FINE if C <= 4 else _COARSE), np.empty((n, C))
    for at in parts(n, at_once(max(_ENTRIES // (len(x) * C), 1), _BYTES * len(x) * C)):
        out[at] = softmax(mean[at, None] + np.einsum("icd,kd->ikc", root[at], x), axis=2).mean(axis=1)
    return out


@lru_cache
def _points(d: int) -> tuple[Floats, Floats]:
    """Points of a standard normal distribution of d dimensions, and their weights."""
    if d == 0:
        return np.zeros((1, 0)), np.ones(1)
    if d in _ORDERS:
        nodes, weights = np.polynomial.hermite_e.hermegauss(_ORDERS[d])
        every = np.array(list(product(range(len(nodes)), repeat=d)))
        return nodes[every], np.prod((weights / weights.sum())[every], axis=1)
    x = _sobol(d, _MANY)
    return x, np.full(len(x), 1.0 / len(x))


@lru_cache
def _sobol(d: int, log2: int) -> Floats:
    """Points of a standard normal distribution of d dimensions, and their opposites."""
    cube = qmc.Sobol(d, scramble=True, seed=0).random_base2(log2)
    half = ndtri(np.clip(cube, 1e-12, 1.0 - 1e-12))
    return np.concatenate([half, -half])
