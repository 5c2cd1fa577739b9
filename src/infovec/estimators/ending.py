"""Why a fit ended, and what falls short of what was asked for."""

import traceback
import warnings

from sklearn.exceptions import ConvergenceWarning

from ..machines.fit import Ended
from ..machines.result import not_converged
from ..runtime import StopReason, outside

__all__ = ["announced"]


def announced(ended: Ended) -> StopReason:
    """Return why a fit ended; warn the caller where it ended early or did not settle."""
    rows = f"{len(ended.result.active)} of {ended.wanted} active rows and is usable{_in_a_search()}"
    if ended.learning_interrupted:
        warnings.warn(
            f"interrupted while learning: the model has the parameters found so far, {rows}", stacklevel=outside()
        )
        return StopReason.INTERRUPTED
    if ended.stop is StopReason.INTERRUPTED:
        warnings.warn(f"interrupted: the model has {rows}", stacklevel=outside())
    elif ended.stop is StopReason.TIME:
        warnings.warn(_out_of_time(ended), ConvergenceWarning, stacklevel=outside())
    elif not ended.result.converged and ended.stop is not StopReason.CALLBACK:
        warnings.warn(not_converged(ended.result), ConvergenceWarning, stacklevel=outside())
    return ended.stop


def _out_of_time(ended: Ended) -> str:
    """What was left out, and what to do about it."""
    active, share = len(ended.result.active), ended.share
    wanted = min(ended.wanted, ended.machine.data.n)
    short = [
        *(["its parameters were learned part of the way only"] if ended.learned_less else []),
        *([f"it has {active} of {wanted} active rows"] if active < wanted else []),
        *([f"it has seen {100.0 * share:.0f} % of the rows"] if share < 1.0 else []),
        *([] if ended.result.converged else ["its sites have not settled"]),
    ] or ["refining it ended early"]
    what = short[0] if len(short) == 1 else f"{', '.join(short[:-1])} and {short[-1]}"
    return f"max_time was used up: {what}. The model is usable; a larger max_time, or a smaller n_active, ends this"


def _in_a_search() -> str:
    """What an interruption does to a search or a cross-validation of scikit-learn, if the fit is part of one."""
    callers = (frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_stack(None))
    if not any(name.startswith("sklearn.model_selection") for name in callers):
        return ""
    return (
        ". Only this fit was cut short: its score counts, and the others go on; Ctrl-C twice in one fit ends them all"
    )
