"""From an active set to coordinates in which the prior is standard normal."""

import numpy as np

from .._types import Floats, Inputs, Rows
from ..kernels import Kernel
from ..numerics.cholesky import factorise
from ..shards import Basis

__all__ = ["make_basis"]

# Shares of the diagonal to add until K_I has a factor; its pivots stay above the first, which the precision of the
# products asks for.
_JITTER = {"float64": (1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4), "float32": (1e-7, 1e-6, 1e-5, 1e-4)}


def make_basis(kernel: Kernel, rows: Rows, X: Inputs, dtype: str) -> Basis:
    r"""Factorise the prior covariance of the active rows, :math:`K_I = L L^T`.

    Where rows nearly repeat each other the diagonal is raised by a small share, the same for all.
    """
    K = kernel(kernel.in_double(X))
    diagonal = np.diagonal(K).copy()

    def apart(L: Floats) -> bool:
        return len(L) == 0 or bool(np.min(np.diagonal(L) ** 2 / diagonal) > 0.5 * _JITTER[dtype][0])

    message = (
        f"the kernel matrix of the {len(rows)} active rows is not positive definite. Check the kernel function or "
        "matrix, or add White(...) to it"
    )
    return Basis(rows, X, *factorise(K, message, (0.0, *_JITTER[dtype]), good=apart))
