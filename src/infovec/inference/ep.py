"""Parallel expectation propagation: all sites are updated at once, sweep after sweep, until they stand still."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from .._types import Floats, Rows
from ..errors import NotPositiveDefinite
from ..numerics.cholesky import ROUNDING, factorise, solve_lower
from ..runtime import own_threads
from ..shards import Beliefs, ProjectedShard, Sums

__all__ = ["LOST", "SHORTER", "TRIES", "Inference", "Sweep", "astray", "infer", "next_damping"]

_STILL = 0.1  # a row rests until the next look at all rows when its site moves by less than this share of the tolerance
_SLOWEST = 0.05  # damping
_WORSE, _EASED = 1.5, 1.1  # a change that grows by this factor halves the largest damping, any other raises it by that
_CAUTION = 2.0
_ASTRAY, _FAR = 10.0, 1.0  # a change that grows by such a factor, to more than so many deviations, is taken back
SHORTER, TRIES = 0.25, 6  # by how much, and how often in turn; then damping doubles with every sweep that is not
_STALL, _GAIN = 15, 0.9  # sweeps after which the smallest change should be less than this share of the one before them
_DEEP = 400  # active rows from which a quarter of them, then half of them, give sites to start from
LOST = 0.1  # change in the last sweep that leaves little to believe in
_ROUGH, _FEW = 0.1, 8  # tolerance and most sweeps there


class Sweep(NamedTuple):
    """One sweep, as a callback sees it and as it is remembered."""

    log_evidence: float  # before the sweep
    change: float  # largest change of a site, in units of the posterior
    damping: float
    rows: int  # visited


Watch: TypeAlias = Callable[[Sweep], object]
"""Called after every sweep; a true answer ends the inference."""


class Inference(NamedTuple):
    """The posterior of v given all rows, and how it was found."""

    beliefs: Beliefs
    log_evidence: float
    converged: bool
    sweeps: list[Sweep]


def infer(
    shards: Sequence[ProjectedShard],
    start: tuple[Rows, Floats, Floats] | None = None,
    tolerance: float = 1e-4,
    max_sweeps: int = 100,
    watch: Watch | None = None,
    rescue: bool = False,
) -> Inference:
    """Run expectation propagation over all rows of the shards.

    A sweep costs two matrix products with V. Rows whose site stands still are passed over until the others stand still
    too; then all are visited again, and it ends when none of them moves by more than the tolerance.

    Parameters
    ----------
    shards : sequence of ProjectedShard, projected onto the active set
    start : rows, precisions and shifts, optional
        Sites to start from, as selection found them; None goes on from the sites that the shards have.
    tolerance : float
        Largest change of a site, in units of the posterior, that counts as none.
    max_sweeps : int
    watch : callable, optional; see Watch
    rescue : bool
        Whether to try again where sites lead nowhere, from nothing or without those of negative precision: so there is
        a posterior to use in any case. The gradient of the evidence does not know of it.
    """
    asked = False

    def told(sweep: Sweep) -> bool:
        nonlocal asked
        asked = asked or (watch is not None and bool(watch(sweep)))
        return asked

    with own_threads():
        found = _infer(shards, start, tolerance, max_sweeps, told)
        lost = not (found.converged or found.sweeps[-1].change <= LOST)
        if asked or not (lost and rescue):
            return found
        again = _settle(shards, _total([shard.begin_again() for shard in shards]), tolerance, max_sweeps, told)
        return again._replace(sweeps=found.sweeps + again.sweeps)


def _infer(
    shards: Sequence[ProjectedShard],
    start: tuple[Rows, Floats, Floats] | None,
    tolerance: float,
    max_sweeps: int,
    watch: Watch | None,
) -> Inference:
    first = _total([shard.start(*start) if start else shard.sums() for shard in shards])
    if all(shard.likelihood.conjugate for shard in shards):
        beliefs = _beliefs(_total([shard.exact() for shard in shards]))
        return Inference(beliefs, _log_evidence(shards, beliefs), True, [])
    d = len(first.shift)
    depths = [max(d // 4, 1), max(d // 2, 1)] if start and d >= _DEEP and all(s.whole for s in shards) else []
    for depth in depths:
        rough = _settle(shards, _look(shards, depth), _ROUGH, _FEW, watch)
        if not rough.converged:
            max_sweeps = 1 if len(rough.sweeps) < _FEW else max_sweeps  # somebody asked for an end
    return _settle(shards, _look(shards, d) if depths else first, tolerance, max_sweeps, watch)


def _look(shards: Sequence[ProjectedShard], depth: int) -> Sums:
    return _total([shard.look(depth) for shard in shards])


def _settle(
    shards: Sequence[ProjectedShard], sites: Sums, tolerance: float, max_sweeps: int, watch: Watch | None
) -> Inference:
    """Sweep until the sites stand still."""
    state = _State(shards, sites)
    sweeps: list[Sweep] = []
    while True:
        sweeps.append(state.sweep(_STILL * tolerance))
        everywhere, change = sweeps[-1].rows == state.n, sweeps[-1].change
        asked = watch is not None and bool(watch(sweeps[-1]))
        if asked or (change <= tolerance and everywhere) or _stalled(sweeps) or len(sweeps) >= max_sweeps:
            break
        state.accept(reopen=state.expected <= tolerance)
    sweeps[-1] = state.end(sweeps[-1])
    return Inference(state.beliefs, state.log_evidence, bool(everywhere and change <= tolerance), sweeps)


def _stalled(sweeps: Sequence[Sweep]) -> bool:
    """Whether the sites move by what products of single precision make of them, and no longer to anywhere."""
    changes = [sweep.change for sweep in sweeps]
    return len(changes) > 2 * _STALL and min(changes[-_STALL:]) > _GAIN * min(changes[:-_STALL])


class _State:
    """Sites added up, the posterior they give, and how far to move the next time.

    All sites move at once, so together they may move the posterior much farther than each would alone: for counts that
    is the overshoot of Newton steps. Where the next sweep finds the sites much farther from where they belong than
    before, or there is no posterior, the step is taken back but for a share of it.
    """

    def __init__(self, shards: Sequence[ProjectedShard], sites: Sums) -> None:
        self.shards, self.n, self.moving = shards, sum(len(s.y) for s in shards), sites
        self.settled = _nothing(len(sites.shift))
        try:
            self.beliefs = _beliefs(sites)
        except NotPositiveDefinite:  # they were found for other parameters, or another active set
            self.moving, self.beliefs = _proper(shards)
        self.damping = 1.0 if all(s.likelihood.log_concave for s in shards) else 0.5
        self.change, self.most, self.expected = np.inf, 1.0, np.inf
        self.leash, self.tries, self.strayed, self.log_evidence = 1.0, 0, False, -np.inf
        self._open_all()

    def _open_all(self) -> None:
        for shard in self.shards:
            shard.open[:] = True

    def sweep(self, still: float) -> Sweep:
        """Visit the open rows."""
        visited, damping = sum(int(np.sum(shard.open)) for shard in self.shards), self.damping
        found = [shard.sweep(self.beliefs, damping, still, min(self.change, 1.0)) for shard in self.shards]
        change = max(f.steps.largest for f in found)
        self.strayed = self.tries < TRIES and astray(change, self.change)
        if self.strayed:
            return Sweep(self.log_evidence, change, damping, visited)
        self.settled = self.settled + _total([f.settled for f in found])
        self.moving = _total([f.open for f in found])
        self.most = (
            max(_SLOWEST, 0.5 * min(damping, self.most)) if change > _WORSE * self.change else _EASED * self.most
        )
        best = next_damping(damping, sum(f.steps.along for f in found), sum(f.steps.before for f in found))
        self.leash, self.tries = min(1.0, 2.0 * self.leash), 0
        shrinking = min(_CAUTION * change / self.change, 1.0) if self.change > 0.0 else 1.0
        self.expected = change * shrinking  # of the next sweep, if it goes on like this
        self.damping, self.change = min(best, self.most, self.leash), change
        self.log_evidence = _log_evidence(self.shards, self.beliefs)
        return Sweep(self.log_evidence, change, damping, visited)

    def accept(self, reopen: bool) -> None:
        """Take over the new sites; then visit all rows again if asked."""
        try:
            if self.strayed:
                for shard in self.shards:
                    shard.undo()
            else:
                self.beliefs = _beliefs(self.settled + self.moving)
        except NotPositiveDefinite:  # sites of negative precision outweigh the prior
            self.strayed = True
        if self.strayed:
            self._retreat()
        elif reopen:
            self.settled = _nothing(len(self.beliefs.beta))
            self._open_all()

    def _retreat(self) -> None:
        """Take a share of the last step only: the first that leaves a posterior."""
        self.settled, self.tries = _nothing(len(self.beliefs.beta)), self.tries + 1
        for _ in range(TRIES):
            self.leash = self.damping = SHORTER * self.damping
            try:
                self.moving = _total([shard.shorten(SHORTER) for shard in self.shards])
                self.beliefs = _beliefs(self.moving)
                break
            except NotPositiveDefinite:
                continue
        else:
            self.moving, self.beliefs = _proper(self.shards)
        self._open_all()

    def end(self, last: Sweep) -> Sweep:
        """Go back to the last sites whose posterior is known to be good, if the last sweep strayed from them."""
        if self.strayed:
            for shard in self.shards:
                shard.undo()
            self.beliefs = _beliefs(_total([shard.shorten(0.0) for shard in self.shards]))
            return last._replace(change=self.change)
        return last


def _proper(shards: Sequence[ProjectedShard]) -> tuple[Sums, Beliefs]:
    """Drop the sites that leave no posterior."""
    sites = _total([shard.make_proper() for shard in shards])
    return sites, _beliefs(sites)


def astray(change: float, before: float) -> bool:
    """Whether a sweep finds the sites so much farther from where they belong than the one before that they overshot."""
    return bool(np.isfinite(before) and not change <= max(_FAR, _ASTRAY * before))


def next_damping(damping: float, along: float, before: float) -> float:
    r"""Damping that would end the motion, if sites moved along one direction only.

    Where a full step s is answered by the full step :math:`\lambda s`, a damped one is answered by
    :math:`\rho = 1 - w (1 - \lambda)` times itself, and the best damping is :math:`1 / (1 - \lambda) = w / (1 - \rho)`.
    """
    rho = along / before if before > 0.0 else 0.0
    best = damping / (1.0 - rho) if rho < 1.0 else 1.0
    return float(np.clip(best, max(_SLOWEST, 0.5 * damping), min(1.0, 2.0 * damping)))


def _nothing(d: int) -> Sums:
    return Sums(np.zeros((d, d)), np.zeros(d))


def _total(parts: Sequence[Sums]) -> Sums:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _beliefs(sites: Sums) -> Beliefs:
    r"""Posterior of v given sites (Thesis 4.4.2).

    .. math:: M = I + V \Pi V^T = Q Q^T, \qquad \beta = Q^{-1} V b
    """
    M = sites.precision + np.eye(len(sites.shift))
    if not (np.all(np.isfinite(M)) and np.all(np.isfinite(sites.shift))):  # a Cholesky factorisation takes NaN as it is
        raise NotPositiveDefinite("the sites leave no posterior: they are not finite")
    message, scale = "the sites leave no posterior: their precisions are negative", np.max(np.diagonal(M), initial=1.0)
    Q, _ = factorise(M, message, ROUNDING, by=scale)
    return Beliefs(Q, solve_lower(Q, sites.shift))


def _log_evidence(shards: Sequence[ProjectedShard], beliefs: Beliefs) -> float:
    r"""EP approximation to log P(y): the prior times all sites with their constants, integrated.

    .. math:: \sum_i \log s_i + \tfrac12 \bigl(|\beta|^2 - \log|M|\bigr)
    """
    gauss = 0.5 * beliefs.beta @ beliefs.beta - np.sum(np.log(np.diagonal(beliefs.Q)))
    return float(gauss + sum(np.sum(shard.log_site) for shard in shards))
