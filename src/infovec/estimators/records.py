"""What of an estimator is in a model file. Estimators say themselves, by ``in_files``, that they can be in one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from .._types import Array, Inputs
from ..errors import ModelFileError
from ..persistence import BUILT_IN, Maybe, Record, Registry, value
from ..persistence.decoder import ABSENT
from ..tables import TableSchema
from .fitted import Fitted
from .schema import check_model, check_params, fits

__all__ = ["Saved", "Unfit", "in_files", "registry"]

_ESTIMATORS: Final[dict[str, Record]] = {}  # by name: a module that is imported anew replaces its own
_TABLE: Final = Record(TableSchema, TableSchema.saved, TableSchema.loaded)
_Class = TypeVar("_Class", bound=type[Fitted])


def in_files(cls: _Class) -> _Class:
    """Let a class of estimators be in model files: a decorator. Classes derived from it need it again."""
    _ESTIMATORS[cls.__name__] = estimator(cls)
    return cls


def registry() -> Registry:
    """Return every class that can be in the model file of an estimator."""
    return BUILT_IN.plus(value(Saved), _TABLE, *_ESTIMATORS.values())


@dataclass(frozen=True)
class Saved:
    """A model, some inputs, and what it predicted for them when it was saved."""

    model: Fitted
    inputs: Inputs
    testimony: dict[str, Array]


class Unfit:
    """Stands for a parameter that no fit takes, or of a kind that files do not have; it is left out."""

    def __init__(self, value: object) -> None:
        self.__name__ = type(value).__name__  # which the provenance says


def estimator(cls: type[Fitted]) -> Record:
    """Return the record of an estimator: its constructor parameters and its ``_fitted`` attributes."""

    def parts(model: Fitted) -> dict[str, object]:
        found = {name: v for name, v in vars(model).items() if name.endswith("_") and not name.startswith("_")}
        forgotten = sorted(set(found) - set(cls._fitted))
        if forgotten:
            raise ModelFileError(f"{cls.__name__} has {', '.join(forgotten)}, which its _fitted does not list")
        check_model(model)
        params = {name: Maybe(v if fits(name, v) else Unfit(v)) for name, v in model.get_params(deep=False).items()}
        return {"params": params, "fitted": found}

    def build(given: Mapping[str, Any]) -> Fitted:
        if set(given) != {"params", "fitted"} or not all(isinstance(part, dict) for part in given.values()):
            raise ModelFileError(f"a {cls.__name__} must have params and fitted, two dicts")
        known = {"params": cls._get_param_names(), "fitted": cls._fitted}
        strange = [name for part, names in known.items() for name in given[part] if name not in names]
        if strange:
            raise ModelFileError(f"it has {strange[0][:80]}, which no {cls.__name__} has")
        model = cls(**{name: v for name, v in given["params"].items() if v is not ABSENT})
        model.__dict__.update(cls._of_today(given["fitted"]))
        check_params(model)
        check_model(model)
        return model

    return Record(cls, parts, build)
