"""What sums over rows need of rows with sites."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from .._types import Floats, Rows
from ..likelihoods import Likelihood, Site, Tilted
from ..likelihoods.classes import ClassLikelihood, ClassMoments
from ..numerics.cholesky import RowSolver
from .cavity import Cavity
from .projections import Projections

__all__ = ["OnRows", "OnRowsOfClasses"]


class OnRows(Projections, ABC):
    """Rows with sites of one function on their projections."""

    y: Floats
    likelihood: Likelihood
    precision: Floats
    b: Floats

    @abstractmethod
    def cavity(self, at: Rows, C: Floats, beta: Floats) -> Cavity:
        """Marginals of projections, C = V Q^-T, and their cavities."""

    @abstractmethod
    def every_cavity(self, solve: RowSolver, beta: Floats) -> Cavity:
        """Marginals and cavities of all rows."""

    @abstractmethod
    def tilted(self, at: Rows, cavity: Cavity) -> tuple[Tilted, Site]:
        """Tilted moments of the blurred sites, and the sites on gamma that match them."""


class OnRowsOfClasses(Projections, ABC):
    """Rows with sites of every class on their projections."""

    labels: Rows
    likelihood: ClassLikelihood
    precision: Floats
    b: Floats
    copies: Floats

    @abstractmethod
    def cavity(self, at: Rows, V: Floats, mean: Floats, solve: Sequence[RowSolver], work: Floats) -> Cavity:
        """Marginals and cavities of the projections of some rows, for all classes."""

    @abstractmethod
    def tilted(self, at: Rows, cavity: Cavity) -> tuple[ClassMoments, Floats]:
        """Tilted moments of a copy of each blurred site, and the precisions of the sites that match them."""
