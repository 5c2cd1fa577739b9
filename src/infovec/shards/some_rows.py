"""Some rows of the inputs, without a copy of them."""

from .._types import Inputs, Rows

__all__ = ["SomeRows"]


class SomeRows:
    """Some rows of the inputs, copied only as far as they are asked for.

    Parameters
    ----------
    X : inputs of all rows
    rows : array of int
    """

    def __init__(self, X: Inputs, rows: Rows) -> None:
        self._X, self._rows = X, rows
        self.shape, self.dtype, self.ndim = (len(rows), *X.shape[1:]), X.dtype, X.ndim

    @classmethod
    def of(cls, X: Inputs, kept: Rows) -> "SomeRows":
        """Return some rows of inputs, or of some rows of them."""
        return cls(X._X, X._rows[kept]) if isinstance(X, SomeRows) else cls(X, kept)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, at: Rows | slice) -> Inputs:
        return self._X[self._rows[at]]
