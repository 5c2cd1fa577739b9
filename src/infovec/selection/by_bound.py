"""The multi-class informative vector machine of GR06 section 5: unit noise on auxiliary variables, in blocks."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from .._types import Floats, Inputs, Mask, Rows
from ..errors import ParameterError
from ..inference.bound import classes_by_kernel
from ..kernels import Kernel
from ..likelihoods.classes import MultivariateProbit
from ..runtime import NEVER, Deadline
from ..shards import Stubs, break_ties
from .inclusion import PoolStubs
from .schedule import Schedule

__all__ = ["ROW_SCORES", "Included", "select"]

_SMALL = 3000  # pairs of row and class
_LARGEST = 64  # rows in a block: every inclusion scores the whole pool, all classes of it
_POOL = 4  # candidates for each row of a block

RowScore: TypeAlias = Callable[[MultivariateProbit, Rows, Floats, Floats], Floats]


class Included(NamedTuple):
    """Rows in order of inclusion, each with a site for every class, whose precision is the weight of the row."""

    rows: Rows
    target: Floats  # (d, C): means of the sites, the expected auxiliary variables when a row came in
    L: list[Floats]  # for every kernel: factor of I + W^1/2 K_I W^1/2
    beta: Floats  # (d, C)
    mean: Floats  # (n, C): of all rows
    var: Floats  # (n, C)


def _surprise(likelihood: MultivariateProbit, labels: Rows, mean: Floats, var: Floats) -> Floats:
    """Smallest predictive probability of the label first (GR06 eq. 5.5)."""
    return -likelihood.tilted(labels, mean, var).log_z


def _entropy(likelihood: MultivariateProbit, labels: Rows, mean: Floats, var: Floats) -> Floats:
    """Fall in the entropy of all functions; with unit noise the labels do not matter."""
    return 0.5 * np.log1p(var).sum(axis=1)


def _indifference(likelihood: MultivariateProbit, labels: Rows, mean: Floats, var: Floats) -> Floats:
    return np.zeros(len(labels))


ROW_SCORES: Final[dict[str, RowScore]] = {"predictive": _surprise, "entropy": _entropy, "random": _indifference}


def select(
    X: Inputs,
    labels: Rows,
    kernels: Kernel | Sequence[Kernel],
    likelihood: MultivariateProbit,
    n_active: int,
    score: str = "predictive",
    priority: Floats | None = None,
    schedule: Schedule | None = None,
    dtype: str = "float64",
    deadline: Deadline = NEVER,
) -> Included:
    """Include the rows of the largest score, one after the other, for all classes at once.

    Rows come in blocks chosen greedily inside a pool, as in ``infovec.selection``; blocks of one row are the
    algorithm of GR06.

    Parameters
    ----------
    X, labels
        Training rows; labels are 0 to C - 1.
    kernels : Kernel or C of them
    likelihood : MultivariateProbit
    n_active : int
    score : {"predictive", "entropy", "random"}
    priority : array of shape (n,), optional
        Breaks ties, the largest first; so it is the order of random selection. Row order if None.
    schedule : Schedule, optional
        Sizes of blocks and pools.
    deadline : Deadline
        Ends it with the blocks so far, of which there is one at least.
    """
    if score not in ROW_SCORES:
        raise ParameterError(f"score must be one of {', '.join(ROW_SCORES)}, got {score!r}")
    n = len(labels)
    wanted = min(n_active, n)
    schedule = schedule or _choose_schedule(n * likelihood.n_classes, wanted)
    groups = classes_by_kernel(kernels, likelihood.n_classes)
    seen = [Stubs(np.arange(n), X, kernel, wanted, dtype, len(classes)) for kernel, classes in groups]
    state = _State(seen, [classes for _, classes in groups], labels, likelihood, ROW_SCORES[score])
    state.priority = np.linspace(1.0, 0.0, n) if priority is None else priority
    while len(state.order) < wanted:
        block, pool_size = schedule.sizes(len(state.order))
        if (state.order and deadline.over) or not state.step(min(block, wanted - len(state.order)), pool_size):
            break
    return state.included()


def _choose_schedule(n_pairs: int, d: int) -> Schedule:
    """Blocks as soon as a look at all rows and classes costs more than a look at a pool."""
    block = 1 if n_pairs <= _SMALL else min(_LARGEST, max(4, d // 16))
    return Schedule(block, block if block == 1 else _POOL * block)


class _State:
    """What grows with every block: stubs of all rows, factors, targets."""

    def __init__(
        self, seen: list[Stubs], classes: list[Rows], labels: Rows, likelihood: MultivariateProbit, score: RowScore
    ) -> None:
        self.seen, self.classes, self.labels, self.score = seen, classes, labels, score
        self.likelihood = likelihood.for_new_rows()
        self.weight = np.ones(len(labels)) if likelihood.weight is None else likelihood.weight
        self.order: list[int] = []
        self.target: list[Floats] = []
        self.beta: list[Floats] = []
        self.L = [np.zeros((0, 0)) for _ in seen]
        self.taken = np.zeros(len(labels), dtype=bool)
        self.priority = np.zeros(len(labels))

    def marginals(self) -> tuple[Floats, Floats]:
        """Means and variances of all rows and classes."""
        mean, var = (np.empty((len(self.labels), self.likelihood.n_classes)) for _ in range(2))
        for stubs, classes in zip(self.seen, self.classes, strict=True):
            mean[:, classes], var[:, classes] = stubs.mean, stubs.var[:, None]
        return mean, var

    def step(self, size: int, pool_size: int) -> int:
        """Include a block; return how many rows came in."""
        mean, var = self.marginals()
        rounding = np.all([stubs.var <= stubs.min_var * stubs.prior_var for stubs in self.seen], axis=0)
        closed = self.taken | rounding
        if closed.all():
            return 0
        key = keys(self.score(self.likelihood, self.labels, mean, var), closed, self.priority)
        pool = np.argsort(-key, kind="stable")[: min(pool_size, int(np.sum(~closed)))]
        chosen = _Pool(self, pool, mean[pool], var[pool], min(size, len(pool))).run()
        self.taken[chosen] = True
        self.order += [int(i) for i in chosen]
        return len(chosen)

    def included(self) -> Included:
        """Return everything that is known."""
        C = self.likelihood.n_classes
        target, beta = (np.array(v).reshape(-1, C) for v in (self.target, self.beta))
        return Included(np.array(self.order, dtype=np.intp), target, self.L, beta, *self.marginals())


def keys(value: Floats, closed: Mask, priority: Floats) -> Floats:
    """Scores with ties broken by priority; -inf for rows that must not be included."""
    return break_ties(np.where(closed, -np.inf, value), priority)


class _Pool:
    """Candidates whose marginals follow every inclusion made among them (GR06 eq. 5.1-5.4)."""

    def __init__(self, state: _State, rows: Rows, mean: Floats, var: Floats, size: int) -> None:
        self.state, self.rows, self.mean, self.var, self.size = state, rows, mean, var, size
        self.parts = [
            PoolStubs.among(stubs, rows, mean[:, classes], var[:, classes[0]].copy(), size)
            for stubs, classes in zip(state.seen, state.classes, strict=True)
        ]  # as the classes of one kernel see the candidates
        self.taken = np.zeros(len(rows), dtype=bool)

    def run(self) -> Rows:
        for _ in range(self.size):
            self._include(self._best())
        self._flush()
        return self.rows[self.parts[0].order]

    def _best(self) -> int:
        if len(self.rows) == 1:
            return 0
        value = self.state.score(self.state.likelihood, self.state.labels[self.rows], self.mean, self.var)
        return int(np.argmax(keys(value, self.taken, self.state.priority[self.rows])))

    def _include(self, i: int) -> None:
        state, at = self.state, slice(i, i + 1)
        mean, weight = self.mean[at].copy(), float(state.weight[self.rows[i]])
        g = state.likelihood.tilted(state.labels[self.rows[at]], mean, np.zeros_like(mean)).g[0]
        state.target.append(mean[0] + g)  # eq. 4.3, 4.4
        for part, classes in zip(self.parts, state.classes, strict=True):
            part.include(i, weight, weight * state.target[-1][classes])
            self.mean[:, classes], self.var[:, classes] = part.mean, part.var[:, None]
        self.taken[i] = True

    def _flush(self) -> None:
        """Tell the stubs of all rows, and let the factors grow."""
        state = self.state
        beta = np.empty((len(self.parts[0].order), self.mean.shape[1]))
        for k, (part, stubs, classes) in enumerate(zip(self.parts, state.seen, state.classes, strict=True)):
            block = part.block(self.rows, stubs.X[self.rows])
            zero = np.zeros((len(state.L[k]), len(block.rows)))
            state.L[k], beta[:, classes] = np.block([[state.L[k], zero], [block.L_left, block.L_corner]]), block.beta
            stubs.absorb(block)
        state.beta += list(beta)
