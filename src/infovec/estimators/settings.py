"""Checks of constructor parameters, done when fitting starts. Every message names the cause and the remedy."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from .._types import Floats, Rows
from ..errors import ParameterError
from ..kernels import Kernel, named
from ..machines.prepare import Looking, Settings
from ..machines.work import AS_SELECTED, Refine
from ..scores import RULES, Rule
from .kinds import APPROXIMATIONS
from .limits import memory_limit
from .values import is_open

__all__ = ["REFINEMENTS", "SELECTIONS", "active_size", "check_choice", "check_growth", "check_kernel", "initial_rows",
           "open_size", "precision", "score_rule", "settings_of"]  # fmt: skip

SELECTIONS = {look.name.lower(): look for look in Looking}


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def active_size(n_active: object) -> int | float | None:
    """Return the number of rows to include, or their fraction of all; None where it is left to the data."""
    if isinstance(n_active, str) and n_active == "auto":
        return None
    if isinstance(n_active, int | np.integer) and not isinstance(n_active, bool) and n_active >= 1:
        return int(n_active)
    if isinstance(n_active, float | np.floating) and 0 < n_active <= 1:
        return float(n_active)
    raise ParameterError(
        f"n_active must be a whole number from 1 or a fraction of the rows in (0, 1], got {n_active!r}"
    )


def check_choice(name: str, value: Any, choices: Sequence[Any], elsewhere: Mapping[str, str] | None = None) -> None:
    """Raise unless the value is among the choices; ``elsewhere`` has names of other libraries for some."""
    if not any(value is c or (isinstance(c, str) and isinstance(value, str) and value == c) for c in choices):
        own = elsewhere.get(value) if elsewhere and isinstance(value, str) else None
        here = f", which is called {own!r} here" if own else ""
        raise ParameterError(f"{name} must be one of {list(choices)} in this version, got {value!r}{here}")


def precision(dtype: Any) -> str:
    """Return the name of a floating point type."""
    try:
        name = np.dtype(dtype).name
    except TypeError:
        name = ""
    if name not in ("float32", "float64"):
        raise ParameterError(f"dtype must be one of 'float32' and 'float64', got {dtype!r}")
    return name


def check_growth(n: Any, size: int) -> int:
    """Return the size of an active set of ``size`` rows grown by n."""
    if not _is_whole(n) or n < 1:
        raise ParameterError(f"grow needs a whole number of rows from 1, got {n!r}")
    return size + int(n)


def check_kernel(kernel: Any) -> None:
    """Raise unless the kernel is None, a name or a Kernel."""
    if isinstance(kernel, str) and not is_open(kernel):
        named(kernel)  # which says what is wrong with it
    elif not isinstance(kernel, str | Kernel | None):
        raise ParameterError(
            f"kernel must be None, a name or a kernel from infovec.kernels, got {kernel!r}; "
            "wrap a function of your own in infovec.kernels.FromFunction"
        )


def score_rule(score: object) -> Rule:
    """Return what rows are selected by, or a function of (log_z, g, nu, mean, var) with its answers checked."""
    if isinstance(score, str) and score in RULES:
        return RULES[score]
    if not callable(score):
        raise ParameterError(f"score must be one of {sorted(RULES)} or a function, got {score!r}")

    def checked(log_z: Floats, g: Floats, nu: Floats, mean: Floats, var: Floats) -> Floats:
        value = np.asarray(score(log_z, g, nu, mean, var), dtype=np.float64)
        if value.shape != var.shape or np.isnan(value).any() or np.isposinf(value).any():
            raise ParameterError(
                f"score must return one number for each of {len(var)} rows, none of them NaN or inf; "
                f"it returned shape {value.shape}"
            )
        return value

    return Rule(checked)


def blurs(blur: object) -> bool | None:
    """Return whether sites know the variance that the active set leaves; None where that is left open."""
    if isinstance(blur, str):
        check_choice("blur", blur, ("auto",))
        return None
    return bool(blur)


def moves(estimator: Any) -> bool | None:
    """Return whether active inputs move; None where that is left open."""
    check_choice("move", estimator.move, ("auto", True, False))
    if estimator.invariances is not None:
        if estimator.move is True:
            raise ParameterError("move=True: images are of training rows, which stay; leave move='auto'")
        return False
    return None if isinstance(estimator.move, str) else bool(estimator.move)


def open_size(name: str, value: Any) -> int | None:
    """Return a size, or None where it is left open."""
    if value is None or (isinstance(value, str) and value == "auto"):
        return None
    if not _is_whole(value) or value < 1:
        raise ParameterError(f"{name} must be a whole number from 1 or 'auto', got {value!r}")
    return int(value)


def initial_rows(initial: Any, n: int) -> Rows:
    """Return the rows to include first, from numbers or a boolean mask."""
    if initial is None or (np.ndim(initial) == 1 and len(initial) == 0):
        return np.empty(0, dtype=np.intp)
    rows = np.asarray(initial)
    if rows.dtype == bool and rows.shape == (n,):
        rows = np.flatnonzero(rows)
    fits = rows.ndim == 1 and np.issubdtype(rows.dtype, np.integer)
    if not fits or np.any((rows < 0) | (rows >= n)) or len(np.unique(rows)) != len(rows):
        raise ParameterError(
            f"initial must be a list of distinct row numbers from 0 to {n - 1}, or a mask of {n} truth values"
        )
    return rows.astype(np.intp)


BY_EVIDENCE: Final = Refine(exchange=True, by_evidence=True)
REFINEMENTS: Final[Mapping[str | None, Refine | None]] = {
    "auto": None,
    None: AS_SELECTED,
    "exchange": BY_EVIDENCE,
    "entropy": Refine(exchange=True),
    "sweeps": Refine(sweeps=True),
    "both": BY_EVIDENCE._replace(sweeps=True),
}


def refinement(estimator: Any) -> Refine:
    """Return what follows selection, if the posterior is one that is refined."""
    check_choice("refine", estimator.refine, list(REFINEMENTS))
    all_rows, found = APPROXIMATIONS[estimator.approximation].all_rows, REFINEMENTS[estimator.refine]
    if found is None:
        many = getattr(estimator, "n_classes_", 2) > 2
        return AS_SELECTED if all_rows or many or estimator.learn is None else BY_EVIDENCE
    if any(found) and all_rows:
        raise ParameterError(
            f"refine={estimator.refine!r} is for approximation='factorised': where all rows have sites, these settle "
            "in any case; leave refine=None"
        )
    return found


def settings_of(estimator: Any, score: object, n_rows: int) -> Settings:
    """Return the settings of an estimator, checked, for so many rows that are given and a score to select by."""
    check_choice("selection", estimator.selection, list(SELECTIONS))
    return Settings(
        active_size(estimator.n_active), initial_rows(estimator.initial, n_rows),
        open_size("block_size", estimator.block_size), open_size("pool_size", estimator.pool_size),
        SELECTIONS[estimator.selection], score_rule(score), blurs(estimator.blur),
        precision(estimator.dtype), memory_limit(estimator.max_memory), estimator._learning,
        bool(estimator.warm_start), refinement(estimator), isinstance(estimator.likelihood, str),
        is_open(estimator.kernel) and isinstance(estimator.learn, str), moves(estimator),
    )  # fmt: skip
