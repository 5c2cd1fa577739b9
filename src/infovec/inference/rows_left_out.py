"""Predictions of training rows left out: from the posterior without their own sites, in the time of one sweep."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from .._types import Floats, Rows
from ..errors import InfovecError
from ..runtime import own_threads
from ..shards import Beliefs, ClassShard, Group, Marginals, SiteShard, together
from ..shards.cavity import leave_out
from .kin import Look, Seen, leave_out_together
from .settle import LOST, Inference

__all__ = ["left_out", "left_out_by_folds", "left_out_in_turn", "left_out_of_classes"]

_TURNS = 5  # in which all folds are left out


def left_out(
    shards: Sequence[SiteShard] | Group, beliefs: Beliefs, group: Rows | None = None, some: Rows | None = None
) -> Floats:
    r"""Means and variances of the latent values of all rows, each given those at other inputs, shape (2, n).

    The cavity as expectation propagation has it, with the variance that the active set leaves (``leave_out``), but
    without the sites of all rows that have the same inputs, whatever their labels and weights: these are on the same
    projection, so their sum is taken out. What is left is what the model says of an input that it has not met. So
    neither a copy of a row speaks for it, nor only those against it.

    Nothing is fitted again: the marginals of all rows take O(n d^2), as in a sweep.

    Parameters
    ----------
    shards : sequence of SiteShard
    beliefs : Beliefs
    group : array of int, shape (n,), optional
        The same number for rows of equal inputs; None if no inputs are equal.
    some : array of int, optional
        Rows that are looked at; all of them unless given. ``group`` is that of these, in the order of the shards.
    """
    with own_threads():
        shards = together(shards)
        known = _together(shards.map("marginals", beliefs, some))
    return _without(known, group, shards.map("traits")[0].dtype)


def left_out_of_classes(
    shards: Sequence[ClassShard] | Group, group: Rows | None = None, some: Rows | None = None
) -> Floats:
    """Return the same for every class, as the last sweep left it, shape (2, n, C)."""
    shards = together(shards)
    known = _together(shards.map("seen_before", some))
    return _without(known, group, shards.map("traits")[0].dtype)


def left_out_by_folds(
    shards: Sequence[SiteShard | ClassShard] | Group, beliefs: Beliefs, look: Look, rows: Rows, folds: Rows
) -> Floats:
    """Return the same of rows that are left out a fold at a time, shape (2, n), and of every class (2, n, C).

    Parameters
    ----------
    shards : sequence of SiteShard or ClassShard
    beliefs : Beliefs
        Of one function, or of every class.
    look : callable
        How the rows are seen by their positions, see ``through``.
    rows : array of int
        Their numbers in the training set, ascending.
    folds : array of int
        The same number for rows that are left out together.
    """
    with own_threads():
        precision, b = np.sum(together(shards).map("sites", rows), axis=0)
        return leave_out_together(look, beliefs, (precision, b), folds)


def left_out_in_turn(
    infer: Callable[[Rows, tuple[Floats, Floats]], Inference],
    shards: Sequence[SiteShard] | Group,
    known: Floats,
    look: Look,
    rows: Rows,
    folds: Rows,
    enough: int | None = None,
) -> Rows:
    """Find what is known of rows whose folds are left out, with the sites that all others have without them.

    Sites that stay as they are remember rows that were there: of a large function, which follows each group as far as
    it may, they are too sure of what they say of it. So some of the folds are left out at a time, and sites settle
    again; where they do not, what was known stays.

    Parameters
    ----------
    infer : callable
        Returns what inference finds with the rows at some positions only, going on from sites on latent values.
    shards : sequence of SiteShard
        With the sites of all rows.
    known : array of shape (2, n)
        With sites that stay as they are; it is overwritten.
    look, rows, folds
        As for ``left_out_by_folds``.
    enough : int, optional
        Rows of which that is wanted at least, by turns; all of them unless given.

    Returns
    -------
    at : array of int
        Positions of the rows whose turn it was.
    """
    precision, b = np.sum(together(shards).map("latent_sites", rows), axis=0)
    turn = _turns(folds)
    done = np.cumsum(np.bincount(turn))
    last = len(done) if enough is None else min(int(np.searchsorted(done, enough)) + 1, len(done))
    for number in range(last):
        out, rest = np.flatnonzero(turn == number), np.flatnonzero(turn != number)
        try:
            found = infer(rest, (precision[rest], b[rest]))
        except (InfovecError, np.linalg.LinAlgError):
            continue
        if found.converged or found.sweeps[-1].change <= LOST:
            none = np.zeros((2, len(out)))
            known[:, out] = leave_out_together(partial(_seen, look, out), found.beliefs, (none[0], none[1]), out)
    return np.flatnonzero(turn < last)


def _seen(look: Look, rows: Rows, at: Rows) -> Seen:
    return look(rows[at])


def _turns(folds: Rows) -> Rows:
    """Return the turn in which each row is left out: all rows of a fold in the same, as many rows in each as may be."""
    own, sizes = np.unique(folds, return_inverse=True, return_counts=True)[1:]
    turn, filled = np.empty(len(sizes), dtype=np.intp), np.zeros(min(_TURNS, len(sizes)))
    for fold in np.argsort(-sizes, kind="stable"):
        turn[fold] = np.argmin(filled)
        filled[turn[fold]] += sizes[fold]
    return turn[own.ravel()]


def _together(parts: Sequence[Marginals]) -> Marginals:
    """Rows of all shards, without a copy if there is one."""
    if len(parts) == 1:
        return parts[0]
    return Marginals(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _without(known: Marginals, group: Rows | None, dtype: str) -> Floats:
    return leave_out((known.mean, known.var), (known.precision, known.b), known.variance_left, group, dtype)
