"""``infovec certify``, and what ``infovec fit --certify`` needs."""

from typing import Any

import click
import numpy as np
from scipy import sparse

from ..datasets import open_source
from ..datasets.sketch import Overlap, Sketched
from ..errors import DataError
from ..pac_bayes import Certificate
from .build import is_default
from .evaluate import encoded_blocks, own_classes
from .gather import Gathered
from .model import load_model
from .outputs import check_outputs
from .reporting import check_report, write_report
from .screen import Screen
from .table import Encoder
from .tables import as_fitted, reading_of, warn_of_overlap, with_targets

__all__ = ["check_certifiable", "check_words_of_first", "run"]


def run(screen: Screen, model: str, data: str, delta: float, **options: Any) -> None:
    """Certify a model by rows that it has not seen, and print what is guaranteed."""
    check_report(options["report"])
    check_outputs([options["report"]], [data], model)
    loaded = load_model(model)
    if loaded.table.task == "regress":
        raise DataError(f"{model} predicts numbers; certificates are about the errors of classes")
    parts, own = list[Any](), list[Any]()
    overlap = None if loaded.sketch is None else Overlap(loaded.sketch)
    with open_source(data, reading_of(options)) as opened, screen.work("reading") as tell, screen.warnings():
        source = with_targets(as_fitted(opened, loaded), options)
        source = source if overlap is None else Sketched(source, overlap)
        encode = Encoder(loaded.table, source.name)
        for X, block in encoded_blocks(loaded, source, encode):
            parts.append(X)
            own.append(own_classes(loaded, block, source.name))
            tell(f"{sum(map(len, own))} rows", source.share_read())
    if not parts:
        raise DataError(f"{source.name} has no rows")
    if (warning := encode.warning()) is not None:
        screen.warn(warning)
    for note in source.notes:
        screen.note(note)
    warn_of_overlap(screen, overlap, data)
    X = sparse.vstack(parts, format="csr") if loaded.table.sparse else np.concatenate(parts)
    labels = loaded.estimator.classes_[np.concatenate(own)]
    certificate: Certificate = loaded.estimator.certify(X, labels, delta=delta, held_out=True)
    if options["report"]:
        write_report(loaded, options["report"], certificate=certificate)
        screen.note(f"report: {options['report']}")
    screen.result({"model": model, "data": data, **certificate.to_dict()}, str(certificate))


def check_certifiable(options: dict[str, Any]) -> None:
    """Raise where a fit would take from all rows what must come from those that it learns on."""
    if options["certify"] is None:
        return
    if options["impute"] is not None:
        raise click.UsageError("--certify does not go with --impute: medians of all rows would be in the prior")
    if not is_default(options):
        raise click.UsageError("--certify takes --kernel rbf without --ard, whose scales come from the rows learned on")
    if options["scale"] == "standard":
        raise click.UsageError("--certify does not go with --scale standard: units of all rows would be in the prior")
    options["scale"] = "none"  # the columns get their units from the rows that are learned on


def check_words_of_first(gathered: Gathered, share: float, seed: int) -> None:
    """Raise where a category is among the rows to certify by only: then the columns themselves would depend on them."""
    from ..estimators.certifying import split_rows

    first, _ = split_rows(gathered.X.shape[0], share, seed)
    n_numbers = len(gathered.table.numbers)
    if not gathered.table.words:
        return
    missing = np.flatnonzero(~np.any(gathered.X[first][:, n_numbers:] != 0.0, axis=0))
    if len(missing):
        name = gathered.table.features[n_numbers + int(missing[0])]
        raise DataError(
            f"{name!r} is only among the rows to certify by, and so would be in the prior that must not know them; "
            "--drop the column, or take rare words out"
        )
