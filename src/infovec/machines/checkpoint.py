"""A file from which a fit goes on that was cut off: what was learned, and what was said to the shards and by them."""

import json
import os
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final, cast

import numpy as np
from scipy import sparse

from .._types import Message
from ..errors import ParameterError
from ..learning import Step, further_terms, with_terms
from ..likelihoods import Likelihood, with_spare
from ..shards import Group, messages
from ..shards.protocol import QUESTIONS
from .against_rest import AgainstRest
from .machine import Machine

__all__ = ["Checkpoint"]

_MAGIC: Final = b"infovec checkpoint 1\n"
_NAMED: Mapping[str, Message] = {
    name: getattr(messages, name) for name in messages.__all__ if hasattr(getattr(messages, name), "_fields")
} | {"Step": Step}
_ANY = 0.1  # lapse, which is then set
_EASY = frozenset({"marginals", "seen_before", "considered", "outside"})
# questions whose answers are as large as the rows are many: shards can be asked again


class Checkpoint:
    """Takes note of a fit: everything that was found out with the rows, each thing once it is known.

    A record is complete or counts for nothing, so the file is good whenever the process ends. A fit that finds it
    does the same over again, and hears what the shards said from the file. They themselves are told only what changes
    them, when the file has nothing more to say. When the fit is done the file is removed.

    Parameters
    ----------
    path : path
    fit : str
        What tells this fit from others.
    """

    def __init__(self, path: str | os.PathLike[str], fit: str) -> None:
        self.path = Path(path)
        self._behind: dict[int, tuple[Group, list[tuple[str, str, Sequence[Message]]]]] = {}
        self._records = _read(self.path, fit)
        self._at, self.resumed = 0, bool(self._records)
        self._file: BinaryIO = self.path.open("r+b" if self.path.exists() else "w+b")
        if not self._records:
            self._file.truncate(0)
            self._write(_MAGIC + _framed(_encoded(fit)))
        self._ends = _ends(self._file)

    def learned(self, machine: Machine) -> tuple[Machine, list[Step]] | None:
        """Return the machine with the parameters that were learned, if they were."""
        known = self._next("learned")
        if known is None:
            return None
        (terms, kernel, kernels, theta, numbers, steps) = known
        likelihood = machine.likelihood
        if len(theta) > likelihood.theta.size:  # one turned out to be needed
            likelihood = with_spare(cast(Likelihood, likelihood), _ANY)
        found = _restored(with_terms(machine.kernel, terms), kernel)
        machine = machine.with_parameters(found, likelihood.with_theta(theta), int(numbers))
        if isinstance(machine, AgainstRest) and kernels:
            pairs = zip(machine.kernels, kernels, strict=True)
            machine = replace(machine, kernels=tuple(_restored(one, values) for one, values in pairs))
        return machine, list(steps)

    def note_learned(self, machine: Machine, steps: Sequence[Step]) -> None:
        """Take note of what was learned."""
        kernels = [_values(one) for one in machine.kernels] if isinstance(machine, AgainstRest) else []
        terms, kernel = further_terms(machine.kernel), _values(machine.kernel)
        found = terms, kernel, kernels, machine.likelihood.theta, machine.learned, list(steps)
        self._append("learned", found)

    def answer(self, group: Group, verb: str, method: str, args: Sequence[tuple[Message, ...]]) -> Message:
        """Return what the shards say, from the file if it was said before."""
        key = f"{verb} {method} {len(group)}"
        known = None if method in _EASY else self._next(key)
        behind = self._behind.setdefault(group.key, (group, []))[1]
        if known is not None:
            if method not in QUESTIONS:
                behind.append((verb, method, args))
            return known[0]
        for _, earlier, said in behind:
            group.tell(earlier, said)
        behind.clear()
        found = getattr(group, verb)(method, args)
        if method not in _EASY:
            self._append(key, [found])
        return found

    def done(self) -> None:
        """Remove the file: there is nothing to go on from any more."""
        self._file.close()
        with suppress(FileNotFoundError):
            self.path.unlink()

    def close(self) -> None:
        """Leave the file for the next fit."""
        self._file.close()

    def _next(self, key: str) -> Message:
        """Return the next record if it is of that kind; else the file has nothing more to say."""
        if self._at < len(self._records):
            kind, value = self._records[self._at]
            if kind == key:
                self._at += 1
                return value
            del self._records[self._at :]
            self._file.truncate(self._ends[self._at])
        return None

    def _append(self, key: str, value: Message) -> None:
        self._file.seek(0, os.SEEK_END)
        self._write(_framed(_encoded([key, value])))
        self._records, self._at = [], 0

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._file.flush()
        os.fsync(self._file.fileno())


def _framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(8, "little") + zlib.crc32(payload).to_bytes(4, "little") + payload


def _payloads(file: BinaryIO) -> list[bytes]:
    """Return the records that are whole; what follows them was being written when the process ended."""
    found, end = list[bytes](), os.fstat(file.fileno()).st_size
    while len(head := file.read(12)) == 12:
        size = int.from_bytes(head[:8], "little")
        payload = file.read(size) if size <= end - file.tell() else b""
        if len(payload) < size or zlib.crc32(payload) != int.from_bytes(head[8:], "little"):
            break
        found.append(payload)
    return found


def _read(path: Path, fit: str) -> list[tuple[str, Message]]:
    if not path.exists():
        return []
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            if path.stat().st_size < len(_MAGIC):
                return []
            raise ParameterError(f"checkpoint={str(path)!r} is another file; name one that is not there yet")
        payloads = _payloads(file)
    if payloads and _decoded(payloads[0]) != fit:
        raise ParameterError(
            f"checkpoint={str(path)!r} is that of a fit with other data or settings; remove it, or name another file"
        )
    return [tuple(_decoded(payload)) for payload in payloads[1:]]


def _ends(file: BinaryIO) -> list[int]:
    """Where each record of a file ends, the first of which says what fit it is; what follows the last is cut off."""
    file.seek(len(_MAGIC))
    ends, at = list[int](), len(_MAGIC)
    for payload in _payloads(file):
        at += 12 + len(payload)
        ends.append(at)
    file.truncate(at)
    return ends


def _encoded(value: Message) -> bytes:
    arrays = list[bytes]()
    tree = json.dumps(_tree(value, arrays)).encode()
    return len(tree).to_bytes(8, "little") + tree + b"".join(arrays)


def _tree(value: Message, arrays: list[bytes]) -> Message:
    """A value as JSON, arrays beside it."""
    if isinstance(value, np.ndarray):
        arrays.append(np.ascontiguousarray(value).tobytes())
        return {"array": value.dtype.str, "shape": list(value.shape)}
    if sparse.issparse(value):
        parts = [value.data, value.indices, value.indptr]
        return {"csr": list(value.shape), "parts": [_tree(part, arrays) for part in parts]}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {"named": type(value).__name__, "parts": [_tree(part, arrays) for part in value]}
    if isinstance(value, list | tuple):
        return {"tuple" if isinstance(value, tuple) else "list": [_tree(part, arrays) for part in value]}
    assert value is None or isinstance(value, bool | int | str), type(value)
    return value


def _decoded(payload: bytes) -> Message:
    size = int.from_bytes(payload[:8], "little")
    at = [8 + size]
    return _value(json.loads(payload[8 : 8 + size]), payload, at)


def _value(tree: Message, payload: bytes, at: list[int]) -> Message:
    if not isinstance(tree, dict):
        return tree
    if "array" in tree:
        dtype, shape = np.dtype(tree["array"]), tuple(tree["shape"])
        count = int(np.prod(shape, dtype=np.int64))
        found = np.frombuffer(payload, dtype, count, at[0]).reshape(shape).copy()
        at[0] += count * dtype.itemsize
        return found
    if "float" in tree:
        return float.fromhex(tree["float"])
    inner: list[Message] = next((tree[name] for name in ("parts", "tuple", "list") if name in tree), [])
    parts = [_value(part, payload, at) for part in inner]
    if "csr" in tree:
        return sparse.csr_matrix(tuple(parts), shape=tuple(tree["csr"]))
    if "named" in tree:
        return _NAMED[tree["named"]](*parts)
    return tuple(parts) if "tuple" in tree else parts


def _values(kernel: Message) -> Message:
    """Numbers of a kernel, and of those that it is made of."""
    if not is_dataclass(kernel):
        return kernel if isinstance(kernel, int | float | np.ndarray | str | bool) else None
    return [_values(getattr(kernel, field.name)) for field in fields(kernel) if field.init]


def _restored(kernel: Message, values: Sequence[Message]) -> Message:
    """Return a kernel with other numbers."""
    found = dict[str, Message]()
    for field, value in zip([f for f in fields(kernel) if f.init], values, strict=True):
        inner = getattr(kernel, field.name)
        if is_dataclass(inner):
            found[field.name] = _restored(inner, value)
        elif value is not None:
            found[field.name] = value
    return replace(kernel, **found)
