"""Constructor parameters: those that a fit would refuse, or stumble over, are not loaded either."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Final, TypeGuard

import numpy as np

from ...errors import ParameterError
from ...kernels import Kernel, named
from ...likelihoods import Likelihood
from ...likelihoods.classes import ClassLikelihood
from ...persistence.values import must
from ..dense_settings import INFERENCES
from ..kinds import APPROXIMATIONS
from ..settings import REFINEMENTS, SELECTIONS
from ..values import AUTO

__all__ = ["PARAMS"]

Check = Callable[[object, str], None]


def _one_of(*choices: str) -> Check:
    def check(value: object, where: str) -> None:
        found = any(value is c or (isinstance(c, str) and isinstance(value, str) and value == c) for c in choices)
        must(found, where, f"one of {list(choices)}", value)

    return check


def _any_of(wanted: str, *tests: Callable[[object], bool]) -> Check:
    return lambda value, where: must(any(test(value) for test in tests), where, wanted, value)


def _nothing(value: object) -> bool:
    return value is None


def _text(value: object) -> bool:
    return isinstance(value, str)


def _name(value: object) -> bool:
    """Whether it is a name that kernels are called by."""
    try:
        return isinstance(value, str) and (value == AUTO or isinstance(named(value), Kernel))
    except ParameterError:
        return False


def _whole(value: object) -> TypeGuard[int]:
    return isinstance(value, Integral) and not isinstance(value, bool) and abs(int(value)) < 2**63


def _real(value: object) -> TypeGuard[float]:
    return (
        isinstance(value, Real) and not isinstance(value, bool) and (not isinstance(value, Integral) or _whole(value))
    )


def _flag(value: object) -> bool:
    return isinstance(value, bool | np.bool_)


def _positive(value: object) -> bool:
    return _real(value) and value >= 0


def _type(value: object) -> bool:
    return isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.floating))


def _labels(value: object) -> bool:
    """Texts, numbers or truth values in a row, of types that can be compared."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.ndim == 1
    if not isinstance(value, list | tuple | np.ndarray):
        return False
    return all(map(_text, value)) or all(_real(v) or _flag(v) for v in value)


def _seed(value: object) -> bool:
    return isinstance(value, np.random.RandomState) or (_whole(value) and 0 <= value < 2**32)


_size = _any_of("a whole number, a text or None", _whole, _text, _nothing)

PARAMS: Final[dict[str, Check]] = {
    "kernel": _any_of("a kernel, its name or None", _nothing, _name, lambda v: isinstance(v, Kernel)),
    "likelihood": _any_of("a likelihood or its name", _text, lambda v: isinstance(v, Likelihood | ClassLikelihood)),
    "approximation": _one_of(*APPROXIMATIONS),
    "n_active": _any_of("a number or a text", _real, _text),
    "score": _any_of("a text", _text, callable),
    "learn": _any_of("a text, a Learning or None", _nothing, _text, lambda v: type(v).__name__ == "Learning"),
    "multi_class": _any_of("a text", _text),
    "shared_kernel": _any_of("true or false", _flag, _whole),
    "class_weight": _any_of("a dict, a text or None", _nothing, _text, lambda v: isinstance(v, dict)),
    "categories": _any_of("a sequence of labels or None", _nothing, _labels),
    "block_size": _size,
    "pool_size": _size,
    "initial": _any_of("a sequence of row numbers or None", _nothing, _labels),
    "selection": _one_of(*SELECTIONS),
    "refine": _any_of(f"one of {list(REFINEMENTS)}", lambda v: isinstance(v, str | None) and v in REFINEMENTS),
    "blur": _any_of("true, false or a text", _flag, _text),
    "max_memory": _any_of("a number, a text or None", _nothing, _text, _real),
    "max_time": _any_of("a number from 0 or None", _nothing, _positive),
    "dtype": _any_of("the name of a floating point type", _text, _type),
    "n_jobs": _any_of("a whole number or None", _nothing, _whole),
    "warm_start": _any_of("true or false", _flag, _whole),
    "callback": _any_of("None", _nothing, callable),
    "inference": _one_of(*INFERENCES),
    "n_samples": _size,
    "n_chains": _size,
    "burn_in": _size,
    "evidence": _any_of("a text or None", _nothing, _text),
    "random_state": _any_of("a whole number from 0 to 2^32 - 1, a RandomState or None", _nothing, _seed),
    "verbose": _any_of("a number", _flag, _real),
    "invariances": _any_of("None", _nothing, callable, lambda v: isinstance(v, list | tuple) and all(map(callable, v))),
    "move": _any_of("true, false or a text", _flag, _text),
    "target": _one_of("auto", "identity", "log", "yeo-johnson"),
    "rounds": _any_of("a whole number", _whole),
}
"""The check of every constructor parameter, by name."""
