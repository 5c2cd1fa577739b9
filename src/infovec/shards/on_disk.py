"""Shards whose rows are on disk between two messages: only those at work are in memory."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import lru_cache, partial, reduce
from itertools import pairwise
from operator import add
from threading import Lock

import numpy as np

from .._types import Array, Message, Rows
from ..kernels import Kernel
from ..runtime import parts, scratch
from .coupled import CoupledShard
from .far import FarInputs
from .group import Group
from .messages import Basis, GivenRows
from .places import HERE, Places
from .projected import ProjectedShard
from .protocol import QUESTIONS, Shard
from .some_rows import SomeRows

__all__ = ["DiskInputs", "DiskShard", "OneByOne", "disk_places"]

_ROOM = 100  # times the size of the V of a shard that must be free on the disk
_LARGE = 1024  # numbers of an array that goes to disk
_SCRATCH = ("_spare",)  # what a shard makes anew when it is empty
CONSTANT = frozenset({"rows", "y", "labels", "prior_var"})  # of a shard, of which no message changes a number


class _File:
    """A file without a name: it is gone when nobody has it any more, whatever happens to the process."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="infovec-")  # noqa: SIM115
        self._end = 0

    def __del__(self) -> None:
        self._file.close()

    def place(self, array: Array) -> "_Place":
        """Return room for an array of this size."""
        start, self._end = self._end, self._end + array.nbytes
        return _Place(start, array.shape, array.dtype)

    def write(self, place: "_Place", array: Array) -> None:
        view, start = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data, place.start
        with scratch():
            while view.nbytes:
                done = os.pwrite(self._file.fileno(), view, start)
                view, start = view[done:], start + done

    def expect(self) -> None:
        """Let the system read it ahead, where it can."""
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self._file.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)

    def read(self, place: "_Place", rows: slice = slice(None)) -> Array:
        """Return an array, or some rows of it."""
        first, last, _ = rows.indices(place.shape[0])
        found = np.empty((max(last - first, 0), *place.shape[1:]), dtype=place.dtype)
        each = found.dtype.itemsize * int(np.prod(place.shape[1:], dtype=np.int64))
        view, start = found.reshape(-1).view(np.uint8).data, place.start + first * each
        while view.nbytes:
            done = os.preadv(self._file.fileno(), [view], start)
            if not done:
                raise OSError("a working file is shorter than it was; is the disk full?")
            view, start = view[done:], start + done
        return found


class _Place:
    """Where an array is in a file."""

    def __init__(self, start: int, shape: tuple[int, ...], dtype: np.dtype[Message]) -> None:
        self.start, self.shape, self.dtype = start, shape, dtype


class DiskInputs:
    """A working copy of inputs, as a fit has them: slices of rows are read by whoever asks for them.

    Parameters
    ----------
    X : FarInputs
    """

    ndim = 2

    def __init__(self, X: FarInputs) -> None:
        self.shape, self.dtype, self._file = X.shape, X.dtype, _File()
        self._first = 0
        self._place, each = _Place(0, X.shape, X.dtype), X.dtype.itemsize * X.shape[1]

        def write(values: Array, at: Rows) -> None:
            ends = np.append(np.flatnonzero(np.diff(at) != 1) + 1, len(at))
            for start, end in pairwise([0, *ends.tolist()]):
                some = values[start:end]
                self._file.write(_Place(int(at[start]) * each, some.shape, some.dtype), some)

        X.map(write, rowwise=(np.arange(len(X)),))

    def __len__(self) -> int:
        return self.shape[0]

    def part(self, at: Rows) -> "DiskInputs | SomeRows":
        """Return some rows, in order, without a copy."""
        if len(at) and int(at[-1]) - int(at[0]) != len(at) - 1:
            return SomeRows(self, at)
        some = copy(self)
        some._first, some.shape = self._first + (int(at[0]) if len(at) else 0), (len(at), self.shape[1])
        return some

    def __getitem__(self, at: Rows | slice) -> Array:
        if isinstance(at, slice):
            first, last, step = at.indices(len(self))
            rows = self._file.read(self._place, slice(self._first + first, self._first + last))
            return rows if step == 1 else rows[::step]
        at = self._first + np.asarray(at)
        found = np.empty((len(at), self.shape[1]), dtype=self.dtype)
        ends = np.append(np.flatnonzero(np.diff(at) != 1) + 1, len(at))
        for start, end in pairwise([0, *ends.tolist()]):
            if end > start:
                found[start:end] = self._file.read(self._place, slice(int(at[start]), int(at[end - 1]) + 1))
        return found


class DiskShard:
    """Stands for a shard that is on disk until somebody asks it something, and then is there as far as it is needed.

    Parameters
    ----------
    make : callable
        Returns the shard.
    """

    def __init__(self, make: Callable[[], Message]) -> None:
        self._file, self._places, self._held = _File(), dict[str, _Place](), dict[str, Message]()
        self._read = dict[str, Message]()  # constants as they were read
        self._lock = Lock()
        self._shard = make()
        self._shard.__class__ = _lazy(type(self._shard))  # type: ignore[arg-type]
        self._shard.__dict__["on_disk"] = self.load
        self._leave()

    def load(self, name: str) -> Message:
        """Return what is on disk by this name."""
        with self._lock:  # threads that ask at the same time must have the same array
            state: dict[str, Message] = self._shard.__dict__
            if name not in state:
                if name not in self._held:
                    raise AttributeError(name)
                state[name] = self._unpacked(self._held[name])
                if name in CONSTANT:
                    self._read[name] = state[name]
            return state[name]

    def ask(self, method: str, args: tuple[Message, ...]) -> Message:
        """Send a message to the shard, and write to disk what it has changed."""
        found = getattr(self._shard, method)(*args)
        self._leave(method in QUESTIONS)
        return found

    def expect(self) -> None:
        """Let the system read ahead."""
        self._file.expect()

    def _leave(self, unchanged: bool = False) -> None:
        """Forget what rows have, all of which is on disk."""
        state: dict[str, Message] = self._shard.__dict__
        for name in list(state):
            if name in _SCRATCH:
                state[name] = []
                continue
            known = name in self._held and (unchanged or self._read.get(name) is state[name])
            packed = self._held[name] if known else self._packed(name, state[name])
            if packed is not state[name]:
                self._held[name] = packed
                del state[name]
            else:
                self._held.pop(name, None)
        self._read.clear()

    def _packed(self, name: str, value: Message) -> Message:
        """Return a place for an array, or the same of a list of them; everything else as it is."""
        if isinstance(value, np.ndarray) and value.size >= _LARGE and value.dtype != object:
            place = self._places.get(name)
            if place is None or place.shape != value.shape or place.dtype != value.dtype:
                self._places[name] = place = self._file.place(value)
            self._file.write(place, value)
            return place
        if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
            packed = [self._packed(f"{name}.{k}", v) for k, v in enumerate(value)]
            return value if all(a is b for a, b in zip(packed, value, strict=True)) else type(value)(packed)
        return value

    def _unpacked(self, value: Message) -> Message:
        if isinstance(value, _Place):
            return self._file.read(value)
        if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
            return type(value)(self._unpacked(v) for v in value)
        return value


def working_copy(X: FarInputs) -> DiskInputs:
    """Return the copy of inputs that shards read from, made once."""
    if not isinstance(X.copied, DiskInputs):
        X.copied = DiskInputs(X)
    return X.copied


def _select(given: GivenRows, *model: Message) -> Shard:
    """Rows to select from: as many as fit into memory, where they are now."""
    X = given.X
    return HERE.to_select(given._replace(X=X[:] if isinstance(X, FarInputs) else X), *model)


def _infer(
    kind: Callable[..., Message],
    rows: Rows,
    X: Message,
    y: Message,
    kernel: Kernel,
    likelihood: Message,
    *rest: Message,
) -> Message:
    if not isinstance(X, FarInputs):
        return kind(rows, X, y, kernel, likelihood, *rest)
    whole, at = X.lot
    here = working_copy(whole).part(at)
    return DiskShard(lambda: kind(rows, here, y, kernel, likelihood, *rest))


def disk_places(rows_at_once: int) -> Places:
    """Return what makes shards of so many rows, of inputs that are not in memory."""
    return Places(
        1, _select, partial(_infer, ProjectedShard), partial(_infer, CoupledShard), lambda X, rows, selecting: (
            [slice(0, len(rows))] if selecting else parts(len(rows), rows_at_once)
        ), rows_at_once,
    )  # fmt: skip


@lru_cache
def _lazy(kind: Message) -> type:
    """Return a kind of shard that finds on disk what it does not have."""

    def __getattr__(self: Message, name: str) -> Message:  # noqa: N807
        if name.startswith("__") or "on_disk" not in vars(self):
            raise AttributeError(name)
        return vars(self)["on_disk"](name)

    def project(self: Message, basis: Basis) -> None:
        """Take a new active set, and keep V on disk where there is room."""
        self.writing = _Features(len(self.rows), len(basis.L), self.dtype)
        kind.project(self, basis)
        self._kept, self.writing = self.writing if self.writing.room else {}, None

    def _keeps_all(self: Message, room: int) -> bool:
        return bool(self.writing.room)

    def _make(self: Message, chunk: slice) -> Array:
        V: Array = kind._make(self, chunk)
        if self.__dict__.get("writing") is not None:
            self.writing.write(chunk, V)
        return V

    own = {"__getattr__": __getattr__, "project": project, "_make": _make, "_keeps_all": _keeps_all}
    return type(f"{kind.__name__}OnDisk", (kind,), own)


class _Features:
    """V of a shard on disk, by the first row of a chunk; in the precision of the products, so that nothing is lost.

    Reading is faster than making it anew: ``python -m benchmarks.big --disk``. In half precision it would be half as
    large, but the model would not be the same.
    """

    def __init__(self, n: int, d: int, dtype: str) -> None:
        self._file, self._shape, self._dtype = _File(), (n, d), np.dtype(dtype)
        self._chunks: dict[int, int] = {}
        self.room = _ROOM * n * d * self._dtype.itemsize < shutil.disk_usage(tempfile.gettempdir()).free

    def write(self, chunk: slice, V: Array) -> None:
        if self.room:
            self._file.write(_Place(chunk.start * V.shape[1] * V.itemsize, V.shape, V.dtype), V)
            self._chunks[chunk.start] = chunk.stop

    def __contains__(self, start: int) -> bool:
        return start in self._chunks

    def __len__(self) -> int:
        return len(self._chunks)

    def __getitem__(self, start: int) -> Array:
        return self._file.read(_Place(0, self._shape, self._dtype), slice(start, self._chunks[start]))


class OneByOne(Group):
    """Shards on disk, one after the other, each with all threads; the next one is read ahead meanwhile.

    Parameters
    ----------
    shards : sequence of DiskShard
    """

    def call(self, method: str, args: Sequence[tuple[Message, ...]]) -> list[Message]:
        return list(self._answers(method, args))

    def add(self, method: str, args: Sequence[tuple[Message, ...]]) -> Message:
        return reduce(add, self._answers(method, args))  # no more than two of them at a time

    def _answers(self, method: str, args: Sequence[tuple[Message, ...]]) -> Iterator[Message]:
        for k, shard in enumerate(self._shards):
            if k + 1 < len(self._shards):
                self._shards[k + 1].expect()
            yield shard.ask(method, args[k])


DiskShard.group = OneByOne  # type: ignore[attr-defined]
