"""``infovec inspect``."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._types import Array, Floats
from ..kernels import Kernel, Linear, Relevance
from ..kernels.stationary import Stationary
from .model import Model, load_model, n_active
from .screen import Screen

__all__ = ["relevances", "run"]

_SHOWN = 20  # columns


def run(screen: Screen, model: str, points: int) -> None:
    """Print what is in a model file."""
    loaded = load_model(model)
    data = {"model": model, **_contents(loaded), "active": _active_points(loaded, points)}
    screen.result(data, _text(data))


def _contents(model: Model) -> dict[str, Any]:
    estimator, table = model.estimator, model.table
    classes = getattr(estimator, "classes_", None)
    kernels = _as_list(estimator.kernel_)
    return {
        "estimator": type(estimator).__name__, "task": table.task, "target": table.target,
        "classes": None if classes is None else classes.tolist(),
        "columns": list(table.features),
        "kernel": [repr(kernel) for kernel in kernels], "likelihood": repr(estimator.likelihood_),
        "relevances": relevances(kernels[0], table.features, np.array(table.scale)),
        "n_active": n_active(estimator),
        "log_evidence": float(np.sum(estimator.log_evidence_)), "stop_reason": estimator.stop_reason_,
        "converged": bool(np.all(estimator.converged_)), "provenance": model.provenance,
    }  # fmt: skip


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def relevances(kernel: Kernel, features: tuple[str, ...], scale: Floats) -> list[dict[str, Any]]:
    """Return how much every column counts, the most relevant first.

    The relevance is the inverse squared length scale of the column in the units of the model, or the weight the kernel
    gives it, as a share of the largest; the length scale is in the column's own unit.

    Parameters
    ----------
    kernel : Kernel
    features : tuple of str
    scale : array
        What each column was divided by.
    """
    weight = np.zeros(len(features))
    for part in _parts(kernel):
        weight = np.maximum(weight, _weights(part))
    if not np.any(weight > 0.0):
        return []
    order = np.argsort(-weight, kind="stable")
    return [
        {
            "column": features[j], "relevance": float(weight[j] / weight.max()),
            "length_scale": float(scale[j] / np.sqrt(weight[j])) if weight[j] > 0.0 else None,
        }
        for j in order
    ]  # fmt: skip


def _weights(kernel: Kernel) -> Floats | float:
    if isinstance(kernel, Stationary):
        return 1.0 / np.asarray(kernel.length_scale) ** 2
    if isinstance(kernel, Linear | Relevance) and kernel.relevance is not None:
        return np.asarray(kernel.relevance)
    return 0.0


def _parts(kernel: Kernel) -> Iterator[Kernel]:
    yield kernel
    if not isinstance(kernel, Relevance):
        for _, part in kernel._children():
            if isinstance(part, Kernel):
                yield from _parts(part)


def _active_points(model: Model, points: int) -> list[dict[str, Any]]:
    """The first rows included, in the units of the table."""
    vectors, rows = _as_list(model.estimator.active_vectors_)[0], model.estimator.active_
    rows = rows[0] if isinstance(rows, list) else rows
    X: Array = (
        vectors[:points].toarray() if hasattr(vectors, "toarray") else np.asarray(vectors[:points], dtype=np.float64)
    )
    X = X * np.array(model.table.scale) + np.array(model.table.centre)
    return [
        {
            "row": int(row) + 1,
            "values": {name: float(f"{v:.6g}") for name, v in zip(model.table.features, x, strict=True)},
        }
        for row, x in zip(rows, X, strict=False)
    ]


def _text(data: dict[str, Any]) -> str:
    classes = "" if data["classes"] is None else f" ({', '.join(map(str, data['classes'][:10]))})"
    lines = [
        f"{data['estimator']} of {data['target']!r}{classes}",
        f"  kernel        {data['kernel'][0]}"
        + (f" and {len(data['kernel']) - 1} more" if len(data["kernel"]) > 1 else ""),
        f"  likelihood    {data['likelihood']}",
        f"  active rows   {data['n_active']}; {data['stop_reason']}{'' if data['converged'] else ', not converged'}",
        f"  log evidence  {data['log_evidence']:.2f}",
    ]
    if data["relevances"]:
        lines += ["relevances: share of the largest, and length scale in the unit of the column"]
        lines += [
            f"  {r['relevance']:8.4f}  {_number(r['length_scale']):10s}  {r['column']}"
            for r in data["relevances"][:_SHOWN]
        ]
        if len(data["relevances"]) > _SHOWN:
            lines.append(f"  and {len(data['relevances']) - _SHOWN} more: --json")
    if data["active"]:
        lines.append("first active rows:")
        for point in data["active"]:
            values = ", ".join(f"{name} {value:g}" for name, value in list(point["values"].items())[:6])
            lines.append(f"  row {point['row']}: {values}{' ...' if len(point['values']) > 6 else ''}")
    lines.append("provenance:")
    lines += [f"  {key:14s}{value}" for key, value in data["provenance"].items() if value not in (None, [], {})]
    return "\n".join(lines)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
