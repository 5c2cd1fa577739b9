"""Sites at pairs of a row and a class, and the C posteriors that they give."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._types import Floats, Inputs, Rows
from ..errors import ParameterError
from ..kernels import Kernel
from ..numerics.cholesky import beyond_identity, solve_lower
from .factorised import FactorisedPosterior

__all__ = ["Cavities", "ClassSites", "Dense", "PairSites", "cavities", "kernel_of_each"]

_LEAST_SHARE = 1e-10


class ClassSites(NamedTuple):
    """Active rows of one class, in order of inclusion, and their sites exp(b u - precision u^2 / 2)."""

    rows: Rows
    precision: Floats
    b: Floats


PairSites = list[ClassSites]
"""One for each class; active sets differ."""


class Cavities(NamedTuple):
    """Marginals of all rows and classes without the row's own sites, (n, C)."""

    mean: Floats
    var: Floats
    share: Floats  # 1 - pi a; one where a pair has no site


def kernel_of_each(kernels: Kernel | Sequence[Kernel], n_classes: int) -> list[Kernel]:
    """Return a kernel for each class, the same one if it is shared."""
    many = [kernels] * n_classes if isinstance(kernels, Kernel) else list(kernels)
    if len(many) != n_classes:
        raise ParameterError(f"{n_classes} classes need one kernel or {n_classes}, got {len(many)}")
    return many


def cavities(mean: Floats, var: Floats, precision: Floats, b: Floats) -> Cavities:
    r"""Take a row's own sites out of its marginals, class by class (SLH B.1).

    .. math:: a_{\setminus i} = a_i / (1 - \pi_i a_i), \qquad h_{\setminus i} = (h_i - a_i b_i) / (1 - \pi_i a_i)

    All arrays are (n, C), with precision and b zero at pairs that have no site.
    """
    share = np.maximum(1.0 - precision * var, _LEAST_SHARE)
    return Cavities((mean - var * b) / share, var / share, share)


@dataclass(frozen=True, eq=False)
class Dense:
    r"""One class, made from nothing: its factor, and its stubs and marginals at some rows.

    .. math:: B = I + \Pi^{1/2} K_I \Pi^{1/2} = L L^T, \qquad \beta = L^{-1} \Pi^{-1/2} b, \qquad
              M = L^{-1} \Pi^{1/2} K_{I,\cdot}
    """

    kernel: Kernel
    sites: ClassSites
    X: Inputs  # of the active rows
    L: Floats
    beta: Floats
    M: Floats  # (d, n)
    mean: Floats
    var: Floats

    @classmethod
    def of(cls, kernel: Kernel, sites: ClassSites, X: Inputs, at: Rows) -> "Dense":
        """Return the class at the rows ``at`` of X, which are distinct and have all active ones among them."""
        root, X_active = np.sqrt(sites.precision), kernel.in_double(X[sites.rows])
        L = beyond_identity(root[:, None] * kernel(X_active) * root)
        beta = solve_lower(L, sites.b / root)
        here = kernel.in_double(X[at])
        prior_var = np.asarray(kernel.diag(here), dtype=np.float64)
        K = np.array(kernel.on(here)(X_active), dtype=np.float64)
        own = positions(at, sites.rows)
        K[np.arange(len(root)), own] = prior_var[own]  # a row with itself: white noise counts
        M = solve_lower(L, root[:, None] * K)
        mean, var = M.T @ beta, np.maximum(prior_var - np.einsum("ij,ij->j", M, M), 0.0)
        if len(root):  # without cancellation
            marginals = FactorisedPosterior(kernel, X_active, sites.precision, sites.b / sites.precision, L, beta)
            mean[own], var[own] = marginals.active_marginals()[:2]
        return cls(kernel, sites, X_active, L, beta, M, mean, var)

    def posterior(self) -> FactorisedPosterior:
        """Return it for predictions."""
        precision, b = self.sites.precision, self.sites.b
        return FactorisedPosterior(self.kernel, self.X, precision, b / precision, self.L, self.beta)


def positions(at: Rows, rows: Rows) -> Rows:
    """Return where the rows stand in ``at``."""
    order = np.argsort(at)
    return order[np.searchsorted(at, rows, sorter=order)]


def spread(sites: PairSites, at: Rows) -> tuple[Floats, Floats]:
    """Precisions and shifts of all pairs of the rows ``at``, (n, C); zero where there is no site."""
    precision, b = np.zeros((len(at), len(sites))), np.zeros((len(at), len(sites)))
    for c, (rows, pi, shift) in enumerate(sites):
        own = positions(at, rows)
        precision[own, c], b[own, c] = pi, shift
    return precision, b
