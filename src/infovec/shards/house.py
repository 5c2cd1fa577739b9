"""What a worker of a cluster has: pieces of the inputs, and the shards of their rows."""

import pickle
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from .._types import Array, Message, Rows
from ..runtime import give_back, keep_freed, limited, own_threads, work_within
from .coupled import CoupledShard
from .far import View
from .places import HERE
from .projected import ProjectedShard

__all__ = ["MAKERS", "House", "OwnRows"]

MAKERS: Final = {"select": HERE.to_select, "infer": ProjectedShard, "infer_classes": CoupledShard}
"""What makes a shard, by the name that goes over the network."""


class OwnRows:
    """The likelihood of the rows of a shard, where others have that of all rows: it need not be taken once more."""

    def __init__(self, likelihood: Message) -> None:
        self.likelihood = likelihood
        self.n_classes = getattr(likelihood, "n_classes", 1)

    def take(self, rows: Rows) -> Message:
        """Return the likelihood of these rows."""
        return self.likelihood


class House:
    """Pieces of the inputs in the memory of a worker, and shards of their rows.

    Every message to a shard has a number. One that was answered before is answered from memory, so that whoever does
    not know whether a message arrived can send it again.

    Parameters
    ----------
    numbers : sequence of int
        Of the pieces, among all.
    limit : float
        Bytes that work may take here.
    *pieces : arrays
    """

    def __init__(self, numbers: Sequence[int], limit: float, *pieces: Array) -> None:
        self.pieces, self.limit = dict(zip(numbers, pieces, strict=True)), limit
        self._shards: dict[int, Message] = {}
        self._last: dict[int, tuple[int, Message]] = {}
        self._sums: dict[int, Message] = {}
        self._inside: dict[bytes, Array] = {}
        self._n_threads = _threads_here()
        keep_freed()

    def run(self, function: Callable[..., Message], asked: Sequence[tuple[int, tuple[Message, ...]]]) -> list[Message]:
        """Return what a function makes of some pieces."""
        with limited(self._n_threads), work_within(self.limit):
            return [function(self.pieces[number], *args) for number, args in asked]

    def make(
        self,
        token: int,
        kind: str,
        view: View,
        where: Sequence[tuple[int, Rows | None]],
        place: Rows | None,
        args: tuple[Message, ...],
    ) -> None:
        """Make a shard of some rows of the pieces, without inputs in the arguments; ``place`` is where rows come."""
        X = self._inputs(view, where, place)
        with limited(self._n_threads), work_within(self.limit), own_threads():
            if kind == "select":
                given, *model = args
                self._shards[token] = MAKERS[kind](given._replace(X=X), *model)  # type: ignore[operator]
            else:
                rows, *rest = args
                self._shards[token] = MAKERS[kind](rows, X, *rest)  # type: ignore[operator]

    def call(self, token: int, number: int, method: str, args: tuple[Message, ...], quiet: bool = False) -> Message:
        """Send a message to a shard; ``quiet`` leaves the answer here."""
        if self._last.get(token, (-1, None))[0] != number:
            with limited(self._n_threads), work_within(self.limit), own_threads():
                answer = getattr(self._shards[token], method)(*args)
            self._last[token] = number, answer
        return None if quiet else self._last[token][1]

    def add(self, tokens: Sequence[int], number: int) -> None:
        """Add up the answers of shards that are here."""
        total = self._last[tokens[0]][1]
        for token in tokens[1:]:
            total = total + self._last[token][1]
        self._sums = {number: total}

    def add_from(self, other: Message, number: int) -> None:
        """Add the sum that is in another house, which comes from there and not over whoever asks."""
        self._sums[number] = self._sums[number] + other.sum(number).result()

    def sum(self, number: int) -> Message:
        """Return what was added up."""
        return self._sums[number]

    def drop(self, tokens: Sequence[int]) -> None:
        """Forget some shards."""
        for token in tokens:
            self._shards.pop(token, None)
            self._last.pop(token, None)
        give_back()

    def _inputs(self, view: View, where: Sequence[tuple[int, Rows | None]], place: Rows | None) -> Array:
        """Inputs as a fit has them; those of the last shards are kept, since the next ones mostly have the same."""
        key = pickle.dumps((view, where, place))
        if key not in self._inside:
            some = [self.pieces[number] if at is None else self.pieces[number][at] for number, at in where]
            p = next(iter(self.pieces.values())).shape[1]
            X = np.concatenate([np.empty((0, p), dtype=view.dtype), *(view(piece) for piece in some)])
            if place is not None:
                X = X[np.argsort(place)]
            self._inside = {key: X}
        return self._inside[key]


def _threads_here() -> int:
    from distributed import get_worker

    return int(get_worker().state.nthreads)
