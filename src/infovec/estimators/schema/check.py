"""The check of a whole estimator."""

import numpy as np

from ...errors import ModelFileError
from ..fitted import Fitted
from .fitted import FITTED, OPTIONAL, About
from .params import PARAMS

__all__ = ["check_model", "check_params", "fits"]


def check_params(model: Fitted) -> None:
    """Raise a ModelFileError, naming the parameter, unless all are such that a fit can make something of them."""
    for name, value in model.get_params(deep=False).items():
        PARAMS[name](value, f"the parameter {name}")


def fits(name: str, value: object) -> bool:
    """Whether a parameter is one that can be loaded again."""
    try:
        PARAMS[name](value, name)
    except ModelFileError:
        return False
    return True


def check_model(model: Fitted) -> None:
    """Raise a ModelFileError, naming the field, unless a fitted estimator is one that ``fit`` could have left."""
    outputs = vars(model).get("outputs_")
    if outputs is not None:
        _check_outputs(model, outputs)
        return
    cls, known = type(model), type(model)._fitted
    fitted = {name: value for name, value in vars(model).items() if name in known}
    unchecked = sorted(set(known) - set(FITTED)) + sorted(set(cls._get_param_names()) - set(PARAMS))
    if unchecked:
        raise ModelFileError(f"{', '.join(unchecked)} of {cls.__name__} cannot be in a file: no check is known")
    missing = [name for name in known if name not in fitted and name not in OPTIONAL]
    if missing:
        raise ModelFileError(f"it has no {missing[0]}, which every fitted {cls.__name__} has")
    about = About(cls, fitted)
    for name, check in FITTED.items():
        if name in fitted:
            check(fitted[name], name, about)


def _check_outputs(model: Fitted, outputs: object) -> None:
    """Raise unless a model of several targets is one for each of them, that share their active rows."""
    cls = type(model)
    shared: tuple[str, ...] = getattr(cls, "_shared", ())
    if not isinstance(outputs, list) or len(outputs) < 2 or not all(type(one) is cls for one in outputs):
        raise ModelFileError(f"outputs_ must be a list of {cls.__name__}, two at least")
    if any("outputs_" in vars(one) for one in outputs):
        raise ModelFileError("outputs_ must be models of one target each")
    fitted = {name: value for name, value in vars(model).items() if name in cls._fitted}
    first = vars(outputs[0])
    for name in shared:
        if (name in fitted) != (name in first or name == "outputs_") or (name not in FITTED and name != "outputs_"):
            raise ModelFileError(f"{name} must be that of outputs_")
    for one in outputs:
        check_model(one)
        for name in set(shared) - {"outputs_", "fit_seconds_"}:
            if name in fitted and not np.array_equal(vars(one)[name], fitted[name]):
                raise ModelFileError(f"{name} must be that of all outputs_, and is another one")
    if set(fitted) - set(shared):
        raise ModelFileError(f"it has {min(set(fitted) - set(shared))}, which is of one target")
    FITTED["fit_seconds_"](fitted["fit_seconds_"], "fit_seconds_", About(cls, fitted))
