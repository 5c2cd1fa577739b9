"""All rows projected onto the active ones, for every kernel there is."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..._types import Floats, Inputs, Rows
from ...errors import ParameterError
from ...kernels import Kernel
from ...numerics.cholesky import beyond_identity, row_solver, solve_lower
from ...shards import Basis
from ..basis import make_basis

__all__ = ["Projection", "classes_by_kernel", "project"]


@dataclass(frozen=True, eq=False)
class Projection:
    r"""One kernel seen through the active rows: K is replaced by V V^T, and what that leaves of the diagonal is kept.

    .. math:: K_I = L L^T, \qquad V = K_{\cdot,I} L^{-T}, \qquad I + V^T W V = Q Q^T, \qquad R = V Q^{-T}

    so that R R^T is the posterior covariance under unit noise, :math:`C (I + C)^{-1}` with C = V V^T (GR06 4.1), or
    under noise of variance 1 / w where rows count w times.

    Parameters
    ----------
    kernel : Kernel
    classes : array of int
        The classes whose functions have this kernel.
    basis : Basis
        The active rows.
    R : array of shape (n, d)
    Q : array of shape (d, d)
    variance_left : array of shape (n,)
        diag K - diag V V^T.
    weight : array of shape (n,)
        How many times each row counts, the diagonal of W.
    """

    kernel: Kernel
    classes: Rows
    basis: Basis
    R: Floats
    Q: Floats
    variance_left: Floats
    weight: Floats

    @classmethod
    def of(
        cls, kernel: Kernel, classes: Rows, X: Inputs, active: Rows, dtype: str, weight: Floats | None = None
    ) -> "Projection":
        """Project all rows."""
        weight = np.ones(X.shape[0]) if weight is None else weight
        basis = make_basis(kernel, active, X[active], dtype)
        V = np.require(kernel.on(basis.X)(X), dtype=dtype, requirements=["C", "W"])
        prior_var = np.asarray(kernel.diag(X), dtype=np.float64)
        V[active, np.arange(len(active))] = prior_var[active]  # a row with itself: white noise counts
        V = row_solver(basis.L, dtype)(V)
        left = np.maximum(prior_var - np.einsum("ij,ij->i", V, V), 0.0)
        W = V * np.sqrt(weight).astype(dtype)[:, None]
        Q = beyond_identity(np.asarray(W.T @ W, dtype=np.float64))
        return cls(kernel, classes, basis, row_solver(Q, dtype)(V), Q, left, weight)

    @cached_property
    def log_det(self) -> float:
        """Log |I + V^T W V|."""
        return 2.0 * float(np.sum(np.log(np.diagonal(self.Q))))

    def weights(self, z: Floats) -> Floats:
        """Weights of the means on k(x), L^-T Q^-T z, one column for each of these classes."""
        inside = solve_lower(self.Q, z, transposed=True)
        return solve_lower(self.basis.L, inside, transposed=True)


def classes_by_kernel(kernels: Kernel | Sequence[Kernel], n_classes: int) -> list[tuple[Kernel, Rows]]:
    """Return one kernel with all classes, or each class with a kernel of its own."""
    if isinstance(kernels, Kernel):
        return [(kernels, np.arange(n_classes))]
    if len(kernels) != n_classes:
        raise ParameterError(f"{n_classes} classes need one kernel or {n_classes}, got {len(kernels)}")
    return [(kernel, np.array([c])) for c, kernel in enumerate(kernels)]


def project(
    kernels: Kernel | Sequence[Kernel],
    n_classes: int,
    X: Inputs,
    active: Rows,
    dtype: str = "float64",
    weight: Floats | None = None,
) -> list[Projection]:
    """Project all rows onto the active ones: once if the kernel is shared, else once for each class."""
    groups = classes_by_kernel(kernels, n_classes)
    return [Projection.of(kernel, classes, X, active, dtype, weight) for kernel, classes in groups]
