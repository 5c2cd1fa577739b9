"""Greedy choice of pairs of a row and a class (SLH 4.2), in blocks."""

from collections.abc import Sequence
from math import isqrt

import numpy as np

from .._types import Floats, Inputs, Mask, Rows
from ..kernels import Kernel
from ..likelihoods.classes import ClassLikelihood
from ..posterior import Cavities, ClassSites, PairSites, cavities, kernel_of_each
from ..runtime import NEVER, Deadline, Late, check, work_until
from ..scores import SCORES, Score
from ..shards import Stubs, break_ties
from .inclusion import PoolStubs
from .schedule import Schedule

__all__ = ["choose_pair_schedule", "select_pairs"]

_MIN_PRECISION = 1e-8  # of a site, in units of the prior precision of its pair
_LARGEST = 64  # pairs in a block: every inclusion scores the whole pool, all classes of it
_POOL = 3  # candidate rows for each pair of a block
_INNER, _LAST = 6, 40  # steps to the sites of twice as many copies, and to those of all
_LEAST_SHARE = 0.1  # of a marginal's precision, where the whole of a site is taken out that is there in part only
_SMALL = 3000  # pairs of row and class up to which one look at all for each inclusion costs little


def choose_pair_schedule(n: int, n_classes: int, pairs: int, hurried: bool = False) -> Schedule:
    """Return sizes of blocks and pools for n rows and so many pairs to choose.

    In a hurry they are those with the fewest moments: n rows for every block, and a pool for every pair in it.
    """
    if hurried:
        block = min(_LARGEST, max(4, isqrt(n // _POOL)))
    else:
        block = 1 if n * n_classes <= _SMALL else min(_LARGEST, max(4, pairs // 16))
    return Schedule(block, 1 if block == 1 else min(n, _POOL * block), hurried)


def select_pairs(
    X: Inputs,
    labels: Rows,
    kernels: Kernel | Sequence[Kernel],
    likelihood: ClassLikelihood,
    n_pairs: int,
    score: str | Score = "information_gain",
    priority: Floats | None = None,
    schedule: Schedule | None = None,
    dtype: str = "float64",
    deadline: Deadline = NEVER,
) -> PairSites:
    r"""Give sites to the best pairs, one after the other: row j becomes active for class c.

    The tilted density of a row is that of its coupled likelihood times its cavity: the current marginals without the
    sites that the row has for other classes already. A pair's site matches its marginal moments (SLH eq. 7),

    .. math:: \pi = \nu / (1 - a \nu), \qquad b = (g + h \nu) / (1 - a \nu).

    A pair of a row of weight k gets k equal sites, each of which matches the moments in the presence of the others.

    Parameters
    ----------
    X, labels
        Training rows; labels are 0 to C - 1.
    kernels : Kernel or C of them
    likelihood : ClassLikelihood
    n_pairs : int
        Over all classes.
    score : name in ``infovec.scores.SCORES``, or a function of (n, C) arrays
    priority : array of shape (n,), optional
        Breaks ties between rows, the largest first; row order if None. Between classes the own one comes first.
    schedule : Schedule, optional
        Sizes of blocks, in pairs, and of pools, in rows. Blocks of one are the algorithm of SLH.
    deadline : Deadline
        Ends it with the blocks so far, of which there is one at least.
    """
    n, C = len(labels), likelihood.n_classes
    wanted = min(n_pairs, n * C)
    schedule = schedule or choose_pair_schedule(n, C, wanted)
    room = min(n, wanted + wanted // 4, wanted // C + wanted // (4 * C) + 1)
    stubs = [Stubs(np.arange(n), X, kernel, room, dtype) for kernel in kernel_of_each(kernels, C)]
    rule = SCORES[score] if isinstance(score, str) else score
    state = _State(stubs, labels, likelihood, rule, np.linspace(1.0, 0.0, n) if priority is None else priority)
    size = 0
    while size < wanted:
        block, pool_size = schedule.sizes(size)
        try:
            came_in = state.step(min(block, wanted - size), pool_size, deadline if size else NEVER)
        except Late:
            break
        if not came_in:
            break
        size += came_in
    return state.sites()


class _View:
    """Some rows with the marginals and sites of all their classes: what a choice needs."""

    def __init__(
        self, labels: Rows, weight: Floats, mean: Floats, var: Floats, prior: Floats, floor: Floats, priority: Floats
    ) -> None:
        self.labels, self.weight, self.mean, self.var, self.prior, self.floor = labels, weight, mean, var, prior, floor
        self.precision, self.b = np.zeros_like(mean), np.zeros_like(mean)
        own_first = 0.5 * (np.arange(mean.shape[1]) == labels[:, None])
        self.priority = (priority[:, None] + own_first) / 2.0

    def take(self, at: Rows) -> "_View":
        part = object.__new__(_View)
        for name, value in vars(self).items():
            setattr(part, name, value[at])
        return part

    @property
    def taken(self) -> Mask:
        return self.precision > 0.0

    @property
    def copies(self) -> Floats:
        return self.weight[:, None]

    def cavity(self) -> Cavities:
        """Marginals without one copy of the sites that a row has."""
        k = self.copies
        return cavities(self.mean, np.maximum(self.var, self.floor), self.precision / k, self.b / k)

    def moments(self, likelihood: ClassLikelihood) -> tuple[Floats, Floats, Floats]:
        at = self.cavity()
        log_z, g, nu = likelihood.tilted(self.labels, at.mean, at.var)
        return np.broadcast_to(log_z[:, None], g.shape), g, nu

    def keys(self, likelihood: ClassLikelihood, score: Score) -> tuple[Floats, Floats, Floats]:
        r"""Score of every pair with ties broken, -inf where it must not be included; g and nu of one copy.

        Of k copies that match the moments without each other,

        .. math:: g_k = \frac{k g}{1 + (k - 1) a \nu}, \qquad \nu_k = \frac{k \nu}{1 + (k - 1) a \nu}.
        """
        log_z, g, nu = self.moments(likelihood.weigh(self.weight))
        k = self.copies
        share = k / (1.0 + (k - 1.0) * self.var * nu)
        precision = nu / np.maximum(1.0 - self.var * nu, 1e-300)
        open_ = ~self.taken & (self.var > self.floor) & (precision * self.prior > _MIN_PRECISION)
        value = np.where(open_, score(k * log_z, share * g, share * nu, self.mean, self.var), -np.inf)
        return break_ties(value, self.priority), g, nu


class _State:
    """Stubs of all rows for every class, and the pairs included so far."""

    def __init__(
        self, stubs: list[Stubs], labels: Rows, likelihood: ClassLikelihood, score: Score, priority: Floats
    ) -> None:
        self.stubs, self.likelihood, self.score = stubs, likelihood, score
        prior = np.column_stack([s.prior_var for s in stubs])
        floor = stubs[0].min_var * prior
        weight = np.ones(len(labels)) if likelihood.weight is None else likelihood.weight
        self.view = _View(labels, weight, np.zeros_like(prior), prior.copy(), prior, floor, priority)
        self.order: list[list[int]] = [[] for _ in stubs]

    def step(self, size: int, pool_size: int, deadline: Deadline) -> int:
        """Include a block of pairs; return how many came in. If it is late nothing has changed."""
        with work_until(deadline):
            pool, count = self._choose(size, pool_size)
        if pool is not None:
            pool.flush()
        return count

    def _choose(self, size: int, pool_size: int) -> tuple["_Pool | None", int]:
        check()
        value, g, nu = self.view.keys(self.likelihood, self.score)
        best = value.max(axis=1)
        rows = np.argpartition(-best, min(pool_size, len(best)) - 1)[:pool_size]
        rows = rows[np.isfinite(best[rows])]
        rows = rows[np.argsort(-best[rows], kind="stable")]
        if not rows.size:
            return None, 0
        pool = _Pool(self, rows, value[rows], g[rows], nu[rows])
        return pool, pool.run(size)

    def sites(self) -> PairSites:
        rows = [np.array(order, dtype=np.intp) for order in self.order]
        return [ClassSites(at, self.view.precision[at, c], self.view.b[at, c]) for c, at in enumerate(rows)]


class _Pool:
    """Candidate rows whose marginals, for all classes, follow every inclusion made among them."""

    def __init__(self, state: _State, rows: Rows, value: Floats, g: Floats, nu: Floats) -> None:
        self.state, self.rows, self.view = state, rows, state.view.take(rows)
        self.found = value, g, nu
        self.new: dict[int, PoolStubs] = {}  # of the classes for which something came in

    def run(self, size: int) -> int:
        self.size = size
        for q in range(size):
            if q:
                self.found = self.view.keys(self.state.likelihood, self.state.score)
            value, g, nu = self.found
            i, c = np.unravel_index(int(np.argmax(value)), value.shape)
            if not np.isfinite(value[i, c]):
                return q
            self._include(int(i), int(c), float(g[i, c]), float(nu[i, c]))
        return size

    def _include(self, i: int, c: int, g: float, nu: float) -> None:
        view = self.view
        h, a = float(view.mean[i, c]), float(view.var[i, c])
        rest = max(1.0 - a * nu, 1e-15)
        pi, b = nu / rest, (g + h * nu) / rest  # SLH eq. 7
        if view.weight[i] != 1.0:
            pi, b = self._of_copies(i, c, pi, b)
        if c not in self.new:
            stubs = self.state.stubs[c]
            self.new[c] = PoolStubs.among(stubs, self.rows, view.mean[:, c], view.var[:, c], self.size)
        self.new[c].include(i, pi, b)
        view.precision[i, c], view.b[i, c] = pi, b

    def _of_copies(self, i: int, c: int, pi: float, b: float) -> tuple[float, float]:
        """Return the site of all copies of a row from that of the first: twice as many at a time, until they match."""
        one = self.view.take(np.array([i]))
        likelihood, k, at = self.state.likelihood.weigh(one.weight), float(one.weight[0]), one.cavity()
        (h, a), mean, var = (float(at.mean[0, c]), float(at.var[0, c])), at.mean.copy(), at.var.copy()
        for j in [*2.0 ** np.arange(1.0, np.ceil(np.log2(k))), k]:
            for _ in range(_LAST if j == k else _INNER):
                share = max(1.0 + (j - 1.0) * pi * a, _LEAST_SHARE)
                mean[0, c], var[0, c] = (h + a * (j - 1.0) * b) / share, a / share
                _, g, nu = likelihood.tilted(one.labels, mean, var)
                rest = np.maximum(1.0 - var[0, c] * nu[0, c], 1e-15)
                pi += 0.5 * (nu[0, c] / rest - pi)
                b += 0.5 * ((g[0, c] + mean[0, c] * nu[0, c]) / rest - b)
        return k * pi, k * b

    def flush(self) -> None:
        """Tell the stubs of all rows what came in."""
        state, view = self.state, self.state.view
        for c, new in self.new.items():
            stubs = state.stubs[c]
            block = new.block(self.rows, stubs.X[self.rows])
            stubs.absorb(block)
            view.mean[:, c], view.var[:, c] = stubs.mean, stubs.var
            view.precision[block.rows, c] = self.view.precision[new.order, c]
            view.b[block.rows, c] = self.view.b[new.order, c]
            state.order[c] += block.rows.tolist()
