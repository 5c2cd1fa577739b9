"""How hyperparameters are learned, as a user says it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import numpy as np

from ..errors import ParameterError
from .priors import Gamma, Normal, Prior

__all__ = ["CRITERIA", "SITES", "Learning", "matching"]

CRITERIA = ("ep", "active_set", "variational")
SITES = ("constant", "hybrid", "exact")


@dataclass(frozen=True)
class Learning:
    """Settings of learning, for the ``learn`` of an estimator; a criterion's name there is short for its defaults.

    A major step selects the active rows and their sites anew; the minor steps after it move the parameters with the
    active rows held fixed. The best parameters that were met at a major step are kept, not the last ones.

    A parameter is named ``kernel.`` or ``likelihood.`` and its name in ``parameter_names``, such as
    "kernel.length_scale", "kernel.left.variance" or "likelihood.bias"; the name of an array means all its entries.
    Patterns are those of a shell, as "kernel*variance"; of several that match, the last one counts. Numbers in priors
    and bounds are in the units of the data, in which the fit then works.

    Parameters
    ----------
    criterion : {"ep", "active_set", "variational"}
        "ep": the EP evidence, of the projected posterior where the estimator has it, else of the factorised one (SLH
        eq. 11). "active_set": the likelihood of the active rows for the kernel, the sum of log partition functions for
        the noise (LSH05 eq. 32, 34). "variational": the lower bound of the Thesis (C.3.3). The latter two are of the
        factorised posterior, whatever is fitted in the end.
    sites : {"constant", "hybrid", "exact"}
        What becomes of the sites in minor steps (SLH 3.3, 6.1.1): held fixed, found anew for each search direction, or
        for each evaluation. Those of Gaussian noise follow its parameters in any case. Of no concern to the projected
        posterior with "ep", whose sites are always at rest.
    major_steps, minor_steps : int, optional
        15 and 8, as in SLH, unless given; by "ep" for the projected posterior stages of growing size.
    restarts : int
        How many times to begin again from parameters drawn around the start; the best of all is taken.
    lag : int
        Major steps over which an improvement must show (T1 = T2 of Thesis 4.5.3).
    tolerance : float
        Relative improvement over them below which learning ends.
    priors : mapping of pattern to Normal, Gamma or None
        Normal on the free scale, Gamma on the value, None for no prior. A parameter that is not matched has a weak
        normal prior around its start. ``slh_priors`` gives those of the papers.
    fixed : sequence of patterns
        Parameters that stay as they are.
    bounds : mapping of pattern to (low, high)
        Limits of the values.
    max_rows : int, optional
        Rows at most that the criteria of the factorised posterior are learned on, drawn at random.
    all_rows : bool
        Whether learning by "ep" for the projected posterior ends with all rows, wherever they are, and not with a
        sample of them: a few steps more, each of which takes some sweeps over all rows.
    warm_up : bool
        Whether these criteria begin on 1000 rows with 100 active ones, where the magnitude of all length scales
        is found first.
    """

    criterion: str = "ep"
    sites: str = "constant"
    major_steps: int | None = None
    minor_steps: int | None = None
    restarts: int = 0
    lag: int = 3
    tolerance: float = 1e-3
    priors: Mapping[str, Prior | None] = field(default_factory=dict)
    fixed: Sequence[str] = ()
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    max_rows: int | None = 10_000
    all_rows: bool = False
    warm_up: bool = True

    @property
    def by_all_rows(self) -> bool:
        """Whether the criterion is the evidence of all rows where a machine has one."""
        return self.criterion == "ep"

    @property
    def has_units(self) -> bool:
        """Whether it has numbers that mean something in the units of the data only."""
        return bool(self.priors or self.bounds)

    def __post_init__(self) -> None:
        _one_of("criterion", self.criterion, CRITERIA)
        _one_of("sites", self.sites, SITES)
        for name, least in (("major_steps", 1), ("minor_steps", 1), ("restarts", 0), ("lag", 1), ("max_rows", 1)):
            value = getattr(self, name)
            optional = name in ("major_steps", "minor_steps", "max_rows")
            if not (optional and value is None) and not _whole(value, least):
                raise ParameterError(f"Learning: {name} must be a whole number from {least}, got {value!r}")
        if not self.tolerance >= 0.0:
            raise ParameterError(f"Learning: tolerance must be a number from 0, got {self.tolerance!r}")
        if isinstance(self.fixed, str):
            raise ParameterError(f"Learning: fixed must be a list of patterns, got the text {self.fixed!r}")
        for pattern, prior in self.priors.items():
            if not isinstance(prior, Normal | Gamma | None):
                raise ParameterError(f"Learning: the prior of {pattern!r} must be Normal, Gamma or None, got {prior!r}")
        for pattern, limits in self.bounds.items():
            if len(limits) != 2 or not limits[0] < limits[1]:
                raise ParameterError(
                    f"Learning: bounds of {pattern!r} must be (low, high) with low < high, got {limits!r}"
                )


def matching(patterns: Sequence[str], names: Sequence[str], of_what: str) -> list[list[int]]:
    """Return the positions of the names that each pattern matches; it must match one at least."""
    found = [
        [i for i, name in enumerate(names) if p in (name, _whole_name(name)) or fnmatchcase(name, p)] for p in patterns
    ]
    for pattern, at in zip(patterns, found, strict=True):
        if not at:
            raise ParameterError(f"Learning: {of_what} name {pattern!r}, which is none of {', '.join(names)}")
    return found


def _whole_name(name: str) -> str:
    """Name of a parameter without the number of its entry."""
    return name.partition("[")[0]


def _one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ParameterError(f"Learning: {name} must be one of {list(choices)}, got {value!r}")


def _whole(value: object, least: int) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= least
