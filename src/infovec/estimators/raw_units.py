"""One length scale that is learned for columns of very different units: told to the user, with what to do about it."""

import warnings

import numpy as np

from .._types import Floats, Foreign, Rows
from ..kernels import Kernel
from ..kernels.relevances import column_weights
from ..machines.defaults import column_spreads
from ..runtime import outside
from .relevances import has_separate, one_for, seen_columns
from .unexplained import is_asked_for

__all__ = ["warn_if_in_raw_units"]

_FEWEST = 10  # active rows that tell the spread of a column
_FAR, _FARTHEST = 100.0, 1000.0  # times the spread of half of the columns, and of any: a rare flag is no other unit
_PIXELS = 64  # columns from which that of any says nothing: at the edge of pictures they hardly vary


def warn_if_in_raw_units(model: Foreign) -> None:
    """Warn where the kernel that was given has one learned length scale for columns whose spreads are far apart.

    The narrow ones hardly count then, whatever they say. A length scale that is to stay has its reasons, and kernels
    by name have units from the data.

    Parameters
    ----------
    model : fitted estimator
    """
    kernel = model.kernel
    if not isinstance(kernel, Kernel) or not kernel.numeric or is_asked_for(model) or not hasattr(model, "kernel_"):
        return
    learned = model.kernel_[0] if isinstance(model.kernel_, list) else model.kernel_
    vectors = model.active_vectors_[0] if isinstance(model.active_vectors_, list) else model.active_vectors_
    weight = column_weights(learned, vectors.shape[1]) if np.ndim(vectors) == 2 and len(vectors) >= _FEWEST else None
    if weight is None or len(weight) != model.n_features_in_:  # tasks given as groups are no column of X
        return
    numbers, codes = seen_columns(model, weight)
    if not one_for(weight, numbers) or has_separate(kernel, len(numbers) > 1 and len(codes) > 0):
        return
    spread = column_spreads(vectors)[0][numbers]
    numbers, spread = numbers[spread > 0.0], spread[spread > 0.0]
    if len(spread) > 1 and _far_apart(spread):
        wide, narrow = (_said(model, numbers, spread, at) for at in (np.argmax(spread), np.argmin(spread)))
        each = (
            "" if hasattr(model, "table_") else f", or learn one for each: kernel=RBF(np.ones({len(weight)})) + Bias()"
        )
        warnings.warn(
            f"columns of very different units share one length scale: {wide} spreads by {spread.max():.3g}, "
            f"{narrow} by {spread.min():.3g}, so that the latter hardly counts. Leave kernel=None or say kernel='rbf', "
            f"for which units come from the data{each}; or scale columns with sklearn.preprocessing.StandardScaler",
            stacklevel=outside(),
        )


def _far_apart(spread: Floats) -> bool:
    low = np.quantile(spread, 0.5, method="lower")
    return bool(spread.max() > _FAR * low or (len(spread) < _PIXELS and spread.max() > _FARTHEST * spread.min()))


def _said(model: Foreign, numbers: Rows, spread: Floats, at: np.intp) -> str:
    """Name a column."""
    names = getattr(model, "feature_names_in_", None)
    place, table = int(numbers[at]), getattr(model, "table_", None)
    place = place if table is None else int(table.sources[place])
    return f"column {place}" if names is None or place >= len(names) else repr(str(names[place]))
