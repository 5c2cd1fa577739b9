"""The factorised posterior of many classes, each with sites on an active set of its own, with the face of a driver."""

import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from .._types import Inputs, Rows
from ..errors import ParameterError
from ..evidence import log_evidence
from ..multiclass import LeftOut, SeparatePosterior, calibrated, fit_factorised
from ..posterior import FactorisedPosterior
from ..selection import Callback, Driver, Patience, Progress, StopReason
from ..variational import fit_variational
from .left_out import some_rows, without_own_site

if TYPE_CHECKING:
    from .bound_training import BoundTraining
    from .class_training import ClassTraining
    from .inference import Result

__all__ = ["BoundDriver", "PairDriver", "RestDriver", "SeparateDriver"]


class SeparateDriver(ABC):
    """Selects for all classes; what came of it is ``parts``, ``own`` and ``evidence``."""

    sites = None
    shards: list[object] = []  # noqa: RUF012  kept by nobody

    def __init__(self, training: "ClassTraining") -> None:
        self.training, self.n_rows = training, len(training.y)
        self.capacity, self.size, self.initial = (
            training.wanted,
            0,
            np.empty(0, dtype=np.intp),
        )  # size: of the largest class
        self.parts: list[FactorisedPosterior] = []
        self.own: list[Rows] = []  # active rows of each class
        self.evidence = 0.0
        self.active, self.scores, self.seconds = np.empty(0, dtype=np.intp), np.empty(0), np.empty(0)

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
        stop = self.fit(wanted, callback, max_seconds)
        most = max(map(len, self.own))
        turns = [rows[t] for t in range(most) for rows in self.own if t < len(rows)]
        first = np.unique(turns, return_index=True)[1] if turns else np.empty(0, dtype=np.intp)
        self.active = np.array(turns, dtype=np.intp)[np.sort(first)]
        self.size, seconds = most, time.perf_counter() - start
        self.scores, self.seconds = np.full(len(self.active), np.nan), np.full(len(self.active), seconds)
        return stop

    def enlarge(self, capacity: int, max_entries: int | None) -> None:
        """Make room for more rows."""
        self.capacity = capacity

    def result(self, X: Inputs) -> "Result":
        """Return what is kept of the fit; X holds the inputs of all training rows."""
        from .inference import Result

        active, training = self.active, self.training
        order = np.argsort(active)
        precision, mean = np.zeros((2, len(active), len(self.parts)))
        for c, (part, rows) in enumerate(zip(self.parts, self.own, strict=True)):
            at = order[np.searchsorted(active[order], rows)]
            precision[at, c], mean[at, c] = part.precision, part.site_mean
        posterior = SeparatePosterior(training.kernel, _double(X[active]), tuple(self.parts))
        likelihood = calibrated(training.class_likelihood.for_new_rows(), [self._left_out(X)])
        return Result(posterior, likelihood, active, precision, mean, self.evidence, True, [])  # type: ignore[arg-type]

    def _left_out(self, X: Inputs) -> LeftOut:
        """What is known of some rows without their own sites."""
        at = some_rows(self.training.priority)
        parts = zip(self.parts, self.own, strict=True)
        found = np.stack([without_own_site(part, rows, X, at) for part, rows in parts], axis=2)
        return LeftOut(found, self.training.y[at].astype(np.intp))


class RestDriver(SeparateDriver):
    """Each class against the rest by a machine for two classes."""

    def __init__(self, training: "ClassTraining") -> None:
        super().__init__(training)
        self._drivers: list[Driver] = []

    def include(self, rows: Rows) -> None:
        self.initial = rows

    def fit(self, wanted: int, callback: Callback | None, max_seconds: float) -> StopReason:
        C, start, reason = self.training.n_functions, time.perf_counter(), StopReason.COMPLETE
        self.parts, self.own, self.evidence = [], [], 0.0
        for c in range(C):
            if len(self._drivers) <= c:
                self._drivers.append(self.training.rest_driver(c, wanted))
                self._drivers[c].include(self.initial)
            driver = self._drivers[c]
            driver.enlarge(wanted, None)
            ended = reason in (StopReason.INTERRUPTED, StopReason.CALLBACK)  # a block for each of the others is enough
            left = 0.0 if ended else max(max_seconds - (time.perf_counter() - start), 0.0)
            patience = self.training.patience()
            reason = max(reason, driver.run(wanted, callback, left / (C - c), patience), key=_gravity)
            self._take(driver)
            if not self.training.keep:
                driver.shards = []
        return reason

    def _take(self, driver: Driver) -> None:
        d = driver.size
        active = driver.active[:d].copy()
        posterior, outside = driver.posterior(self.training.given.X), driver.log_likelihood_outside()
        self.evidence += log_evidence(posterior, driver.y[:d], driver.likelihood.take(active), outside)
        self.parts.append(posterior)
        self.own.append(active)


class PairDriver(SeparateDriver):
    """Sites at the best pairs of a row and a class (SLH section 4): so many for each class on average."""

    def fit(self, wanted: int, callback: Callback | None, max_seconds: float) -> StopReason:
        t = self.training
        found = fit_factorised(
            t.X, t.y, t.kernel, t.class_likelihood, min(wanted, len(t.y)), score=t.score, priority=t.priority,
            dtype=t.dtype,
        )  # fmt: skip
        self.parts, self.own, self.evidence = list(found.parts), found.active, found.log_evidence
        _tell(callback, max(map(len, self.own)), wanted)
        return StopReason.COMPLETE


class BoundDriver(SeparateDriver):
    """Unit noise on auxiliary variables (GR06 section 5): the same rows for all classes."""

    training: "BoundTraining"

    def fit(self, wanted: int, callback: Callback | None, max_seconds: float) -> StopReason:
        t = self.training
        found = fit_variational(
            t.X, t.y, t.kernel, wanted, approximation="factorised", likelihood=t.class_likelihood,  # type: ignore[arg-type]
            score=t.row_score, priority=t.priority, dtype=t.dtype,
        )  # fmt: skip
        self.parts = [part for part in found.parts if isinstance(part, FactorisedPosterior)]
        self.own, self.evidence = [found.active] * t.n_functions, found.bound
        _tell(callback, len(found.active), wanted)
        return StopReason.COMPLETE


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
