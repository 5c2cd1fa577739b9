"""What every machine is: rows, a kernel and a likelihood, and what was settled about the work."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Self

import numpy as np

from .._types import Floats, Inputs, Rows
from ..errors import ParameterError
from ..kernels import Kernel
from ..learning import Step
from ..likelihoods import Likelihood, total_weight
from ..likelihoods.parts import row_bytes
from ..runtime import StopReason, give_back, outside
from ..selection import Chooser, Patience, Schedule
from ..shards import HERE, FarInputs, IndexRule, share
from .budget import Needs, Sizes, within
from .data import Data
from .plan import Plan
from .result import Result
from .run import Run
from .sample import AnyLikelihood
from .work import Choices, Refine, Work

__all__ = ["SMALL_STUBS", "AnyLikelihood", "Machine"]

SMALL_PART, SMALL_EXACT = 100_000, 500_000  # the same while parameters are learned: by sweeps, and without
SMALL_STUBS = 1_000_000  # numbers in a stub matrix that is kept in double precision whatever dtype says


@dataclass(frozen=True)
class Machine(ABC):
    """A model of some rows, ready to select, to infer and to say what that will take.

    What kind of posterior it has, and how its classes are coupled, is its class: see ``infovec.estimators.kinds``.

    Parameters
    ----------
    data : Data
    kernel : Kernel
    likelihood : Likelihood or ClassLikelihood
        Of these rows.
    work : Work
    choices : Choices
    learned : int
        Numbers that were learned from these rows.
    """

    data: Data
    kernel: Kernel
    likelihood: AnyLikelihood
    work: Work
    choices: Choices
    learned: int = 0

    refinable: ClassVar[Refine] = Refine()
    """What can follow its selection."""
    may_move: ClassVar[bool] = False
    """Whether active inputs of this kind of machine can move after selection."""
    may_lapse: ClassVar[bool] = True
    """Whether labels may be wrong."""
    moves_alone: ClassVar[bool] = False
    """Whether they move while the parameters stay as they are, which others share."""
    all_rows: ClassVar[bool]
    """Whether all rows have sites: the projected posterior. Else those of the active rows are all."""

    @property
    @abstractmethod
    def n_functions(self) -> int:
        """Latent functions of the model."""

    @classmethod
    @abstractmethod
    def needs(cls, sizes: Sizes) -> Needs:
        """Memory of selection and of what follows it."""

    @abstractmethod
    def selector(self) -> Chooser:
        """Return what chooses the active rows."""

    @abstractmethod
    def finish(self, run: Run, wanted: int, patience: Patience | None) -> tuple[StopReason, Result]:
        """Select until the active set has ``wanted`` rows, or patience or something else ends it; then infer."""

    @abstractmethod
    def plan(self) -> Plan:
        """Predict seconds and memory of selection and inference, after a short calibration."""

    @abstractmethod
    def row_seconds(self, d: int) -> float:
        """Seconds for a row in the selection of d active ones, and in inference if that is with all rows."""

    @property
    def can_move(self) -> bool:
        """Whether active inputs can move with these rows and this likelihood."""
        return self.may_move

    @property
    def fitted_kernel(self) -> Kernel | list[Kernel]:
        """What is remembered of a fit as its kernel."""
        return self.kernel

    @property
    def patience(self) -> Patience | None:
        """When to stop early, if rows are held back to tell."""
        return Patience() if self.data.held_back.any() else None

    def with_parameters(self, kernel: Kernel, likelihood: AnyLikelihood, learned: int) -> Self:
        """Return the same with parameters that were learned."""
        return replace(self, kernel=kernel, likelihood=likelihood, learned=learned)

    def sufficient(self) -> Self:
        """Return the same in double precision where its parameters need that."""
        return self

    def raised(self) -> Self:
        """Return the same in double precision, if memory allows."""
        data = self.data  # which stay beside those in double precision: whoever asks for these has them
        data = replace(data, beside=data.beside + data.n * data.p * self.work.itemsize)
        try:
            work = replace(self, data=data).within_limit(self.work.wanted, 8)
        except ParameterError as error:
            warnings.warn(
                "single precision is not enough for noise so low, or a kernel so large and smooth, but double does not "
                f"fit: {error}. Predictions may be wrong",
                stacklevel=outside(),
            )
            return self
        exact = replace(data, X=data.exact_inputs(self.kernel))
        give_back()  # what it took to make them
        return replace(self, data=exact.in_precision(self.kernel, "float64"), work=replace(work, dtype="float64"))

    @property
    def held(self) -> int | None:
        """Rows that inference has in memory at a time, if not all."""
        return self.choices.places.rows_at_once if isinstance(self.data.X, FarInputs) else None

    def sizes(self, wanted: int, itemsize: int) -> Sizes:
        """Return what the memory of this machine depends on."""
        data, work, row = self.data, self.work, row_bytes(self.likelihood)
        return Sizes(data.n, data.p, wanted, itemsize, work.schedule, row, self.n_functions, data.beside, self.held)

    def within_limit(self, wanted: int, itemsize: int) -> Work:
        """Return the work with as many rows looked at and numbers kept as there is room for; refuse if it is too few.

        Parameters
        ----------
        wanted : int
            Size of the active set.
        itemsize : int
            Bytes of a number that is kept.
        """
        sizes, limit = self.sizes(wanted, itemsize), self.work.limit
        needs = within(limit, sizes, partial(self.needs, sizes))
        (looked_at, entries), (_, kept) = (need.share(limit) for need in needs)
        index = replace(self.work.index, max_entries=entries if entries < needs.selection.numbers else None)
        return replace(self.work, index=index, kept=kept, looked_at=looked_at)

    def peak_bytes(self, entries: int) -> int:
        """Bytes at the peak, with so many numbers in the stubs."""
        needs = self.needs(self.sizes(self.work.wanted, self.work.itemsize)).and_beside(self.data.beside)
        return max(needs.selection.used(self.work.looked_at, entries), needs.inference.used(0, self.work.kept))

    def part(self, rows: Rows, wanted: int, kernel: Kernel, likelihood: AnyLikelihood) -> Self:
        """Return the machine of some rows only, with fewer active ones and other parameters, to learn by."""
        n, wanted = len(rows), min(wanted, len(rows))
        exact = isinstance(likelihood, Likelihood) and likelihood.conjugate  # noise may be low
        dtype = "float64" if n * wanted <= (SMALL_EXACT if exact else SMALL_PART) else self.choices.dtype
        work = replace(
            self.work, wanted=wanted, initial=np.empty(0, dtype=np.intp), kept=n * wanted, looked_at=n, dtype=dtype,
            schedule=Schedule.in_blocks(n, wanted), index=IndexRule(),
        )  # fmt: skip
        data = self.data.part(rows, dtype == self.work.dtype, self.kernel).in_precision(self.kernel, dtype)
        choices = replace(self.choices, places=HERE) if self.choices.places.by_place else self.choices
        return replace(self, data=data, kernel=kernel, likelihood=likelihood.take(rows), work=work, choices=choices)

    def only(self, rows: Rows) -> Self:
        """Return the same on some rows, in order, as if no others had been given; the initial ones are among them."""
        own = self.sizes(0, self.work.itemsize)
        data = replace(self.data.take(rows), beside=self.data.beside if self.data.some else own.given)
        work = replace(
            self.work, initial=np.searchsorted(rows, self.work.initial),
            looked_at=min(self.work.looked_at, len(rows)), wanted=min(self.work.wanted, int(np.sum(~data.held_back))),
        )  # fmt: skip
        return replace(self, data=data, likelihood=self.likelihood.take(rows), work=work)

    def cut(self, rows: Rows) -> Iterator[tuple[Rows, Inputs, Floats, int]]:
        """Some rows, ascending, for each shard: numbers, inputs, targets, and how many numbers of V it may keep."""
        data, n = self.data, len(rows)
        for part in self.choices.places.divided(data.X, rows, selecting=False):
            at = rows[part]
            y = data.y if len(at) == data.n and isinstance(part, slice) else data.y[at]
            yield at, data.inputs(at), y, share(self.work.kept, len(at), n)

    def shown(self, step: Step) -> Step:
        """Return a step of learning on all rows here with the criterion as the user has it."""
        observations = total_weight(self.likelihood, self.data.n)
        return step._replace(criterion=self.data.given.unit.evidence_outside(step.criterion, observations))
