"""What a fit will take, said before it starts."""

from typing import NamedTuple

from ..plain import frame, pairs
from .budget import shown_bytes

__all__ = ["Plan"]


class Plan(NamedTuple):
    """Seconds, bytes and sizes."""

    seconds: float
    memory: int  # bytes, beyond the inputs themselves
    n_rows: int
    n_active: int
    n_index: int  # rows still considered at the end
    block_size: int
    pool_size: int
    dtype: str
    learning: float = 0.0  # seconds of these for learning

    def _repr_html_(self) -> str:
        rows = [
            ("seconds", f"{self.seconds:.3g}"),
            ("of these for learning", f"{self.learning:.3g}"),
            ("memory", shown_bytes(self.memory)),
            ("active rows", f"{self.n_active} of {self.n_rows}"),
            *([("blocks", f"up to {self.block_size}, from {self.pool_size} candidates")] if self._in_blocks else []),
            ("considered at the end", f"{self.n_index} rows"),
            ("precision", self.dtype),
        ]
        return frame("What the fit will take", pairs(rows))

    @property
    def _in_blocks(self) -> bool:
        return max(self.block_size, self.pool_size) > 1

    def __str__(self) -> str:
        blocks = f"blocks of up to {self.block_size} from {self.pool_size} candidates, " * self._in_blocks
        return (
            f"{self.n_active} of {self.n_rows} rows in about {self.seconds:.3g} s and {shown_bytes(self.memory)}; "
            f"{blocks}{self.n_index} rows considered at the end, {self.dtype}"
            + (f"; {self.learning:.3g} s of these for learning" if self.learning else "")
        )
