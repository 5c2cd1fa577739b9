"""Those who listen to a fit: the progress bar, the user's function, and scikit-learn's callbacks (from version 1.9)."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from sklearn.base import BaseEstimator

from ..runtime import Callback, Progress
from .progress import ProgressBar

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: there are no callbacks to set."""

    def _with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        return method


__all__ = ["CallbackSupportMixin", "begin_fit", "end_fit", "listeners", "with_callbacks"]


_Method = TypeVar("_Method", bound=Callable[..., Any])


def with_callbacks(fit: _Method) -> _Method:
    """Return a method after which the callbacks are torn down, whether it fails or not."""
    return cast(_Method, _with_callbacks(fit))


def begin_fit(estimator: BaseEstimator, X: object, y: object, sample_weight: object) -> None:
    """Set up the callbacks, and tell them that a fit begins."""
    if hasattr(estimator, "_init_callback_context"):
        context = estimator._init_callback_context(max_subtasks=None)  # learning and sweeps end when they settle
        context.call_on_fit_task_begin(estimator=estimator, X=X, y=y, metadata=_metadata(sample_weight))


def end_fit(estimator: BaseEstimator, X: object, y: object, sample_weight: object) -> None:
    """Tell the callbacks that it has ended; they may use the fitted model."""
    context = getattr(estimator, "_callback_fit_ctx", None)
    if context is not None:
        context.call_on_fit_task_end(
            estimator=estimator, X=X, y=y, metadata=_metadata(sample_weight), reconstruction_attributes=dict
        )


def _metadata(sample_weight: object) -> dict[str, object] | None:
    return None if sample_weight is None else {"sample_weight": sample_weight}


def listeners(estimator: BaseEstimator) -> Callable[[Progress], bool] | None:
    """Return a function that tells all who listen, and says whether one of them wants an end."""
    told: list[Callback] = [ProgressBar()] if estimator.verbose else []
    if estimator.callback is not None:
        told.append(estimator.callback)
    if getattr(estimator, "_skl_callbacks", None) and hasattr(estimator, "_callback_fit_ctx"):
        told.append(_subtasks(estimator))

    def tell(progress: Progress) -> bool:
        answers = [bool(c(progress)) for c in told]  # all of them, even if the first says stop
        return any(answers)

    return tell if told else None


def _subtasks(estimator: BaseEstimator) -> Callback:
    """Every step of learning, block of rows and sweep is a task of the fit."""

    def tell(progress: Progress) -> object:
        task = estimator._callback_fit_ctx.subcontext(task_name=_stage(progress))
        task.call_on_fit_task_begin(estimator=estimator)
        return task.call_on_fit_task_end(estimator=estimator)

    return tell


def _stage(progress: Progress) -> str:
    if progress.log_evidence is None:
        return "selection"
    return "learning" if progress.learning else "inference"
