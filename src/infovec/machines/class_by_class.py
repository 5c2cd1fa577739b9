"""The posterior of many classes, each with an active set of its own, with the face of a driver."""

import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._types import Floats, Inputs, Rows
from ..criteria import log_evidence
from ..errors import ParameterError
from ..inference import MOST_ROWS, LeftOut, Sweep, calibrated, some_rows, without_own_site
from ..posterior import FactorisedPosterior, ProjectedPosterior, SeparatePosterior
from ..runtime import Deadline, Interruption, give_back
from ..selection import Callback, Driver, Patience, Progress, StopReason
from .all_rows import infer_all_rows
from .bound_fit import fit_variational
from .one_function import SELECTION
from .pairs import fit_factorised

if TYPE_CHECKING:
    from .bound import BoundTraining
    from .classes import ClassTraining
    from .run import Result

__all__ = ["BoundDriver", "PairDriver", "RestDriver", "SeparateDriver"]


_CALIBRATION, _FEWEST = 0.05, 200  # share of the time to predict rows left out in, and how many whatever the time
_LAST = 0.1  # seconds for calibration, if there are none left
_LEAST = 4  # sweeps for a class whose turn comes when time is up: without any it would know nothing


class Part(NamedTuple):
    """What is known of one class."""

    posterior: FactorisedPosterior | ProjectedPosterior
    active: Rows
    precision: Floats  # of the sites of the active rows
    site_mean: Floats
    left_out: Floats  # latent means and variances of some rows without their own sites, shape (2, n)
    dtype: str = ""  # of the products, if not that of all


class SeparateDriver(ABC):
    """Selects and infers for all classes; what came of it is ``parts`` and ``evidence``."""

    sites = None
    shards: list[object] = []  # noqa: RUF012  kept by nobody

    def __init__(self, training: "ClassTraining") -> None:
        self.training, self.n_rows, self.capacity = training, len(training.y), training.wanted
        self.size, self.initial = 0, np.empty(0, dtype=np.intp)  # size: of the largest class
        self.parts: list[Part] = []
        self.evidence, self.converged, self.sweeps = 0.0, True, list[Sweep]()
        self.active, self.scores, self.seconds = np.empty(0, dtype=np.intp), np.empty(0), np.empty(0)
        self.telling, self.end = some_rows(training.priority), np.inf  # rows to calibrate by, and when to be done

    @abstractmethod
    def fit(self, wanted: int, callback: Callback | None, max_seconds: float) -> StopReason:
        """Select ``wanted`` rows for each class."""

    def include(self, rows: Rows) -> None:
        """Make given rows active first."""
        self.initial = rows
        if len(rows):
            raise ParameterError("initial rows of the factorised posterior of coupled classes cannot be given")

    def run(
        self,
        wanted: int,
        callback: Callback | None = None,
        max_seconds: float = np.inf,
        patience: Patience | None = None,
    ) -> StopReason:
        """Select, and note the rows that are active for some class, in turns of the classes."""
        start = time.perf_counter()
        self.end, self.telling = start + max_seconds, self._telling(wanted, max_seconds)
        stop = self.fit(wanted, callback, max_seconds)
        most = max(len(part.active) for part in self.parts)
        turns = [part.active[t] for t in range(most) for part in self.parts if t < len(part.active)]
        first = np.unique(turns, return_index=True)[1] if turns else np.empty(0, dtype=np.intp)
        self.active = np.array(turns, dtype=np.intp)[np.sort(first)]
        self.size, seconds = most, time.perf_counter() - start
        self.scores, self.seconds = np.full(len(self.active), np.nan), np.full(len(self.active), seconds)
        return stop

    def _telling(self, wanted: int, max_seconds: float) -> Rows:
        """Rows to calibrate by: some, or as many as can be predicted by all classes in a small share of the time."""
        t, most = self.training, MOST_ROWS
        if np.isfinite(max_seconds):
            a_row = t.n_functions * t.prediction_seconds(wanted)
            most = max(_FEWEST, min(most, int(_CALIBRATION * max_seconds / max(a_row, 1e-12))))
        return some_rows(t.priority, most)

    def enlarge(self, capacity: int, max_entries: int | None) -> None:
        """Make room for more rows."""
        self.capacity = capacity

    def factorised_part(self, posterior: FactorisedPosterior, active: Rows) -> Part:
        """Return the part of a class whose active rows alone have sites."""
        t = self.training
        known = without_own_site(posterior, active, t.given.inside, self.telling, t.group)
        return Part(posterior, active, posterior.precision, posterior.site_mean, known)

    def result(self, X: Inputs) -> "Result":
        """Return what is kept of the fit; X holds the inputs of all training rows."""
        from .run import Result

        active, training = self.active, self.training
        order = np.argsort(active)
        precision, mean = np.zeros((2, len(active), len(self.parts)))
        for c, part in enumerate(self.parts):
            at = order[np.searchsorted(active[order], part.active)]
            precision[at, c], mean[at, c] = part.precision, part.site_mean
        posterior = SeparatePosterior(
            self.parts[0].posterior.kernel, _double(X[active]), tuple(part.posterior for part in self.parts)
        )
        rows = self.telling
        weight = training.class_likelihood.take(rows).weight
        known = LeftOut(
            np.stack([part.left_out for part in self.parts], axis=2), training.y[rows].astype(np.intp), weight
        )
        deadline = Deadline(max(self.end, time.perf_counter() + _LAST))
        likelihood: Any = calibrated(training.class_likelihood.for_new_rows(), [known], deadline)
        return Result(
            posterior, likelihood, active, precision, mean, self.evidence, self.converged, self.sweeps,
            dtype=max(part.dtype or training.dtype for part in self.parts),  # "float64" comes after "float32"
        )  # fmt: skip


class RestDriver(SeparateDriver):
    """Each class against the rest by a machine for two classes."""

    def __init__(self, training: "ClassTraining") -> None:
        super().__init__(training)
        self._drivers: list[Driver] = []

    def include(self, rows: Rows) -> None:
        self.initial = rows

    def fit(self, wanted: int, callback: Callback | None, max_seconds: float) -> StopReason:
        C, start, reason = self.training.n_functions, time.perf_counter(), StopReason.COMPLETE
        self.parts, self.evidence, self.converged, self.sweeps = [], 0.0, True, []
        projected = self.training.approximation == "projected"
        take = self._project if projected else self._take
        with Interruption() as interruption:
            for c in range(C):
                if len(self._drivers) <= (c if self.training.keep else 0):  # kept to go on from, else one at a time
                    self._drivers.append(self.training.rest_driver(c, wanted))
                    self._drivers[-1].include(self.initial)
                driver = self._drivers[c] if self.training.keep else self._drivers.pop()
                driver.enlarge(wanted, self.training.rule.max_entries)
                ended = reason in (StopReason.INTERRUPTED, StopReason.CALLBACK)  # a block for each other one is enough
                left = 0.0 if ended else max(max_seconds - (time.perf_counter() - start), 0.0) / (C - c)
                end = time.perf_counter() + left
                selecting = SELECTION * left if projected else left
                reason = max(reason, driver.run(wanted, callback, selecting, self.training.patience()), key=_gravity)
                if interruption.answer():
                    reason, end = StopReason.INTERRUPTED, time.perf_counter()
                    if not driver.size:
                        driver.run(wanted, callback, 0.0)
                reason = max(reason, take(c, driver, wanted, callback, end), key=_gravity)
                if interruption.answer():
                    reason = StopReason.INTERRUPTED
        return reason

    def _free(self, driver: Driver) -> None:
        if not self.training.keep:
            driver.shards = []
            give_back()

    def _take(self, c: int, driver: Driver, wanted: int, callback: Callback | None, end: float) -> StopReason:
        """Sites on the active rows only, as selection left them."""
        d = driver.size
        active = driver.active[:d].copy()
        posterior, outside = driver.posterior(self.training.given.inside), driver.log_likelihood_outside()
        self._free(driver)
        self.evidence += log_evidence(posterior, driver.y[:d], driver.likelihood.take(active), outside)
        self.parts.append(self.factorised_part(posterior, active))
        return StopReason.COMPLETE

    def _project(self, c: int, driver: Driver, wanted: int, callback: Callback | None, end: float) -> StopReason:
        """Sites on all rows."""
        one, active = self.training.against_rest(c, wanted).sufficient(), driver.active[: driver.size].copy()
        reason, sweeps = None, 0
        self._free(driver)

        def watch(sweep: Sweep) -> bool:
            nonlocal reason, sweeps
            sweeps += 1
            progress = Progress(driver.size, wanted, sweep.change, driver.seconds[driver.size - 1], None)
            if callback and callback(progress._replace(log_evidence=self.evidence + sweep.log_evidence)):
                reason = StopReason.CALLBACK
            elif interruption.asked:
                reason = StopReason.INTERRUPTED
            elif time.perf_counter() > end and sweeps >= _LEAST:
                reason = StopReason.TIME
            return reason is not None

        with Interruption() as interruption:
            projected = infer_all_rows(one, active, self.training.given.inside, driver.sites, watch)
        found = projected.found
        known = one.left_out(projected.shard, found)[:, self.telling]
        self.parts.append(Part(projected.posterior, active, *projected.sites(active), known, projected.shard.dtype))
        self.sweeps += [s._replace(log_evidence=self.evidence + s.log_evidence) for s in found.sweeps]
        self.evidence += found.log_evidence
        self.converged = self.converged and found.converged
        return reason or StopReason.COMPLETE


class PairDriver(SeparateDriver):
    """Sites at the best pairs of a row and a class (SLH section 4): so many for each class on average."""

    def fit(self, wanted: int, callback: Callback | None, max_seconds: float) -> StopReason:
        t = self.training
        with Interruption() as interruption:
            deadline = Deadline(time.perf_counter() + max_seconds, lambda: interruption.asked)
            rows = t.rows_looked_at()
            found = fit_factorised(
                t.X[rows], t.y[rows], t.kernel, t.class_likelihood.take(rows), min(wanted, len(rows)), score=t.score,
                priority=t.priority[rows], dtype=t.dtype, deadline=deadline,
            )  # fmt: skip
        pairs = sum(map(len, found.active))
        self.evidence = found.log_evidence
        self.parts = [self.factorised_part(part, rows[at]) for part, at in zip(found.parts, found.active, strict=True)]
        _tell(callback, max(map(len, found.active)), wanted)
        return _end(deadline, pairs < min(wanted, len(t.y)) * t.n_functions)


class BoundDriver(SeparateDriver):
    """Unit noise on auxiliary variables (GR06 section 5): the same rows for all classes."""

    training: "BoundTraining"

    def fit(self, wanted: int, callback: Callback | None, max_seconds: float) -> StopReason:
        t = self.training
        with Interruption() as interruption:
            deadline = Deadline(time.perf_counter() + max_seconds, lambda: interruption.asked)
            every, rows = t.looked_at >= self.n_rows, t.rows_looked_at()
            X, y, priority = (v if every else v[rows] for v in (t.X, t.y, t.priority))
            likelihood = t.class_likelihood if every else t.class_likelihood.take(rows)
            found = fit_variational(
                X, y, t.kernel, wanted, approximation="factorised", likelihood=likelihood,  # type: ignore[arg-type]
                score=t.row_score, priority=priority, dtype=t.dtype, deadline=deadline,
            )  # fmt: skip
        parts = [part for part in found.parts if isinstance(part, FactorisedPosterior)]
        self.parts, self.evidence = [self.factorised_part(part, rows[found.active]) for part in parts], found.bound
        _tell(callback, len(found.active), wanted)
        return _end(deadline, len(found.active) < min(wanted, len(t.y)))


def _end(deadline: Deadline, fewer: bool) -> StopReason:
    """Why a selection ended, and whether with fewer rows than were asked for."""
    if deadline.asked():
        return StopReason.INTERRUPTED
    return StopReason.TIME if fewer and deadline.over else StopReason.COMPLETE


def _tell(callback: Callback | None, size: int, wanted: int) -> None:
    if callback:
        callback(Progress(size, wanted, 0.0, 0.0, None))


def _gravity(reason: StopReason) -> int:
    """How much a reason to stop says; the gravest of several counts."""
    order = [StopReason.COMPLETE, StopReason.EXHAUSTED, StopReason.UNINFORMATIVE, StopReason.SETTLED,
             StopReason.TIME, StopReason.CALLBACK, StopReason.INTERRUPTED]  # fmt: skip
    return order.index(reason)


def _double(X: Inputs) -> Inputs:
    return X if X.dtype == object else X.astype(np.float64)
