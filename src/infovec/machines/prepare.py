"""From settings and data to a machine, fitted to each other."""

from enum import Enum, auto
from functools import partial
from typing import NamedTuple

import numpy as np

from .._types import Floats, Inputs, Mask, Rows
from ..errors import ParameterError
from ..inference import spreads
from ..kernels import Kernel
from ..kernels.relevances import has_categories
from ..learning import Learning, enough_for_spare
from ..likelihoods import Likelihood
from ..likelihoods.classes import ClassLikelihood
from ..likelihoods.parts import row_bytes
from ..numerics.outliers import usual_reach
from ..scores import Rule
from ..selection import Schedule
from ..shards import HERE, FarInputs, IndexRule, Places, Refill, View
from .budget import Sizes, within
from .data import Data, Families, whole_folds
from .defaults import column_spreads
from .machine import SMALL_STUBS, Machine
from .moving import check_moving
from .sample import Sample
from .work import Choices, Doubt, Moving, Refine, Work

__all__ = ["Looking", "Settings", "prepare"]

_LARGEST_VARIANCE = 1e140  # whose square is a number with room to spare
_BLOCK_ROWS = 4096  # that are looked at at once
_FEW_ROWS = 5000  # up to here all rows are considered to the end unless asked otherwise
_AUTO_MOST = 4000  # active rows at most when their number is left to the data
_AUTO_FEWEST, _AUTO_HELD = 200, 2000  # training rows from which some can be held back, and how many at most
_FULL_UNTIL = 200  # NIPS03: full greedy selection until then
_INDEX_SIZE = 500  # NIPS03: rows in an index that is refilled
_RETAINED = 0.5  # NIPS03: share of it that stays


class Looking(Enum):
    """Which rows a selection goes on considering."""

    AUTO = auto()
    ALL = auto()
    SHRINKING = auto()
    REFILLED = auto()


class Settings(NamedTuple):
    """What a user asks for, checked, but not yet against the data.

    Parameters
    ----------
    n_active : int, float or None
        Active rows, or their share of all; None is left to the data.
    initial : array of int
        Rows of those given that become active first.
    block_size, pool_size : int, optional
    looking : Looking
    rule : Rule
    blur : bool, optional
    dtype : {"float32", "float64"}
    limit : int
        Bytes.
    learning : Learning, optional
        How parameters are learned, if they are.
    keep : bool
        Whether what selection makes is kept.
    refine : Refine
    spare : bool
        Whether labels may be taken to be wrong, or counts to scatter: where the likelihood was given by name.
    forms : bool
        Whether the kernel may get further terms.
    move : bool, optional
        Whether active inputs move after selection; None where that is left open.
    """

    n_active: int | float | None
    initial: Rows
    block_size: int | None
    pool_size: int | None
    looking: Looking
    rule: Rule
    blur: bool | None
    dtype: str
    limit: int
    learning: Learning | None
    keep: bool
    refine: Refine = Refine()
    spare: bool = False
    forms: bool = False
    move: bool | None = False


def prepare(
    kind: type[Machine],
    settings: Settings,
    sample: Sample,
    y: Floats,
    kernel: Kernel,
    likelihood: Likelihood | ClassLikelihood,
    priority: Floats,
    places: Places = HERE,
) -> Machine:
    """Return a machine of a kind for some rows; refuse what cannot be done with them.

    Parameters
    ----------
    kind : class of a Machine
    settings : Settings
    sample : Sample
    y : targets of its rows, as the likelihood has them
    kernel, likelihood
    priority : array of float in [0, 1)
        One for each row, at random.
    places : Places
        What makes the shards.
    """
    n, p = sample.X.shape[0], sample.X.shape[1] if sample.X.ndim == 2 else 1
    n_functions = 1 if isinstance(likelihood, Likelihood) else likelihood.n_classes
    wanted, held_back = _how_many(settings.n_active, n, priority, sample.folds)
    initial = _initial(settings, sample, wanted)
    held_back[initial] = False
    if sample.kin is not None:  # an image would tell of its row
        held_back &= np.bincount(sample.kin)[sample.kin] == 1
    schedule = Schedule.choose(settings.block_size, settings.pool_size, n, wanted)
    if kind.all_rows and wanted >= n and settings.block_size is None:  # in which order does not matter
        schedule = Schedule.in_blocks(n, wanted)
    _check_variance(kernel, sample)
    _check_refine(kind, settings.refine, likelihood)
    if settings.move:
        waits = isinstance(likelihood, Likelihood) and likelihood.waits
        check_moving(sample.X, kernel, kind.may_move and sample.kin is None and not waits)
    dtype = "float64" if n * wanted * n_functions <= SMALL_STUBS else settings.dtype
    sizes = Sizes(
        n, p, wanted, np.dtype(dtype).itemsize, schedule, row_bytes(likelihood), n_functions,
        held=places.rows_at_once,
    )  # fmt: skip
    needs = within(settings.limit, sizes, partial(kind.needs, sizes))
    (looked_at, entries), (_, kept) = (need.share(settings.limit) for need in needs)
    most = entries if entries < needs.selection.numbers else None
    index = _index(settings.looking, kind.all_rows, n, wanted, schedule, most, priority)
    X = _inside(sample, kernel, dtype)
    learns = settings.learning is not None
    calibrate = learns and kind.all_rows and isinstance(likelihood, Likelihood) and spreads(likelihood)
    blur = (
        n_functions == 1 and _blurs(kernel, likelihood, learns, calibrate) if settings.blur is None else settings.blur
    )
    families = Families(sample.kin, None, sample.folds) if sample.kin is not None or sample.folds is not None else None
    group = sample.group if sample.folds is None else None
    machine = kind(
        Data(X, y, sample, priority, held_back, group, families=families), kernel, likelihood,
        Work(wanted, initial, schedule, index, dtype, settings.limit, kept, looked_at),
        Choices(settings.rule, blur,
                Doubt(calibrate, settings.spare and _is_told(kind, likelihood, n), settings.forms,
                      named=settings.spare),
                settings.keep, places, settings.dtype, settings.refine, Moving(settings.move, settings.learning)),
    )  # fmt: skip
    return machine.sufficient()


def _is_told(kind: type[Machine], likelihood: Likelihood | ClassLikelihood, n: int) -> bool:
    """Whether rows are enough to tell that some labels are wrong, or that counts scatter."""
    return (isinstance(likelihood, Likelihood) or kind.may_lapse) and enough_for_spare(likelihood, n)


def _blurs(kernel: Kernel, likelihood: Likelihood | ClassLikelihood, learns: bool, calibrate: bool) -> bool:
    """Whether sites of one function know what the active rows leave open, where nobody says so.

    Where certainty is chosen afterwards they need not; but the evidence of categories is largest then where every row
    is on its own. Unless there is noise that says the same: what active rows leave open takes its place otherwise, as
    large as it likes between categories, and other active rows leave other things open.
    """
    if not has_categories(kernel):
        return not calibrate
    noisy = isinstance(likelihood, Likelihood) and any(role.noise for role in likelihood.free_roles)
    return not (learns and noisy)


def _initial(settings: Settings, sample: Sample, wanted: int) -> Rows:
    if len(settings.initial) > wanted:
        raise ParameterError(
            f"initial has {len(settings.initial)} rows, more than n_active = {wanted}; give fewer or raise n_active"
        )
    return sample.find(settings.initial)


def _index(
    looking: Looking, all_rows: bool, n: int, wanted: int, schedule: Schedule, max_entries: int | None, priority: Floats
) -> IndexRule:
    """How many rows to go on considering: inference with all rows costs far more than a look at them."""
    if looking is Looking.AUTO:
        every = all_rows or schedule.block_size == 1 or n <= _FEW_ROWS
        looking = Looking.ALL if every else Looking.SHRINKING
    if looking is Looking.REFILLED:
        size, seed = max(_INDEX_SIZE, 2 * schedule.pool_size), int(1e9 * priority[0])
        return IndexRule(max_entries, refill=Refill(size, _RETAINED, _FULL_UNTIL, (seed,)))
    return IndexRule(max_entries, max(256, wanted // 9) if looking is Looking.SHRINKING else None)


def _check_refine(kind: type[Machine], refine: Refine, likelihood: Likelihood | ClassLikelihood) -> None:
    """Refuse to refine what cannot be."""
    if any(asked and not can for asked, can in zip(refine, kind.refinable, strict=True)):
        raise ParameterError(
            "this kind of many classes is not refined in this way: use multi_class='ovr', or refine=None"
        )
    if refine.sweeps and isinstance(likelihood, Likelihood) and not likelihood.log_concave:
        raise ParameterError(
            f"refine: sites of {type(likelihood).__name__} noise may get a negative precision in sweeps, and the "
            "factorised posterior has none such; use refine='exchange', or approximation='projected'"
        )


def _check_variance(kernel: Kernel, sample: Sample) -> None:
    """Refuse a kernel on rows where squares of its variance would be no numbers."""
    n, inside = sample.X.shape[0], sample.inside
    if not kernel.numeric:
        return
    if isinstance(inside, FarInputs):
        found = [(int(at[worst[0]]), worst[1]) for at, worst in inside.map(_too_large, kernel) if worst]
    else:
        blocks = (np.arange(start, min(start + _BLOCK_ROWS, n)) for start in range(0, n, _BLOCK_ROWS))
        looked_at = ((at, _too_large(inside[at], kernel)) for at in blocks)
        found = [(int(at[worst[0]]), worst[1]) for at, worst in looked_at if worst]
    for row, var in found[:1]:
        unit = "" if sample.unit.plain else ", in squared standard deviations of the targets"
        raise ParameterError(
            f"the kernel gives row {sample.rows[row]} a variance of {var:.3g}{unit}, with which "
            "floating point numbers cannot reckon; give a kernel of smaller variance or scale the columns of X"
        )


def _too_large(X: Inputs, kernel: Kernel) -> tuple[int, float] | None:
    """Return the first row whose variance is too large, and that variance."""
    with np.errstate(over="ignore", invalid="ignore"):  # that is what is looked for
        var = np.asarray(kernel.diag(kernel.in_double(X)), dtype=np.float64)
    fits = np.abs(var) < _LARGEST_VARIANCE
    return None if fits.all() else (int(np.argmin(fits)), float(var[np.argmin(fits)]))


def _how_many(n_active: int | float | None, n: int, priority: Floats, folds: Rows | None = None) -> tuple[int, Mask]:
    """Size of the active set, and rows held back to decide it when it is left to the data."""
    held_back = np.zeros(n, dtype=bool)
    if n_active is not None:
        return (min(n_active, n) if isinstance(n_active, int) else max(1, round(n_active * n))), held_back
    if n >= _AUTO_FEWEST:
        held_back[whole_folds(np.argsort(priority), min(_AUTO_HELD, n // 10), folds)] = True
    return min(int(np.sum(~held_back)), _AUTO_MOST), held_back


def _inside(sample: Sample, kernel: Kernel, dtype: str) -> Inputs:
    """Inputs as the fit has them."""
    if sample.columns is None:
        return _in_precision(sample.X, kernel, dtype)
    X = sample.X
    return sample.columns.seen(X, dtype) if isinstance(X, FarInputs) else sample.columns.inside(X, dtype)


def _in_precision(X: Inputs, kernel: Kernel, dtype: str) -> Inputs:
    """Inputs in the precision of the stubs; columns are centred first where the kernel does not mind."""
    if not kernel.numeric:
        return X
    if dtype == "float32" and kernel.shift_invariant and isinstance(X, np.ndarray | FarInputs):
        (centre, _), deviation = usual_reach(X), column_spreads(X)[0]
        if isinstance(X, FarInputs):
            return X.seen(View(dtype, centre, narrow=True))
        if X.dtype != np.float32 or np.any(np.abs(centre) > deviation):  # else a copy would gain nothing
            return (X - centre.astype(X.dtype)).astype(np.float32, copy=False)
    return X.astype(dtype, copy=False)
