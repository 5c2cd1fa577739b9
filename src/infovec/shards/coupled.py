"""A shard for many classes: every row has a site for each class, and its likelihood couples them."""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import TypeAlias

import numpy as np

from .._types import Floats, Inputs, Rows
from ..kernels import Kernel
from ..likelihoods.classes import ClassLikelihood, ClassMoments
from ..numerics.cholesky import row_solver
from ..runtime import for_each
from .cavity import Cavity, in_units, log_site_integral, take_out
from .messages import Marginals, Slopes, Steps, Swept, Traits
from .on_rows import OnRowsOfClasses
from .on_sites import WithSites
from .slopes import slopes_of_classes

__all__ = ["CoupledShard", "Solver", "solvers"]

Solver: TypeAlias = Callable[[Floats], Floats]
_FAINT = 1e-9  # precision of a site, as a share of the posterior's, that is left out of the sums
_LEAST_SHARE = 1e-12
_MOST_TAKEN = 0.9  # of what is known of a projection without its row
_MOST_TIED = 0.95  # of q_y sum pi, which is below one


def solvers(factors: Floats, dtype: str) -> list[Solver]:
    """Return the triangular solves with the factors of all classes."""
    return [row_solver(Q, dtype) for Q in factors]


class CoupledShard(OnRowsOfClasses, WithSites[Floats]):
    r"""Some rows of the training set with C latent functions of one kernel, seen through one active set.

    Given the sites the functions are independent, so there are C posteriors of v; V is the same for all. The blurred
    site of a row is the likelihood averaged over all its latent values,

    .. math:: \tilde t_i(\gamma_1, \dots, \gamma_C) = \int P(y_i \mid u_1, \dots, u_C)
              \prod_c N(u_c \mid \gamma_c, l_i^2) \, du_c

    and its Gaussian stand-in is diagonal in the classes, so that a row costs O(C) beside the products with V. The force
    of a site is :math:`\alpha = b - \pi \mu`; their sum V alpha is the posterior mean of v.

    A row of weight k has k equal sites, as if it were there k times: the posterior knows their product, each of them is
    matched in the cavity without itself alone, and the evidence counts it k times. So whole weights are repetitions,
    and others come between and below: this is power EP (Minka 2004) with the power 1 / k, of which the evidence has the
    same gradient as that of EP.

    Parameters
    ----------
    rows, X, kernel, dtype, blur, max_entries
        As for Projections.
    labels : array of int
        Classes of these rows, from 0.
    likelihood : ClassLikelihood
    """

    def __init__(
        self,
        rows: Rows,
        X: Inputs,
        labels: Rows,
        kernel: Kernel,
        likelihood: ClassLikelihood,
        dtype: str,
        blur: bool = True,
        max_entries: int | None = None,
    ) -> None:
        super().__init__(rows, X, kernel, dtype, blur, max_entries)
        self.labels, self.likelihood = labels, likelihood.take(rows)
        self.copies: Floats = np.broadcast_to(self.likelihood.copies, len(rows))
        self._in_part = bool(np.any(self.copies < 1.0))
        shape = len(rows), likelihood.n_classes
        self.precision, self.b, self.log_site = np.zeros(shape), np.zeros(shape), np.zeros(len(rows))
        self.seen = np.zeros((4, *shape))  # mean and variance of the projections, and the sites that gave them
        self._missing = np.zeros(shape)
        self._ties, self._own_var = np.zeros(shape), np.zeros(len(rows))  # how the forces answer to a move
        self._step = np.zeros((2, *shape))
        self._trail = []

    def traits(self) -> Traits:
        """Return what inference must know."""
        likelihood, n = self.likelihood, len(self.rows)
        lapses = likelihood.lapse > 0.0
        return Traits(n, likelihood.n_classes, self.dtype, self.whole, False, not lapses, lapses)

    def sharpness(self, common: float, sharpest: float) -> Floats:
        """How many rows have sharper sites than that, and how many there are; a row counts by its share of classes."""
        sharp = (self.prior_var - common)[:, None] * self.precision > sharpest
        return np.array([np.count_nonzero(sharp) / sharp.shape[1], len(sharp)], dtype=np.float64)

    def seen_before(self, rows: Rows | None = None) -> Marginals:
        """Return what the last sweep saw of the projections of rows, and the sites that it saw it with."""
        at = slice(None) if rows is None else np.flatnonzero(np.isin(self.rows, rows))
        mean, var, precision, b = self.seen[:, at].copy()
        return Marginals(mean, var, precision, b, self.variance_left[at].copy())

    def slopes(self, mean: Floats, factors: Floats, covariances: Floats, inverse: Floats) -> Slopes:
        """Return what the rows here add to the gradient of the evidence; inverse is L^-1, the others of every class."""
        return slopes_of_classes(self, mean, factors, covariances, inverse)

    def shift(self) -> Floats:
        """Sum of b V over all rows, shape (C, d)."""
        return self._each(lambda chunk, V: self.b[chunk])

    def missing(self) -> Floats:
        """What the forces would change by if the mean of v stood still, added up, shape (C, d)."""
        return self._each(lambda chunk, V: self._missing[chunk])

    def response(self, change: Floats) -> Floats:
        """By how much the forces fall when the mean of v changes, added up, shape (C, d)."""
        return self._each(lambda chunk, V: self._fall(chunk, self._moves(V, change)))

    def couple(self, change: Floats, damping: float) -> None:
        """Let the forces fall as those of coupled classes do when the mean of v changes, not as each alone would."""

        def move(chunk: slice) -> None:
            delta = self._moves(self.features(chunk), change)
            self.b[chunk] += damping * (self.precision[chunk] * delta - self._fall(chunk, delta))

        for_each(move, self.chunks)

    def _each(self, forces: Callable[[slice, Floats], Floats]) -> Floats:
        total, lock = np.zeros((self.likelihood.n_classes, self.depth)), Lock()

        @np.errstate(over="ignore", invalid="ignore")  # whoever adds up sites that are none sees that there is no sum
        def add(chunk: slice) -> None:
            V = self.features(chunk)
            part = (V.T @ forces(chunk, V).astype(self.dtype)).T
            with lock:
                np.add(total, part, out=total)

        for_each(add, self.chunks)
        return total

    def _moves(self, V: Floats, change: Floats) -> Floats:
        return (V @ change.T.astype(self.dtype)).astype(np.float64)

    def _fall(self, chunk: slice, delta: Floats) -> Floats:
        one = _fall(delta, self.labels[chunk], self._ties[chunk], self._own_var[chunk])
        return self.copies[chunk, None] * one

    def sums(self) -> Floats:
        """Sum of pi V V^T over all rows, for every class."""
        total, lock = self._empty(), Lock()

        @np.errstate(over="ignore", invalid="ignore")
        def add(chunk: slice) -> None:
            counts = self.precision[chunk] != 0.0
            here = np.flatnonzero(counts.any(axis=1))
            with self._work() as work:
                self._add(total, self.features(chunk), here, chunk, counts[here], work, lock)

        for_each(add, self.chunks)
        return total

    def _empty(self) -> Floats:
        return np.zeros((self.likelihood.n_classes, self.depth, self.depth))

    def _add(
        self, total: Floats, V: Floats, here: Rows, chunk: slice, counts: Floats, work: Floats, lock: Lock
    ) -> None:
        """Add the sites of some rows of a chunk; of a class only those that count."""
        pi = self.precision[chunk][here]
        root = np.sqrt(np.abs(pi)).astype(self.dtype)
        for c in range(len(total)):
            for sign, side in ((1.0, ~(pi[:, c] < 0.0)), (-1.0, pi[:, c] < 0.0)):
                some = np.flatnonzero(counts[:, c] & side)
                if some.size:
                    W = np.take(V, here[some], axis=0, out=work[0, : len(some)], mode="clip")
                    W *= root[some, c, None]
                    part = sign * (W.T @ W)
                    with lock:
                        total[c] += part

    def cavity(self, at: Rows, V: Floats, mean: Floats, solve: Sequence[Solver], work: Floats) -> Cavity:
        """Marginals and cavities of the projections of some rows, for all classes: shape (len(at), C)."""
        gamma = self._moves(V, mean)
        var = np.empty_like(gamma)
        C = work[: len(at)]
        for c, one in enumerate(solve):
            np.copyto(C, V)
            one(C)
            var[:, c] = np.einsum("ij,ij->i", C, C)
        k, pi = self.copies[at, None], self.precision[at]
        taken = 1.0 / k
        if self._in_part:
            taken = np.where(k < 1.0, 1.0 / np.maximum(k, pi / _most(pi, k, var)), taken)
        return take_out(gamma, var, taken * pi, taken * self.b[at], self.dtype)

    def tilted(self, at: Rows, cavity: Cavity) -> tuple[ClassMoments, Floats]:
        r"""Tilted moments of a copy of each blurred site, and the precisions of the sites on gamma that match them.

        .. math:: \pi = \frac{\nu}{1 - (q_\setminus + l^2) \nu + l^2 \nu}
        """
        var = cavity.cavity_var + self.blur_var[at, None]
        tilted = self.likelihood.take(at).tilted(self.labels[at], cavity.cavity_mean, var)
        return tilted, tilted.nu / np.maximum(1.0 - cavity.cavity_var * tilted.nu, 1e-12)

    def sweep(
        self, mean: Floats, factors: Floats, damping: float, still: float, pace: float, tied: bool
    ) -> Swept[Floats]:
        """Update the sites of all open rows at once, each from its own cavities; see ProjectedShard.

        ``mean`` and ``factors`` are those of the posteriors of v, one for each class. ``tied`` counts on ``couple`` to
        follow, with the change of the mean that solves for all classes at once.
        """
        open_, settled, steps, lock = self._empty(), self._empty(), list[Steps](), Lock()
        solve = solvers(factors, self.dtype)
        self._missing[:] = 0.0
        self.remember()

        @np.errstate(over="ignore", invalid="ignore", divide="ignore")  # a step too far is looked for, and taken back
        def visit(chunk: slice) -> None:
            here = np.flatnonzero(self.open[chunk])
            if not here.size:
                return
            V, at = self.features(chunk), chunk.start + here
            with self._work() as work:
                some = V if len(here) == len(V) else np.take(V, here, axis=0, out=work[1, : len(here)], mode="clip")
                cavity = self.cavity(at, some, mean, solve, work[0])
                step, influence = self._update(at, cavity, damping, tied)
                moves = np.maximum(np.abs(step), pace * np.abs(influence)).max(axis=(0, 2)) >= still
                counts = np.abs(self.precision[at]) * cavity.var > _FAINT
                for total, which in ((open_, moves), (settled, ~moves)):
                    self._add(total, V, here[which], chunk, counts[which], work, lock)
            self.open[at] = moves
            steps.append(self.note(at, step))

        for_each(visit, self.chunks)
        return Swept(open_, settled, Steps.total(steps))

    def rest(self) -> None:
        """Drop what only further sweeps would need."""
        self._trail = []

    def _update(self, at: Rows, cavity: Cavity, damping: float, tied: bool) -> tuple[Floats, Floats]:
        """Move the sites of some rows; return how far each had to go and how large it is, in units of the posterior."""
        tilted, one = self.tilted(at, cavity)
        pi, b, labels, k = self.precision[at], self.b[at], self.labels[at], self.copies[at, None]
        if self._in_part:
            one = np.where(k < 1.0, np.minimum(one, _most(pi, k, cavity.var)), one)
        alpha, precision = b - pi * cavity.mean, k * one
        self.log_site[at] = k[:, 0] * (tilted.log_z - log_site_integral(pi / k, b / k, cavity).sum(axis=1))
        # by which the cavity is off when the force becomes g
        lag = cavity.cavity_mean + cavity.cavity_var * tilted.g - cavity.mean
        ties, own_var = self._ties[at], self._own_var[at] = _star(labels, np.maximum(tilted.nu, 0.0), cavity.cavity_var)
        missing = k * (tilted.g + (_fall(lag, labels, ties, own_var) if tied else one * lag)) - alpha
        self.precision[at] = pi + damping * (precision - pi)
        self.b[at] = alpha + damping * missing + self.precision[at] * cavity.mean
        self._missing[at], self.seen[:, at] = missing, [cavity.mean, cavity.var, pi, b]
        influence = in_units(precision, alpha + missing + precision * cavity.mean, cavity)
        return np.stack([(precision - pi) * cavity.var, missing * np.sqrt(cavity.var)]), influence


def _most(pi: Floats, k: Floats, var: Floats) -> Floats:
    r"""Largest precision of one of k < 1 copies: taken out, it leaves a tenth of what is known without the row.

    .. math:: r - (1 - k) \pi_1 \ge \tfrac1{10} r, \qquad r = \frac1q - k \pi_1
    """
    whole = 1.0 / np.maximum(var, 1e-300)
    rest = np.maximum(whole - pi, _LEAST_SHARE * whole)
    with np.errstate(over="ignore"):  # then there is no largest one
        return _MOST_TAKEN * rest / np.maximum(1.0 - k, _LEAST_SHARE)


def _star(labels: Rows, nu: Floats, var: Floats) -> tuple[Floats, Floats]:
    r"""How the forces of a row answer to a move of its projections: ties to the own class, and the variance of that.

    A shift of all classes changes nothing, so the curvature of log Z is a weighted graph of the classes. Of its edges
    those to the own class are the heavy ones, and their sum is :math:`\nu_y`:

    .. math:: N = \sum_{j \ne y} w_j (e_y - e_j)(e_y - e_j)^T, \quad w_j = \nu_y \frac{\nu_j}{\sum \nu_j}, \qquad
              \pi_j = \frac{w_j}{1 - q_j w_j}
    """
    rows = np.arange(len(nu))
    ties = nu.copy()
    ties[rows, labels] = 0.0
    total = ties.sum(axis=1)
    ties *= (np.minimum(nu[rows, labels], total) / np.maximum(total, 1e-300))[:, None]
    return ties / np.maximum(1.0 - var * ties, 1e-12), var[rows, labels]


def _fall(delta: Floats, labels: Rows, ties: Floats, own_var: Floats) -> Floats:
    r"""Fall of the forces of every class when the projections move by delta, shape (n, C).

    .. math:: P = N (I - Q N)^{-1} = A \Bigl(\Pi + \frac{q_y \pi \pi^T}{1 - q_y \sum \pi}\Bigr) A^T, \qquad
              A = (e_y - e_j)_j

    with Q the variances of the cavities.
    """
    rows = np.arange(len(delta))
    lag = delta[rows, labels][:, None] - delta
    own = own_var / (1.0 - np.minimum(own_var * ties.sum(axis=1), _MOST_TIED))
    fall = -ties * (lag + (own * np.einsum("ij,ij->i", ties, lag))[:, None])
    fall[rows, labels] = -fall.sum(axis=1)
    return fall
