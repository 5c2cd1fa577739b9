"""Exchange moves: an active row for another one, as long as that raises a criterion (Thesis 4.4.1, C.3.2)."""

from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np

from .._types import Floats, Inputs, Rows
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..posterior import FactorisedPosterior
from ..scores import entropy_reduction
from .inclusion import stack
from .pair_pool import PairPool

__all__ = ["ActiveRows", "Exchanged", "Move", "exchange"]

_LEAST = 1e-2  # nats that a move must gain: less is not worth the time
_LOOKED_AT = 64  # rows outside that are looked at, of which the best
_INSIDE, _OUTSIDE = 8, 8  # make pairs with so many active rows
_TRIED = 16  # pairs of each block whose gain is found exactly
_LOOKS = 200  # blocks of moves at most
_PATIENCE = 6  # looks in turn without a move, after which there is probably none


class ActiveRows(NamedTuple):
    """Rows with their sites, in any order; those of rows that are not active do not count."""

    rows: Rows
    X: Inputs  # in double precision
    y: Floats
    precision: Floats
    b: Floats  # precision times mean of the site

    def posterior(self, kernel: Kernel) -> FactorisedPosterior:
        """Return the posterior that these sites give, from nothing but them."""
        return FactorisedPosterior.given(kernel, self.X, self.precision, self.b / self.precision)

    def take(self, at: Rows) -> Self:
        """Return some of the rows, by their positions."""
        return type(self)(*(part[at] for part in self))

    def and_(self, others: Self) -> Self:
        """Return the rows of both."""
        return type(self)(*(stack(parts) for parts in zip(self, others, strict=True)))


class Move(NamedTuple):
    """A row that was active, the one that took its place, and what that gained."""

    out: int
    into: int
    gain: float


class Exchanged(NamedTuple):
    """What came of exchange moves."""

    active: ActiveRows
    outside: ActiveRows
    moves: list[Move]
    level: list[float]  # of the criterion, before and after every block of moves


def exchange(
    active: ActiveRows,
    outside: ActiveRows,
    kernel: Kernel,
    likelihood: Likelihood,
    most: int,
    by_evidence: bool = True,
    stay: Rows | None = None,
    over: Callable[[], bool] = lambda: False,
) -> Exchanged:
    """Make exchange moves, in blocks, as long as they raise the criterion.

    Pairs are made of active rows, half of them those that are the easiest to do without while the others take turns,
    and of the best rows outside. Within a block the posterior is updated from move to move.
    Then all is made anew from the sites alone, so that rounding does not add up; a block that turns out not to have
    raised the criterion is taken back.

    Parameters
    ----------
    active, outside : ActiveRows
        Rows with sites, and all others that the criterion is about, which may take their place.
    kernel, likelihood
        The latter of all training rows.
    most : int
        Moves at most.
    by_evidence : bool
        Whether the criterion is the log evidence of all these rows (SLH eq. 11), or what the active rows tell of the
        function, whatever the others are: the fall in entropy.
    stay : array of int, optional
        Active rows that are not exchanged.
    over : callable
        Whether to end after the block under way.
    """
    turn, idle, bound = 0, 0, np.empty(0, dtype=np.intp) if stay is None else stay
    possible = len(outside.rows) > 0 and not np.all(np.isin(active.rows, bound))
    pool = _pool(active, outside, kernel, likelihood)
    moves, level = list[Move](), [pool.level(by_evidence)]
    while len(moves) < most and idle < _PATIENCE and turn < _LOOKS and possible and not over():
        free = np.flatnonzero(~np.isin(active.rows, bound))
        inside, others = _in_turn(pool, free, by_evidence, turn)
        made = _block(pool, inside, others, most - len(moves), by_evidence)
        turn, idle = turn + 1, 0 if made else idle + 1
        if not made:
            continue
        after = _exchanged(active, outside, pool, made)
        anew = _pool(*after, kernel, likelihood)
        reached = anew.level(by_evidence)
        if not reached >= level[-1]:
            break
        before, (active, outside), pool, level = (
            pool.rows,
            after,
            anew,
            [*level, reached],
        )
        moves += [Move(int(before[j]), int(before[i]), gain) for j, i, gain in made]
    return Exchanged(active, outside, moves, level)


def _pool(active: ActiveRows, outside: ActiveRows, kernel: Kernel, likelihood: Likelihood) -> PairPool:
    """Make the pool of all rows, the active ones first."""
    every = active.and_(outside)
    return PairPool(
        every.rows,
        every.X,
        every.y,
        active.posterior(kernel),
        likelihood.take(every.rows),
    )


def _in_turn(pool: PairPool, free: Rows, by_evidence: bool, turn: int) -> tuple[Rows, Rows]:
    """Positions of active rows and others of which pairs are made, which the pool then looks at."""
    n, d = len(pool.rows), int(np.sum(pool.active))
    useless = np.argsort(-pool.without(free, by_evidence, exact=False), kind="stable")[: _INSIDE // 2]
    telling = np.argsort(-pool.scores(entropy_reduction)[d:], kind="stable")[: _LOOKED_AT // 2]
    inside = free[np.unique(np.concatenate([useless, _next(turn, _INSIDE // 2, len(free))]))]
    outside = d + np.unique(np.concatenate([telling, _next(turn, _LOOKED_AT // 2, n - d)]))
    pool.look_at(np.concatenate([inside, outside]))
    best = np.argsort(-pool.with_one_more(outside, by_evidence, exact=False), kind="stable")[:_OUTSIDE]
    return inside, outside[best]


def _next(turn: int, size: int, n: int) -> Rows:
    """So many of n, that take turns."""
    return np.arange(turn * size, (turn + 1) * size) % n


def _block(pool: PairPool, inside: Rows, outside: Rows, most: int, by_evidence: bool) -> list[tuple[int, int, float]]:
    """Make moves among these rows, each row at most once, the best first; return positions and what each gained."""
    gain = pool.gains(inside, outside, by_evidence, exact=False)
    made, tried = list[tuple[int, int, float]](), 0
    for k in np.argsort(-gain, axis=None, kind="stable"):
        j, i = inside[k // len(outside)], outside[k % len(outside)]
        if gain.flat[k] < _LEAST or len(made) == most or tried == _TRIED:
            break
        if not pool.active[j] or pool.active[i]:
            continue
        now, tried = (
            float(pool.gains(np.array([j]), np.array([i]), by_evidence)[0, 0]),
            tried + 1,
        )
        if now >= _LEAST:
            pool.move(j, i)
            made.append((int(j), int(i), now))
    return made


def _exchanged(
    active: ActiveRows,
    outside: ActiveRows,
    pool: PairPool,
    made: list[tuple[int, int, float]],
) -> tuple[ActiveRows, ActiveRows]:
    """Active rows and others after some moves, in which two rows have changed places each."""
    d, order = len(active.rows), np.arange(len(pool.rows))
    for j, i, _ in made:
        order[[j, i]] = order[[i, j]]
    every = active.and_(outside)._replace(precision=pool.precision, b=pool.b).take(order)
    return every.take(np.arange(d)), every.take(np.arange(d, len(order)))
