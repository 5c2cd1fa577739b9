"""What those who work with shards may ask of them. Only numbers, arrays and named tuples of them go to and fro."""

from typing import Protocol, TypeVar, runtime_checkable

from .._types import Floats, Inputs, Rows
from ..kernels import Kernel
from .messages import (
    Basis,
    Beliefs,
    Candidates,
    Facts,
    Gains,
    Inclusions,
    Marginals,
    Representation,
    Slopes,
    Sums,
    Swept,
    Traits,
)

__all__ = ["QUESTIONS", "ClassShard", "Shard", "SiteShard", "SweptShard", "WithSites"]

QUESTIONS = frozenset({
    "facts", "candidates", "this", "considered", "outside", "log_likelihood_outside", "log_likelihood_held_back",
    "sites", "sharpness", "traits", "latent_sites", "log_sites", "n_open", "sums", "marginals", "gains", "slopes",
    "forces", "inputs", "shift", "seen_before", "missing", "response",
})  # fmt: skip
"""Messages that leave a shard as it is."""


@runtime_checkable
class Shard(Protocol):
    """Rows to select from, with their stubs and marginals."""

    def facts(self) -> Facts:
        """Return what a driver must know before it starts."""

    def candidates(self, k: int) -> Candidates:
        """Return the k best rows that may be included, best first."""

    def this(self, row: int) -> Candidates:
        """Return the given row, if it is here."""

    def absorb(self, block: Inclusions) -> None:
        """Take note of newly included rows, wherever they are."""

    def pin(self, rows: Rows) -> None:
        """Keep some rows in the index whatever their score, until ``unpin``."""

    def unpin(self) -> None:
        """Keep only rows that are held back."""

    def refill(self, whole: Representation) -> None:
        """Exchange rows of the index for others, if that is what it does; see ``Facts.refilled``."""

    def enlarge(self, capacity: int, max_entries: int | None) -> None:
        """Make room for more inclusions, with a cap on the numbers in the stub matrix of this shard."""

    def rewind(self, beta: Floats, active: Rows) -> None:
        """Undo the last inclusions: ``beta`` is that of all of them, ``active`` the rows that stay."""

    def restore(self, whole: Representation, active: Rows) -> None:
        """Make everything anew from the representation, whatever state it is in."""

    def considered(self) -> Rows:
        """Return the rows that may still be included."""

    def outside(self) -> Rows:
        """Return the rows that are considered and not included, with those held back."""

    def log_likelihood_outside(self) -> float:
        """Sum of log Z over these."""

    def log_likelihood_held_back(self) -> tuple[float, int]:
        """Sum of log Z over the rows held back, and their number."""


class WithSites(Protocol):
    """Rows with sites, of one function or of every class, as far as a machine need know of them."""

    def project(self, basis: Basis) -> None:
        """Take a new active set."""

    def sites(self, rows: Rows) -> tuple[Floats, Floats]:
        """Precisions and shifts of some rows, (len(rows), C) of C classes; zero for those that are not here."""

    def sharpness(self, common: float, sharpest: float) -> Floats:
        """How many rows have sharper sites than that, and how many there are.

        Sharp is a precision in units of the prior, whose variance counts beyond what rows have in common.
        """

    def rest(self) -> None:
        """Drop what only further work would need."""


S_co = TypeVar("S_co", Sums, Floats, covariant=True)


class SweptShard(WithSites, Protocol[S_co]):
    """Rows with sites on their projections onto the active set, as expectation propagation needs them.

    Their sum is an S: of one function ``Sums``, of classes the sum of pi V V^T for every class.
    """

    def traits(self) -> Traits:
        """Return what inference must know, once there is an active set."""

    def keep(self) -> None:
        """Keep the sites as those to go on from with other parameters."""

    def renew(self, kernel: Kernel, theta: Floats, basis: Basis) -> None:
        """Take other parameters with their active set, and go on from the sites that were kept, or from none."""

    def resume(self, rows: Rows, precision: Floats, b: Floats) -> None:
        """Go on from sites on the latent values, found with another active set; ``rows`` has all, ascending."""

    def latent_sites(self, rows: Rows) -> tuple[Floats, Floats]:
        """Return the sites of some rows on their latent values; zero for those that are not here."""

    def log_sites(self) -> float:
        """Logs of the constants of the sites, added up."""

    def open_all(self) -> None:
        """Let the next sweep visit all rows."""

    def n_open(self) -> int:
        """Return how many rows the next sweep visits."""

    def undo(self) -> None:
        """Forget the last sweep."""

    def sums(self) -> S_co:
        """Sites of all rows added up."""

    def shorten(self, share: float) -> S_co:
        """Take a share of the last step only; return the sum."""

    def make_proper(self) -> S_co:
        """Take away sites of negative precision, and what is no site; return the sum."""


@runtime_checkable
class SiteShard(SweptShard[Sums], Protocol):
    """Rows with sites of one function."""

    def start(self, rows: Rows, precision: Floats, b: Floats) -> Sums:
        """Give some rows the sites they have elsewhere, all others none."""

    def marginals(self, beliefs: Beliefs, rows: Rows | None = None) -> Marginals:
        """Return what the posterior says of the projections, for all rows here, or those of some that are here."""

    def gains(self, beliefs: Beliefs, k: int, barred: Rows) -> Gains:
        """Return the k rows whose becoming active would gain most, best first, none of those that are barred."""

    def slopes(self, beliefs: Beliefs, half: Floats, inverse: Floats, moving: bool = False) -> Slopes:
        """Return what the rows here add to the gradient of the evidence; half is Q^-1, inverse L^-1.

        Active inputs that are ``moving`` have one too.
        """

    def inputs(self, rows: Rows) -> tuple[Rows, Inputs]:
        """Return which of some rows are here, by their positions among them, and their inputs."""

    def look(self, depth: int) -> Sums:
        """See the first ``depth`` rows of the active set only."""

    def sweep(self, beliefs: Beliefs, damping: float, still: float, pace: float) -> Swept[Sums]:
        """Update the sites of all open rows at once, each from its own cavity."""

    def exact(self) -> Sums:
        """Give all rows their sites where these are the likelihood itself."""

    def forces(self, mean: Floats) -> Floats:
        """Sum of (b - pi mu) V over all rows, in double precision: where v has the posterior mean it is that."""

    def begin_again(self) -> Sums:
        """Forget sites that lead nowhere."""


@runtime_checkable
class ClassShard(SweptShard[Floats], Protocol):
    """Rows with a site for each of C classes; the posteriors of v have means (C, d) and factors (C, d, d)."""

    def shift(self) -> Floats:
        """Sum of b V over all rows, shape (C, d)."""

    def seen_before(self, rows: Rows | None = None) -> Marginals:
        """Return what the last sweep saw of the projections of rows, and the sites that it saw it with."""

    def slopes(self, mean: Floats, factors: Floats, covariances: Floats, inverse: Floats) -> Slopes:
        """Return what the rows here add to the gradient of the evidence; inverse is L^-1."""

    def sweep(
        self, mean: Floats, factors: Floats, damping: float, still: float, pace: float, tied: bool
    ) -> Swept[Floats]:
        """Update the sites of all open rows at once, each from its own cavities."""

    def missing(self) -> Floats:
        """What the forces would change by if the mean of v stood still, added up, shape (C, d)."""

    def response(self, change: Floats) -> Floats:
        """By how much the forces fall when the mean of v changes, added up, shape (C, d)."""

    def couple(self, change: Floats, damping: float) -> None:
        """Let the forces fall as those of coupled classes do when the mean of v changes."""
