"""Columns of truth values where the model knows other numbers."""

from typing import Final

import numpy as np

from .._types import Foreign
from ..errors import ParameterError

__all__ = ["refuse_truth"]

_NEAR: Final = 1e-3  # 0 and 1, for what a fit may have rounded


def refuse_truth(estimator: Foreign, X: Foreign) -> None:
    """Refuse a frame with truth values in a column that had neither 0 nor 1 in any active row of the model.

    As numbers they would be 0 and 1, far from all that the model knows, and are most often the answer to a comparison.

    Parameters
    ----------
    estimator : fitted estimator
    X : DataFrame of pandas or polars
        With the columns of the fit.
    """
    vectors = vars(estimator).get("active_vectors_")
    if not isinstance(vectors, np.ndarray) or vectors.ndim != 2 or getattr(estimator, "moved_", False):
        return
    names = [str(name) for name in X.columns]
    for j, (name, dtype) in enumerate(zip(names, X.dtypes, strict=True)):
        if j >= vectors.shape[1] or not _is_truth(dtype):
            continue
        known = vectors[:, j].astype(np.float64)
        if np.abs(known - np.round(np.clip(known, 0.0, 1.0))).min() > _NEAR:
            low, high = known.min(), known.max()
            raise ParameterError(
                f"column {name!r} held numbers from {low:g} to {high:g} in the active rows of the model, and holds "
                "truth values now: give it the numbers that it had"
            )


def _is_truth(dtype: Foreign) -> bool:
    """Whether a type of pandas or polars has truth values: those of polars have no kind."""
    return getattr(dtype, "kind", "") == "b" or str(dtype) == "Boolean"
