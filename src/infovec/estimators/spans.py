"""Relevances of columns with intervals, where length scales were drawn."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .._types import Floats, Foreign
from ..kernels.relevances import column_weights
from .relevances import Relevances, model_relevances

__all__ = ["relevances_with_intervals"]

_ENDS = (0.025, 0.975)


def relevances_with_intervals(model: Foreign, names: Sequence[str] | None) -> Relevances:
    """Return how much every column counts, with an interval for each length scale if draws of them are known."""
    found = model_relevances(model, names)
    theta = model.diagnostics_.get("theta")
    if theta is None or not len(found):
        return found
    p = model.n_features_in_
    numbered = model_relevances(model, [str(j) for j in range(p)])  # in the same order
    weights = np.array([column_weights(model.kernel_.with_theta(one), p) for one in theta])
    ends = np.array([_quantiles(column**-0.5, model.diagnostics_["weights"]) for column in weights.T])
    low, high = ends[[int(j) for j in numbered.columns]].T
    return replace(found, low=low, high=high, note="")


def _quantiles(values: Floats, weights: Floats) -> Floats:
    """Weighted quantiles."""
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    return np.asarray(values[order][np.minimum(np.searchsorted(total / total[-1], _ENDS), len(values) - 1)])
