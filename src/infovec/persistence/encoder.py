"""From objects to a tree of JSON values with references to arrays."""

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from .._types import Array
from ..errors import ModelFileError
from ..numerics.parameters import Parametrised
from .archive import ARRAYS
from .arrays import Layout
from .limits import DEEPEST, meant_too_often
from .registry import Maybe, Registry, value_fields

__all__ = ["Encoder"]


class Encoder:
    """Takes things apart; an array that is in several places is stored once.

    Parameters
    ----------
    registry : Registry
        The classes whose instances can be saved.
    """

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self.arrays: dict[str, tuple[Array, Layout]] = {}
        self.left_out: dict[str, str] = {}
        self._names: dict[int, str] = {}
        self._meant = self._depth = 0
        self._functions: dict[str, Any] = {}

    def encode(self, thing: Any, where: str) -> Any:
        """Return the tree of something; ``where`` it is goes into errors."""
        if thing is None or type(thing) in (bool, int):
            return thing
        if isinstance(thing, str):
            return str(thing)
        if type(thing) is float:
            return thing if math.isfinite(thing) else {"kind": "float", "value": repr(thing)}
        if isinstance(thing, np.generic):
            return {"kind": "scalar", "array": self._array(np.array(thing))}
        if isinstance(thing, np.ndarray) and thing.dtype != object:
            return self._array(thing)
        if sparse.issparse(thing):
            return self._csr(thing, where)
        if self._depth >= DEEPEST:
            raise ModelFileError(f"{where[:80]}... is nested too deeply to be saved, or contains itself")
        self._depth += 1
        try:
            return self._composed(thing, where)
        finally:
            self._depth -= 1

    def _composed(self, thing: Any, where: str) -> Any:
        if isinstance(thing, np.ndarray):
            return self._objects(thing, where)
        if type(thing) in (list, tuple):
            items = [self.encode(item, f"{where}[{i}]") for i, item in enumerate(thing)]
            return items if type(thing) is list else {"kind": "tuple", "items": items}
        if type(thing) is dict:
            return {"kind": "dict", "items": self._mapping(thing, where)}
        if isinstance(thing, Parametrised):
            return self._parametrised(thing, where)
        return self._object(thing, where)

    def check_size(self) -> None:
        """Raise when arrays are meant so often that the file could not be read within its size."""
        if meant_too_often(self._meant, sum(layout.nbytes for _, layout in self.arrays.values())):
            raise ModelFileError("the model cannot be saved: its kernels have the same arrays far too often")

    def _array(self, array: Array) -> dict[str, Any]:
        layout = Layout.of(array)
        if id(array) not in self._names:
            name = f"{ARRAYS}{len(self.arrays)}.npy"
            self._names[id(array)] = name
            self.arrays[name] = array, layout  # keeps it alive, so that its id stays its own
        self._meant += layout.nbytes
        return {
            "kind": "array", "member": self._names[id(array)],
            "dtype": layout.dtype, "shape": list(layout.shape), "order": layout.order,
        }  # fmt: skip

    def _objects(self, array: Array, where: str) -> dict[str, Any]:
        if array.ndim != 1:
            raise ModelFileError(f"{where} is a table of objects, which cannot be saved; give numbers or one column")
        return {"kind": "objects", "items": [self.encode(item, f"{where}[{i}]") for i, item in enumerate(array)]}

    def _csr(self, matrix: Any, where: str) -> dict[str, Any]:
        if matrix.format != "csr":
            raise ModelFileError(f"{where} is a sparse matrix of format {matrix.format}; only CSR can be saved")
        parts = {name: self._array(getattr(matrix, name)) for name in ("data", "indices", "indptr")}
        return {"kind": "csr", "array": isinstance(matrix, sparse.sparray), "shape": list(matrix.shape), **parts}

    def _mapping(self, mapping: Mapping[Any, Any], where: str) -> dict[str, Any]:
        strange = [key for key in mapping if type(key) is not str]
        if strange:
            raise ModelFileError(f"{where} has the key {strange[0]!r}; only texts can be saved as keys")
        return {key: self.encode(item, f"{where}.{key}") for key, item in mapping.items()}

    def _object(self, thing: Any, where: str) -> Any:
        if isinstance(thing, Maybe):
            return self._maybe(thing.value, where)
        if isinstance(thing, type) and thing in (np.float32, np.float64):
            return {"kind": "type", "name": thing.__name__}
        if isinstance(thing, np.dtype) and thing in (np.float32, np.float64):
            return {"kind": "dtype", "name": thing.name}
        record = self.registry.for_instance(thing)
        if record is None:
            raise ModelFileError(
                f"{where} is a {type(thing).__name__}, which cannot be saved: model files have numbers, texts, arrays, "
                "lists, dicts, and what infovec itself is made of"
            )
        return {"kind": "object", "class": type(thing).__name__, "fields": self._mapping(record.parts(thing), where)}

    def _parametrised(self, thing: Any, where: str) -> Any:
        """A kernel or likelihood, of infovec or the user's own."""
        record = self.registry.for_instance(thing)
        given, inner = value_fields(thing) if record is None else record.parts(thing), {}
        _check_complete(thing, given, where)
        for name, item in given.items():  # few frames for each kernel in a kernel, of which there may be many
            plain = not callable(item) or isinstance(item, Parametrised | type)
            inner[name] = self.encode(item, f"{where}.{name}") if plain else self._function(item, f"{where}.{name}")
        return {"kind": "own" if record is None else "object", "class": type(thing).__name__, "fields": inner}

    def _function(self, thing: Any, where: str) -> Any:
        """A function in a kernel, which is saved by its name."""
        name = getattr(thing, "__name__", None)
        if not isinstance(name, str):
            raise ModelFileError(f"{where} is a function without a name, by which it would be saved; use def")
        if self._functions.setdefault(name, thing) is not thing:
            raise ModelFileError(f"{where} is one of two functions called {name}, by which both would be saved")
        return {"kind": "function", "name": name}

    def _maybe(self, thing: Any, where: str) -> Any:
        try:
            if callable(thing) and not isinstance(thing, Parametrised | type):
                raise ModelFileError("a function")
            Encoder(self.registry).encode(thing, where)
        except ModelFileError:
            self.left_out[where] = f"{type(thing).__name__} {getattr(thing, '__name__', '')}".strip()
            return {"kind": "absent"}
        return self.encode(thing, where)


def _check_complete(thing: Any, given: Mapping[str, Any], where: str) -> None:
    """Raise when a value of the user's own class has more to it than its fields."""
    cached = {name for cls in type(thing).__mro__ for name, v in vars(cls).items() if isinstance(v, cached_property)}
    more = sorted(set(vars(thing)) - set(given) - cached)
    if more:
        raise ModelFileError(
            f"{where} is a {type(thing).__name__} with {', '.join(more[:5])}, which are not among its fields; "
            "make it a frozen dataclass with all it needs as fields"
        )
