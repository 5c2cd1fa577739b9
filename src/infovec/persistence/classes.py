"""The classes below the estimators that a model file can have. A class that its package does not export cannot."""

from collections.abc import Mapping
from inspect import isabstract
from types import ModuleType
from typing import Any, Final

import numpy as np

from .. import kernels, likelihoods, posterior
from ..errors import ModelFileError
from ..likelihoods import classes
from .registry import Record, Registry, value
from .values import must, number, whole

__all__ = ["BUILT_IN"]

_KEY = 624  # words of the state of MT19937


def _of(room: ModuleType, base: type) -> list[type]:
    """Classes of a kind that a package says are its own, by its ``__all__``."""
    named = [getattr(room, name) for name in room.__all__]
    return [cls for cls in named if isinstance(cls, type) and issubclass(cls, base) and not isabstract(cls)]


def _random_parts(random: np.random.RandomState) -> dict[str, Any]:
    state: Any = random.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        raise ModelFileError("a RandomState on another generator than MT19937 cannot be saved; give a number")
    return {"key": state["state"]["key"], "position": state["state"]["pos"],
            "has_gauss": state["has_gauss"], "gauss": state["gauss"]}  # fmt: skip


def _random(given: Mapping[str, Any]) -> np.random.RandomState:
    """Return a generator; NumPy itself reads beyond the key, or for ever, when it is given a state that is none."""
    if set(given) != {"key", "position", "has_gauss", "gauss"}:
        raise ModelFileError("a RandomState must have a key, position, has_gauss and gauss")
    key, position = given["key"], whole(given["position"], "position", 0, _KEY)
    is_key = isinstance(key, np.ndarray) and key.dtype == np.uint32 and key.shape == (_KEY,)
    must(is_key, "key", f"an array of type uint32 and shape ({_KEY},)", key)
    if not (key[0] >> 31 or key[1:].any()):  # all bits that count: nothing but zeros would come of it
        raise ModelFileError("key must not be zero")
    has_gauss, gauss = whole(given["has_gauss"], "has_gauss", 0, 1), number(given["gauss"], "gauss")
    random = np.random.RandomState(0)
    random.set_state(("MT19937", key, position, has_gauss, gauss))
    return random


_ROOMS: Final = (
    (kernels, kernels.Kernel),
    (likelihoods, likelihoods.Likelihood),
    (classes, classes.ClassLikelihood),
    (posterior, posterior.Posterior),
)

BUILT_IN: Final = Registry.of(
    [
        *(value(cls) for room, base in _ROOMS for cls in _of(room, base)),
        value(likelihoods.Log),
        value(likelihoods.YeoJohnson),
        Record(np.random.RandomState, _random_parts, _random),
    ]
)
"""All kernels, likelihoods, transforms of targets and posteriors of infovec."""
