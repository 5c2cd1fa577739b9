"""Loading estimators from model files, and the check that they still predict the same."""

import warnings
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

import numpy as np

from .._types import Array
from ..errors import ModelFileError
from ..persistence import Content, about, read
from ..persistence.values import in_a_line, must
from ..runtime import outside
from .fitted import Fitted
from .records import Saved, registry
from .saving import some_rows, testimony
from .schema.posterior import same_inputs

__all__ = ["load", "load_with_extra"]

_Path = str | PathLike[str]
_TOLERANCE = 1e-5  # of their largest size: other processors and libraries round differently


def load(path: _Path, kernels: Mapping[str, object] | Iterable[object] = ()) -> Any:
    """Load a fitted estimator that ``save`` has written.

    Nothing in the file is executed, and a file that is damaged, altered, or of a later version is refused. The model
    is asked for some predictions, which must be those it made when it was saved.

    Parameters
    ----------
    path : str or path
    kernels : list or dict
        Your own kernel and likelihood classes, and the functions of ``FromFunction`` kernels, if the model has any:
        files have their names only. A dict gives them by name.

    Returns
    -------
    model : IVMClassifier, IVMRegressor or IVMOrdinalClassifier

    Raises
    ------
    ModelFileError
        Saying what is wrong with the file, or what to pass.
    OSError
        Where there is no file, or none that may be read: ``FileNotFoundError``, ``PermissionError``.
    """
    content = load_with_extra(path, kernels)
    if _scaled_outside(content.extra):
        warnings.warn(
            f"{path} was fitted by the command line of an earlier version and takes columns in units of its own, not "
            "those of the table: rows as they are would be predicted wrongly. Predict with `infovec predict`, or fit "
            "it again with this version",
            UserWarning,
            stacklevel=outside(),
        )
    return content.model


def _scaled_outside(extra: Mapping[str, Any]) -> bool:
    """Whether the command line centred and scaled columns before it gave them to the estimator."""
    table = extra.get("table")
    if not isinstance(table, dict) or not all(isinstance(table.get(key), list | tuple) for key in ("centre", "scale")):
        return False
    return any(value != 0.0 for value in table["centre"]) or any(value != 1.0 for value in table["scale"])


def load_with_extra(path: _Path, kernels: Mapping[str, object] | Iterable[object] = ()) -> Content:
    """Load a model as ``load`` does, with all that was saved beside it.

    Parameters
    ----------
    path, kernels
        As for ``load``.

    Returns
    -------
    content : Content
        With ``model``, ``extra`` as given to ``save``, and ``provenance``: version, time, command, shape of the data,
        seconds of the fit, and under ``left_out`` what could not be saved.
    """
    content = read(path, registry(), kernels)
    saved = content.model
    with about(path):
        if not isinstance(saved, Saved) or not isinstance(saved.model, Fitted):
            raise ModelFileError("it has no estimator")
        _check_testimony(saved)
        try:
            same = _agree(testimony(saved.model, saved.inputs), saved.testimony) and _finite_everywhere(saved.model)
        except Exception as error:  # a model that makes no sense can fail in any way
            detail = f"{type(error).__name__}: {in_a_line(error)}"
            raise ModelFileError(f"its model cannot predict ({detail})") from error
        if not same:
            raise ModelFileError(
                "the model does not predict what it did when it was saved. The file was altered, or a class or "
                "function passed as kernels is not the one it was saved with"
            )
    return content._replace(model=saved.model)


def _check_testimony(saved: Saved) -> None:
    """Raise unless there are predictions, for the rows that ``save`` would take."""
    if not same_inputs(saved.inputs, some_rows(saved.model)):
        raise ModelFileError("inputs must be some of the active rows of the model, and are others")
    told = saved.testimony
    must(isinstance(told, dict), "testimony", "a dict of arrays", told)
    for name, values in told.items():
        must(isinstance(values, np.ndarray), f"testimony[{name[:40]!r}]", "an array", values)
    must(not np.any(np.isnan(told.get("log_proba", 0.0))), "testimony['log_proba']", "numbers", told.get("log_proba"))
    for name in ("mean", "var"):
        must(bool(np.all(np.isfinite(told.get(name, np.nan)))), f"testimony[{name!r}]", "finite", told.get(name))


def _finite_everywhere(model: Fitted) -> bool:
    """Whether the means at all active rows are finite, which each of them has a part in."""
    with np.errstate(all="ignore"):
        parts = vars(model).get("outputs_", [model])
        return all(bool(np.all(np.isfinite(one.posterior_.mean(one.posterior_.X)))) for one in parts)


def _agree(now: dict[str, Array], then: dict[str, Array]) -> bool:
    """Whether predictions are the same up to rounding, with at least one of each."""
    return now.keys() == then.keys() and all(_close(now[name], then[name]) for name in now)


def _close(a: Array, b: Array) -> bool:
    if a.shape != b.shape or a.size == 0 or a.dtype.kind != b.dtype.kind:
        return False
    if a.dtype.kind != "f":
        return bool(np.all(a == b))
    finite = np.abs(b[np.isfinite(b)])
    return np.allclose(a, b, rtol=_TOLERANCE, atol=_TOLERANCE * float(finite.max(initial=0.0)), equal_nan=True)
