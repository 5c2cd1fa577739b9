"""Machines that select for all classes at once, with sites on what they select alone."""

import time
from abc import abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

from .._types import Rows
from ..errors import ParameterError
from ..inference import without_own_site
from ..posterior import FactorisedPosterior
from ..runtime import Deadline, Progress, StopReason
from ..selection import Patience
from .class_by_class import Separate, SeparateClasses, rows_that_tell, together
from .coupled import CoupledClasses
from .plan import Plan
from .result import Result
from .run import Run
from .seconds import FEWEST_SWEEPS, product_seconds

__all__ = ["AtOnce", "Chosen"]


class Chosen(NamedTuple):
    """Posteriors of all classes with their active rows, the evidence, and whether these are fewer than asked for."""

    parts: list[tuple[FactorisedPosterior, Rows]]
    log_evidence: float
    fewer: bool


@dataclass(frozen=True)
class AtOnce(CoupledClasses):
    """A factorised posterior of coupled classes."""

    all_rows = False
    may_lapse = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.data.held_back.any():
            raise ParameterError(
                "n_active='auto' is not for the factorised posterior of coupled classes; give a number"
            )
        if len(self.work.initial):
            raise ParameterError("initial rows of the factorised posterior of coupled classes cannot be given")

    @abstractmethod
    def choose(self, wanted: int, rows: Rows, deadline: Deadline) -> Chosen:
        """Select among some rows, so many for each class."""

    def selector(self) -> SeparateClasses:
        return SeparateClasses(self.data.n)

    def finish(self, run: Run, wanted: int, patience: Patience | None) -> tuple[StopReason, Result]:
        """Select for all classes."""
        classes, data, start = run.selector, self.data, time.perf_counter()
        assert isinstance(classes, SeparateClasses)
        rows = data.first_in_line(self.work.looked_at, self.work.initial)
        telling = rows_that_tell(data, self.kernel, self.work.dtype, wanted, self.n_functions, run)
        chosen = self.choose(wanted, rows, run.deadline)
        stop = StopReason.TIME if chosen.fewer and run.deadline.over else StopReason.COMPLETE
        stop = run.listener.answer() or stop
        parts = [
            Separate(
                part, active, part.precision, part.site_mean,
                without_own_site(part, active, data.given.inside, telling, data.group, data.folds),
                dtype=self.work.dtype,
            )
            for part, active in chosen.parts
        ]  # fmt: skip
        classes.note(parts, time.perf_counter() - start)
        run.listener.tell(Progress(classes.size, wanted, 0.0, 0.0, None))
        result = together(data, self.likelihood, parts, classes.active, telling, run.last)
        return stop, result._replace(log_evidence=chosen.log_evidence)

    def row_seconds(self, d: int) -> float:
        """Moments of all classes in every look, and products."""
        looks, (moments, probabilities) = self.work.schedule.looks(d), self.moments_seconds()
        product = product_seconds(self.data, self.work.dtype, d)
        return looks * (moments + probabilities / FEWEST_SWEEPS) + self.n_functions * product

    def plan(self) -> Plan:
        one = self.one(0, self.work.wanted).plan()
        return one._replace(seconds=self.n_functions * one.seconds, memory=self.peak_bytes(0))
