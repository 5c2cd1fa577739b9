"""Tables as the options of a command have them read: dates as numbers, rows left out, rows held back."""

from typing import Any, NamedTuple

import click

from ..datasets import Reading, Source
from ..datasets.dates import Dated
from ..datasets.held_back import Learned
from ..datasets.sketch import Overlap, Sketch, Sketched
from ..datasets.through import Renamed, WithTargets
from ..errors import DataError
from .model import Model
from .parameters import picked
from .screen import Screen

__all__ = ["Training", "as_fitted", "reading_of", "training", "warn_of_overlap", "with_columns", "with_targets"]

_LISTS = ("categorical", "drop", "dates")
_TOO_MANY = 0.01  # share of rows that the model was fitted to, from which figures on them are too good


def reading_of(options: dict[str, Any], model: Model | None = None) -> Reading:
    """Return how text is to be read: as the table of the model was, unless it is said otherwise."""
    decimal, thousands = options["decimal"], options["thousands"]
    if thousands is not None and thousands == decimal:
        raise click.UsageError(f"--decimal {decimal} and --thousands {thousands}: one mark cannot be both")
    missing = (*(() if model is None else model.missing), *options["missing"])
    of_model = (None, None) if model is None else (model.decimal, model.thousands)
    return Reading(
        options["delimiter"], options["encoding"], not options["no_header"], decimal, thousands, missing,
        of_model=of_model,
    )  # fmt: skip


def with_columns(source: Source, options: dict[str, Any]) -> dict[str, Any]:
    """Return options with the names of columns that their values list, as the table has them."""
    return {**options, **{name: picked(options[name], source.columns) for name in _LISTS}}


class Training(NamedTuple):
    """A table to learn from."""

    source: Source
    sketch: Sketch  # of the rows that were learned on, once they are read
    dated: Dated | None
    learned: Learned | None  # where rows are held back

    @property
    def forms(self) -> dict[str, str]:
        """How dates are written, by column."""
        forms = {} if self.dated is None else self.dated.forms
        return {name: form for name, form in forms.items() if form is not None}


def training(source: Source, options: dict[str, Any]) -> Training:
    """Return a table as ``infovec fit`` is told to read it."""
    if options["date_format"] and not options["dates"]:
        raise click.UsageError("--date-format is for the columns that --dates names")
    both = [name for name in options["dates"] if name in (*options["categorical"], *options["drop"])]
    if both:
        raise click.UsageError(f"{both[0]!r} is among --dates, and among --categorical or --drop")
    source.require(options["dates"])
    dated = Dated(source, _forms(options["dates"], options["date_format"])) if options["dates"] else None
    source = with_targets(dated or source, options)
    learned = Learned(source, options["test"], options["seed"]) if options["test"] is not None else None
    sketch = Sketch()
    return Training(Sketched(learned or source, sketch), sketch, dated, learned)


def _forms(dates: tuple[str, ...], given: tuple[str, ...]) -> dict[str, str | None]:
    """Return how each column of dates is written, None where that is to be found: of one, or of all others."""
    own, common = dict[str, str](), None
    for text in given:
        name, named, form = text.partition("=")
        if named and "%" not in name:
            if own.setdefault(name, form) != form:
                raise click.UsageError(f"--date-format {name}={own[name]} and {text}: a column is written in one way")
        elif common in (None, text):
            common = text
        else:
            raise click.UsageError(f"--date-format {common} and {text}: say of which column, as in {dates[0]}={text}")
    absent = next((name for name in own if name not in dates), None)
    if absent is not None:
        raise click.UsageError(f"--date-format {absent}={own[absent]}: {absent!r} is not among --dates")
    return {name: own.get(name, common) for name in dates}


def as_fitted(source: Source, model: Model, header: bool = True) -> Source:
    """Return a table read as that was which the model was fitted to."""
    if model.unnamed:
        source = _by_place(source, model.table.features, header)
    return Dated(source, model.dates, of_model=True) if model.dates else source


def _by_place(source: Source, names: tuple[str, ...], header: bool) -> Source:
    """Return a table whose columns have the names that a model has for those of an array."""
    if not header and len(source.columns) == len(names):
        return Renamed(source, names)
    if set(names) <= set(source.columns):
        return source
    raise DataError(
        f"the model was fitted in Python to an array of {len(names)} columns without names, and {source.name} has "
        f"{len(source.columns)}: name these {names[0]} to {names[-1]} in its header, in the order of the array, or "
        "give a table of nothing else without a header, and say --no-header"
    )


def with_targets(source: Source, options: dict[str, Any]) -> Source:
    """Return a table without the rows whose target is missing, if that is asked for."""
    return WithTargets(source) if options["skip_missing_target"] else source


def warn_of_overlap(screen: Screen, overlap: Overlap | None, name: str) -> None:
    """Warn where rows are those that the model was fitted to."""
    if overlap is not None and overlap.share >= _TOO_MANY:
        some = "all" if overlap.share == 1.0 else f"about {overlap.share:.0%}"
        screen.warn(
            f"{some} of the {overlap.rows} rows of {name} are rows that the model was fitted to (or equal to one "
            "of them), which it predicts better than new ones"
        )
