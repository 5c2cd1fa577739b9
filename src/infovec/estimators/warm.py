"""What is kept of a fit so that it can go on, and when it may."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ..machines.machine import Machine
from ..selection import Chooser

__all__ = ["State", "continues", "kept"]


class State(NamedTuple):
    """What is kept of a fit so that it can go on."""

    selector: Chooser
    machine: Machine
    settings: dict[str, Any]
    data: str  # hash of X, y and the weights
    cut_short: bool = False  # by an interruption: more rows may be added, but it is not what was asked for
    share: float = 1.0  # of all observations, that there was time for


@contextmanager
def kept(estimator: Any) -> Iterator[None]:
    """Leave an estimator as it was when what is done inside fails; only what went on by then cannot go on again."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        if "_state" not in vars(estimator):  # it was going on from there
            before.pop("_state", None)
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def continues(machine: Machine, settings: dict[str, Any], state: State) -> bool:
    """Whether a fit asks for nothing but more rows of the model that is there.

    Parameters that were half learned, and rows that were half selected, are no part of what an undisturbed fit finds.
    """
    if state.cut_short:
        return False
    free = {"n_active", "max_time", "max_memory", "callback", "verbose", "n_jobs", "warm_start"}
    same = all(_equal(value, state.settings[name]) for name, value in settings.items() if name not in free)
    held_back = np.array_equal(machine.data.held_back, state.machine.data.held_back)
    return same and held_back and machine.work.wanted >= state.selector.size


def _equal(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, np.ndarray | list | tuple) or isinstance(b, np.ndarray | list | tuple):
        return np.array_equal(a, b)
    return type(a) is type(b) and bool(a == b)
