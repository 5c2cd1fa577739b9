"""A fingerprint of the rows of a table, by which it can be told later whether other rows are among them."""

import hashlib
import secrets
from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from scipy import sparse

from .._types import Array
from .source import Block, Source, Wanted
from .through import Through

__all__ = ["Overlap", "Sketch", "Sketched"]

_KEPT = 1024  # hashes
_BITS = 32  # of a hash
_WORDS = 1 << 16  # whose hashes are remembered


class Sketch:
    """The smallest of the salted, 32 bit hashes of the rows: a random sample of them that says nothing of their cells.

    Of other rows those with as small a hash are looked up, which are the same sample of them; so it works for any part
    of the rows, in any order, and whatever kind of file they are in. Numbers are compared in single precision.

    Parameters
    ----------
    salt : bytes
    smallest : array of uint32
        Sorted.
    """

    def __init__(self, salt: bytes | None = None, smallest: Array | None = None) -> None:
        self.salt = secrets.token_bytes(8) if salt is None else salt
        self.smallest = np.empty(0, dtype=np.uint32) if smallest is None else smallest
        self._words: dict[str, int] = {}

    @property
    def largest(self) -> int:
        """Hash up to which all rows are in the sketch."""
        return int(self.smallest[-1]) if len(self.smallest) == _KEPT else (1 << _BITS) - 1

    def add(self, wanted: Wanted, block: Block) -> None:
        """Take in rows."""
        new = self.hashes(wanted, block)
        self.smallest = np.unique(np.concatenate([self.smallest, new[new <= self.largest]]))[:_KEPT]

    def hashes(self, wanted: Wanted, block: Block) -> Array:
        """Return a hash of every row, target included; cells that are zero or missing do not count."""
        keys = np.array([self._key(f"column {name}") for name in wanted.numbers], dtype=np.uint64)
        total: Array = _bits(block.numbers) @ keys if len(keys) else np.zeros(len(block), dtype=np.uint64)
        for name, words in zip(wanted.words, block.words, strict=True):
            total = total + self._hashed(words) * np.uint64(self._key(f"column {name}"))
        if isinstance(block.target, list):
            total = total + self._hashed(block.target) * np.uint64(self._key("target"))
        elif block.target is not None:
            total = total + _bits(np.asarray(block.target)) * np.uint64(self._key("target"))
        return (_mixed(total) >> np.uint64(64 - _BITS)).astype(np.uint32)

    def _key(self, text: str) -> int:
        """Return a number for a text that nobody guesses without the salt; odd, so that products lose nothing."""
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=self.salt, digest_size=8).digest()
        return int.from_bytes(digest, "little") | 1

    def _hashed(self, words: list[str | None]) -> Array:
        if len(self._words) > _WORDS:
            self._words.clear()
        known = self._words
        for word in set(words).difference(known):
            if word is not None:
                known[word] = self._key(f"word {word}")
        return np.array([0 if word is None else known[word] for word in words], dtype=np.uint64)

    def to_json(self) -> dict[str, str]:
        """Return it as texts."""
        packed = self.smallest.astype("<u4").tobytes()
        return {"salt": self.salt.hex(), "smallest": b64encode(packed).decode("ascii")}

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Return it from what ``to_json`` made; raise a ValueError where it is anything else."""
        if not isinstance(data, dict) or set(data) != {"salt", "smallest"} or not all(
            isinstance(value, str) for value in data.values()
        ):  # fmt: skip
            raise ValueError("a fingerprint has a salt and its smallest hashes")
        salt, packed = bytes.fromhex(data["salt"]), b64decode(data["smallest"], validate=True)
        smallest = np.frombuffer(packed, dtype="<u4").astype(np.uint32)
        if not 0 < len(salt) <= 64 or len(smallest) > _KEPT or np.any(smallest[1:] <= smallest[:-1]):
            raise ValueError(f"a fingerprint has at most {_KEPT} hashes, in their order")
        return cls(salt, smallest)


class Overlap:
    """How many of some rows are among those of a sketch."""

    def __init__(self, sketch: Sketch) -> None:
        self._sketch, self._found, self._of, self.rows = sketch, 0, 0, 0

    def add(self, wanted: Wanted, block: Block) -> None:
        """Look up rows."""
        hashes = self._sketch.hashes(wanted, block)
        sample = hashes[hashes <= self._sketch.largest]
        self._found += int(np.isin(sample, self._sketch.smallest, kind="sort").sum())
        self._of += len(sample)
        self.rows += len(block)

    @property
    def share(self) -> float:
        """Share of the rows that are among the others, as far as the sketch knows."""
        return self._found / self._of if self._of else 0.0


class Sketched(Through):
    """A table whose rows are taken in by a sketch, or looked up in one, as they are read."""

    def __init__(self, inner: Source, sketch: Sketch | Overlap) -> None:
        super().__init__(inner)
        self._sketch = sketch

    def _blocks(self, wanted: Wanted) -> Iterator[Block]:
        for block in self._inner.blocks(wanted):
            self._sketch.add(wanted, block)
            yield block


def _bits(values: Any) -> Any:
    """Return numbers in single precision as whole numbers, zero where they are zero or missing."""
    if sparse.issparse(values):
        found = values.tocsr(copy=True)
        found.data = _bits(found.data)
        return found
    short = np.nan_to_num(np.clip(values, -3e38, 3e38), nan=0.0).astype(np.float32) + np.float32(0.0)
    return short.view(np.uint32).astype(np.uint64)


def _mixed(h: Array) -> Array:
    """Return numbers every bit of which depends on every bit: the last steps of SplitMix64."""
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))
