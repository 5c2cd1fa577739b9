"""The check of a whole estimator."""

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
