"""What goes to the screen: results to standard output, everything else to standard error."""

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import click

from ..plain import printable

__all__ = ["Screen", "Tell"]

Tell: TypeAlias = Callable[[str, float | None], None]
"""Told how far some work is: a text, and the share that is done, None where nobody knows."""

_EVERY = 5.0  # seconds between two lines where there is no terminal


class Screen:
    """Progress bars on a terminal, plain lines elsewhere. Nothing that is shown can steer the terminal.

    Parameters
    ----------
    quiet : bool
        Whether to leave out progress and remarks.
    as_json : bool
        Whether results are for programs.
    """

    def __init__(self, quiet: bool, as_json: bool) -> None:
        self.quiet, self.as_json = quiet, as_json

    def note(self, text: str) -> None:
        """Remark on something, unless quiet."""
        if not self.quiet:
            click.echo(printable(text), err=True)

    def warn(self, text: str) -> None:
        """Warn, quiet or not."""
        click.echo(f"warning: {printable(text, lines=True)}", err=True)

    def result(self, data: dict[str, Any], text: str) -> None:
        """Print a result, for programs or for people."""
        click.echo(json.dumps(data, allow_nan=False) if self.as_json else printable(text, lines=True))

    @contextmanager
    def work(self, label: str) -> Iterator[Tell]:
        """Show how far some work is."""
        if self.quiet:
            yield lambda text, share: None
        elif sys.stderr.isatty():
            with _bar(label) as tell:
                yield tell
        else:
            yield _Lines(label)

    @contextmanager
    def warnings(self) -> Iterator[None]:
        """Show warnings of the library as those of the program, each once."""
        said = set[str]()

        def show(message: object, *rest: object, **more: object) -> None:
            if str(message) not in said:
                said.add(str(message))
                self.warn(str(message))

        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = show
            yield


class _Lines:
    """Plain lines, a few seconds apart."""

    def __init__(self, label: str) -> None:
        self.label, self.next = label, time.monotonic() + _EVERY

    def __call__(self, text: str, share: float | None) -> None:
        if time.monotonic() >= self.next:
            self.next = time.monotonic() + _EVERY
            done = "" if share is None else f" ({share:.0%})"
            click.echo(f"{self.label}: {text}{done}", err=True)


@contextmanager
def _bar(label: str) -> Iterator[Tell]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[said]}"), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=None, said="")

        def tell(text: str, share: float | None) -> None:
            progress.update(task, total=None if share is None else 1.0, completed=share or 0.0, said=text)

        yield tell
