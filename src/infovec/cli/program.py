"""The program around the commands: whatever goes wrong is said in one sentence, with exit code 1."""

import errno
import os
import re
import shlex
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NoReturn

import click

from ..plain import printable

__all__ = ["Program", "command_with"]

_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
_DEBUG, _GIVEN = "infovec.debug", "infovec.arguments"
_LISTS = ("--drop", "--dates")  # options that name columns
_OPTIONS = {"max_memory": "--memory", "n_active": "--active", "max_time": "--time"}  # parameters of Python
_REPEATED = "--missing"  # one that has one word each time


def _note(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.find_root().meta[_DEBUG] = True


_debug = click.Option(
    ["--debug"], is_flag=True, expose_value=False, is_eager=True, callback=_note,
    help="Print where in the program an error comes from.",
)  # fmt: skip


class Program(click.Group):
    """Turns whatever is raised into one sentence and exit code 1; where it comes from is told by ``--debug`` only."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.params.append(_debug)

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        cmd.params.append(_debug)
        super().add_command(cmd, name)

    def main(self, *arguments: Any, **options: Any) -> Any:
        try:
            return super().main(*arguments, **options)
        except OSError as error:  # of what is printed before there is a command, such as help
            click.echo(f"Error: {_said(error)}", err=True)
            sys.exit(1)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_GIVEN] = tuple(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except BrokenPipeError:
            _give_up_output()  # the reader has gone, as that of `| head` does
            sys.exit(1)
        except (Exception, KeyboardInterrupt) as error:
            _fail(ctx, error)


def command_with(options: Mapping[str, Sequence[str]]) -> str:
    """Return the command line that is running with more options, as a shell takes it."""
    given = list(click.get_current_context().find_root().meta[_GIVEN])
    for option, values in options.items():
        at = next((i for i, text in enumerate(given) if text == option or text.startswith(f"{option}=")), None)
        if option == _REPEATED:
            given += [text for value in dict.fromkeys(values) for text in (option, value)]
            continue
        named = list(dict.fromkeys(values)) if option in _LISTS else [values[0]]
        if at is not None:
            old = given[at].partition("=")[2] or given[at + 1]
            del given[at : at + 1 + ("=" not in given[at])]
            named = [old, *named] if option in _LISTS else named
        plain = [name for name in named if "," not in name]
        for value in [*(name for name in named if "," in name), *([",".join(plain)] if plain else [])]:
            given += [option, value]
    return shlex.join(["infovec", *given])


def _fail(ctx: click.Context, error: BaseException) -> NoReturn:
    told = bool(ctx.find_root().meta.get(_DEBUG))
    if told:
        click.echo(printable("".join(traceback.format_exception(error)).rstrip(), lines=True), err=True)
    raise click.ClickException(_sentence(error, told)) from error


def _sentence(error: BaseException, told: bool) -> str:
    """Return what went wrong, in one line that steers no terminal."""
    from ..errors import InfovecError

    if isinstance(error, KeyboardInterrupt):
        return "interrupted; nothing was written"
    if isinstance(error, UnicodeEncodeError):
        letters = f"{error.object[error.start : error.end]!r} cannot be written in {error.encoding}"
        return f"{letters}, the encoding of the output; set PYTHONUTF8=1"
    if isinstance(error, MemoryError):
        return f"not enough memory{_because(error)}. Use --memory, or a smaller --active"
    if isinstance(error, InfovecError | OSError):
        return re.sub(
            r"(?<!['\w])(max_memory|n_active|max_time)(?![\w'=])", lambda found: _OPTIONS[found[0]], _said(error)
        )
    where = "" if told else "; --debug shows where"
    return f"this must not happen, and is a mistake of infovec: {type(error).__name__}{_because(error)}{where}"


def _because(error: BaseException) -> str:
    said = " ".join(str(error).split())
    return f": {printable(said)}" if said else ""


def _said(error: BaseException) -> str:
    _give_up_output()
    full = isinstance(error, OSError) and error.errno in _FULL
    said = " ".join(str(error).split("\n"))
    return printable(f"standard output cannot be written: {said}" if full else said)  # files say it themselves


def _give_up_output() -> None:
    """Let standard output go if it cannot be written: what is left in it would fail once more at the very end."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):  # full, closed, or never there
        with suppress(OSError, ValueError, AttributeError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
