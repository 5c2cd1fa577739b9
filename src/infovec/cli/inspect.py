"""``infovec inspect``."""

from typing import Any

import numpy as np

from .._types import Floats
from ..estimators.relevances import NOT_IMPORTANCE, Relevances, model_relevances
from ..likelihoods.ranks import ranked
from ..machines.budget import shown_bytes
from ..plain import printable
from .model import Model, as_list, load_model, n_active, own_units
from .screen import Screen

__all__ = ["run"]


def run(screen: Screen, model: str, points: int) -> None:
    """Print what is in a model file."""
    loaded = load_model(model, of_python=True)
    scale = np.array(loaded.table.scale)[: len(loaded.table.features)]
    relevances = model_relevances(loaded.estimator, loaded.table.features, scale)
    data = {"model": model, **_contents(loaded, relevances), "active": _active_points(loaded, points)}
    screen.result(data, _text(data, relevances))


def _contents(model: Model, relevances: Relevances) -> dict[str, Any]:
    estimator, table = model.estimator, model.table
    classes = ranked(estimator)
    return {
        "estimator": type(estimator).__name__, "task": table.task, "target": table.target,
        "classes": None if classes is None else classes.tolist(),
        "columns": list(table.features),
        "kernel": [repr(kernel) for kernel in as_list(estimator.kernel_)], "likelihood": repr(estimator.likelihood_),
        "relevances": _as_json(relevances),
        "n_active": n_active(estimator),
        "log_evidence": _finite(float(np.sum(estimator.log_evidence_))), "stop_reason": estimator.stop_reason_,
        "converged": bool(np.all(estimator.converged_)), "provenance": model.provenance,
    }  # fmt: skip


def _as_json(relevances: Relevances) -> list[dict[str, Any]]:
    columns = zip(relevances.columns, relevances.relevance, relevances.length_scale, strict=True)
    return [
        {"column": name, "relevance": _finite(float(share)), "length_scale": _finite(float(scale))}
        for name, share, scale in columns
    ]


def _finite(value: float) -> float | None:
    """A number as JSON has it, which has no NaN and no infinity."""
    return value if np.isfinite(value) else None


def _active_points(model: Model, points: int) -> list[dict[str, Any]]:
    """The first rows included, in the units of the table."""
    rows, X = as_list(model.estimator.active_)[0], own_units(model, points)
    return [
        {
            "row": int(row) + 1,
            "values": _values(model, x),
        }
        for row, x in zip(rows, X, strict=False)
    ]


def _values(model: Model, x: Floats) -> dict[str, float | str | None]:
    """The cells of a row: words where the column has such."""
    words = [model.table.schema.word(j, x) for j in range(len(model.table.features))]
    named = zip(model.table.features, x, words, strict=False)
    return {name: _finite(float(f"{v:.6g}")) if word is None else word for name, v, word in named}


def _shown(value: float | str | None, form: str) -> str:
    if isinstance(value, str):
        return printable(value)
    return "not finite" if value is None else format(value, form)


def _in_words(value: Any) -> Any:
    """Numbers by name as a sentence has them."""
    if not isinstance(value, dict):
        return value
    named = [(key, shown_bytes(v) if key == "memory" and isinstance(v, int) else v) for key, v in value.items()]
    return ", ".join(f"{key} {v:.3g}" if isinstance(v, float) else f"{key} {v}" for key, v in named)


def _text(data: dict[str, Any], relevances: Relevances) -> str:
    """Return it for people; names may come from anybody, so that each is made printable before lines are joined."""
    classes = "" if data["classes"] is None else f" ({', '.join(map(printable, data['classes'][:10]))})"
    lines = [
        data["estimator"] + (f" of {data['target']!r}" if data["target"] else "") + classes,
        f"  kernel        {printable(data['kernel'][0])}"
        + (f" and {len(data['kernel']) - 1} more" if len(data["kernel"]) > 1 else ""),
        f"  likelihood    {printable(data['likelihood'])}",
        f"  active rows   {data['n_active']}; {printable(data['stop_reason'])}"
        + ("" if data["converged"] else ", not converged"),
        f"  log evidence  {_shown(data['log_evidence'], '.2f')}",
    ]
    lines.append(str(relevances))
    lines += [f"  ({NOT_IMPORTANCE})"] if len(relevances) else []
    if data["active"]:
        lines.append("first active rows, by their number among the rows that the model was fitted to:")
        for point in data["active"]:
            some = list(point["values"].items())[:6]
            values = ", ".join(f"{printable(name)} {_shown(value, 'g')}" for name, value in some)
            lines.append(f"  row {point['row']}: {values}{' ...' if len(point['values']) > 6 else ''}")
    lines.append("provenance:")
    known = [(key, value) for key, value in data["provenance"].items() if value not in (None, [], {})]
    lines += [f"  {printable(key):14s}{printable(_in_words(value))}" for key, value in known]
    return "\n".join(lines)
