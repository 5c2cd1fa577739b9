"""Several files of the same columns as one table."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..errors import CellError, DataError
from .cells import Marks
from .gaps import Kind
from .source import Block, Source, Wanted

__all__ = ["Several"]


class Several(Source):
    """Tables one after the other.

    Parameters
    ----------
    parts : sequence of Source
    """

    def __init__(self, parts: Sequence[Source]) -> None:
        self._parts = list(parts)
        self.name = parts[0].name if len(parts) == 1 else f"{parts[0].name} and {len(parts) - 1} more"
        self.target, self.task, self._at = parts[0].target, parts[0].task, 0
        first = set(parts[0].columns)
        for part in parts[1:]:
            if set(part.columns) != first:
                differ = ", ".join(map(repr, sorted(set(part.columns) ^ first)[:5]))
                raise DataError(f"{part.name} and {parts[0].name} do not have the same columns: {differ}")

    @property
    def columns(self) -> tuple[str, ...]:
        return self._parts[0].columns

    @property
    def notes(self) -> Sequence[str]:
        return [note for part in self._parts for note in part.notes]

    @property
    def marks(self) -> Marks | None:
        return self._parts[0].marks

    @property
    def ordered(self) -> Sequence[str]:
        return self._parts[0].ordered

    def kinds(self) -> dict[str, Kind]:
        kinds = self._parts[0].kinds()
        for part in self._parts[1:]:
            for name, kind in part.kinds().items():
                if kind != kinds[name]:
                    raise DataError(
                        f"column {name!r} holds {kind}s in {part.name} and {kinds[name]}s in {self._parts[0].name}; "
                        "give it the same type in all files, or leave it out with --drop"
                    )
        return kinds

    def _blocks(self, wanted: Wanted) -> Iterator[Block]:
        before = 0
        for number, part in enumerate(self._parts):
            self._at, count = number, 0
            try:
                for block in part.blocks(wanted):
                    yield replace(block, first=before + block.first)
                    count += len(block)
            except CellError as error:
                raise DataError(f"{part.name}: {error}") from error
            before += count
            part.close()

    def share_read(self) -> float | None:
        share = self._parts[self._at].share_read()
        return None if share is None else (self._at + share) / len(self._parts)

    def close(self) -> None:
        for part in self._parts:
            part.close()
