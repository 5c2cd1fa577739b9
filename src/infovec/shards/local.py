"""A shard of the training set in this process's memory."""

from dataclasses import replace

import numpy as np
from scipy.linalg import solve_triangular

from .._types import Floats, Rows
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..likelihoods.parts import in_parts, row_bytes
from ..runtime import at_once, for_each, n_threads, parts
from ..scores import Score
from .eligibility import break_ties, open_scores
from .index import IndexRule
from .messages import Candidates, Facts, GivenRows, Inclusions, Representation
from .some_rows import SomeRows
from .stubs import CHUNK, FEWEST, Stubs

__all__ = ["LocalShard", "scored_at_once"]

_SCORED = 4096  # rows scored at once


def scored_at_once(row_bytes: int) -> int:
    """Rows that a thread scores at once, whose moments take so much memory on the way."""
    return at_once(_SCORED, n_threads() * row_bytes)


class LocalShard(Stubs):
    """Some rows of the training set with their stubs and marginals.

    Parameters
    ----------
    given : GivenRows
    kernel, likelihood, score
        The model, and what to select by.
    capacity : int
        How many inclusions to make room for.
    rule : IndexRule
        How many rows to go on considering.
    """

    refilled = False  # whether ``refill`` does anything

    def __init__(
        self,
        given: GivenRows,
        kernel: Kernel,
        likelihood: Likelihood,
        score: Score,
        capacity: int,
        dtype: str,
        rule: IndexRule = IndexRule(),
    ) -> None:
        rows, X, y, priority, held_back = given
        super().__init__(rows, X, kernel, capacity, dtype, max_entries=rule.max_entries)
        self.y, self.priority, self.likelihood = y, priority, likelihood.take(rows)
        self.score, self.capacity, self.rule, self.n_rows = score, capacity, rule, len(y)
        self.taken = np.zeros(len(y), dtype=bool)
        self.held_back = np.zeros(len(y), dtype=bool) if held_back is None else held_back
        self.pinned = self.held_back  # rows that stay in the index whatever their score
        self._begin()

    def _begin(self) -> None:
        """Take note of all rows, before any of them is dropped."""

    def facts(self) -> Facts:
        """Return what a driver must know before it starts."""
        return Facts(self.n_rows, int(np.sum(~self.held_back)), self.min_var, self.refilled)

    def pin(self, rows: Rows) -> None:
        """Keep some rows in the index whatever their score, until ``unpin``."""
        self.pinned = self.held_back | np.isin(self.rows, rows)

    def unpin(self) -> None:
        """Keep only rows that are held back."""
        self.pinned = self.held_back

    def refill(self, whole: Representation) -> None:
        """Exchange rows of the index for others; here all rows are in it that ever will be."""

    def outside(self) -> Rows:
        """Return the rows that are considered and not included, with those held back."""
        return self.rows[~self.taken]

    def considered(self) -> Rows:
        """Return the rows that may still be included."""
        return self.rows[~self.taken & ~self.held_back]

    def keys(self) -> Floats:
        """Selection key of every row here."""
        value, closed = np.empty(len(self.rows)), self.taken | self.held_back

        def score(part: slice) -> None:
            value[part] = open_scores(
                self.score, self.likelihood.take(np.arange(part.start, part.stop)), self.y[part], self.mean[part],
                self.var[part], self.prior_var[part], closed[part], self.min_var,
            )  # fmt: skip

        for_each(score, parts(len(value), scored_at_once(row_bytes(self.likelihood))))
        return break_ties(value, self.priority)

    def candidates(self, k: int) -> Candidates:
        """Return the k best rows that may be included, best first."""
        key = self.keys()
        k = min(k, len(key))
        if not k:
            return self._offer(np.empty(0, dtype=np.intp), key)
        least = np.partition(key, len(key) - k)[len(key) - k] if k > 1 else np.max(key)
        at = np.flatnonzero((key >= least) & np.isfinite(key))
        return self._offer(at[np.argsort(-key[at], kind="stable")[:k]], key)  # of equal keys the first rows

    def this(self, row: int) -> Candidates:
        """Return the given row, if it is here."""
        return self._offer(np.flatnonzero(self.rows == row), self.keys())

    def _offer(self, at: Rows, key: Floats) -> Candidates:
        return Candidates(
            self.rows[at], self.X[at], self.y[at], self.gather(at), self.mean[at], self.var[at], self.prior_var[at],
            key[at],
        )  # fmt: skip

    def absorb(self, block: Inclusions) -> None:
        """Append the stubs of newly included rows and update all marginals, of fewer rows if they become too many."""
        end = self.size + len(block.rows)
        self.taken[np.isin(self.rows, block.rows)] = True
        if self.rule.needs_shrinking(self.n_rows, len(self.rows), end, self.capacity):
            self.shrink(self.rule.limit(self.n_rows, end, self.capacity))
        super().absorb(block)

    def shrink(self, size: int) -> None:
        """Drop all rows but about ``size``; their stubs move together inside the buffer."""
        pinned = np.flatnonzero(self.pinned)
        kept = self.rule.keep(self.keys(), self.priority, max(size - len(pinned), 1))
        kept, n = np.union1d(kept, pinned), len(self.rows)
        self._blocks = []  # before new ones are made
        row = np.empty(len(kept), dtype=self.dtype)
        for r in range(self.size):  # in place: row r starts no later than it did
            self._buffer[r * n : (r + 1) * n].take(kept, out=row, mode="clip")
            self._buffer[r * len(kept) : (r + 1) * len(kept)] = row
        self.likelihood = self.likelihood.take(kept)
        self.rows, self.y, self.priority = self.rows[kept], self.y[kept], self.priority[kept]
        self.X = SomeRows.of(self.X, kept)
        self.mean, self.var, self.prior_var = self.mean[kept], self.var[kept], self.prior_var[kept]
        self.taken, self.held_back, self.pinned = self.taken[kept], self.held_back[kept], self.pinned[kept]
        self.bind()

    def pretend(self, size: int) -> None:
        """Have so many inclusions behind it that said nothing: to find out what the next ones will cost."""
        self.size, self.mean[:], self.var[:], self.taken[:] = size, 0.0, self.prior_var, False
        self.M[:] = 0.0

    def enlarge(self, capacity: int, max_entries: int | None) -> None:
        """Make room for more inclusions; nothing is computed anew."""
        self.rule = replace(self.rule, max_entries=max_entries)
        entries = capacity * self.n_rows
        bigger = np.empty(min(entries, max_entries or entries), dtype=self.dtype)
        if self.size * len(self.rows) > len(bigger):
            self.shrink(len(bigger) // max(self.size, 1))
        used = self.size * len(self.rows)
        bigger[:used] = self._buffer[:used]
        self._buffer, self.capacity = bigger, capacity

    def rewind(self, beta: Floats, active: Rows) -> None:
        """Undo the last inclusions: ``beta`` is that of the shard's whole active set, ``active`` the rows that stay."""
        new = self.M[len(active) :]
        self.mean -= beta[len(active) :].astype(self.dtype) @ new
        self.var += np.einsum("ij,ij->j", new, new)
        self.size, self.taken = len(active), np.isin(self.rows, active)

    def restore(self, whole: Representation, active: Rows) -> None:
        """Make all stubs and marginals anew from the representation, whatever state they are in."""
        self.size, self.taken = len(active), np.isin(self.rows, active)
        self.bind()
        self.complete(whole, np.arange(len(self.rows)))

    def complete(self, whole: Representation, at: Rows) -> None:
        r"""Make the stubs and marginals of some rows from nothing.

        .. math:: M_{\cdot,j} = L^{-1} \Pi_I^{1/2} K_{I,j}
        """
        step = at_once(CHUNK, 24 * max(self.size, 1), FEWEST)  # K, its multiple and the solution, in double precision
        for start in range(0, len(at) if self.size else 0, step):
            part = at[start : start + step]
            K = whole.root_precision[:, None] * self.kernel.on(self.X[part])(whole.X)
            new = solve_triangular(whole.L, K, lower=True, check_finite=False)
            self.M[:, part] = new
            self.mean[part] = whole.beta @ new
            self.var[part] = np.maximum(self.prior_var[part] - np.einsum("ij,ij->j", new, new), 0.0)

    def log_likelihood_outside(self) -> float:
        """Sum of log Z over the rows here that are not included."""
        return float(np.sum(self._log_z(np.flatnonzero(~self.taken))))

    def log_likelihood_held_back(self) -> tuple[float, int]:
        """Sum of log Z over the rows held back, and their number."""
        held = np.flatnonzero(self.held_back)
        return float(np.sum(self._log_z(held))), len(held)

    def _log_z(self, at: Rows) -> Floats:
        if not at.size:
            return np.zeros(0)
        var = np.maximum(self.var[at], self.min_var * self.prior_var[at])
        found: Floats = in_parts(
            lambda likelihood, *row: likelihood.tilted(*row).log_z, self.likelihood.take(at), self.y[at],
            self.mean[at], var,
        )  # fmt: skip
        return found
