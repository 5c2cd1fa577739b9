"""A shard for the projected posterior: every row has a site on its projection onto the active set."""

from collections.abc import Callable
from threading import Lock

import numpy as np

from .._types import Floats, Inputs, Rows
from ..kernels import Kernel
from ..likelihoods import Likelihood, Site, Tilted, plain
from ..likelihoods.parts import in_parts
from ..numerics.cholesky import row_solver
from ..runtime import for_each, n_threads
from .cavity import Cavity, in_units, log_site_integral, take_out
from .gain import best_by_gain
from .messages import Beliefs, Gains, Marginals, Slopes, Steps, Sums, Swept, Traits
from .on_rows import OnRows
from .on_sites import WithSites
from .slopes import slopes

__all__ = ["ProjectedShard"]


class ProjectedShard(OnRows, WithSites[Sums]):
    """Some rows of the training set with their projections and sites (Thesis 4.4.2).

    Parameters
    ----------
    rows, X, kernel, dtype, blur, max_entries
        As for Projections.
    y : targets of these rows
    likelihood : Likelihood
    """

    def __init__(
        self,
        rows: Rows,
        X: Inputs,
        y: Floats,
        kernel: Kernel,
        likelihood: Likelihood,
        dtype: str,
        blur: bool = True,
        max_entries: int | None = None,
    ) -> None:
        super().__init__(rows, X, kernel, dtype, blur, max_entries)
        self.y, self.likelihood, n = y, likelihood.take(rows), len(y)
        self.precision, self.b, self.log_site = np.zeros(n), np.zeros(n), np.zeros(n)
        self._step, self._log_moved = np.zeros((2, n)), np.zeros(n)
        self.proper = False  # whether no site may have a negative precision: a row then has its say on the mean alone
        self._trail = []

    def look(self, depth: int) -> Sums:
        r"""See the first ``depth`` rows of the active set only, and return the sites of all rows added up.

        The factor L is nested, and so is V. A site on gamma becomes the one that the same site on u gives there.
        """
        on_u = self.latent_sites(self.rows)
        self.depth = depth

        def explain(chunk: slice) -> None:
            V = self.features(chunk)
            self.variance_left[chunk] = np.maximum(self.prior_var[chunk] - np.einsum("ij,ij->i", V, V), 0.0)

        for_each(explain, self.chunks)
        self.resume(self.rows, *on_u)
        self._step[:] = 0.0
        return self.sums()

    def start(self, rows: Rows, precision: Floats, b: Floats) -> Sums:
        """Give some rows the sites they have elsewhere, all others none."""
        self.precision[:], self.b[:] = 0.0, 0.0
        _, here, which = np.intersect1d(self.rows, rows, assume_unique=True, return_indices=True)
        blurred = 1.0 + precision[which] * self.blur_var[here]
        self.precision[here], self.b[here] = precision[which] / blurred, b[which] / blurred
        return self.sums()

    def traits(self) -> Traits:
        """Return what inference must know."""
        likelihood = self.likelihood
        lapses = getattr(plain(likelihood), "lapse", 0.0) > 0.0
        return Traits(len(self.y), 1, self.dtype, self.whole, likelihood.conjugate, likelihood.log_concave, lapses)

    def sharpness(self, common: float, sharpest: float) -> Floats:
        """How many rows have sharper sites than that, and how many there are."""
        sharp = (self.prior_var - common) * self.precision > sharpest
        return np.array([np.count_nonzero(sharp), len(sharp)], dtype=np.float64)

    def marginals(self, beliefs: Beliefs, rows: Rows | None = None) -> Marginals:
        """Return what the posterior says of the projections, for all rows here, or some of them."""
        solve = row_solver(beliefs.Q, self.dtype)
        mean, var, *_ = self.every_cavity(lambda V: solve(V.copy()), beliefs.beta)
        at = slice(None) if rows is None else np.flatnonzero(np.isin(self.rows, rows))
        found = Marginals(mean, var, self.precision, self.b, self.variance_left)
        return Marginals(*(part[at].copy() for part in found))

    def every_cavity(self, solve: Callable[[Floats], Floats], beta: Floats) -> "Cavity":
        """Marginals and cavities of all rows; ``solve`` gives V Q^-T."""
        found = np.empty((5, len(self.y)))

        def visit(chunk: slice) -> None:
            at = np.arange(chunk.start, chunk.stop)
            found[:, at] = self.cavity(at, solve(self.features(chunk)), beta)

        for_each(visit, self.chunks)
        return Cavity(*found)

    def gains(self, beliefs: Beliefs, k: int, barred: Rows) -> Gains:
        """Return the k rows whose becoming active would gain most, best first, none of those that are barred."""
        return best_by_gain(self, beliefs, k, barred)

    def slopes(self, beliefs: Beliefs, half: Floats, inverse: Floats, moving: bool = False) -> Slopes:
        """Return what the rows here add to the gradient of the evidence; half is Q^-1, inverse L^-1."""
        return slopes(self, beliefs, half, inverse, moving)

    def inputs(self, rows: Rows) -> tuple[Rows, Inputs]:
        """Return which of some rows are here, by their positions among them, and their inputs."""
        which = np.flatnonzero(np.isin(rows, self.rows))
        return which, self.X[np.searchsorted(self.rows, rows[which])]

    def sums(self) -> Sums:
        """Sites of all rows added up."""
        total, lock = self._empty(), Lock()

        @np.errstate(over="ignore", invalid="ignore")  # whoever adds up sites that are none sees that there is no sum
        def add(chunk: slice) -> None:
            at = np.flatnonzero((self.precision[chunk] != 0.0) | (self.b[chunk] != 0.0))
            if at.size:
                with self._work() as work:
                    part = self._sum(self.features(chunk), at, self.precision[chunk][at], self.b[chunk][at], work)
                with lock:
                    _add(total, part)

        for_each(add, self.chunks)
        return total

    def forces(self, mean: Floats) -> Floats:
        """Sum of (b - pi mu) V over all rows, in double precision: where v has the posterior mean it is that."""
        total, lock = np.zeros(self.depth), Lock()

        def add(chunk: slice) -> None:
            V = self.features(chunk).astype(np.float64, copy=False)
            part = (self.b[chunk] - self.precision[chunk] * (V @ mean)) @ V
            with lock:
                np.add(total, part, out=total)

        for_each(add, self.chunks)
        return total

    def _empty(self) -> Sums:
        return Sums(np.zeros((self.depth, self.depth)), np.zeros(self.depth))

    def _sum(self, V: Floats, at: Rows, precision: Floats, b: Floats, work: Floats) -> Sums:
        """Products in the shard's precision; a site that is not log-concave may have a negative precision."""
        root, W = np.sqrt(np.abs(precision)).astype(self.dtype), work[0, : len(at)]
        if len(at) < len(V):
            V = np.take(V, at, axis=0, out=work[1, : len(at)], mode="clip")
        np.multiply(V, root[:, None], out=W)
        total = W.T @ W
        if (precision < 0.0).any():
            N = W[precision < 0.0]
            total -= 2.0 * (N.T @ N)
        return Sums(total, b.astype(self.dtype) @ V)

    def cavity(self, at: Rows, C: Floats, beta: Floats) -> Cavity:
        r"""Marginals of projections, C = V Q^-T, and their cavities (Thesis 4.14, C.4.1).

        .. math:: \mu_i = c_i^T \beta, \quad q_i = |c_i|^2, \quad
                  q_{\setminus i} = \frac{q_i}{1 - \pi_i q_i}, \quad
                  \mu_{\setminus i} = \frac{\mu_i - q_i b_i}{1 - \pi_i q_i}
        """
        mean = (C @ beta.astype(self.dtype)).astype(np.float64)
        var = np.einsum("ij,ij->i", C, C).astype(np.float64)
        return take_out(mean, var, self.precision[at], self.b[at], self.dtype)

    def tilted(self, at: Rows, cavity: Cavity) -> tuple[Tilted, Site]:
        r"""Tilted moments of the blurred sites, and the sites on gamma that match them.

        .. math:: \tilde t_i(\gamma) = \int p(y_i \mid u) N(u \mid \gamma, l_i^2) \, du, \qquad
                  \pi_i = \frac{\pi}{1 + \pi l_i^2}, \quad b_i = \frac{b}{1 + \pi l_i^2}

        where pi and b are those of the site on u.
        """
        likelihood, y, blur = self.likelihood.take(at), self.y[at], self.blur_var[at]
        var = cavity.cavity_var + blur
        tilted: Tilted = in_parts(type(likelihood).tilted, likelihood, y, cavity.cavity_mean, var, n_threads())
        on_u = likelihood.site(y, cavity.cavity_mean, var, tilted)
        blurred = np.maximum(1.0 + on_u.precision * blur, 1e-12)
        flat = (self.proper | likelihood.waits) & (on_u.precision < 0.0)
        begun = (self.precision[at] != 0.0) | (self.b[at] != 0.0) | (not likelihood.waits)  # a row waits until then
        shift = np.where(begun, tilted.g, 0.0)  # b = g matches the mean
        return tilted, Site(np.where(flat, 0.0, on_u.precision / blurred), np.where(flat, shift, on_u.b / blurred))

    def sweep(self, beliefs: Beliefs, damping: float, still: float, pace: float) -> Swept[Sums]:
        """Update the sites of all open rows at once, each from its own cavity.

        A row is no longer open when its site moved by less than ``still`` and would do so again: a site moves at most
        about as much as the largest of all did before, ``pace``, in proportion to its influence on the posterior.
        The constant of a site at rest is that of the site after its last move: so it is exact to second order.
        """
        solve, open_, settled = row_solver(beliefs.Q, self.dtype), self._empty(), self._empty()
        steps, lock = list[Steps](), Lock()
        self.log_site[~self.open] = self._log_moved[~self.open]
        self.remember()

        @np.errstate(over="ignore", invalid="ignore", divide="ignore")  # a step too far is looked for, and taken back
        def visit(chunk: slice) -> None:
            here = np.flatnonzero(self.open[chunk])
            if not here.size:
                return
            V, at = self.features(chunk), chunk.start + here
            with self._work() as work:
                C = np.take(V, here, axis=0, out=work[0, : len(here)], mode="clip")
                step, influence = self._update(at, solve(C), beliefs.beta, damping)
                moves = np.maximum(np.abs(step), pace * np.abs(influence)).max(axis=0) >= still
                for total, rows in ((open_, here[moves]), (settled, here[~moves])):
                    if rows.size:
                        part = self._sum(V, rows, self.precision[chunk][rows], self.b[chunk][rows], work)
                        with lock:
                            _add(total, part)
            self.open[at] = moves
            steps.append(self.note(at, step))

        for_each(visit, self.chunks)
        return Swept(open_, settled, Steps.total(steps))

    def _update(self, at: Rows, C: Floats, beta: Floats, damping: float) -> tuple[Floats, Floats]:
        """Move the sites of some rows; return how far each had to go and how large it is, in units of the posterior.

        A row whose target is impossible in double precision, so far off is its cavity, keeps its site and has
        infinitely far to go.
        """
        cavity = self.cavity(at, C, beta)
        tilted, site = self.tilted(at, cavity)
        pi, b = self.precision[at], self.b[at]
        log_site = tilted.log_z - log_site_integral(pi, b, cavity)
        step, influence = in_units(site.precision - pi, site.b - b, cavity), in_units(site.precision, site.b, cavity)
        lost = ~np.isfinite(log_site + step.sum(axis=0))
        self.log_site[at] = log_site
        self.precision[at] = pi = np.where(lost, pi, pi + damping * (site.precision - pi))
        self.b[at] = b = np.where(lost, b, b + damping * (site.b - b))
        self._log_moved[at] = tilted.log_z - log_site_integral(pi, b, cavity.with_site(pi))
        return np.where(lost, np.inf, step), np.where(lost, 0.0, influence)

    def rest(self) -> None:
        """Drop what only further sweeps would need."""
        self._trail, self._step, self._log_moved = [], np.zeros((2, 0)), np.zeros(0)

    def exact(self) -> Sums:
        """Give all rows their sites where these are the likelihood itself, and no cavity matters."""
        at, zero = np.arange(len(self.y)), np.zeros(len(self.y))
        tilted, site = self.tilted(at, Cavity(zero, zero, zero, zero, zero + 1.0))
        self.log_site, self.precision, self.b = tilted.log_z, np.array(site.precision), np.array(site.b)
        return self.sums()

    def begin_again(self) -> Sums:
        """Forget sites that lead nowhere: all of them, or those of negative precision, which are allowed no longer."""
        self.proper = not self.likelihood.log_concave
        if not self.proper:
            self.precision[:], self.b[:] = 0.0, 0.0
        return self.make_proper()


def _add(total: Sums, part: Sums) -> None:
    np.add(total.precision, part.precision, out=total.precision)
    np.add(total.shift, part.shift, out=total.shift)
