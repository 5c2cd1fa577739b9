"""What the driver and the shards tell each other. Rows are always training rows, never positions."""

from typing import NamedTuple

from .._types import Floats, Inputs, Rows

__all__ = ["Candidates", "Inclusions", "Representation"]


class Candidates(NamedTuple):
    """Rows that a shard offers for inclusion, with all that the driver needs to include them."""

    rows: Rows
    X: Inputs
    y: Floats
    stubs: Floats  # (t, k): columns of M
    mean: Floats  # h
    var: Floats  # a
    prior_var: Floats  # k(x, x)
    key: Floats  # score, ties broken; -inf for a row that must not be included

    def take(self, at: Rows) -> "Candidates":
        """Return some of the candidates."""
        return Candidates(
            self.rows[at], self.X[at], self.y[at], self.stubs[:, at], self.mean[at], self.var[at],
            self.prior_var[at], self.key[at],
        )  # fmt: skip


class Inclusions(NamedTuple):
    """A block B of included rows, as every shard must hear of it: the new rows of L and beta."""

    rows: Rows
    X: Inputs
    root_precision: Floats  # square roots of the site precisions, Pi_B^1/2
    L_left: Floats  # (B, t): L_BI
    L_corner: Floats  # (B, B): L_BB
    beta: Floats  # (B,)


class Representation(NamedTuple):
    """The whole active set as a shard needs it to make the stubs of a row from nothing."""

    X: Inputs
    root_precision: Floats
    L: Floats
    beta: Floats
