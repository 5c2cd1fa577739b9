"""``infovec certify``, and what ``infovec fit --certify`` needs."""

from dataclasses import replace
from typing import Any

import click
import numpy as np
from click.core import ParameterSource

from ..datasets import open_source
from ..datasets.sketch import Overlap, Sketched
from ..errors import DataError
from ..estimators.certifying import split_rows
from ..pac_bayes import Certificate
from ..tables import Encoded, TableSchema
from .build import is_chosen
from .evaluate import encoded_blocks, own_classes
from .gather import Gathered
from .model import load_model
from .outputs import check_outputs
from .reporting import check_report, write_report
from .screen import Screen
from .table import Encoder, stacked
from .tables import as_fitted, reading_of, warn_of_overlap, with_targets

__all__ = ["check_certifiable", "known_to_first", "run"]


def run(screen: Screen, model: str, data: str, delta: float, **options: Any) -> None:
    """Certify a model by rows that it has not seen, and print what is guaranteed."""
    check_report(options["report"])
    check_outputs([options["report"]], [data], model)
    loaded = load_model(model)
    if loaded.table.task == "regress":
        raise DataError(f"{model} predicts numbers; certificates are about the errors of classes")
    parts, own = list[Any](), list[Any]()
    overlap = None if loaded.sketch is None else Overlap(loaded.sketch)
    with open_source(data, reading_of(options, loaded)) as opened, screen.work("reading") as tell, screen.warnings():
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
    labels = loaded.estimator.classes_[np.concatenate(own)]
    with screen.warnings():
        certificate: Certificate = loaded.estimator.certify(stacked(parts), labels, delta=delta, held_out=True)
    if options["report"]:
        write_report(loaded, options["report"], certificate=certificate)
        screen.note(f"report: {options['report']}")
    screen.result({"model": model, "data": data, **certificate.to_dict()}, str(certificate))


def check_certifiable(options: dict[str, Any]) -> None:
    """Raise where a fit would take from all rows what must come from those that it learns on."""
    if options["certify"] is None:
        if click.get_current_context().get_parameter_source("delta") is ParameterSource.COMMANDLINE:
            raise click.UsageError("--delta is for --certify SHARE, which says what the other rows guarantee")
        return
    if options["impute"] is not None:
        raise click.UsageError("--certify does not go with --impute: medians of all rows would be in the prior")
    if options["ard"] or not (is_chosen(options) or options["kernel"].strip().lower() == "rbf"):
        raise click.UsageError(
            "--certify takes the default kernel or --kernel rbf, without --ard: their scales come from the rows that "
            "are learned on"
        )


def known_to_first(gathered: Gathered, share: float, seed: int) -> Gathered:
    """Return a table encoded by what the rows to learn on know, as ``fit_certified`` has it.

    These are medians and commonest words in the place of missing values, and which words there are: the prior must
    not know more.
    """
    if not isinstance(gathered.X, Encoded):
        return gathered
    first, _ = split_rows(gathered.X.shape[0], share, seed)
    raws = gathered.table.schema.decode(gathered.X.matrix)
    schema = TableSchema.learned([raw.some(first) for raw in raws])
    zeros, ones = (0.0,) * schema.width, (1.0,) * schema.width
    table = replace(gathered.table, schema=schema, centre=zeros, scale=ones)
    return gathered._replace(X=schema.rows(schema.encode(raws)), table=table)
