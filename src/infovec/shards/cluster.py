"""Shards on the workers of a Dask cluster, where the data are. Needs dask and distributed (extra ``distributed``)."""

import itertools
import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial

import numpy as np
from scipy import sparse

from .._types import Array, Message, Rows
from ..errors import ClusterError
from ..runtime import limit
from .far import FarInputs, Store
from .group import Group
from .house import House, OwnRows
from .places import Places
from .protocol import QUESTIONS

__all__ = ["ClusterStore", "Everywhere", "RemoteShard"]

_POLL = 1.0  # seconds after which it is asked whether a worker that does not answer is still there
_WAIT = 60.0  # seconds to wait for a worker when none is left
_SLOW, _SLOWEST = (
    300.0,
    20.0,
)  # seconds, and times as long as the slowest of the others, after which a worker is given up
_SENT = 1 << 23  # bytes by which the network is timed
_TREE = 2  # houses whose sums go straight to the client


class RemoteShard:
    """Stands for a shard on a worker."""

    def __init__(self, cluster: "ClusterStore", house: "Tenancy", token: int) -> None:
        self.cluster, self.house, self.token = cluster, house, token


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


class Tenancy:
    """A house on some worker, and all that was ever said to its shards: so it can be built again elsewhere.

    Parameters
    ----------
    cluster : ClusterStore
    pieces : sequence of int
        Chunks of the inputs.
    worker : str
    """

    def __init__(self, cluster: "ClusterStore", pieces: Sequence[int], worker: str) -> None:
        self.cluster, self.pieces, self.worker = cluster, list(pieces), worker
        self.made: dict[int, tuple[Message, ...]] = {}
        self.told: dict[int, list[tuple[int, str, tuple[Message, ...]]]] = {}
        self.actor: Message = None

    def build(self) -> None:
        """Make the house on its worker, with the shards as they were."""
        chunks = [self.cluster.futures[piece] for piece in self.pieces]
        submitted = self.cluster.client.submit(
            House, self.pieces, self.cluster.limit, *chunks, actor=True, workers=[self.worker], pure=False
        )
        self.actor = self.cluster.wait_for(submitted)
        for token, spec in self.made.items():
            self.actor.make(token, *spec).result()
            for number, method, args in self.told[token]:
                self.actor.call(token, number, method, args, True).result()

    def make(self, token: int, *spec: Message) -> None:
        """Make a shard."""
        self.made[token], self.told[token] = spec, []
        self.cluster.each([(self, partial(_make, token=token, spec=spec))])

    def note(self, token: int, number: int, method: str, args: tuple[Message, ...]) -> None:
        """Take note of a message that changes a shard, before a house that is built again could miss it."""
        if method not in QUESTIONS:
            self.told[token].append((number, method, deepcopy(args)))  # some are views of what goes on changing

    def leave(self, token: int) -> None:
        """Forget a shard."""
        self.made.pop(token, None)
        self.told.pop(token, None)
        try:
            self.actor.drop([token])
        except (OSError, ValueError, RuntimeError):  # it is gone with its worker
            return


def _make(actor: Message, token: int, spec: tuple[Message, ...]) -> Message:
    return actor.make(token, *spec)


class ClusterStore(Store):
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
        super().__init__(lengths, p, dtype)
        self.client, self.futures, self.limit = client, list(futures), limit()
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
            return _here(kind, first, rest)
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
            first, *others = self.ask(shards, method, args)
            for other in others:
                first = first + other
            return first
        number = next(self._numbers)
        calls = self._calls(shards, method, args, quiet=True, number=number)
        self.each(calls)
        try:
            total = self._tree(shards, houses, number)
        except (
            OSError,
            ValueError,
            RuntimeError,
            TimeoutError,
        ):  # a worker died on the way: those left know their answers
            answers = self.each(self._calls(shards, method, args, quiet=False, number=number, told=True))
            total = answers[0]
            for answer in answers[1:]:
                total = total + answer
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
    ) -> list[tuple[Tenancy, Callable[[Message], Message]]]:
        calls = list[tuple[Tenancy, Callable[[Message], Message]]]()
        for shard, each in zip(shards, args, strict=True):
            at = next(self._numbers) if number is None else number
            if not told:
                shard.house.note(shard.token, at, method, each)
            calls.append(
                (shard.house, partial(_call, token=shard.token, number=at, method=method, args=each, quiet=quiet))
            )
        return calls

    def each(self, calls: Sequence[tuple[Tenancy, Callable[[Message], Message]]]) -> list[Message]:
        """Make calls to houses at the same time; a house that is lost is built again elsewhere, and called again."""
        pending, found, start = self._begun(calls), [None] * len(calls), time.perf_counter()
        slowest = 0.0
        for k, (house, _) in enumerate(calls):
            while True:
                try:
                    found[k] = self._answer(pending[k], house, start, slowest)
                    break
                except _Lost as lost:
                    self._rebuild(house, lost)
                    again = [j for j in range(k, len(calls)) if calls[j][0] is house]
                    for j, future in zip(again, self._begun([calls[j] for j in again]), strict=True):
                        pending[j] = future
                    start = time.perf_counter()
            slowest = max(slowest, time.perf_counter() - start)
        return found

    def _begun(self, calls: Sequence[tuple[Tenancy, Callable[[Message], Message]]]) -> list[Message]:
        begun = []
        for house, call in calls:
            try:
                begun.append(call(house.actor))
            except (OSError, ValueError, RuntimeError) as error:
                begun.append(_Lost(str(error)))
        return begun

    def _answer(self, future: Message, house: Tenancy, start: float, slowest: float) -> Message:
        if isinstance(future, _Lost):
            raise future
        while True:
            try:
                return future.result(timeout=_POLL)
            except TimeoutError:
                waited = time.perf_counter() - start
                if house.worker not in self._workers():
                    raise _Lost(f"worker {house.worker} is gone") from None
                if slowest and waited > max(_SLOW, _SLOWEST * slowest):
                    raise _Lost(f"worker {house.worker} did not answer for {waited:.0f} seconds") from None
            except OSError as error:
                raise _Lost(str(error)) from error
            except (ValueError, RuntimeError) as error:
                if "Actor" in str(error) and ("lost" in str(error) or "worker" in str(error).lower()):
                    raise _Lost(str(error)) from error
                raise

    def _rebuild(self, house: Tenancy, lost: "_Lost") -> None:
        """Build a house elsewhere: from its chunks, made again if they must be, and what its shards were told."""
        end = time.perf_counter() + _WAIT
        while True:
            left = [worker for worker in self._workers() if worker != house.worker]
            if left:
                rows = dict.fromkeys(left, 0)
                for other in self.houses:
                    if other is not house and other.worker in rows:
                        rows[other.worker] += len(other.pieces)
                house.worker = min(left, key=lambda worker: rows[worker])
                try:
                    house.build()
                    return
                except (OSError, ValueError, RuntimeError) as error:
                    lost = _Lost(str(error))
            if time.perf_counter() > end:
                raise ClusterError(
                    f"a worker was lost ({lost}), and there is none to take its place. Start workers and fit again; "
                    "with checkpoint='file.ivm' it goes on from where it was"
                ) from lost
            time.sleep(0.2)

    def _workers(self) -> list[str]:
        try:
            return list(self.client.nthreads())
        except (OSError, RuntimeError, TimeoutError, AttributeError) as error:  # the last of a client that is closed
            raise ClusterError(
                f"the scheduler does not answer ({error}). Start a cluster and fit again; with checkpoint='file.ivm' "
                "it goes on from where it was"
            ) from error

    def wait_for(self, future: Message) -> Message:
        """Return the result of a future; as long as the scheduler is there."""
        while True:
            try:
                return future.result(timeout=_POLL)
            except TimeoutError:
                self._workers()


class _Lost(Exception):
    """A worker does not answer any more."""


def _nothing(X: Array, payload: Message) -> None:
    """Receive something."""


def _run(actor: Message, function: Callable[..., Message], asked: Sequence[tuple[int, tuple[Message, ...]]]) -> Message:
    return actor.run(function, asked)


def _call(actor: Message, token: int, number: int, method: str, args: tuple[Message, ...], quiet: bool) -> Message:
    return actor.call(token, number, method, args, quiet)


def _all(futures: Sequence[Message]) -> list[Message]:
    return [future.result(timeout=_SLOW) for future in futures]


def _without_inputs(kind: str, first: Message, rest: tuple[Message, ...]) -> tuple[Message, ...]:
    """Arguments of a shard as they go over the network: without inputs, and with its own share of the likelihood."""
    if kind == "select":
        kernel, likelihood, *others = rest
        return first._replace(X=None), kernel, OwnRows(likelihood.take(first.rows)), *others
    _, y, kernel, likelihood, *others = rest
    return first, y, kernel, OwnRows(likelihood.take(first)), *others


def _here(kind: str, first: Message, rest: tuple[Message, ...]) -> Message:
    from .house import MAKERS

    return MAKERS[kind](first, *rest)  # type: ignore[operator]


def _size(message: Message) -> int:
    """Bytes of a message, but for a few."""
    if isinstance(message, np.ndarray):
        return int(message.nbytes)
    if sparse.issparse(message):
        return int(message.data.nbytes + message.indices.nbytes + message.indptr.nbytes)
    if isinstance(message, tuple | list):
        return sum(map(_size, message))
    return 8
