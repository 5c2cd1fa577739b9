"""Options that are more than a text: sizes of active sets, memory, durations, lists of names."""

import re
from typing import Any

import click

__all__ = ["ACTIVE", "DURATION", "MEMORY", "NAMES"]

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


class _Names(click.ParamType):  # type: ignore[type-arg]
    name = "names"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        return tuple(name.strip() for name in str(value).split(",") if name.strip())


ACTIVE, MEMORY, DURATION, NAMES = _Active(), _Memory(), _Duration(), _Names()
