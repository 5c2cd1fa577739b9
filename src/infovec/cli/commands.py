"""The commands and their options. What they do is imported only when it is done, so that help is instant."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import click

from .parameters import ACTIVE, DURATION, MEMORY, names, option
from .program import Program
from .screen import Screen

__all__ = ["infovec"]

_F = TypeVar("_F", bound=Callable[..., Any])
_OUTPUT = click.Path(readable=False, allow_dash=True)  # what cannot be written ``check_output`` says


def _screen(command: _F) -> _F:
    """Add --quiet and --json, and pass a Screen instead of them."""

    @option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
    @option("--quiet", is_flag=True, help="Print nothing but results, warnings and errors.")
    @functools.wraps(command)
    def with_screen(*arguments: Any, quiet: bool, as_json: bool, **options: Any) -> Any:
        return command(*arguments, screen=Screen(quiet, as_json), **options)

    return with_screen  # type: ignore[return-value]


def _reading(command: _F) -> _F:
    """Add what says how text is read."""
    for declared in (
        option(
            "--thousands",
            type=click.Choice([",", ".", "'", "space"]),
            help="Mark that may stand between thousands, as in 1,234.5; none if not given.",
        ),
        option(
            "--missing",
            multiple=True,
            metavar="WORD",
            help="Cell of text files that stands for a missing value, beside NA, null and the like (repeatable).",
        ),
        option("--decimal", type=click.Choice([".", ","]), help="Mark before decimals; found if not given."),
        option("--no-header", is_flag=True, help="The first line is a row; columns are named 1, 2, 3 ..."),
        option("--encoding", default="utf-8", show_default=True, help="Of text files."),
        option("--delimiter", help="Between the fields of text files; found if not given."),
    ):
        command = declared(command)
    return command


_written = option(
    "-o", "--output", default="-", type=_OUTPUT,
    help="File to write, CSV or .tsv, also with .gz; standard output if not given.",
)  # fmt: skip
_targets = option(
    "--skip-missing-target", is_flag=True, help="Leave out rows whose target is missing; else they are an error."
)
_delta = option(
    "--delta", type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True), default=0.01, show_default=True,
    help="Probability, over the draw of the rows, that the guarantee fails.",
)  # fmt: skip


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="infovec")
def infovec() -> None:
    """Sparse Gaussian process models of tables: honest probabilities at a known cost.

    Tables are CSV, TSV and LIBSVM files (also with gzip), Parquet and npz files, "-" for CSV from standard input, or
    data sets by name such as digits or, in parts, usps:train, or of the network, openml:credit-g.

    Exit codes: 0 done, 1 cannot do it, 2 wrong usage.
    """


@infovec.command()
@click.argument("data", nargs=-1, required=True)
@option("-t", "--target", help="Column to predict; data sets with a name know theirs.")
@option("-o", "--output", required=True, type=_OUTPUT, help="Model file to write.")
@option("--task", type=click.Choice(["classify", "regress", "ordinal"]), help="Found from the target if not given.")
@names("--order", help="Ordered classes, lowest first: low,middle,high")
@names("--categorical", help="Columns to take as words: one,two")
@names("--drop", help="Columns to leave out: one,two")
@option("--impute", type=click.Choice(["median"]), help="Gaps in numbers become the median and nothing else.")
@names("--dates", help="Columns of dates, to take as numbers (days): one,two")
@option(
    "--date-format", multiple=True, metavar="[COLUMN=]FORMAT",
    help="Of these, such as %d.%m.%Y, or of one, birth=%d.%m.%Y (repeatable); found if not given.",
)  # fmt: skip
@_targets
@option(
    "--test", type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True), metavar="SHARE",
    help="Hold back about this share of the rows (each by chance), and say how well they are predicted.",
)  # fmt: skip
@option(
    "--scale", type=click.Choice(["auto", "standard", "none"]), hidden=True,
    help="Of earlier versions: without effect.",
)  # fmt: skip
@option(
    "--active",
    type=ACTIVE,
    default=500,
    show_default=True,
    help="Rows kept (with more than two classes for each of them): a number, a share, or auto.",
)
@option("--memory", type=MEMORY, help="What training may take beyond the data, such as 2GB.")
@option("--time", "seconds", type=DURATION, help="After which the model so far is taken: 60s, 5m, 1h.")
@option(
    "--kernel", default="auto", show_default="chosen from the data",
    help="Covariance of the function: rbf, matern, exponential, rational_quadratic, linear, main_effects, polynomial, "
    'mlp, or sums and products of them such as "rbf + linear". The default is rbf with the further terms that help; '
    "with --ard it is rbf.",
)  # fmt: skip
@option("--ard", is_flag=True, help="Learn how relevant each column is; takes longer.")
@option("--likelihood", help="probit, logit; gaussian, laplace, student_t, poisson.")
@option(
    "--transform", type=click.Choice(["identity", "auto", "log", "yeo-johnson"]), default="identity", show_default=True,
    help="Of numbers that spread unevenly, such as prices; predictions are of the numbers themselves.",
)  # fmt: skip
@option("--approximation", type=click.Choice(["projected", "factorised"]), default="projected", show_default=True)
@option("--seed", type=int, default=0, show_default=True, help="Of what is drawn at random.")
@option("--threads", type=click.IntRange(min=1), help="Of the linear algebra.")
@option(
    "--certify", type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True), metavar="SHARE",
    help="Learn on this share of the rows, and say what the others guarantee of the error.",
)  # fmt: skip
@_delta
@option("--report", type=_OUTPUT, help="HTML file to write about the model and its fit.")
@_reading
@_screen
def fit(screen: Screen, **options: Any) -> None:
    """Fit a model to the table DATA: a file, several of the same columns, or a folder of them.

    A table that is too large for --memory stays on disk. Options that list names add up where they are repeated; a name
    with a comma in it is a value of its own: --drop "first, last" --drop id.

    Ctrl-C ends learning or selection and writes the model found so far.
    """
    from .fit import run

    run(screen, **options)


@infovec.command()
@click.argument("model", type=click.Path(dir_okay=False))
@click.argument("data")
@_written
@option("--proba", is_flag=True, help="The probability of every class.")
@option("--std", is_flag=True, help="The standard deviation of the target, or of the latent function of classes.")
@names("--keep", help="Columns of DATA to write before the predictions: id,name")
@option("--no-formulas", is_flag=True, help="Write ' before words that a spreadsheet would take for a formula.")
@_reading
@_screen
def predict(screen: Screen, **options: Any) -> None:
    """Predict for the rows of the table DATA, however many there are.

    Columns are found by name, in any order; others are ignored. Prints CSV, or one JSON object for each row.
    """
    from .predict import run

    run(screen, **options)


@infovec.command()
@click.argument("model", type=click.Path(dir_okay=False))
@click.argument("data")
@option("-n", "--number", type=click.IntRange(min=1), default=10, show_default=True, help="Rows to ask for.")
@_written
@option(
    "--score", type=click.Choice(["information", "prediction", "entropy", "variance", "margin"]), default="information",
    show_default=True, help="How much a label would tell: of the function, of other labels, and so on: see the guide.",
)  # fmt: skip
@option("--no-formulas", is_flag=True, help="Write ' before words that a spreadsheet would take for a formula.")
@_reading
@_screen
def suggest(screen: Screen, **options: Any) -> None:
    """Choose the rows of the table DATA whose labels would teach the MODEL most, however many rows there are.

    Writes these rows with all their columns, the most informative first: their number in DATA, counted from 1, and
    their score given those before. No two of them tell the same.
    """
    from .suggest import run

    run(screen, **options)


@infovec.command()
@click.argument("model", type=click.Path(dir_okay=False))
@click.argument("data")
@_targets
@option("--report", type=_OUTPUT, help="HTML file to write about the model and these rows.")
@option("--train", metavar="TABLE", help="The rows of the fit, for the linear model of the report to learn from.")
@_reading
@_screen
def evaluate(screen: Screen, **options: Any) -> None:
    """Compare predictions with the targets in the table DATA.

    Each figure stands with its standard error. Where rows are those that the model was fitted to, it warns.
    """
    from .evaluate import run

    run(screen, **options)


@infovec.command()
@click.argument("first", metavar="MODEL", type=click.Path(dir_okay=False))
@click.argument("second", metavar="OTHER", type=click.Path(dir_okay=False))
@click.argument("data")
@_targets
@_reading
@_screen
def compare(screen: Screen, **options: Any) -> None:
    """Compare MODEL and OTHER by their predictions for the same rows, whose targets are in the table DATA.

    What a row costs one more than the other varies less than what it costs, so differences have standard errors of
    their own.
    """
    from .compare import run

    run(screen, **options)


@infovec.command()
@click.argument("model", type=click.Path(dir_okay=False))
@click.argument("data")
@_delta
@_targets
@option("--report", type=_OUTPUT, help="HTML file to write about the model and its certificate.")
@_reading
@_screen
def certify(screen: Screen, **options: Any) -> None:
    """Say what the rows of DATA, which the MODEL has not seen, guarantee of its error on others.

    To certify without rows that are only for that, see `infovec fit --certify`.
    """
    from .certify import run

    run(screen, **options)


@infovec.command()
@click.argument("model", type=click.Path(dir_okay=False))
@option("--points", type=click.IntRange(min=0), default=5, show_default=True, help="Active rows to show.")
@_screen
def inspect(screen: Screen, **options: Any) -> None:
    """Say what is in a model file: kernel, relevances, active rows, evidence, origin."""
    from .inspect import run

    run(screen, **options)


@infovec.command()
@option("--out", type=click.Path(file_okay=False), default="out", show_default=True, help="Folder for the figure.")
def demo(out: str) -> None:
    """Train on real data beside a calibrated SVC, and draw a figure."""
    from .outside import run_demo

    run_demo(out)


@infovec.command()
@click.argument("name", required=False)
@option("--quick", is_flag=True, help="Smaller sizes: less than a minute.")
@option("--list", "listed", is_flag=True, help="Name the experiments.")
def reproduce(name: str | None, quick: bool, listed: bool) -> None:
    """Run an experiment of the papers again; from a source tree."""
    from .outside import run_outside

    run_outside("experiments", name, ["run", name or "", *(["--quick"] if quick else [])], listed)


@infovec.command(context_settings={"ignore_unknown_options": True})
@click.argument("name", required=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@option("--list", "listed", is_flag=True, help="Name the benchmarks.")
def bench(name: str | None, arguments: tuple[str, ...], listed: bool) -> None:
    """Run a benchmark with its own ARGUMENTS, such as --quick; from a source tree."""
    from .outside import run_outside

    run_outside("benchmarks", name, list(arguments), listed)
