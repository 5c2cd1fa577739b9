"""Sums over groups of rows."""

import numpy as np

from .._types import Floats, Rows

__all__ = ["of_groups"]


def of_groups(values: Floats, group: Rows | None) -> Floats:
    """Return for each row the sum over all rows of its group, along the first axis."""
    if group is None:
        return values
    index = np.unique(group, return_inverse=True)[1]
    total = np.zeros((int(index.max(initial=-1)) + 1, *values.shape[1:]))
    np.add.at(total, index, values)
    found: Floats = total[index]
    return found
