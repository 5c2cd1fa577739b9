"""From the settings of an estimator and its data to what a fit needs, checked against each other."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._types import Floats, Inputs, Mask
from ..errors import ParameterError
from ..inference import spreads
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..likelihoods.parts import row_bytes
from ..numerics.outliers import usual_reach
from ..selection import Schedule
from ..shards import IndexRule
from .budget import Sizes, memory_limit, within
from .defaults import column_spreads
from .one_function import SMALL_STUBS, Training
from .sample import Sample
from .settings import PROJECTED_GAIN, active_size, check_choice, initial_rows, open_size, precision, score_function

__all__ = ["APPROXIMATIONS", "SELECTIONS", "prepare"]

APPROXIMATIONS = ("projected", "factorised")
SELECTIONS = ("auto", "all", "shrinking", "refilled")
_LARGEST_VARIANCE = 1e140  # whose square is a number with room to spare
_BLOCK_ROWS = 4096
_FEW_ROWS = 5000  # up to here all rows are considered to the end unless asked otherwise
_AUTO_MOST = 4000  # active rows at most when their number is left to the data
_AUTO_FEWEST = 200  # training rows from which some can be held back


def prepare(
    estimator: Any,
    sample: Sample,
    y: Floats,
    kernel: Kernel,
    likelihood: Likelihood,
    score: Any,
    kind: type[Training] = Training,
    n_functions: int = 1,
) -> Training:
    """Check the settings of an estimator against its data, for some kind of training."""
    X = sample.X
    n, p = X.shape[0], X.shape[1] if X.ndim == 2 else 1
    check_choice("selection", estimator.selection, SELECTIONS)
    priority = check_random_state(estimator.random_state).random_sample(n)
    wanted, held_back = _how_many(estimator.n_active, n, priority)
    initial = sample.find(initial_rows(estimator.initial, sample.n_given, wanted))
    held_back[initial] = False
    block_size, pool_size = open_size("block_size", estimator.block_size), open_size("pool_size", estimator.pool_size)
    schedule = Schedule.choose(block_size, pool_size, n, wanted)
    _check_variance(kernel, sample)
    asked = precision(estimator.dtype)
    dtype = "float64" if n * wanted * n_functions <= SMALL_STUBS else asked
    approximation = estimator.approximation
    calibrate = estimator.learn is not None and spreads(likelihood) and approximation == "projected"
    itemsize = np.dtype(dtype).itemsize
    limit, sizes = (
        memory_limit(estimator.max_memory),
        Sizes(n, p, wanted, itemsize, schedule, row_bytes(likelihood), n_functions),
    )
    needs = within(limit, sizes, lambda: kind.needs(sizes, approximation, likelihood))
    (looked_at, entries), (_, kept) = (need.share(limit) for need in needs)
    selection = estimator.selection
    if selection == "auto":
        all_rows = approximation == "projected" or schedule.block_size == 1 or n <= _FEW_ROWS
        selection = "all" if all_rows else "shrinking"  # inference with all rows costs far more than a look at them
    rule = IndexRule(
        max_entries=entries if entries < needs.selection.numbers else None,
        shrink_after=max(256, wanted // 9) if selection == "shrinking" else None,
    )
    blur = _blur(estimator.blur, n_functions == 1 and not calibrate)
    return kind(
        sample.columns.inside(X, dtype) if sample.columns else _in_precision(X, kernel, dtype), y, kernel, likelihood,
        score_function(score), _score_name(score, approximation), wanted, initial, schedule,
        rule, dtype, selection, priority, held_back, approximation, blur, calibrate,
        kept, bool(estimator.warm_start), sample, limit, looked_at, sample.group,
    ).sufficient()  # fmt: skip


def _check_variance(kernel: Kernel, sample: Sample) -> None:
    """Refuse a kernel on rows where squares of its variance would be no numbers."""
    n, inside = sample.X.shape[0], sample.inside
    if not kernel.numeric:
        return
    for start in range(0, n, _BLOCK_ROWS):
        rows = inside[np.arange(start, min(start + _BLOCK_ROWS, n))].astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):  # that is what is looked for
            var = np.asarray(kernel.diag(rows), dtype=np.float64)
        if not np.all(np.abs(var) < _LARGEST_VARIANCE):
            worst = int(np.argmax(~(np.abs(var) < _LARGEST_VARIANCE)))
            unit = "" if sample.unit.plain else ", in squared standard deviations of the targets"
            raise ParameterError(
                f"the kernel gives row {sample.rows[start + worst]} a variance of {var[worst]:.3g}{unit}, with which "
                "floating point numbers cannot reckon; give a kernel of smaller variance or scale the columns of X"
            )


def _blur(asked: Any, otherwise: bool) -> bool:
    if isinstance(asked, str):
        check_choice("blur", asked, ("auto",))
        return otherwise
    return bool(asked)


def _score_name(score: Any, approximation: str) -> str:
    if isinstance(score, str) and score == PROJECTED_GAIN and approximation != "projected":
        raise ParameterError(
            f"score={PROJECTED_GAIN!r} is the gain of the projected posterior: it needs approximation='projected'"
        )
    return score if isinstance(score, str) else ""


def _how_many(n_active: Any, n: int, priority: Floats) -> tuple[int, Mask]:
    """Size of the active set, and rows held back to decide it when it is left to the data."""
    held_back = np.zeros(n, dtype=bool)
    if not (isinstance(n_active, str) and n_active == "auto"):
        return active_size(n_active, n), held_back
    if n >= _AUTO_FEWEST:
        held_back[np.argsort(priority)[: min(2000, n // 10)]] = True
    return min(int(np.sum(~held_back)), _AUTO_MOST), held_back


def _in_precision(X: Inputs, kernel: Kernel, dtype: str) -> Inputs:
    """Inputs in the precision of the stubs; columns are centred first where the kernel does not mind."""
    if not kernel.numeric:
        return X
    if dtype == "float32" and kernel.shift_invariant and isinstance(X, np.ndarray):
        (centre, _), deviation = usual_reach(X), column_spreads(X)[0]
        if X.dtype != np.float32 or np.any(np.abs(centre) > deviation):  # else a copy would gain nothing
            return (X - centre.astype(X.dtype)).astype(np.float32, copy=False)
    return X.astype(dtype, copy=False)
