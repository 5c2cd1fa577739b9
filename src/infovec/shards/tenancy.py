"""A house on some worker as the client sees it, and its shards: all that it takes to build them again elsewhere."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from .._types import Message
from .house import House

__all__ = ["Call", "Landlord", "RemoteShard", "Tenancy"]


class Landlord(Protocol):
    """Who has chunks of inputs on the workers of a cluster."""

    client: Message
    futures: list[Message]
    limit: float

    def each(self, calls: Sequence["Call"]) -> list[Message]:
        """Make calls to houses at the same time."""

    def wait_for(self, future: Message) -> Message:
        """Return the result of a future."""


class RemoteShard:
    """Stands for a shard on a worker."""

    def __init__(self, cluster: Message, house: "Tenancy", token: int) -> None:
        self.cluster, self.house, self.token = cluster, house, token


class Tenancy:
    """A house on some worker, and all that was ever said to its shards: so it can be built again elsewhere.

    Parameters
    ----------
    cluster : Landlord
    pieces : sequence of int
        Chunks of the inputs.
    worker : str
    """

    def __init__(self, cluster: Landlord, pieces: Sequence[int], worker: str) -> None:
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
        """Take note of a message that changes a shard."""
        self.told[token].append((number, method, args))

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


Call = tuple[Tenancy, Callable[[Message], Message]]
"""A house, and what is asked of its actor."""
