"""What a user chooses by name, and the machines these names stand for: the one place where modes are words."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from .._types import Floats
from ..likelihoods.classes import ClassLikelihood, MultivariateProbit, OneAgainstRest, Softmax
from ..machines.against_rest import AgainstRest, FactorisedAgainstRest
from ..machines.bound import Bound, BoundRows
from ..machines.classes import ClassMachine
from ..machines.coupled import Coupled
from ..machines.one_function import FactorisedFunction, OneFunction, ProjectedFunction
from ..machines.pairs import Pairs

__all__ = ["APPROXIMATIONS", "MULTI_CLASS", "Coupling"]

APPROXIMATIONS: Final[Mapping[str, type[OneFunction]]] = {
    "projected": ProjectedFunction,
    "factorised": FactorisedFunction,
}
"""Posteriors, by their machines of one function."""


class Coupling(NamedTuple):
    """How many classes are one model."""

    likelihood: Callable[[Floats], ClassLikelihood]  # from biases
    machines: Mapping[str, type[ClassMachine]]  # by the approximation
    copies: bool = False  # whether a row of weight k has k sites, which do not settle when they are too many
    leaves_groups_out: bool = True  # whether it can tell what it would say without groups of rows


MULTI_CLASS: Final[Mapping[str, Coupling]] = {
    "probit": Coupling(MultivariateProbit, {"projected": Coupled, "factorised": Pairs}, copies=True),
    "softmax": Coupling(Softmax, {"projected": Coupled, "factorised": Pairs}, copies=True),
    "ovr": Coupling(OneAgainstRest, {"projected": AgainstRest, "factorised": FactorisedAgainstRest}),
    "variational": Coupling(MultivariateProbit, {"projected": Bound, "factorised": BoundRows}, leaves_groups_out=False),
}
