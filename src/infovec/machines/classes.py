"""What machines of many classes have in common."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, cast

import numpy as np
from scipy.special import ndtri

from .._types import Floats, Rows
from ..errors import ParameterError
from ..learning import LeavesGroupsOut, Model, Step, refine_scales, refine_scales_by_groups
from ..likelihoods import OneOfMany, Probit, plain
from ..likelihoods.classes import ClassLikelihood, against_rest
from ..selection import Driver, InTurns
from .one_function import FactorisedFunction, OneFunction, ProjectedFunction
from .staged import Objective, Stage, Staged

__all__ = ["ClassMachine", "ProjectedAgainstRest", "class_bias"]

SHORTER = 1.4  # factor between length scales that are tried
TELLING = 50  # rows at least for that


@dataclass(frozen=True)
class ProjectedAgainstRest(ProjectedFunction):
    """One class of many against the rest, with sites on all rows."""

    site_tolerance = 1e-3
    moves_alone, settles_again = True, False
    fewest_sweeps = 4  # of a class whose turn comes when time is up: without any it would know nothing

    @property
    def starts_from_sites(self) -> bool:
        """Not where labels may be wrong: sites of rows one by one, some of them believed, lead sweeps far astray."""
        return super().starts_from_sites and not isinstance(plain(self.likelihood), OneOfMany)


@dataclass(frozen=True)
class ClassMachine(Staged):
    """A function for each class; ``y`` holds labels 0, ..., C - 1."""

    likelihood: ClassLikelihood

    learning_tolerance = 1e-4
    few: ClassVar[Stage] = Stage(1000, 100, 40, 1e-3)
    more: ClassVar[Stage] = Stage(3000, 250, 0, 1e-2)

    def __post_init__(self) -> None:
        if self.choices.rule.by_gain:
            raise ParameterError("score='projected_gain' is for two classes; leave out score for more")
        if self.likelihood.lapse and not self.may_lapse:
            raise ParameterError(
                "labels that may be wrong, lapse, are for approximation='projected' and multi_class='ovr', 'probit' or "
                "'softmax'; leave out lapse, or choose one of these"
            )

    @property
    def n_functions(self) -> int:
        """One for each class."""
        return self.likelihood.n_classes

    def one(self, c: int, wanted: int) -> OneFunction:
        """Return a machine of one class against the rest, to select rows by."""
        y, weight = against_rest(self.data.y, c), self.likelihood.weight
        count = np.abs(y) if weight is None else np.abs(y) * weight  # without label there is none
        share = np.clip(np.average(y > 0.0, weights=count), 0.5 / len(y), 1.0 - 0.5 / len(y))
        kind = ProjectedAgainstRest if self.all_rows else FactorisedFunction
        return kind(
            replace(self.data.of_class(c), y=y), self.kernel, Probit(float(ndtri(share))),
            replace(self.work, wanted=wanted),
            replace(self.choices, doubt=self.choices.doubt._replace(spare=False, forms=False)),
            self.learned,
        )  # fmt: skip

    def timed(self) -> OneFunction:
        return self.one(0, self.work.wanted)

    def stages(self, many: bool) -> list[Stage]:
        """Return two: the second has no steps of its own, but what ``refined`` does."""
        n, d = self.data.n, self.work.wanted
        first = self.few._replace(rows=min(n, self.few.rows), active=min(d, self.few.active, max(n // 2, 1)))
        return [first, self.more._replace(rows=min(n, self.more.rows), active=min(d, n, self.more.active))]

    def refined(self, objective: Objective, model: Model, watch: Callable[[Step], bool]) -> Model:
        """Return the model whose length scales predict rows left out best.

        The evidence of classes that are independent, or nearly so, prefers functions smoother than those that tell the
        classes apart best. Few rows would be predicted best by chance.
        """
        if not self.refines(self.data.n):
            return model
        if self.data.folds is not None:
            return refine_scales_by_groups(cast(LeavesGroupsOut, objective), model, SHORTER, watch)
        return refine_scales(objective, model, SHORTER, watch)

    def refines(self, n: int) -> bool:
        return n >= TELLING and bool(np.all(self.data.y >= 0))  # labels spread to rows without, which tell them back

    def taking_turns(self) -> Driver | InTurns:
        """Return a selector that lets the classes take turns; without labels there is nothing to take turns for."""
        if not self.choices.rule.sees_targets:
            driver = self.one(0, self.work.wanted).selector()
            assert isinstance(driver, Driver)
            return driver
        rows = self.data.first_in_line(self.work.looked_at, self.work.initial)
        n_rows, entries = int(np.sum(~self.data.held_back[rows])), self._entries_of_class
        return InTurns(self._driver, self.n_functions, self.work.wanted, n_rows, entries)

    @property
    def _entries_of_class(self) -> int | None:
        """Numbers of stubs for each of the machines: one share is for the copy that is made when one grows."""
        entries = self.work.index.max_entries
        return None if entries is None else entries // (self.n_functions + 1)

    def _driver(self, c: int, wanted: int) -> Driver:
        """Return what selects for one of the classes, with its share of the stubs."""
        one = self.one(c, wanted)
        index = replace(one.work.index, max_entries=self._entries_of_class)
        driver = replace(one, work=replace(one.work, index=index)).selector()
        assert isinstance(driver, Driver)
        return driver

    def shared_active_set(self) -> Rows:
        """Return active rows for all classes together, without inference."""
        selector = self.taking_turns()
        selector.run(self.work.wanted)
        active = selector.active[: selector.size].copy()
        selector.release()
        return active


def class_bias(labels: Rows, n_classes: int, weight: Floats | None = None) -> Floats:
    """Frequencies of the classes as probits, each class counted once more."""
    counts = np.bincount(labels, weights=weight, minlength=n_classes) + 1.0
    return ndtri(counts / counts.sum() * (1.0 - 1e-9))
