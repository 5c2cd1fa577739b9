"""EP on the active pairs, and the evidence of the factorised coupled posterior with its gradient."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._types import Floats, Inputs, Rows
from ..kernels import Kernel
from ..likelihoods.classes import ClassLikelihood, ClassMoments
from ..numerics.cholesky import inverse_lower, solve_lower
from ..posterior import Cavities, ClassSites, Dense, PairSites, cavities, kernel_of_each, positions, spread

__all__ = ["PairEvidence", "pair_evidence", "refine_pairs"]

_LEAST = 1e-8  # precision of a site that EP would make negative, in units of the marginal's


class PairEvidence(NamedTuple):
    """Log evidence, and its gradients in theta of every class's kernel and of the likelihood, for constant sites."""

    log_evidence: float
    kernels: list[Floats]
    likelihood: Floats
    parts: list[Dense]


def refine_pairs(
    X: Inputs,
    labels: Rows,
    kernels: Kernel | Sequence[Kernel],
    likelihood: ClassLikelihood,
    sites: PairSites,
    max_sweeps: int = 20,
    tolerance: float = 1e-3,
    damping: float = 0.7,
) -> tuple[PairSites, bool]:
    """Visit the active pairs again, all at once, until their sites match the moments (parallel EP with damping).

    The active sets stay as they are. Returns the sites and whether the largest change, in units of the posterior, fell
    below the tolerance.
    """
    each = kernel_of_each(kernels, likelihood.n_classes)
    at = np.unique(np.concatenate([rows for rows, _, _ in sites]))
    precision, b = spread(sites, at)
    has_site, some = precision > 0.0, likelihood.take(at)
    k = np.reshape(some.copies, (-1, 1))
    for _ in range(max_sweeps):
        sites = [_gather(sites[c].rows, at, precision[:, c], b[:, c]) for c in range(len(sites))]
        parts = [Dense.of(kernel, of, X, at) for kernel, of in zip(each, sites, strict=True)]
        mean, var = (np.column_stack([getattr(p, name) for p in parts]) for name in ("mean", "var"))
        cavity = cavities(mean, var, precision / k, b / k)
        _, g, nu = some.tilted(labels[at], cavity.mean, cavity.var)
        rest = np.maximum(1.0 - cavity.var * nu, 1e-15)
        new = np.where(has_site, k * np.maximum(nu / rest, _LEAST / cavity.var), 0.0)
        shift = np.where(has_site, k * (g + cavity.mean * nu) / rest, 0.0)
        step = np.abs(new - precision) * var, np.abs(shift - b - (new - precision) * mean) * np.sqrt(var)
        precision, b = precision + damping * (new - precision), b + damping * (shift - b)
        if max(float(s.max()) for s in step) < tolerance:
            return [_gather(sites[c].rows, at, precision[:, c], b[:, c]) for c in range(len(sites))], True
    return [_gather(sites[c].rows, at, precision[:, c], b[:, c]) for c in range(len(sites))], False


def _gather(rows: Rows, at: Rows, precision: Floats, b: Floats) -> ClassSites:
    own = positions(at, rows)
    return ClassSites(rows, precision[own], b[own])


def pair_evidence(
    X: Inputs,
    labels: Rows,
    kernels: Kernel | Sequence[Kernel],
    likelihood: ClassLikelihood,
    sites: PairSites,
    gradient: bool = True,
) -> PairEvidence:
    r"""EP evidence in the spirit of SLH eq. 11, where C functions share the terms of the likelihood.

    .. math:: \log Q(D) = \sum_i \log Z_i - \sum_c \sum_{i \in I_c} \log \tilde Z_{ic}
              + \tfrac12 \sum_c \bigl(h_{I_c}^T b_c - \log |B_c|\bigr)

    Z_i is the normaliser of the coupled likelihood under the cavity of row i: without its site for the classes in which
    it is active, and the marginal for the others. Of a row with k copies both are those of one, and count k times.
    With :math:`\gamma_{ic}` and :math:`\delta_{ic}` the derivatives of the first two sums in mean and variance
    of a pair, :math:`T = K_{\cdot,I} (K_I + \Pi^{-1})^{-1}` and weights :math:`\xi` of the mean, class by class,

    .. math:: G_{K_{\cdot,I}} = \gamma \xi^T - 2 \, \mathrm{diag}(\delta) T, \qquad
              G_{K_I} = \tfrac12 \bigl(\xi \xi^T - (K_I + \Pi^{-1})^{-1}\bigr) - T^T \gamma \xi^T
              + T^T \mathrm{diag}(\delta) T, \qquad G_{k_{ii}} = \delta_i.

    It is the gradient for constant sites, as in SLH 3.3. A shared kernel has one gradient, the sum over classes.
    """
    C, at = likelihood.n_classes, np.arange(len(labels))
    each = kernel_of_each(kernels, C)
    parts = [Dense.of(kernel, of, X, at) for kernel, of in zip(each, sites, strict=True)]
    mean, var = (np.column_stack([getattr(p, name) for p in parts]) for name in ("mean", "var"))
    precision, b = spread(sites, at)
    k = np.broadcast_to(likelihood.copies, len(labels))
    precision, b = precision / k[:, None], b / k[:, None]
    cavity = cavities(mean, var, precision, b)
    tilted = likelihood.tilted(labels, cavity.mean, cavity.var)
    quadratic = precision * mean**2 - 2.0 * mean * b + var * b**2
    log_sites = 0.5 * (np.log(cavity.share) - quadratic / cavity.share)
    global_terms = sum(
        0.5 * float(p.mean[p.sites.rows] @ p.sites.b) - float(np.log(np.diagonal(p.L)).sum()) for p in parts
    )
    value = float(k @ (tilted.log_z - log_sites.sum(axis=1))) + global_terms
    if not gradient:
        return PairEvidence(value, [], np.zeros(0), parts)
    by_mean, by_var = (k[:, None] * slope for slope in _row_slopes(tilted, cavity, mean, var, precision, b))
    by_kernel = [_through_kernel(p, X, by_mean[:, c], by_var[:, c]) for c, p in enumerate(parts)]
    if isinstance(kernels, Kernel):
        by_kernel = [np.sum(by_kernel, axis=0)]
    return PairEvidence(value, by_kernel, likelihood.d_log_z(labels, cavity.mean, cavity.var, tilted) @ k, parts)


def _row_slopes(
    tilted: ClassMoments, cavity: Cavities, mean: Floats, var: Floats, precision: Floats, b: Floats
) -> tuple[Floats, Floats]:
    """Derivatives of the sums of log Z_i and -log Z~_ic in the marginal means and variances, (n, C)."""
    g, nu, share = tilted.g, tilted.nu, cavity.share
    by_mean = (g + precision * mean - b) / share
    by_var = g * (precision * cavity.mean - b) / share + 0.5 * (g**2 - nu) / share**2
    quadratic = precision * mean**2 - 2.0 * mean * b + var * b**2
    by_var = by_var + 0.5 * ((precision + b**2) / share + precision * quadratic / share**2)
    return by_mean, by_var


def _through_kernel(p: Dense, X: Inputs, by_mean: Floats, by_var: Floats) -> Floats:
    kernel, (rows, precision, _) = p.kernel, p.sites
    X = kernel.in_double(X)
    if not len(rows):
        return kernel.diag_vjp(X, by_var)
    root = np.sqrt(precision)
    half = inverse_lower(p.L) * root  # L^-1 Pi^1/2
    T, weights = p.M.T @ half, root * solve_lower(p.L, p.beta, transposed=True)
    cross = np.outer(T.T @ by_mean, weights)
    G = 0.5 * (np.outer(weights, weights) - half.T @ half) - 0.5 * (cross + cross.T) + (T.T * by_var) @ T
    rest = np.outer(by_mean, weights) - 2.0 * by_var[:, None] * T
    diagonal, here = by_var.copy(), np.arange(len(rows))
    diagonal[rows] += rest[rows, here]  # a row with itself is on the diagonal
    rest[rows, here] = 0.0
    return kernel.vjp(p.X, None, G) + kernel.vjp(X, p.X, rest) + kernel.diag_vjp(X, diagonal)
