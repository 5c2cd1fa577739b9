"""Inputs of several shards, one below the other."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from .._types import Inputs

__all__ = ["stack"]


def stack(parts: Sequence[Inputs]) -> Inputs:
    """Return the rows of all parts."""
    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)
