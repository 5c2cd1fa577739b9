"""Machines whose parameters are learned on the evidence of all rows, by stages that grow."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, NamedTuple, Protocol, Self

from .._types import Floats, Rows
from ..learning import LearnedRows, Model, Step
from .machine import Machine

__all__ = ["ACTIVE_FOR_MANY", "MANY", "Objective", "Stage", "Staged", "stages"]


class Stage(NamedTuple):
    """One selection and the optimisation that follows it."""

    rows: int
    active: int
    iterations: int
    tolerance: float  # of the sites


class Objective(Protocol):
    """What is maximised, at any parameters."""

    def __call__(self, model: Model) -> tuple[float, Floats]:
        """Criterion plus log prior, and the gradient in the steps of the model."""

    def go_on_from(self, other: Self) -> None:
        """Begin with what inference found in another objective."""

    def left_out(self, model: Model) -> tuple[float, float]:
        """Return the criterion, and the mean log loss of rows left out."""

    def release(self) -> None:
        """Give back what shards elsewhere have."""


_FIRST = 40  # iterations
_EXACT = (Stage(1000, 100, _FIRST, 3e-3), Stage(3000, 250, 20, 3e-3), Stage(10_000, 1000, 6, 3e-3))
_STAGES = (Stage(1000, 100, _FIRST, 3e-3), Stage(1500, 150, 12, 3e-3), Stage(5000, 1000, 9, 3e-3))
MANY = 8  # kernel parameters, such as a length scale for each input
ACTIVE_FOR_MANY = 400  # rows at first, whatever is asked for: seen through few of them a relevant input costs more than
# it explains, and is switched off for good
_SMALL = 150  # rows up to which there is one stage
_NEAR = 0.9  # a stage that is no larger than this share of the next one is left out


@dataclass(frozen=True)
class Staged(Machine):
    """A machine with an objective for any active set."""

    learning_tolerance: ClassVar[float] = 3e-4
    """Of the criterion and its gradient, as optimisation has it."""

    @abstractmethod
    def objective(self, rows: Rows, active: Sequence[Rows], tolerance: float) -> Objective:
        """Return what learning maximises for these rows, whose numbers in the whole training set are given."""

    @abstractmethod
    def active_sets(self) -> list[Rows]:
        """Return the active rows, without inference: one set, or one for each class."""

    @abstractmethod
    def refined(self, objective: Objective, model: Model, watch: Callable[[Step], bool]) -> Model:
        """Return the model after what learning there is by rows left out."""

    @abstractmethod
    def refines(self, n: int) -> bool:
        """Whether n rows are enough for that."""

    @abstractmethod
    def timed(self) -> Machine:
        """Return the machine of one of the functions, by which it is told how long learning takes."""

    def stages(self, many: bool) -> list[Stage]:
        """Return the stages of learning, of many kernel parameters or few."""
        return stages(self.data.n, self.work.wanted, many)

    def sampled(self, size: int) -> Rows:
        """Return so many rows to learn from, drawn at random, ascending."""
        return self.data.sample(size)

    def learned_rows(self, rows: Rows) -> LearnedRows:
        """Return the rows here, whose numbers in the whole training set are given, as objectives have them."""
        data, exact = self.data, self.data.exact_rows(rows, self.kernel)
        return LearnedRows(
            rows,
            data.X,
            data.y,
            data.group,
            self.work.dtype,
            self.choices.blur,
            exact,
            self.choices.places,
            self.work.kept,
            data.folds,
        )


def stages(n: int, d: int, many: bool = False, exact: bool = False) -> list[Stage]:
    """Return the stages for n rows and d active ones: the last of them as large as it may be.

    Parameters
    ----------
    n, d : int
    many : bool
        Whether there are many parameters of the kernel to learn.
    exact : bool
        Whether an evaluation needs no sweeps, as with Gaussian noise: there can be more of them, of more rows.
    """
    if n <= _SMALL and not many:
        return [Stage(n, min(d, n), _FIRST, _STAGES[0].tolerance)]
    asked = _EXACT if exact else _STAGES
    fitting = [Stage(min(n, s.rows), min(d, s.active, max(n // 2, 1)), s.iterations, s.tolerance) for s in asked]
    fitting[-1] = fitting[-1]._replace(active=min(d, asked[-1].active, n))
    kept = [
        stage for stage, later in pairwise(fitting) if stage.rows * stage.active < _NEAR * later.rows * later.active
    ]
    if many:
        first = fitting[0]._replace(active=min(ACTIVE_FOR_MANY, max(n // 2, 1)))
        return [first, *(stage for stage in kept if stage.rows > first.rows), fitting[-1]]
    begin, *rest = [*kept, fitting[-1]]
    return [begin._replace(iterations=_FIRST), *rest]
