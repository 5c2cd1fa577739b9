"""How much there is to do, and what kind of model it is done for: all that is settled before a fit begins."""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from .._types import Rows
from ..kernels import Kernel
from ..learning import Learning
from ..scores import Rule
from ..selection import Schedule
from ..shards import HERE, IndexRule, Places

__all__ = ["AS_SELECTED", "Choices", "Moving", "Refine", "Work"]


class Refine(NamedTuple):
    """What follows the selection of a factorised posterior."""

    exchange: bool = False  # of active rows for others
    by_evidence: bool = False  # whether these raise the evidence, or what the active rows tell of the function
    sweeps: bool = False  # over the active rows, until their sites settle


AS_SELECTED: Final = Refine()


class Moving(NamedTuple):
    """Whether active inputs move after selection, and the parameters with them."""

    asked: bool | None = False  # None is where that pays
    learning: Learning | None = None  # how parameters are learned, if they are


STAY: Final = Moving()


class Doubt(NamedTuple):
    """How far what is predicted, what rows say, and the units of a kernel that was given, are trusted."""

    calibrate: bool = False  # whether the certainty of predictions is found by rows left out
    spare: bool = False  # whether labels may be wrong, or counts scatter, where that explains them better
    forms: bool = False  # whether the kernel may get further terms, where these explain rows better
    suited: tuple[Kernel, ...] = ()  # kernels of its form in the units of the rows, at which learning begins as well
    noise: float | None = None  # variance of such a start, where a likelihood with noise was given
    named: bool = False  # whether the likelihood was given by name, and begins where it usually does

    @property
    def elsewhere(self) -> tuple[tuple[Kernel, ...], float | None]:
        """Where learning begins as well."""
        return self.suited, self.noise


@dataclass(frozen=True)
class Work:
    """Sizes of the active set, of blocks, and of what is kept in memory.

    Parameters
    ----------
    wanted : int
        Size of the active set.
    initial : array of int
        Rows that become active first.
    schedule : Schedule
    index : IndexRule
        Rows that selection goes on considering.
    dtype : {"float32", "float64"}
        Precision of products.
    limit : int
        Bytes that a fit may take, as it was given.
    kept : int
        Numbers of V that fit into memory.
    looked_at : int
        Rows that selection chooses from.
    """

    wanted: int
    initial: Rows
    schedule: Schedule
    index: IndexRule
    dtype: str
    limit: int
    kept: int
    looked_at: int

    @property
    def itemsize(self) -> int:
        """Bytes of a number in that precision."""
        return np.dtype(self.dtype).itemsize


@dataclass(frozen=True)
class Choices:
    """What a user chose by name, as objects.

    Parameters
    ----------
    rule : Rule
        What rows are selected by.
    blur : bool
        Whether a site knows the variance that the active set leaves.
    doubt : Doubt
    keep : bool
        Whether what selection made is kept, to go on from.
    places : Places
        What makes the shards that rows are cut into.
    dtype : {"float32", "float64"}
        Precision of products where there are many, and parameters allow.
    refine : Refine
        Of a factorised posterior.
    moving : Moving
    """

    rule: Rule
    blur: bool
    doubt: Doubt
    keep: bool
    places: Places = HERE
    dtype: str = "float32"
    refine: Refine = AS_SELECTED
    moving: Moving = STAY
