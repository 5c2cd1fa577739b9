"""The errors that infovec raises on purpose. Each message names the cause and the remedy."""

from collections.abc import Mapping, Sequence


class InfovecError(Exception):
    """Base of all errors raised by infovec."""


class ParameterError(InfovecError, ValueError):
    """A parameter has a value that the model cannot have."""


class OutputError(ParameterError, OSError):
    """A file cannot be written, or must not be."""


class NotPositiveDefinite(InfovecError, ValueError):
    """The kernel is not a covariance function on the rows at hand."""


class NotConverged(InfovecError, ArithmeticError):
    """Inference did not settle, so that there is no evidence to compare."""


class ClusterError(InfovecError, RuntimeError):
    """A cluster cannot do the work."""


class DataError(InfovecError, ValueError):
    """A table cannot be read, or does not fit the model."""


class CellError(DataError):
    """A cell holds words where the column holds numbers."""

    def __init__(self, place: str, column: str, cell: str, beside: str = "") -> None:
        whole = cell.replace(",", "").strip("+-").isdigit()
        comma = "; for decimal commas say --decimal ,, for commas between thousands --thousands ," * (
            "," in cell and whole
        )
        super().__init__(f"{place}, column {column!r}: {cell!r} is not a number{beside}{comma}")
        self.column, self.cell = column, cell


class UndecidedError(DataError):
    """Columns can be read in several ways; ``options`` are those of the command line that would decide it."""

    def __init__(self, text: str, options: Mapping[str, Sequence[str]]) -> None:
        super().__init__(text)
        self.options = options


class ModelFileError(InfovecError, ValueError):
    """A model cannot be saved, or a file is not a model that can be loaded."""
