"""A shard of the training set in this process's memory."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from scipy.linalg import solve_triangular

from .._types import Floats, Rows
from ..errors import NotPositiveDefinite, ParameterError
from ..kernels import Block, Kernel
from ..likelihoods import Likelihood
from ..likelihoods.parts import in_parts, row_bytes
from ..runtime import at_once, for_each, n_threads, parts
from ..scores import Score
from .eligibility import break_ties, open_scores
from .index import IndexRule
from .messages import Candidates, Facts, GivenRows, Inclusions, Representation
from .some_rows import SomeRows

__all__ = ["LocalShard", "absorbed_at_once", "scored_at_once"]

# per precision of the stubs: share of the prior variance that is rounding, and that betrays an indefinite kernel
_ROUNDING: Mapping[str, float] = {"float32": 1e-5, "float64": 1e-13}
_INDEFINITE: Mapping[str, float] = {"float32": 1e-2, "float64": 1e-6}
_FEW = 4  # rows in a block below which starting threads costs more than they gain
_SCORED = 4096  # rows scored at once
_GATHERED = 2**18  # numbers of the stub matrix copied at once
_CHUNK_NUMBERS = 2**22  # numbers of the inputs in such a chunk: while it is prepared there are several copies
_CHUNK = 16384  # rows whose kernel block is formed at once: it stays in cache, and memory stays bounded
_FEWEST = 256  # rows in a chunk where memory is scarce
_BLOCK = 128  # inclusions that it is made for: the largest block, unless somebody asks for more


def absorbed_at_once(n: int, itemsize: int) -> int:
    """Rows whose stubs a thread makes at once: kernel, product and their sum for a block of inclusions."""
    return max(1, at_once(min(n, _CHUNK), 3 * n_threads() * _BLOCK * itemsize, _FEWEST))


def scored_at_once(row_bytes: int) -> int:
    """Rows that a thread scores at once, whose moments take so much memory on the way."""
    return at_once(_SCORED, n_threads() * row_bytes)


class LocalShard:
    r"""Some rows of the training set with their stubs and marginals.

    .. math:: M = L^{-1} \Pi_I^{1/2} K_{I,\cdot}, \qquad h = M^T \beta, \qquad
              a = \mathrm{diag}(K) - \mathrm{diag}(M^T M)

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
        self.rows, self.X, self.y, self.priority = rows, X, y, priority
        self.kernel, self.score, self.capacity, self.rule = kernel, score, capacity, rule
        self.likelihood = likelihood.take(rows)
        self.n_rows, self.size, self.dtype = len(y), 0, np.dtype(dtype)
        self._columns = X.shape[1] if X.ndim == 2 else 1
        self.prior_var = np.asarray(kernel.diag(X), dtype=np.float64)
        self.mean = np.zeros(len(y))
        self.var = self.prior_var.copy()
        self.taken = np.zeros(len(y), dtype=bool)
        self.held_back = np.zeros(len(y), dtype=bool) if held_back is None else held_back
        self.pinned = self.held_back  # rows that stay in the index whatever their score
        entries = capacity * len(y)
        self._buffer = np.empty(min(entries, rule.max_entries or entries), dtype=self.dtype)
        self._bind()
        self._check_definite()

    def _bind(self) -> None:
        """Prepare the kernel on chunks of the rows."""
        n = len(self.rows)
        half = -(-n // 2)  # two chunks at least, so that two threads have work
        step = min(_CHUNK, max(2048, min(half, _CHUNK_NUMBERS // self._columns)))
        step = min(step, absorbed_at_once(n, self.dtype.itemsize))
        self._blocks = [(chunk, self.kernel.on(self.X[chunk])) for chunk in parts(n, step)]

    def _stubs(self, size: int) -> Floats:
        n = len(self.rows)
        return self._buffer[: size * n].reshape(size, n)

    @property
    def M(self) -> Floats:
        """The stub matrix, (number of included rows, number of rows here)."""
        return self._stubs(self.size)

    @property
    def min_var(self) -> float:
        """Share of the prior variance below which a variance is rounding."""
        return _ROUNDING[self.dtype.name]

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
        at = np.argpartition(-key, k - 1)[:k] if k > 1 else np.array([np.argmax(key)])
        at = at[np.isfinite(key[at])]
        return self._offer(at[np.argsort(-key[at])], key)

    def this(self, row: int) -> Candidates:
        """Return the given row, if it is here."""
        return self._offer(np.flatnonzero(self.rows == row), self.keys())

    def _offer(self, at: Rows, key: Floats) -> Candidates:
        return Candidates(
            self.rows[at], self.X[at], self.y[at], self._gather(at), self.mean[at], self.var[at], self.prior_var[at],
            key[at],
        )  # fmt: skip

    def _gather(self, at: Rows) -> Floats:
        """Stubs of some rows, a share of them on every thread."""
        stubs = np.empty((self.size, len(at)), dtype=self.dtype)

        def copy(part: slice) -> None:
            self.M[part].take(at, axis=1, out=stubs[part], mode="clip")

        for_each(copy, parts(self.size, max(1, _GATHERED // max(len(at), 1))))
        return stubs

    def absorb(self, block: Inclusions) -> None:
        r"""Append the stubs of newly included rows and update all marginals (NIPS03 eq. 3, for a block).

        .. math:: M_B = L_{BB}^{-1} (\Pi_B^{1/2} K_{B,\cdot} - L_{BI} M_I)
        """
        t, end = self.size, self.size + len(block.rows)
        here = np.flatnonzero(np.isin(self.rows, block.rows))
        self.taken[here] = True
        if self.rule.needs_shrinking(self.n_rows, len(self.rows), end, self.capacity):
            self.shrink(self.rule.limit(self.n_rows, end, self.capacity))
            here = np.empty(0, dtype=np.intp)
        which = np.argsort(block.rows)[np.searchsorted(np.sort(block.rows), self.rows[here])]
        inverse = np.linalg.inv(block.L_corner)
        both = np.hstack([-inverse @ block.L_left, inverse * block.root_precision]).astype(self.dtype)
        beta = block.beta.astype(self.dtype)
        M = self._stubs(end)

        def absorb(part: tuple[slice, Block]) -> None:
            chunk, kernel = part
            own = (here >= chunk.start) & (here < chunk.stop)
            M[t:end, chunk] = kernel(block.X)
            M[t + which[own], here[own]] = self.prior_var[here[own]]  # a row with itself: white noise counts
            new = both @ M[:end, chunk]  # one product for both terms
            M[t:end, chunk] = new
            self.mean[chunk] += beta @ new
            self.var[chunk] -= np.einsum("ij,ij->j", new, new)

        if len(block.rows) < _FEW:
            for part in self._blocks:
                absorb(part)
        else:
            for_each(absorb, self._blocks)
        self.size = end
        self._check_definite()

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
        self._bind()

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
        self._bind()
        self.complete(whole, np.arange(len(self.rows)))

    def complete(self, whole: Representation, at: Rows) -> None:
        r"""Make the stubs and marginals of some rows from nothing.

        .. math:: M_{\cdot,j} = L^{-1} \Pi_I^{1/2} K_{I,j}
        """
        step = at_once(_CHUNK, 24 * max(self.size, 1), _FEWEST)  # K, its multiple and the solution, in double precision
        for start in range(0, len(at) if self.size else 0, step):
            part = at[start : start + step]
            K = whole.root_precision[:, None] * self.kernel.on(self.X[part])(whole.X)
            new = solve_triangular(whole.L, K, lower=True, check_finite=False)
            self.M[:, part] = new
            self.mean[part] = whole.beta @ new
            self.var[part] = np.maximum(self.prior_var[part] - np.einsum("ij,ij->j", new, new), 0.0)

    def _check_definite(self) -> None:
        if not np.all(np.isfinite(self.var)):
            raise ParameterError(
                f"the kernel is not finite: row {self.rows[np.argmin(np.isfinite(self.var))]} has variance nan or inf. "
                "Check the kernel function or matrix for NaN and overflow; rescale inputs or targets that are huge"
            )
        at = int(np.argmin(self.var / np.maximum(np.abs(self.prior_var), 1e-300))) if len(self.var) else 0
        if len(self.var) and self.var[at] < -_INDEFINITE[self.dtype.name] * np.abs(self.prior_var[at]):
            single = self.dtype == np.float32
            raise NotPositiveDefinite(
                f"the kernel is not positive definite{' in single precision' if single else ''}: after {self.size} "
                f"inclusions row {self.rows[at]} has variance {self.var[at]:.3g}. "
                + ("Use dtype='float64'. If that fails too, check" if single else "Check")
                + " the kernel function or matrix on the rows included so far and this one, or add White(...) to it"
            )
        np.maximum(self.var, 0.0, out=self.var)

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
