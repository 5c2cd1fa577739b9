"""Model files of estimators: what is saved of one, and the check that it still predicts the same."""

import platform
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, Final

import numpy as np
import scipy
import sklearn
from sklearn.utils.validation import check_is_fitted

from .._types import Array, Inputs
from ..errors import ModelFileError
from ..persistence import BUILT_IN, Content, Maybe, Record, about, read, value, write
from ..persistence.decoder import ABSENT
from ..persistence.values import in_a_line, must
from .base import InformativeVectorMachine
from .classifier import IVMClassifier
from .ordinal import IVMOrdinalClassifier
from .regressor import IVMRegressor
from .schema import check_model, check_params, fits
from .schema.posterior import same_inputs

__all__ = ["load", "load_with_extra", "save"]

_Path = str | PathLike[str]
_WITNESSES = 16  # active rows whose predictions are kept
_TOLERANCE = 1e-5  # of their largest size: other processors and libraries round differently


@dataclass(frozen=True)
class Saved:
    """A model, some inputs, and what it predicted for them when it was saved."""

    model: Any
    inputs: Inputs
    testimony: dict[str, Array]


class Unfit:
    """Stands for a parameter that no fit takes, or of a kind that files do not have; it is left out."""

    def __init__(self, value: Any) -> None:
        self.__name__ = type(value).__name__  # which the provenance says


def estimator(cls: type[InformativeVectorMachine]) -> Record:
    """Return the record of an estimator: its constructor parameters and its ``_fitted`` attributes."""

    def parts(model: Any) -> dict[str, Any]:
        found = {name: v for name, v in vars(model).items() if name.endswith("_") and not name.startswith("_")}
        forgotten = sorted(set(found) - set(cls._fitted))
        if forgotten:
            raise ModelFileError(f"{cls.__name__} has {', '.join(forgotten)}, which its _fitted does not list")
        check_model(model)
        params = {name: Maybe(v if fits(name, v) else Unfit(v)) for name, v in model.get_params(deep=False).items()}
        return {"params": params, "fitted": found}

    def build(given: Mapping[str, Any]) -> Any:
        if set(given) != {"params", "fitted"} or not all(isinstance(part, dict) for part in given.values()):
            raise ModelFileError(f"a {cls.__name__} must have params and fitted, two dicts")
        known = {"params": cls._get_param_names(), "fitted": cls._fitted}
        strange = [name for part, names in known.items() for name in given[part] if name not in names]
        if strange:
            raise ModelFileError(f"it has {strange[0][:80]}, which no {cls.__name__} has")
        model = cls(**{name: v for name, v in given["params"].items() if v is not ABSENT})
        model.__dict__.update(given["fitted"])
        check_params(model)
        check_model(model)
        return model

    return Record(cls, parts, build)


REGISTRY: Final = BUILT_IN.plus(
    value(Saved),
    estimator(IVMClassifier),
    estimator(IVMRegressor),
    estimator(IVMOrdinalClassifier),
)
"""Every class that can be in the model file of an estimator."""


def save(model: Any, path: _Path, extra: Mapping[str, Any] | None, provenance: Mapping[str, Any] | None) -> None:
    """Write a fitted estimator to a file."""
    from .. import __version__

    check_is_fitted(model)
    if REGISTRY.for_instance(model) is None:
        raise ModelFileError(f"a {type(model).__name__} cannot be saved: only infovec's own estimators can")
    origin = {
        "infovec": __version__, "python": platform.python_version(), "numpy": np.__version__,
        "scipy": scipy.__version__, "scikit-learn": sklearn.__version__, "estimator": type(model).__name__,
        "rows": model.n_samples_fit_,
        "columns": getattr(model, "n_features_in_", None), "fit_seconds": round(model.fit_seconds_, 3),
    }  # fmt: skip
    inputs = _some_rows(model)
    write(Saved(model, inputs, _testimony(model, inputs)), path, REGISTRY, extra, {**origin, **(provenance or {})})


def load(path: _Path, kernels: Mapping[str, Any] | Iterable[Any] = ()) -> Any:
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
    """
    return load_with_extra(path, kernels).model


def load_with_extra(path: _Path, kernels: Mapping[str, Any] | Iterable[Any] = ()) -> Content:
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
    content = read(path, REGISTRY, kernels)
    saved = content.model
    with about(path):
        if not isinstance(saved, Saved) or not isinstance(saved.model, InformativeVectorMachine):
            raise ModelFileError("it has no estimator")
        _check_testimony(saved)
        try:
            same = _agree(_testimony(saved.model, saved.inputs), saved.testimony) and _finite_everywhere(saved.model)
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
    if not same_inputs(saved.inputs, _some_rows(saved.model)):
        raise ModelFileError("inputs must be some of the active rows of the model, and are others")
    told = saved.testimony
    must(isinstance(told, dict), "testimony", "a dict of arrays", told)
    for name, values in told.items():
        must(isinstance(values, np.ndarray), f"testimony[{name[:40]!r}]", "an array", values)
    must(not np.any(np.isnan(told.get("log_proba", 0.0))), "testimony['log_proba']", "numbers", told.get("log_proba"))
    for name in ("mean", "var"):
        must(bool(np.all(np.isfinite(told.get(name, np.nan)))), f"testimony[{name!r}]", "finite", told.get(name))


def _some_rows(model: Any) -> Inputs:
    """Active rows, evenly spaced in the order of inclusion."""
    X = model.active_vectors_
    X = X[0] if isinstance(X, list) else X
    return X[np.unique(np.linspace(0, X.shape[0] - 1, _WITNESSES).astype(np.intp))]


def _finite_everywhere(model: Any) -> bool:
    """Whether the means at all active rows are finite, which each of them has a part in."""
    with np.errstate(all="ignore"):
        return bool(np.all(np.isfinite(model.posterior_.mean(model.posterior_.X))))


def _testimony(model: Any, inputs: Inputs) -> dict[str, Array]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they have no feature names, and need none
        found: dict[str, Array] = model._testimony(inputs)
        return found


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
