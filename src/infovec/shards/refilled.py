"""Randomised greedy selection with a small index that is refilled at random (NIPS03, end of section 3)."""

import numpy as np

from .._types import Floats, Inputs, Rows
from .local import LocalShard
from .messages import Inclusions, Representation

__all__ = ["RefilledShard"]


class RefilledShard(LocalShard):
    """A shard that considers only some rows at a time, and exchanges the worse of them for others.

    All rows are considered until ``full_until`` are included. Then an index of ``index_size`` rows remains; at every
    look the best ``retained`` share of it stays and the rest is drawn at random from all other rows, whose stubs are
    made when they come in. Rows out of the index cost nothing.

    The rule of the index has a ``Refill``; the other parameters are those of LocalShard.
    """

    refilled = True

    def _begin(self) -> None:
        assert self.rule.refill is not None
        self.index_size, self.retained, self.full_until, seed = self.rule.refill
        self.rng = np.random.default_rng(seed)
        self._all: tuple[Rows, Inputs, Floats, Floats] = self.rows, self.X, self.y, self.priority
        self._all_taken, self._all_held = self.taken.copy(), self.held_back.copy()
        self._whole_likelihood = self.likelihood

    def absorb(self, block: Inclusions) -> None:
        self._all_taken[np.isin(self._all[0], block.rows)] = True
        super().absorb(block)

    def rewind(self, beta: Floats, active: Rows) -> None:
        super().rewind(beta, active)
        self._all_taken = np.isin(self._all[0], active)

    def restore(self, whole: Representation, active: Rows) -> None:
        self._all_taken = np.isin(self._all[0], active)
        super().restore(whole, active)

    def refill(self, whole: Representation) -> None:
        """Exchange the worse rows of the index for rows drawn at random."""
        if self.size < self.full_until:
            return
        n_held = int(np.sum(self.held_back))
        if len(self.rows) > self.index_size + n_held:
            self.shrink(self.index_size + n_held)
        n_new = int((1.0 - self.retained) * (len(self.rows) - n_held))
        outside = np.flatnonzero(~self._all_taken & ~self._all_held & ~np.isin(self._all[0], self.rows))
        n_new = min(n_new, len(outside))
        if not n_new:
            return
        key = np.where(self.held_back, np.inf, self.keys())
        out = np.argpartition(key, n_new - 1)[:n_new]
        self._replace(out, self.rng.choice(outside, n_new, replace=False), whole)

    def _replace(self, out: Rows, incoming: Rows, whole: Representation) -> None:
        """Put rows (by their place among all) into positions of the index, and make their stubs."""
        order = np.argsort(np.concatenate([np.delete(self.rows, out), self._all[0][incoming]]))
        kept = np.delete(np.arange(len(self.rows)), out)
        place = np.concatenate([np.searchsorted(self._all[0], self.rows[kept]), incoming])[order]
        for r in range(self.size):
            row = self.M[r]
            row[:] = np.concatenate([row[kept], np.zeros(len(out), self.dtype)])[order]
        fill = np.zeros(len(out))
        self.mean, self.var = (np.concatenate([v[kept], fill])[order] for v in (self.mean, self.var))
        self.held_back = np.concatenate([self.held_back[kept], fill.astype(bool)])[order]
        self.pinned = self.held_back
        self.rows, self.X, self.y, self.priority = (v[place] for v in self._all)
        self.likelihood = self._whole_likelihood.take(place)
        self.taken = self._all_taken[place]
        self.prior_var = np.asarray(self.kernel.diag(self.X), dtype=np.float64)
        self.bind()
        self.complete(whole, np.flatnonzero(np.isin(place, incoming)))
