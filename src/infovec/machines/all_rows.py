"""Inference with the sites of all rows: what the machines of all projected posteriors have in common."""

import time
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self, cast

import numpy as np

from .._types import Floats, Inputs, Rows
from ..inference import Inference, Look, Sweep, Watch, left_out_by_folds, make_basis, through, too_sharp
from ..learning import no_rows
from ..likelihoods import Discrete, Likelihood, total_weight
from ..posterior import ClassPosterior, Posterior, ProjectedPosterior
from ..runtime import Deadline, Progress, StopReason, give_back
from ..selection import Patience, Selector
from ..shards import Basis, Beliefs, SiteShard, WithSites, together
from .machine import AnyLikelihood, Machine
from .residuals import residuals
from .result import Result
from .run import Run

__all__ = ["SELECTION", "AllRows", "Sites"]

SELECTION = 0.5  # of the time, at most
_LARGEST = 0.5 * np.finfo(np.float64).max  # mean of a site
_NEXT = 2.0  # times a sweep: the next one, and what follows the last
_FEWEST_ROWS = 200  # to infer with, whatever the time
_MOST_TELLING = 1_000_000  # rows by which calibration is done: more would say the same, and take memory
_FIRST_STAGE = 50  # active rows at the first look at the rows held back

Sites = tuple[Rows, Floats, Floats]
"""Rows with the precisions and shifts of their sites."""


class Projected(NamedTuple):
    """The posterior with all rows, and where it comes from."""

    posterior: Posterior
    shards: Sequence[WithSites]
    rows: Rows  # that tell how certain predictions are, as the shards have them: all that have sites, or some
    found: Inference
    dtype: str  # of the products
    basis: Basis  # the active inputs as the shards have them
    hurried: bool = False  # whether there is a time at which all must be done
    some: Rows | None = None  # the rows that tell, where they are not all

    def sites(self, active: Rows) -> tuple[Floats, Floats]:
        """Precisions and means of the sites of some rows; zero without a site.

        A site without precision is a slope, and has no mean: its shift stands for it, also where the mean is beyond the
        largest number.
        """
        precision, b = np.sum(together(self.shards).map("sites", active), axis=0)
        slope = np.abs(precision) <= np.abs(b) / _LARGEST
        return precision, b / np.where(slope, 1.0, precision)


@dataclass(frozen=True)
class AllRows(Machine):
    """A machine with the projected posterior: selection, then inference with all rows."""

    all_rows = True
    fewest_sweeps: ClassVar[int] = 2
    """Whatever the time and whoever asks for an end: the posterior has the sites before the last one."""

    @abstractmethod
    def shards(self, rows: Rows) -> Sequence[WithSites]:
        """Return some rows, ascending, for inference with all of them."""

    @abstractmethod
    def settle(
        self, shards: Sequence[WithSites], sites: Sites | None, watch: Watch | None, deadline: Deadline
    ) -> Inference:
        """Find the sites of all rows; a true answer of the watch ends it."""

    @abstractmethod
    def posterior(self, X: Inputs, basis: Basis, found: Inference) -> Posterior:
        """Return the posterior of new inputs; X holds the active ones."""

    @abstractmethod
    def left_out(self, projected: Projected) -> Floats:
        """Latent means and variances of all rows that have sites, each without those of the same inputs."""

    @abstractmethod
    def calibrated(self, known: Floats, rows: Rows, left: float) -> AnyLikelihood:
        """Return the likelihood to predict with, by what is known of rows left out; there are so many seconds left."""

    @abstractmethod
    def sweeps_seconds(self, d: int) -> float:
        """Seconds for a row in the fewest sweeps that are of use, and what follows them."""

    @property
    @abstractmethod
    def starts_from_sites(self) -> bool:
        """Whether the sites that selection finds are those of this likelihood."""

    def finish(self, run: Run, wanted: int, patience: Patience | None) -> tuple[StopReason, Result]:
        """Select, and infer with all rows."""
        held = np.flatnonzero(self.data.held_back)
        stop = run.select(wanted, None, SELECTION) if patience is None else self._staged(run, wanted, patience, held)
        asked = run.listener.answer()
        if asked is StopReason.INTERRUPTED:  # the rows so far need sites, for which there is a little time
            run.hurry()
        stop, beyond = asked or stop, self._beyond_time(run)
        if not self.choices.keep:
            run.selector.release()  # its memory is needed now
            give_back()
        machine, inputs = self.moved(run)
        ended = run.listener.answer()
        if ended is StopReason.INTERRUPTED:
            run.hurry()
        asked, result = machine._infer(run, beyond, wanted, inputs)
        late = not result.converged and (run.late or run.left == 0.0)
        if stop is StopReason.COMPLETE and (beyond is not None or late):
            stop = StopReason.TIME
        return asked or ended or stop, result

    def moved(self, run: Run) -> tuple[Self, Floats | None]:
        """Return the machine and the active inputs to infer with, where these are no longer those of rows."""
        return self, None

    def _staged(self, run: Run, wanted: int, patience: Patience, held: Rows) -> StopReason:
        """Grow by half as long as rows held back are predicted better, then go back to where they were best."""
        size = _FIRST_STAGE
        while True:
            stop = run.select(min(size, wanted), None, SELECTION)
            if stop is not StopReason.COMPLETE:
                return stop
            asked, result = self._infer(run, held, wanted)
            if asked:
                return asked
            if patience.ends(run.selector.size, self._predicted(result, held)):
                cast(Selector, run.selector).rewind(patience.best_size)
                return StopReason.SETTLED
            if run.selector.size == wanted:
                return stop
            size += size // 2

    def _predicted(self, result: Result, held: Rows) -> float:
        """Mean log probability of rows held back."""
        mean, var = result.posterior.predict(self.kernel.in_double(self.data.given.inside[held]))
        return float(np.mean(result.likelihood.take(held).log_predictive(self.data.y[held], mean, var)))

    def _beyond_time(self, run: Run) -> Rows | None:
        """Rows for which not even a few sweeps would end in time, the last in line; None if there are none."""
        n, active = self.data.n, run.selector.active[: run.selector.size]
        a_row = self.sweeps_seconds(len(active)) if run.deadline.timed else 0.0
        most = max(run.left / a_row, len(active), _FEWEST_ROWS) if a_row else n
        if most >= n:
            return None
        order = np.argsort(-self.data.priority, kind="stable")
        return np.setdiff1d(order[int(most) :], active)

    def _infer(
        self, run: Run, left_out: Rows | None, wanted: int, inputs: Floats | None = None
    ) -> tuple[StopReason | None, Result]:
        """Sites on all rows but those left out; say who asked for an end, if it was asked for."""
        active, sites = run.selector.active[: run.selector.size].copy(), cast(Selector, run.selector).sites
        sites = sites if self.starts_from_sites and inputs is None else None
        watch = _Watch(run, wanted, self.fewest_sweeps)
        projected = self.project(active, sites, watch, left_out, run.deadline, run.telling, inputs)
        asked = run.listener.answer()
        if asked is StopReason.INTERRUPTED:
            run.hurry(0.0)
        found_sites, known = projected.sites(active), self.left_out(projected)
        told = None if run.telling is None else self._told(run.telling, projected, known)
        posterior, shards, rows, found, dtype, *_ = projected
        together(shards).release()  # calibration needs the memory of the projections
        del projected, shards
        give_back()
        likelihood, own, spread = self.calibrated(known, rows, run.last), self.likelihood, None
        if isinstance(own, Likelihood) and not isinstance(own, Discrete):
            real = self.data.real(rows)
            spread = residuals(self.data, own, known[:, real], rows[real], self.learned, run.last)
        return asked, Result(
            posterior, likelihood, active, *found_sites, found.log_evidence, found.converged, found.sweeps,
            self._observations(left_out), dtype, spread, told, moved=run.moved,
        )  # fmt: skip

    def _observations(self, left_out: Rows | None) -> float:
        """How many observations the rows that have sites count for."""
        if left_out is None:
            return total_weight(self.likelihood, self.data.n)
        rows = self.data.all_but(left_out)
        return total_weight(self.likelihood.take(rows), len(rows))

    def project(
        self,
        active: Rows,
        sites: Sites | None,
        watch: Watch | None,
        left_out: Rows | None,
        deadline: Deadline,
        asked: Rows | None = None,
        inputs: Floats | None = None,
    ) -> Projected:
        """Infer with all rows but some on a given active set; in double precision, where single is not enough.

        ``inputs`` are those of active rows that have moved, as ``data.given.inside`` has them.
        """
        rows = self.data.all_but(left_out)
        here = self._in_order(rows)
        at, X = (active, self.data.X[active]) if inputs is None else (no_rows(len(active)), self.data.seen(inputs))
        basis = make_basis(self.kernel, at, X, self.work.dtype)._replace(fine=True)
        shards = self.shards(rows)
        every = together(shards)
        every.broadcast("project", basis)
        found = self.settle(shards, sites, watch, deadline)
        sharp = too_sharp(every, basis, found.beliefs, self.work.dtype)
        if sharp and (raised := self.raised()) is not self:
            every.release()
            del shards, every
            return raised.project(active, sites, watch, left_out, deadline, asked, inputs)
        every.broadcast("rest")
        X = self.kernel.in_double(self.data.given.inside[active]) if inputs is None else inputs
        some = self._telling(here, asked)
        telling = here if some is None else here[np.isin(here, some)]
        posterior = self.posterior(X, basis, found)
        return Projected(posterior, shards, telling, found, self.work.dtype, basis, deadline.timed, some)

    def _in_order(self, rows: Rows) -> Rows:
        """Return rows in the order of the shards that have them."""
        parts = self.choices.places.divided(self.data.X, rows, selecting=False)
        in_order = all(isinstance(part, slice) for part in parts)
        return rows if in_order else np.concatenate([rows[part] for part in parts])

    def _telling(self, rows: Rows, asked: Rows | None) -> Rows | None:
        """Rows that tell how certain predictions are, with all of equal inputs; None if they are few enough for all."""
        if len(rows) <= _MOST_TELLING:
            return None
        first = self.data.turns(rows)
        some = rows[np.argpartition(-first, _MOST_TELLING)[:_MOST_TELLING]]
        some, group = np.union1d(some, np.empty(0, dtype=np.intp) if asked is None else asked), self.data.group
        return np.sort(some if group is None else np.flatnonzero(np.isin(group, group[some])))

    def without_kin(self, projected: Projected, known: Floats) -> Floats:
        """Return what is known of rows without those that are left out together with them, where there are any.

        Parameters
        ----------
        projected : Projected
        known : array of shape (2, n) or (2, n, C)
            What is known of each without itself.
        """
        kin = self.data.together
        if kin is None:
            return known
        rows = np.flatnonzero((np.bincount(kin)[kin] > 1) & np.isin(kin, kin[projected.rows]))
        posterior, look = projected.posterior, self.look(projected, rows)
        assert isinstance(posterior, ProjectedPosterior | ClassPosterior)
        beliefs, shards = Beliefs(posterior.Q, posterior.beta), cast(Sequence[SiteShard], projected.shards)
        found = left_out_by_folds(shards, beliefs, look, rows, kin[rows])
        order = np.argsort(projected.rows)
        here = np.isin(rows, projected.rows)
        known[:, order[np.searchsorted(projected.rows, rows[here], sorter=order)]] = found[:, here]
        return known

    def look(self, projected: Projected, rows: Rows) -> Look:
        """Return how some rows are seen through the active ones, by their positions."""
        basis = projected.basis._replace(X=projected.posterior.X)  # in the units and the precision of what was given
        every = through(self.kernel, np.arange(self.data.n), self.data.given.inside, basis)
        return lambda at: every(rows[at])

    def _told(self, rows: Rows, projected: Projected, known: Floats) -> Floats:
        """What is known of some rows without their own sites; those for which there was no time have none."""
        order = np.argsort(projected.rows)
        has_site = np.isin(rows, projected.rows)
        told = np.empty((2, len(rows)))
        told[:, has_site] = known[:, order[np.searchsorted(projected.rows, rows[has_site], sorter=order)]]
        new = self.kernel.in_double(self.data.given.inside[rows[~has_site]])
        told[:, ~has_site] = projected.posterior.predict(new)
        return told


class _Watch:
    """Told of every sweep; says when to end: somebody asks for it, or time runs out."""

    def __init__(self, run: Run, wanted: int, fewest: int) -> None:
        self.run, self.wanted, self.fewest, self.times = run, wanted, fewest, [time.perf_counter()]

    def __call__(self, sweep: Sweep) -> bool:
        run, selector = self.run, self.run.selector
        self.times.append(time.perf_counter())
        selecting = selector.seconds[selector.size - 1] if selector.size else 0.0  # it may be that no row says anything
        seconds, evidence = selecting + self.times[-1] - self.times[0], (run.before or 0.0) + sweep.log_evidence
        run.listener.tell(Progress(selector.size, self.wanted, sweep.change, seconds, None, evidence))
        run.late = run.left < _NEXT * (self.times[-1] - self.times[-2])  # the next one would end too late
        return len(self.times) > self.fewest and (run.late or run.listener.reason is not None)
