"""From a tree of JSON values with references to arrays back to objects. Names are looked up in closed registries."""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from .._types import Array
from ..errors import ModelFileError, ParameterError
from ..numerics.parameters import Parametrised
from .archive import Reader
from .arrays import Layout
from .limits import DEEPEST, meant_too_often
from .registry import Registry, build_value
from .values import in_a_line, must

__all__ = ["ABSENT", "Decoder", "check_characters", "own_things", "parsed"]

ABSENT = object()
"""Stands for what could not be saved."""

_TYPES: Mapping[str, type] = {"float32": np.float32, "float64": np.float64}
_PLAIN = frozenset([type(None), bool, int, float, str])
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_KEYS: Mapping[str, frozenset[str]] = {
    kind: frozenset(keys.split())
    for kind, keys in {
        "float": "value", "scalar": "array", "array": "member dtype shape order", "objects": "items",
        "csr": "array shape data indices indptr", "tuple": "items", "dict": "items", "type": "name", "dtype": "name",
        "absent": "", "object": "class fields", "own": "class fields", "function": "name",
    }.items()
}  # fmt: skip
_FLOATS: Mapping[str, float] = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def parsed(text: bytes) -> dict[str, Any]:
    """Return the object that a JSON text is, without the liberties that Python takes."""
    tree = json.loads(text.decode("utf-8"), object_pairs_hook=_distinct, parse_constant=_no, parse_float=_finite)
    if not isinstance(tree, dict):
        raise ModelFileError(f"a {type(tree).__name__} stands where a JSON object belongs")
    if _SURROGATE.search(text):
        check_characters(tree)
    return tree


def check_characters(tree: Any) -> None:
    """Raise when a text somewhere in a tree has half a character, which nobody could print."""
    try:
        for piece in json.JSONEncoder(ensure_ascii=False).iterencode(tree):
            piece.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ModelFileError("a text has half a character (a lone surrogate)") from error


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ModelFileError("a JSON object has the same key twice")
    return found


def _no(name: str) -> Any:
    raise ModelFileError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no(text)


def own_things(things: Mapping[str, Any] | Iterable[Any]) -> dict[str, Any]:
    """Return the user's own classes and functions by name."""
    if isinstance(things, Mapping):
        return dict(things)
    if isinstance(things, type) or not isinstance(things, Iterable):
        raise ParameterError(f"kernels must be a list of classes or functions, got {things!r}: write kernels=[...]")
    named: dict[str, Any] = {}
    for thing in things:
        name = getattr(thing, "__name__", None)
        if name is None:
            raise ParameterError(f"kernels must list classes and functions, not {thing!r}")
        if named.setdefault(name, thing) is not thing:
            raise ParameterError(f"two of kernels are called {name}; one name must be one thing")
    return named


class Decoder:
    """Puts things together.

    Parameters
    ----------
    reader : Reader
        Has the arrays.
    registry : Registry
        The classes that may be built.
    own : dict
        Classes and functions of the user's own, by name.
    """

    def __init__(self, reader: Reader, registry: Registry, own: Mapping[str, Any]) -> None:
        self.reader, self.registry, self.own = reader, registry, own
        self.arrays: dict[str, tuple[Array, Layout]] = {}
        self._depth = self._meant = 0
        self._kinds: dict[str, Callable[[dict[str, Any], str], Any]] = {
            "float": lambda given, where: _named(_FLOATS, given["value"], where),
            "scalar": self._scalar,
            "array": self._array,
            "objects": self._objects,
            "csr": self._csr,
            "tuple": lambda given, where: tuple(self._of(given["items"], list, where)),
            "dict": lambda given, where: self._mapping(given["items"], where),
            "type": lambda given, where: _named(_TYPES, given["name"], where),
            "dtype": lambda given, where: np.dtype(_named(_TYPES, given["name"], where)),
            "absent": lambda given, where: ABSENT,
            "object": self._object,
            "own": self._own,
            "function": self._function,
        }

    def decode(self, tree: Any, where: str) -> Any:
        """Return what a tree stands for; ``where`` it is goes into errors."""
        if type(tree) in _PLAIN:
            return tree
        self._depth += 1
        if self._depth > DEEPEST:
            raise ModelFileError(f"{where[:80]}... is nested more than {DEEPEST} times")
        try:
            if isinstance(tree, list):
                return [v if type(v) in _PLAIN else self.decode(v, f"{where}[{i}]") for i, v in enumerate(tree)]
            kind = tree.get("kind")
            if not isinstance(kind, str) or kind not in self._kinds:
                raise ModelFileError(f"{where}: nothing of the kind {str(kind)[:80]!r} is known")
            if tree.keys() - {"kind"} != _KEYS[kind]:
                raise ModelFileError(f"{where}: a thing of the kind {kind!r} must have {sorted(_KEYS[kind])}")
            return self._kinds[kind](tree, where)
        finally:
            self._depth -= 1

    def _of(self, tree: Any, cls: type, where: str) -> Any:
        thing = self.decode(tree, where)
        if not isinstance(thing, cls):
            raise ModelFileError(f"{where}: a {type(thing).__name__} stands where a {cls.__name__} belongs")
        return thing

    def _scalar(self, given: dict[str, Any], where: str) -> Any:
        array = self._of(given["array"], np.ndarray, where)
        must(array.ndim == 0, where, "a single value", array)
        return array[()]

    def _array(self, given: dict[str, Any], where: str) -> Array:
        member = given["member"]
        must(isinstance(member, str), where, "an array by its name", member)
        layout = Layout.declared(given["dtype"], given["shape"], given["order"])
        if member not in self.arrays:
            self.arrays[member] = self.reader.array(member, layout), layout
        array, as_before = self.arrays[member]
        if layout != as_before:
            raise ModelFileError(f"{member} is declared in two ways")
        self._meant += layout.nbytes
        if meant_too_often(self._meant, self.reader.size):
            raise ModelFileError(f"{where}: the same arrays are meant far too often")
        return array

    def _objects(self, given: dict[str, Any], where: str) -> Array:
        found = self._of(given["items"], list, where)
        array = np.empty(len(found), dtype=object)
        for i, item in enumerate(found):
            array[i] = item
        return array

    def _csr(self, given: dict[str, Any], where: str) -> Any:
        data, indices, indptr = (
            self._of(given[name], np.ndarray, f"{where}.{name}") for name in ("data", "indices", "indptr")
        )
        shape, new = given["shape"], given["array"]
        sizes = isinstance(shape, list) and len(shape) == 2 and all(type(n) is int and 0 <= n < 2**62 for n in shape)
        must(sizes and isinstance(new, bool), where, "a sparse matrix with a shape of two sizes", shape)
        must(data.ndim == indices.ndim == indptr.ndim == 1, where, "a sparse matrix of vectors", data)
        must(
            indices.dtype.kind == indptr.dtype.kind == "i",
            where,
            "a sparse matrix with whole numbers as places",
            indices,
        )
        must(
            len(indptr) == shape[0] + 1 and len(indices) == len(data),
            where,
            f"a sparse matrix of {shape[0]} rows",
            indptr,
        )
        # SciPy checks no order where the last entry says that there are no entries, and then reads beyond them
        ordered = indptr[0] == 0 and indptr[-1] == len(data) and not np.any(np.diff(indptr.astype(np.int64)) < 0)
        inside = not len(data) or (indices.min() >= 0 and indices.max() < shape[1])
        if not (ordered and inside):
            raise ModelFileError(f"{where} must be a sparse matrix, and says of some entries that they are elsewhere")
        return (sparse.csr_array if new else sparse.csr_matrix)((data, indices, indptr), shape=tuple(shape))

    def _mapping(self, items: Any, where: str) -> dict[str, Any]:
        must(isinstance(items, dict), where, "an object with keys", items)
        found = {}
        for key, item in items.items():  # no comprehension: kernels in kernels take few frames each
            found[key] = self.decode(item, f"{where}.{key}" if where else key)
        return found

    def _object(self, given: dict[str, Any], where: str) -> Any:
        record = self.registry.records.get(_name(given["class"], where))
        if record is None:
            raise ModelFileError(
                f"it has a {given['class'][:80]!r}, which this version of infovec does not know; upgrade infovec"
            )
        return _built(record.build, self._mapping(given["fields"], where), given["class"], where)

    def _own(self, given: dict[str, Any], where: str) -> Any:
        cls = self._passed(_name(given["class"], where), "class")
        if not (isinstance(cls, type) and issubclass(cls, Parametrised)):
            raise ModelFileError(f"{given['class']} must be a class derived from Kernel or Likelihood, got {cls!r}")
        fields = self._mapping(given["fields"], where)
        return _built(lambda found: build_value(cls, found), fields, given["class"], where)

    def _function(self, given: dict[str, Any], where: str) -> Any:
        function = self._passed(_name(given["name"], where), "function")
        if not callable(function):
            raise ModelFileError(f"{given['name']} must be a function, got {function!r}")
        return function

    def _passed(self, name: str, what: str) -> Any:
        if name not in self.own:
            shown = name[:80]
            how = f"kernels=[{shown}]" if shown.isidentifier() else f"kernels={{{shown!r}: ...}}"
            raise ModelFileError(f"the model needs the {what} {shown}, which files do not have: load(path, {how})")
        return self.own[name]


def _named(things: Mapping[str, Any], name: Any, where: str) -> Any:
    must(isinstance(name, str) and name in things, where, f"one of {sorted(things)}", name)
    return things[name]


def _name(value: Any, where: str) -> str:
    must(isinstance(value, str), where, "of a class or function by its name", value)
    return str(value)


def _built(build: Callable[[dict[str, Any]], Any], fields: dict[str, Any], name: str, where: str) -> Any:
    """Return an instance, or say where the fields are that no instance has."""
    try:
        return build(fields)
    except ModelFileError as error:
        raise error if str(error).startswith(where) else ModelFileError(f"{where}: {error}") from error
    except ParameterError as error:
        raise ModelFileError(f"{where} has a value that cannot be: {in_a_line(error)}") from error
    except (TypeError, ValueError, ArithmeticError, AttributeError, LookupError) as error:
        detail = f"{type(error).__name__}: {in_a_line(error)}"
        raise ModelFileError(f"{where} cannot be a {name} with such fields ({detail})") from error
