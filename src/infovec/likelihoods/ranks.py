"""Classes with an order: models name them sorted, in ``classes_``, and likelihoods have them by rank."""

import numpy as np

from .._types import Array, Foreign

__all__ = ["by_class", "by_rank", "ranked"]


def ranked(model: Foreign) -> Foreign:
    """Return the classes as the likelihood of a model has them: by rank where they have an order. None of numbers."""
    return getattr(model, "classes_", None) if _unordered(model) else model.categories_


def by_class(model: Foreign, values: Array) -> Array:
    """Return values of the classes, along the last axis, that come by rank in the order of ``classes_``."""
    return values if _unordered(model) else values[..., np.argsort(model.categories_, kind="stable")]


def by_rank(model: Foreign, values: Array) -> Array:
    """Return values of the classes, along the last axis, that come in the order of ``classes_`` by rank."""
    return values if _unordered(model) else values[..., np.searchsorted(model.classes_, model.categories_)]


def _unordered(model: Foreign) -> bool:
    return getattr(model, "categories_", None) is None
