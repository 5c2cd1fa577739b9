"""Parallel expectation propagation as a loop: sweep, choose the length of the step, until the sites stand still."""

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeAlias

import numpy as np

from ..errors import NotPositiveDefinite
from ..shards import Beliefs
from .sites import S, Sites

__all__ = ["CAREFUL", "LOST", "Inference", "Sweep", "Watch", "astray", "next_damping", "settle", "stalled"]

LOST = 0.1  # change in the last sweep above which a posterior that did not settle is not worth using
CAREFUL = 0.5  # damping that is not soon exceeded where labels may be wrong: rows change sides
_STILL = 0.1  # a row whose site moves by less than this share of the tolerance rests until all rows are visited again
_SLOWEST = 0.05  # smallest damping that is chosen; only a step that is taken back leads below it
_WORSE, _EASED = 1.5, 1.1  # a change that grows by this factor halves the largest damping, any other raises it by that
_UNSTEADY = 30  # first sweeps that are not judged by growing changes, nor for stalling, where changes do not compare
_CAUTION = 2.0  # by how much the change of the next sweep may exceed what the last two let expect
_ASTRAY, _FAR = 10.0, 1.0  # a change that grows by such a factor, to more than so many deviations, is taken back
_SHORTER, _TRIES = 0.25, 6  # but for this share of the step, so often in turn; damping at most doubles in a sweep
_HOPELESS = 1e3  # change from which sites of labels that may be wrong do not find back
_STALL, _GAIN = 15, 0.9  # sweeps after which the smallest change should be less than this share of the one before them


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


def settle(sites: Sites[S], tolerance: float, max_sweeps: int, watch: Watch | None, thorough: bool = True) -> Inference:
    """Sweep until the sites stand still, or no longer get anywhere.

    It ends when a visit of all rows moves no site by more than the tolerance (unless ``thorough``, a visit of those
    that are not at rest), when somebody asks for it, when the changes have stopped falling, and after ``max_sweeps``.
    """
    course, sweeps, judged = _Course(sites), list[Sweep](), 0 if sites.steady else _UNSTEADY
    while True:
        sweeps.append(course.sweep(_STILL * tolerance))
        change, everywhere = sweeps[-1].change, sweeps[-1].rows == sites.n or not thorough
        asked = watch is not None and bool(watch(sweeps[-1]))
        over = stalled(sweeps[judged:]) or len(sweeps) >= max_sweeps or (sites.most < 1.0 and change > _HOPELESS)
        if asked or (change <= tolerance and everywhere) or over:
            break
        course.accept(reopen=course.expected <= tolerance)
    sweeps[-1] = course.end(sweeps[-1])
    return Inference(sites.beliefs, course.log_evidence, bool(everywhere and change <= tolerance), sweeps)


class _Course(Generic[S]):
    """How far the sites have come, and how far to move the next time.

    All sites move at once, so together they may move the posterior much farther than each would alone: for counts that
    is the overshoot of Newton steps. Where the next sweep finds the sites much farther from where they belong than
    before, or there is no posterior, the step is taken back but for a share of it.
    """

    def __init__(self, sites: Sites[S]) -> None:
        self.sites: Sites[S] = sites
        self.damping, self.most = sites.damping, sites.most
        self.change, self.expected, self.log_evidence = np.inf, np.inf, -np.inf
        self.count, self.tries, self.strayed = 0, 0, False
        try:
            sites.accept()
        except NotPositiveDefinite:  # they were found for other parameters, or another active set
            sites.make_proper()
        sites.open_all()

    def sweep(self, still: float) -> Sweep:
        """Visit the open rows, and choose the damping of the next sweep."""
        visited, damping, self.count = self.sites.n_open, self.damping, self.count + 1
        change, along, before = self.sites.sweep(damping, still, self.change)
        self.strayed = self.tries < _TRIES and astray(change, self.change)
        if not self.strayed:
            steady = self.sites.steady
            worse = change > _WORSE * self.change and (steady or self.count > _UNSTEADY)
            self.most = max(_SLOWEST, 0.5 * min(damping, self.most)) if worse else _EASED * self.most
            self.damping, self.tries = min(next_damping(damping, along, before), self.most), 0
            shrinking = min(_CAUTION * change / self.change, 1.0) if steady and self.change > 0.0 else 1.0
            self.expected, self.change = change * shrinking, change  # of the next sweep if it goes on like this
            self.log_evidence = self.sites.log_evidence()
        return Sweep(self.log_evidence, change, damping, visited)

    def accept(self, reopen: bool) -> None:
        """Take over the new sites; then visit all rows again if asked."""
        try:
            if self.strayed:
                self.sites.undo()
            else:
                self.sites.accept()
        except NotPositiveDefinite:  # sites of negative precision outweigh the prior
            self.strayed = True
        if self.strayed:
            self._retreat()
        elif reopen:
            self.sites.open_all()

    def _retreat(self) -> None:
        """Take a share of the last step only: the first that leaves a posterior."""
        self.tries += 1
        for _ in range(_TRIES):
            self.damping *= _SHORTER
            try:
                self.sites.shorten(_SHORTER)
                break
            except NotPositiveDefinite:
                continue
        else:
            self.sites.make_proper()
        self.sites.open_all()

    def end(self, last: Sweep) -> Sweep:
        """Go back to the last sites whose posterior is known to be good, if the last sweep strayed from them."""
        if not self.strayed:
            return last
        self.sites.undo()
        self.sites.shorten(0.0)
        return last._replace(change=self.change)


def stalled(sweeps: Sequence[Sweep]) -> bool:
    """Whether the changes have stopped falling: sites then only tremble, by rounding or between two states."""
    changes = [sweep.change for sweep in sweeps]
    return len(changes) > 2 * _STALL and min(changes[-_STALL:]) > _GAIN * min(changes[:-_STALL])


def astray(change: float, before: float) -> bool:
    """Whether a sweep finds the sites so much farther from where they belong than the one before that they overshot."""
    return bool(np.isfinite(before) and not change <= max(_FAR, _ASTRAY * before))


def next_damping(damping: float, along: float, before: float) -> float:
    r"""Damping that would end the motion, if sites moved along one direction only.

    Where a full step s is answered by the full step :math:`\lambda s`, a damped one is answered by
    :math:`\rho = 1 - w (1 - \lambda)` times itself, and the best damping is :math:`1 / (1 - \lambda) = w / (1 - \rho)`.
    At most it doubles or halves.
    """
    rho = along / before if before > 0.0 else 0.0
    best = damping / (1.0 - rho) if rho < 1.0 else 1.0
    return float(np.clip(best, max(_SLOWEST, 0.5 * damping), min(1.0, 2.0 * damping)))
