"""All shards of a training set at once: three verbs, whatever the shards are and wherever."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import reduce
from itertools import count
from operator import add
from typing import Protocol

from .._types import Message

__all__ = ["Exchanges", "Group", "InProcess", "noted", "together"]


class Exchanges(Protocol):
    """Takes note of what is said between a driver and its shards: whoever has heard it can go on from there."""

    def answer(self, group: "Group", verb: str, method: str, args: Sequence[tuple[Message, ...]]) -> Message:
        """Return what the shards say, from memory if it was said before."""


_noted: ContextVar[Exchanges | None] = ContextVar("who takes note of exchanges", default=None)


@contextmanager
def noted(exchanges: Exchanges | None) -> Iterator[None]:
    """Let somebody take note of all exchanges inside."""
    token = _noted.set(exchanges)
    try:
        yield
    finally:
        _noted.reset(token)


class Group(ABC):
    """Shards that are asked together. One exchange is one call of a verb.

    ``map`` asks all of them and has their answers, in order. ``reduce`` adds the answers up. ``broadcast`` tells all
    of them, and has no answer.

    Parameters
    ----------
    shards : sequence of shards
    """

    def __init__(self, shards: Sequence[Message]) -> None:
        self._shards = list(shards)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._shards)

    @property
    def key(self) -> int:
        """The same number for the same shards, while there are any."""
        return numbered(self._shards[0]) if self._shards else 0

    @abstractmethod
    def call(self, method: str, args: Sequence[tuple[Message, ...]]) -> list[Message]:
        """Send a message to each shard, and return the answers."""

    def add(self, method: str, args: Sequence[tuple[Message, ...]]) -> Message:
        """Return the sum of the answers; whoever has a long way adds them up on the way."""
        return reduce(add, self.call(method, args))

    def tell(self, method: str, args: Sequence[tuple[Message, ...]]) -> None:
        """Send a message to each shard."""
        self.call(method, args)

    def map(self, method: str, *args: Message) -> list[Message]:
        """Return the answers of all shards to the same question, in order."""
        return self.map_each(method, [args] * len(self))

    def map_each(self, method: str, args: Sequence[tuple[Message, ...]]) -> list[Message]:
        """Return the answers of all shards, each to a question of its own."""
        return self._exchange("call", method, args)

    def reduce(self, method: str, *args: Message) -> Message:
        """Return the sum of the answers to the same question."""
        return self._exchange("add", method, [args] * len(self))

    def broadcast(self, method: str, *args: Message) -> None:
        """Tell all shards the same."""
        self._exchange("tell", method, [args] * len(self))

    def release(self) -> None:
        """Give back what the shards have; nothing can be asked any more."""
        self._shards = []

    def _exchange(self, verb: str, method: str, args: Sequence[tuple[Message, ...]]) -> Message:
        exchanges = _noted.get()
        return getattr(self, verb)(method, args) if exchanges is None else exchanges.answer(self, verb, method, args)


_numbers = count(1)


def numbered(shard: object) -> int:
    """Return a number that no other shard has or ever had, as the address of an object may be."""
    known: dict[str, int] = shard.__dict__
    return known.setdefault("number_among_shards", next(_numbers))


class InProcess(Group):
    """Shards that are objects of this process, one after the other; each uses all threads."""

    def __getitem__(self, number: int) -> Message:
        return self._shards[number]

    def call(self, method: str, args: Sequence[tuple[Message, ...]]) -> list[Message]:
        return [getattr(shard, method)(*each) for shard, each in zip(self._shards, args, strict=True)]


def together(shards: "Sequence[Message] | Group") -> Group:
    """Return shards as a group: of the kind that they say, if they say one."""
    if isinstance(shards, Group):
        return shards
    kind = getattr(type(shards[0]), "group", InProcess) if len(shards) else InProcess
    made: Group = kind(shards)
    return made
