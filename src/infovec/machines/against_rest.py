"""Many classes, each against the rest by a machine of one function of its own."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._types import Rows
from ..kernels import Kernel
from ..learning import RestEvidence
from ..likelihoods import Likelihood, Weighted, weighted
from ..likelihoods.classes import OneAgainstRest
from ..posterior import FactorisedPosterior, ProjectedPosterior
from ..runtime import StopReason
from ..selection import Patience
from .budget import Needs, Sizes, inference_need, selection_need
from .class_by_class import Separate, SeparateClasses, rows_that_tell, together
from .classes import ClassMachine
from .data import Data
from .one_function import OneFunction
from .plan import Plan
from .result import Result
from .run import Run
from .staged import Stage, stages
from .work import Refine

__all__ = ["AgainstRest", "FactorisedAgainstRest"]

_FACTORS = 3  # of the square of the active set, that every class leaves: its posterior


@dataclass(frozen=True)
class AgainstRest(ClassMachine):
    """C machines of one function, with sites on all rows; they share rows, and a kernel unless each has its own.

    Parameters
    ----------
    kernels : tuple of Kernel
        One for each class; empty where they share ``kernel``.
    initials : tuple of arrays of int
        Rows that become active first, for each class; empty where they are the same for all.
    """

    kernels: tuple[Kernel, ...] = ()
    initials: tuple[Rows, ...] = ()

    all_rows = True
    may_move = True
    more = Stage(3000, 300, 0, 1e-2)

    @classmethod
    def needs(cls, sizes: Sizes) -> Needs:
        """Memory of one class after the other, whose posteriors stay."""
        stays = cls._stays(sizes.n_functions, sizes.d)
        one = Needs(selection_need(sizes), inference_need(sizes)) if cls.all_rows else Needs(selection_need(sizes))
        return Needs(*(need._replace(fixed=need.fixed + stays) for need in one))

    @staticmethod
    def _stays(n_functions: int, d: int) -> int:
        """Bytes of the posteriors of all classes."""
        return 8 * _FACTORS * n_functions * d**2

    @property
    def fitted_kernel(self) -> Kernel | list[Kernel]:
        """The kernel that all classes share, or all of them."""
        return list(self.kernels) or self.kernel

    def machine(self, c: int, wanted: int | None = None) -> OneFunction:
        """Return the machine of one class, with the weights of the rows."""
        assert isinstance(self.likelihood, OneAgainstRest)
        one = self.one(c, self.work.wanted if wanted is None else wanted)
        data = replace(one.data, beside=one.data.beside + self._stays(self.n_functions, self.work.wanted))
        return replace(
            one,
            data=data,
            likelihood=_one_observation(self.likelihood.of_class(c), data),
            kernel=self.kernels[c] if self.kernels else self.kernel,
        )

    def with_machines(self, machines: Sequence[OneFunction]) -> "AgainstRest":
        """Return the same with the kernels and biases that machines have learned, of the first classes or all."""
        bias, kernels = np.array(self.likelihood.bias), list(self.kernels)
        for c, one in enumerate(machines):
            kernels[c], bias[c] = one.kernel, one.likelihood.for_new_rows().bias  # type: ignore[attr-defined]
        return replace(self, kernels=tuple(kernels), likelihood=replace(self.likelihood, bias=bias))

    def stages(self, many: bool) -> list[Stage]:
        """Return those of one function where each class learns for itself."""
        return stages(self.data.n, self.work.wanted, many) if self.kernels else super().stages(many)

    def selector(self) -> SeparateClasses:
        return SeparateClasses(self.data.n)

    def finish(self, run: Run, wanted: int, patience: Patience | None) -> tuple[StopReason, Result]:
        """Select and infer for one class after the other, each in its share of the time that is left."""
        classes, start, C = run.selector, time.perf_counter(), self.n_functions
        assert isinstance(classes, SeparateClasses)
        telling = rows_that_tell(self.data, self.kernel, self.work.dtype, wanted, C, run)
        parts, stop = list[Separate](), StopReason.COMPLETE
        for c in range(C):
            ended = stop in (StopReason.INTERRUPTED, StopReason.CALLBACK)  # a block for each of the others is enough
            left = 0.0 if ended else run.left / (C - c)
            reason, part = self._fit_class(c, classes, wanted, run, left, telling, parts)
            parts.append(part)
            stop = max(stop, reason, run.listener.answer() or stop, key=_gravity)
        classes.note(parts, time.perf_counter() - start)
        return stop, together(self.data, self.likelihood, parts, classes.active, telling, run.last)

    def _fit_class(
        self,
        c: int,
        classes: SeparateClasses,
        wanted: int,
        run: Run,
        left: float,
        telling: Rows,
        before: Sequence[Separate],
    ) -> tuple[StopReason, Separate]:
        one = self.machine(c, wanted).sufficient()
        if len(classes.selectors) <= (c if self.choices.keep else 0):  # kept to go on from, else one at a time
            classes.selectors.append(one.selector())
            classes.selectors[-1].include(self.initials[c] if self.initials else classes.initial)
        selector = classes.selectors[c] if self.choices.keep else classes.selectors.pop()
        selector.enlarge(wanted, self.work.index.max_entries)
        evidence = sum(part.log_evidence for part in before) if before else None
        own = Run(selector, run.deadline.within(left), run.soon, telling, evidence)
        stop, found = one.finish(own, wanted, self.patience)
        assert isinstance(found.posterior, FactorisedPosterior | ProjectedPosterior)
        assert found.left_out is not None
        return stop, Separate(
            found.posterior, found.active, found.site_precision, found.site_mean, found.left_out, found.log_evidence,
            found.converged, found.sweeps, found.dtype, found.moved,
        )  # fmt: skip

    def objective(self, rows: Rows, active: Sequence[Rows], tolerance: float) -> RestEvidence:
        given, C = self.learned_rows(rows), self.n_functions
        sets = active if len(active) == C else [active[0]] * C

        def select(c: int, kernel: Kernel) -> Rows:
            return replace(self.machine(c), kernel=kernel).select()

        return RestEvidence(given, sets, tolerance, select)

    def active_sets(self) -> list[Rows]:
        return [self.machine(c).select() for c in range(self.n_functions)]

    def row_seconds(self, d: int) -> float:
        return self.n_functions * self.one(0, d).row_seconds(d)

    def plan(self) -> Plan:
        work, d = self.work, self.work.wanted
        one = self.one(0, d).plan()
        entries = min(work.index.peak(work.looked_at, d), work.index.max_entries or work.looked_at * d)
        return one._replace(seconds=self.n_functions * one.seconds, memory=self.peak_bytes(entries), n_active=d)


@dataclass(frozen=True)
class FactorisedAgainstRest(AgainstRest):
    """The same with sites on the active rows of each class only."""

    all_rows = False
    may_move = False
    may_lapse = False
    refinable = Refine(exchange=True, by_evidence=True, sweeps=True)


def _one_observation(likelihood: Likelihood, data: Data) -> Likelihood:
    """Return a likelihood by which a row and those of its images that a class selects from are one observation."""
    if data.kin is None or data.eligible is None or not isinstance(likelihood, Weighted):
        return likelihood
    taking_part = np.bincount(data.kin, weights=data.eligible)[data.kin]
    weight = likelihood.weight * data.count(np.arange(data.n)) / taking_part
    return weighted(likelihood.likelihood, weight)


def _gravity(reason: StopReason) -> int:
    """How much a reason to stop says; the gravest of several counts."""
    order = [StopReason.COMPLETE, StopReason.EXHAUSTED, StopReason.UNINFORMATIVE, StopReason.SETTLED,
             StopReason.TIME, StopReason.CALLBACK, StopReason.INTERRUPTED]  # fmt: skip
    return order.index(reason)
