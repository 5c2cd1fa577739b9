"""Sparse Gaussian process models by informative vectors.

Estimators, and with them scikit-learn, are imported when they are first asked for: the command line's help is instant.
"""

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from ._version import __version__ as __version__

if TYPE_CHECKING:
    from .estimators import GPClassifier, IVMClassifier, IVMOrdinalClassifier, IVMRegressor, load, load_with_extra
    from .tables import TableEncoder

__all__ = [
    "GPClassifier", "IVMClassifier", "IVMOrdinalClassifier", "IVMRegressor", "TableEncoder", "load", "load_with_extra",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in __all__:
        room = ".tables" if name == "TableEncoder" else ".estimators"
        return getattr(importlib.import_module(room, __name__), name)
    if not name.startswith("__") and importlib.util.find_spec(f"{__name__}.{name}") is not None:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
