"""Which classes can be in a model file, and by which fields. Nothing else is ever built."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from types import MappingProxyType
from typing import Any, Self

from ..errors import ModelFileError

__all__ = ["Maybe", "Record", "Registry", "build_value", "value", "value_fields"]


@dataclass(frozen=True)
class Maybe:
    """Something to save if it can be; else it is left out, with a note."""

    value: Any


@dataclass(frozen=True)
class Record:
    """How a class is taken apart and put together.

    Parameters
    ----------
    cls : type
        Saved under its name; instances of subclasses are not meant.
    parts : callable
        The fields of an instance, by name: anything that can be saved itself.
    build : callable
        An instance from its fields; it must check them.
    """

    cls: type
    parts: Callable[[Any], Mapping[str, Any]]
    build: Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True)
class Registry:
    """A closed set of records, by the name of their class."""

    records: Mapping[str, Record]

    @classmethod
    def of(cls, records: Iterable[Record]) -> Self:
        """Return a registry of records whose classes differ in name."""
        listed = list(records)
        named = {record.cls.__name__: record for record in listed}
        if len(named) != len(listed):
            raise ValueError("two classes of a registry have the same name")
        return cls(MappingProxyType(named))

    def plus(self, *records: Record) -> "Registry":
        """Return a registry with more records."""
        return Registry.of([*self.records.values(), *records])

    def for_instance(self, thing: Any) -> Record | None:
        """Return the record of the very class of something, if it has one."""
        record = self.records.get(type(thing).__name__)
        return record if record is not None and record.cls is type(thing) else None


def value(cls: type) -> Record:
    """Return the record of a dataclass: its fields are those of the constructor."""
    return Record(cls, value_fields, lambda given: build_value(cls, given))


def value_fields(thing: Any) -> dict[str, Any]:
    """Return the fields of a dataclass."""
    return {field.name: getattr(thing, field.name) for field in fields(thing)}


def build_value(cls: Any, given: Mapping[str, Any]) -> Any:
    """Return an instance of a dataclass; a field that the file does not have takes its default."""
    known = {field.name: field for field in fields(cls)}
    unknown = sorted(set(given) - set(known))
    missing = [
        name
        for name, field in known.items()
        if name not in given and field.default is MISSING and field.default_factory is MISSING
    ]
    if unknown or missing:
        raise ModelFileError(f"the fields of {cls.__name__} differ: unknown {unknown[:5]}, missing {missing[:5]}")
    return cls(**given)
