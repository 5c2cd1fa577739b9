"""Rows that are told to a fitted posterior, whose own training rows are known by the sum of their sites only."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from .._types import Floats, Inputs, Rows
from ..errors import NotPositiveDefinite
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..likelihoods.classes import ClassLikelihood
from ..numerics.cholesky import solve_lower
from ..posterior import FactorisedPosterior, ProjectedPosterior
from ..shards.cavity import Cavity, in_units, log_site_integral, take_out
from .expected import AnyLikelihood

__all__ = ["Assimilated", "assimilate", "include", "stacked"]

_NEW = 1e-8  # least share of the variance of a row that the active ones leave, for it to become active
_SETTLED, _SWEEPS = 1e-10, 500
_SLOW = 0.5  # damping of sites that may disagree: of several classes, or not log-concave


class Assimilated(NamedTuple):
    """Posteriors of all functions that know the rows, with their sites."""

    parts: list[ProjectedPosterior] | list[FactorisedPosterior]
    precision: Floats  # (m, C)
    b: Floats
    chosen: list[Rows]  # rows that became active, for each function
    log_evidence: float  # by which it rises


class _Function:
    """One function on its active rows and, if there is room, some of the told ones.

    The sites of earlier rows stay on the projections that they were on, which are those of the first coordinates.
    """

    def __init__(self, part: ProjectedPosterior, X: Inputs, room: int) -> None:
        kernel = part.kernel
        K = np.asarray(kernel(X, part.X), dtype=np.float64) if len(part.L) else np.empty((X.shape[0], 0))
        self.V = solve_lower(part.L, K.T).T
        diagonal = np.asarray(kernel.diag(X), dtype=np.float64)
        self.left = np.maximum(diagonal - np.einsum("ij,ij->i", self.V, self.V), 0.0)
        self.part, self.X, self.chosen = part, X, list[int]()
        while len(self.chosen) < room and len(self.left):
            best = int(np.argmax(self.left / diagonal))
            if self.left[best] <= _NEW * diagonal[best]:
                break
            self._grow(kernel, best, diagonal[best])
        d, D = len(part.L), self.V.shape[1]
        self.precision, self.shift = np.eye(D), np.zeros(D)
        self.precision[:d, :d], self.shift[:d] = part.Q @ part.Q.T, part.Q @ part.beta

    def _grow(self, kernel: Kernel, row: int, own: float) -> None:
        K = np.array(kernel(self.X, self.X[row : row + 1]), dtype=np.float64)[:, 0]
        K[row] = own
        column = (K - self.V @ self.V[row]) / np.sqrt(self.left[row])
        self.V = np.column_stack([self.V, column])
        self.left = np.maximum(self.left - column**2, 0.0)
        self.chosen.append(row)

    def beliefs(self, precision: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Q and beta of the posterior with sites on the told rows (Thesis 4.4.2)."""
        try:
            Q = np.linalg.cholesky(self.precision + (self.V.T * precision) @ self.V)
        except np.linalg.LinAlgError as error:
            raise NotPositiveDefinite("the sites of the told rows leave no posterior") from error
        return Q, solve_lower(Q, self.shift + b @ self.V)

    def posterior(self, Q: Floats, beta: Floats) -> ProjectedPosterior:
        """Return the posterior for predictions."""
        part, rows = self.part, np.array(self.chosen, dtype=np.intp)
        d, D = len(part.L), self.V.shape[1]
        L = np.zeros((D, D))
        L[:d, :d], L[d:] = part.L, np.tril(self.V[rows], k=d)
        return replace(part, X=stacked(part.X, self.X[rows]), L=L, Q=Q, beta=beta)


def assimilate(
    parts: Sequence[ProjectedPosterior],
    likelihood: AnyLikelihood,
    X: Inputs,
    y: Floats,
    blur: bool,
    room: Sequence[int],
) -> Assimilated:
    r"""Give sites to rows that were told, by expectation propagation until they settle.

    .. math:: M = Q_0 Q_0^T + V \Pi V^T, \qquad \beta = Q^{-1} (Q_0 \beta_0 + V b)

    The sites of the rows before stay as they are: Q_0 and beta_0 are all that is known of them. So it is what a fit to
    all rows finds when noise is Gaussian, and near it else. The order of the rows does not matter.

    Parameters
    ----------
    parts : posteriors of all functions
    likelihood : of these rows, with their weights
    X, y : the rows; targets as the likelihood has them
    blur : bool
        Whether sites know the variance that the active rows leave.
    room : how many of the rows may become active, for each function
    """
    functions = [_Function(part, X, size) for part, size in zip(parts, room, strict=True)]
    left = np.stack([f.left if blur else np.zeros(X.shape[0]) for f in functions], axis=1)
    precision, b = np.zeros(left.shape), np.zeros(left.shape)
    copies = np.atleast_1d(likelihood.copies if isinstance(likelihood, ClassLikelihood) else 1.0)[:, None]
    damping = 1.0 if isinstance(likelihood, Likelihood) and likelihood.log_concave else _SLOW
    for _ in range(_SWEEPS):
        beliefs = [f.beliefs(precision[:, c], b[:, c]) for c, f in enumerate(functions)]
        cavity = _cavities(functions, beliefs, precision / copies, b / copies)
        log_z, pi, shift = _sites(likelihood, y, cavity, left)
        step = in_units(copies * pi - precision, copies * shift - b, cavity)
        if np.max(np.abs(step), initial=0.0) < _SETTLED:
            break
        precision += damping * (copies * pi - precision)
        b += damping * (copies * shift - b)
    constant = log_z - log_site_integral(precision / copies, b / copies, cavity).sum(axis=1)
    gain = float(np.sum(copies[:, 0] * constant))
    for f, (Q, beta) in zip(functions, beliefs, strict=True):
        gain += 0.5 * (beta @ beta - f.part.beta @ f.part.beta)
        gain -= float(np.sum(np.log(np.diagonal(Q))) - np.sum(np.log(np.diagonal(f.part.Q))))
    found = [f.posterior(*belief) for f, belief in zip(functions, beliefs, strict=True)]
    return Assimilated(found, precision, b, [np.array(f.chosen, dtype=np.intp) for f in functions], gain)


def _cavities(
    functions: Sequence[_Function], beliefs: Sequence[tuple[Floats, Floats]], precision: Floats, b: Floats
) -> Cavity:
    """Marginals of the projections without a copy of their own sites, (m, C)."""
    halves = [solve_lower(Q, f.V.T) for f, (Q, _) in zip(functions, beliefs, strict=True)]
    mean = np.stack([half.T @ beta for half, (_, beta) in zip(halves, beliefs, strict=True)], axis=1)
    var = np.stack([np.einsum("ij,ij->j", half, half) for half in halves], axis=1)
    return take_out(mean, var, precision, b, "float64")


def _sites(likelihood: AnyLikelihood, y: Floats, cavity: Cavity, left: Floats) -> tuple[Floats, Floats, Floats]:
    """Log normalisers, and sites on the projections that match the moments."""
    mean, var = cavity.cavity_mean, cavity.cavity_var + left
    if isinstance(likelihood, Likelihood):
        found = likelihood.tilted(y, mean[:, 0], var[:, 0])
        on_u = likelihood.site(y, mean[:, 0], var[:, 0], found)
        log_z, pi, b = found.log_z, on_u.precision[:, None], on_u.b[:, None]
    else:
        log_z, g, nu = likelihood.tilted(y.astype(np.intp), mean, var)
        rest = np.maximum(1.0 - var * nu, 1e-15)
        pi, b = nu / rest, (g + mean * nu) / rest
    blurred = np.maximum(1.0 + pi * left, 1e-12)
    return log_z, pi / blurred, b / blurred


def include(
    parts: Sequence[FactorisedPosterior], likelihood: AnyLikelihood, X: Inputs, y: Floats, room: int
) -> Assimilated:
    """Make rows active one after the other, as the papers' algorithm does, while there is room (NIPS03 algorithm 1)."""
    m, C = min(X.shape[0], room), len(parts)
    precision, b = np.zeros((X.shape[0], C)), np.zeros((X.shape[0], C))
    log_evidence: float = 0.0
    grown = list(parts)
    for i in range(m):
        row, here = X[i : i + 1], likelihood.take(np.array([i]))
        mean, var = (np.stack(v, axis=1) for v in zip(*(part.predict_in_double(row) for part in grown), strict=True))
        gained, precision[i], b[i] = _own_site(here, y[i : i + 1], mean, var)
        log_evidence += gained
        grown = [_with(part, row, precision[i, c], b[i, c]) for c, part in enumerate(grown)]
    return Assimilated(grown, precision, b, [np.arange(m)] * C, log_evidence)


def _own_site(likelihood: AnyLikelihood, y: Floats, mean: Floats, var: Floats) -> tuple[float, Floats, Floats]:
    nothing = Cavity(mean, var, mean, var, np.ones_like(var))
    log_z, pi, b = _sites(likelihood, y, nothing, np.zeros_like(var))
    least = 1e-10 / np.maximum(var, 1e-300)  # a row that says nothing
    says = pi > least
    return float(log_z[0]), np.where(says, pi, least)[0], np.where(says, b, least * mean)[0]


def _with(part: FactorisedPosterior, row: Inputs, pi: float, b: float) -> FactorisedPosterior:
    """Return a posterior with one more active row: a row of L, and one number of beta (SLH C.1)."""
    root, own = np.sqrt(pi), float(np.asarray(part.kernel.diag(row), dtype=np.float64)[0])
    K = np.asarray(part.kernel(part.X, row), dtype=np.float64)[:, 0] if len(part.beta) else np.empty(0)
    stub = solve_lower(part.L, np.sqrt(part.precision) * K * root)
    corner = np.sqrt(1.0 + max(float(pi * own - stub @ stub), 0.0))
    d = len(part.beta)
    L = np.zeros((d + 1, d + 1))
    L[:d, :d], L[d, :d], L[d, d] = part.L, stub, corner
    beta = np.append(part.beta, (b / root - stub @ part.beta) / corner)
    return FactorisedPosterior(
        part.kernel, stacked(part.X, row), np.append(part.precision, pi), np.append(part.site_mean, b / pi), L, beta
    )  # fmt: skip


def stacked(*parts: Inputs) -> Inputs:
    """Return inputs under each other, whatever kind they are of."""
    return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else sparse.vstack(parts, format="csr")
