"""Options that are more than a text: sizes of active sets, memory, durations, lists of names."""

import functools
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, TypeVar

import click

__all__ = ["ACTIVE", "DURATION", "MEMORY", "Single", "names", "option", "picked"]

_F = TypeVar("_F", bound=Callable[..., Any])
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


class _Active(click.ParamType):  # type: ignore[type-arg]
    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, int | float) or value == "auto":
            return value
        try:
            size = float(value)
        except ValueError:
            self.fail(f"{value!r} is neither a number, nor a share such as 0.1, nor 'auto'", param, ctx)
        if "." in value and 0.0 < size < 1.0:
            return size
        if size < 1 or size != int(size):
            self.fail(f"{value!r}: a whole number from 1, a share between 0 and 1, or 'auto' is needed", param, ctx)
        return int(size)


class _Memory(click.ParamType):  # type: ignore[type-arg]
    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not re.fullmatch(r"\s*\d+(\.\d+)?\s*([kmgt]?b|[kmg]ib)\s*", str(value), flags=re.IGNORECASE):
            self.fail(f"{value!r} is no size of memory; write it like 500MB or 2GB", param, ctx)
        return str(value)


class _Duration(click.ParamType):  # type: ignore[type-arg]
    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|min|m|h|)\s*", str(value))
        if not match or float(match[1]) <= 0.0:
            self.fail(f"{value!r} is no duration; write it like 60s, 5m or 1h", param, ctx)
        return float(match[1]) * _UNITS[match[2]]


ACTIVE, MEMORY, DURATION = _Active(), _Memory(), _Duration()


class Single(click.Option):
    """An option that has one value, or several where it is said to be repeatable: none is passed over in silence."""

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        if self.multiple or self.count or self.is_flag:
            super().add_to_parser(parser, ctx)
        else:
            parser.add_option(obj=self, opts=self.opts, dest=self.name, action="append", nargs=self.nargs)

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> Any:
        given = opts.get(self.name or "")
        if isinstance(given, list) and not self.multiple:
            if len(set(given)) > 1:
                raise click.UsageError(f"{self.opts[-1]} is given more than once, as {', '.join(given)}: say one", ctx)
            opts = {**opts, self.name or "": given[-1]}
        return super().consume_value(ctx, opts)


option = functools.partial(click.option, cls=Single)


def names(*declarations: str, help: str) -> Callable[[_F], _F]:
    """Declare an option that lists names: each value is one of them or several, as ``picked`` tells."""
    return option(*declarations, multiple=True, metavar="NAMES", help=f"{help} (repeatable).")


def picked(given: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    """Return the names in the values of an option: between commas, but whole where that is one that is known.

    Parameters
    ----------
    given : iterable of str
        One for each time that the option was given.
    known : collection of str
        Columns, or classes.
    """
    found = list[str]()
    for value in given:
        parts = [value] if value in known else value.split(",")
        found += [part.strip() for part in parts if part.strip()]
    return tuple(found)
