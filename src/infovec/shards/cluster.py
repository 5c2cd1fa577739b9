"""Shards on the workers of a Dask cluster, where the data are. Needs dask and distributed (extra ``distributed``)."""

import itertools
import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial, reduce
from operator import add

import numpy as np
from scipy import sparse

from .._types import Array, Message, Rows
from ..runtime import limit
from .calls import Calls
from .far import FarInputs, Store
from .group import Group
from .house import MAKERS, OwnRows
from .places import Places
from .protocol import QUESTIONS
from .tenancy import Call, RemoteShard, Tenancy

__all__ = ["ClusterStore", "Everywhere", "RemoteShard"]

_SENT = 1 << 23  # bytes by which the network is timed
_TREE = 2  # houses whose sums go straight to the client
_LONG = 300.0  # seconds for a sum to come from one worker to another


class Everywhere(Group):
    """Shards on several workers: all of them are at work at the same time.

    Parameters
    ----------
    shards : sequence of RemoteShard
    """

    def call(self, method: str, args: Sequence[tuple[Message, ...]]) -> list[Message]:
        return self._shards[0].cluster.ask(self._shards, method, args)

    def add(self, method: str, args: Sequence[tuple[Message, ...]]) -> Message:
        return self._shards[0].cluster.add(self._shards, method, args)

    def release(self) -> None:
        for shard in self._shards:
            shard.house.leave(shard.token)
        super().release()


RemoteShard.group = Everywhere  # type: ignore[attr-defined]


class ClusterStore(Calls, Store):
    """Inputs on the workers of a cluster.

    Parameters
    ----------
    client : distributed.Client
    futures : sequence of futures
        The chunks, as arrays.
    lengths : sequence of int
        Their rows.
    p : int
    dtype : str
    """

    def __init__(self, client: Message, futures: Sequence[Message], lengths: Sequence[int], p: int, dtype: str) -> None:
        Calls.__init__(self, client)
        Store.__init__(self, lengths, p, dtype)
        self.futures, self.limit = list(futures), limit()
        self.traffic: list[tuple[str, int, int]] = []  # messages with the bytes to and fro
        self._numbers, self._tokens = itertools.count(), itertools.count()
        self.houses = [Tenancy(self, pieces, worker) for worker, pieces in self._placed().items()]
        self.house_of = {piece: house for house in self.houses for piece in house.pieces}
        for house in self.houses:
            house.build()

    def _placed(self) -> dict[str, list[int]]:
        """Which worker has which chunks; one that has several copies counts where there are fewer."""
        holders, placed = self.client.who_has(self.futures), dict[str, list[int]]()
        for piece, future in enumerate(self.futures):
            known = list(holders.get(future.key, ())) or list(self.client.nthreads())
            worker = min(known, key=lambda w: sum(int(self.ends[q]) - self.start(q) for q in placed.get(w, [])))
            placed.setdefault(worker, []).append(piece)
        return placed

    # what a store does

    def map(
        self, function: Callable[..., Message], pieces: Sequence[int], args: Sequence[tuple[Message, ...]]
    ) -> list[Message]:
        asked = {id(house): (house, list[int]()) for house in self.houses}
        for k, piece in enumerate(pieces):
            asked[id(self.house_of[piece])][1].append(k)
        busy = [(house, at) for house, at in asked.values() if at]
        calls = [
            (house, partial(_run, function=function, asked=[(pieces[k], args[k]) for k in at])) for house, at in busy
        ]
        found: list[Message] = [None] * len(pieces)
        for (_, at), answers in zip(busy, self.each(calls), strict=True):
            for k, answer in zip(at, answers, strict=True):
                found[k] = answer
        return found

    def places(self, within: float) -> Places:
        return Places(
            len(self.houses), partial(self._made, "select"), partial(self._made, "infer"),
            partial(self._made, "infer_classes"), self._divided,
        )  # fmt: skip

    def where(self, row: int) -> str:
        piece = int(np.searchsorted(self.ends, row, side="right"))
        return f"row {row} (row {row - self.start(piece)} of chunk {piece})"

    def _divided(self, X: FarInputs, rows: Rows, selecting: bool) -> list[Rows]:
        piece = np.searchsorted(self.ends, X.rows(rows), side="right")
        number = {p: k for k, house in enumerate(self.houses) for p in house.pieces}
        house = np.array([number.get(p, 0) for p in range(len(self.ends))])[piece]
        return [np.flatnonzero(house == k) for k in range(len(self.houses)) if np.any(house == k)]

    def _made(self, kind: str, first: Message, *rest: Message) -> Message:
        """Make a shard where its rows are."""
        args = _without_inputs(kind, first, rest)
        X = first.X if kind == "select" else rest[0]
        if not isinstance(X, FarInputs):  # rows that are in this process: to learn from, or to time something on
            return MAKERS[kind](first, *rest)  # type: ignore[operator]
        parts = X.parts()
        where = [(piece, X.local(piece, at)) for piece, at in parts]
        place = np.concatenate([at for _, at in parts])
        order = None if np.all(np.diff(place) > 0) else place
        house, token = self.house_of[parts[0][0]], next(self._tokens)
        house.make(token, kind, X.view, where, order, args)
        return RemoteShard(self, house, token)

    def calibrate(self, work: Callable[[], float]) -> tuple[float, float, float]:
        """Return the seconds that some work takes on a worker, those of a message, and bytes in a second."""
        house = self.houses[:1]
        (seconds,) = self.each([(house[0], partial(_run, function=work, asked=[(house[0].pieces[0], ())]))])[0]

        def timed(payload: Message) -> float:
            start = time.perf_counter()
            self.each([(house[0], partial(_run, function=_nothing, asked=[(house[0].pieces[0], (payload,))]))])
            return time.perf_counter() - start

        latency = min(timed(None) for _ in range(5))
        large = np.zeros(_SENT, dtype=np.uint8)
        carried = min(timed(large) for _ in range(3))
        return float(seconds), latency, _SENT / max(carried - latency, 1e-6)

    # exchanges

    def ask(self, shards: Sequence[RemoteShard], method: str, args: Sequence[tuple[Message, ...]]) -> list[Message]:
        """Send a message to each shard, and wait for the answers."""
        calls = self._calls(shards, method, args, quiet=False)
        found = self.each(calls)
        self.traffic.append((method, sum(map(_size, args)), sum(map(_size, found))))
        return found

    def add(self, shards: Sequence[RemoteShard], method: str, args: Sequence[tuple[Message, ...]]) -> Message:
        """Add up the answers of shards: in a tree, where there are many houses."""
        houses = list({id(shard.house): shard.house for shard in shards}.values())
        if len(houses) <= _TREE:
            return reduce(add, self.ask(shards, method, args))
        number = next(self._numbers)
        self.each(self._calls(shards, method, args, quiet=True, number=number))
        try:
            total = self._tree(shards, houses, number)
        except (OSError, ValueError, RuntimeError):  # a worker died on the way: those left know their answers
            total = reduce(add, self.each(self._calls(shards, method, args, quiet=False, number=number, told=True)))
        self.traffic.append((method, sum(map(_size, args)), _size(total)))
        return total

    def _tree(self, shards: Sequence[RemoteShard], houses: Sequence[Tenancy], number: int) -> Message:
        here = [[shard.token for shard in shards if shard.house is house] for house in houses]
        _all([house.actor.add(tokens, number) for house, tokens in zip(houses, here, strict=True)])
        step = 1
        while step < len(houses):
            pairs = [(k, k + step) for k in range(0, len(houses) - step, 2 * step)]
            _all([houses[a].actor.add_from(houses[b].actor, number) for a, b in pairs])
            step *= 2
        return houses[0].actor.sum(number).result()

    def _calls(
        self,
        shards: Sequence[RemoteShard],
        method: str,
        args: Sequence[tuple[Message, ...]],
        quiet: bool,
        number: int | None = None,
        told: bool = False,
    ) -> list[Call]:
        """Return a call for each shard; what changes them is noted before a house that is built again could miss it."""
        kept, calls = dict[int, tuple[Message, ...]](), list[Call]()
        for shard, each in zip(shards, args, strict=True):
            at = next(self._numbers) if number is None else number
            if not told and method not in QUESTIONS:
                kept[id(each)] = kept.get(id(each)) or deepcopy(each)  # some are views of what goes on changing
                shard.house.note(shard.token, at, method, kept[id(each)])
            calls.append(
                (shard.house, partial(_call, token=shard.token, number=at, method=method, args=each, quiet=quiet))
            )
        return calls


def _nothing(X: Array, payload: Message) -> None:
    """Receive something."""


def _run(actor: Message, function: Callable[..., Message], asked: Sequence[tuple[int, tuple[Message, ...]]]) -> Message:
    return actor.run(function, asked)


def _call(actor: Message, token: int, number: int, method: str, args: tuple[Message, ...], quiet: bool) -> Message:
    return actor.call(token, number, method, args, quiet)


def _all(futures: Sequence[Message]) -> list[Message]:
    return [future.result(timeout=_LONG) for future in futures]


def _without_inputs(kind: str, first: Message, rest: tuple[Message, ...]) -> tuple[Message, ...]:
    """Arguments of a shard as they go over the network: without inputs, and with its own share of the likelihood."""
    if kind == "select":
        kernel, likelihood, *others = rest
        return first._replace(X=None), kernel, OwnRows(likelihood.take(first.rows)), *others
    _, y, kernel, likelihood, *others = rest
    return first, y, kernel, OwnRows(likelihood.take(first)), *others


def _size(message: Message) -> int:
    """Bytes of a message, but for a few."""
    if isinstance(message, np.ndarray):
        return int(message.nbytes)
    if sparse.issparse(message):
        return int(message.data.nbytes + message.indices.nbytes + message.indptr.nbytes)
    if isinstance(message, tuple | list):
        return sum(map(_size, message))
    return 8
