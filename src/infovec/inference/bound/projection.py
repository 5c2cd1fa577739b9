"""All rows projected onto the active ones, for every kernel there is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..._types import Floats, Inputs, Rows
from ...errors import ParameterError
from ...kernels import Kernel
from ...numerics.cholesky import beyond_identity, row_solver, solve_lower
from ...runtime import at_once, parts
from ...shards import Basis
from ...shards.projections import chunk_rows
from ..basis import make_basis

__all__ = ["Projection", "classes_by_kernel", "project"]

_MADE = 32  # bytes for a covariance while it is made


class Features:
    """V of all rows, and R once Q is known, in chunks: those that fit are kept, the others made whenever asked for.

    Parameters
    ----------
    kernel : Kernel
    X : inputs of all rows
    basis : Basis
    own : array
        Variances of the active rows: of a row with itself white noise counts.
    dtype : {"float32", "float64"}
    max_entries : int, optional
        Numbers to keep; all if None.
    """

    def __init__(
        self, kernel: Kernel, X: Inputs, basis: Basis, own: Floats, dtype: str, max_entries: int | None = None
    ) -> None:
        n, d = X.shape[0], len(basis.L)
        self.X, self.basis, self.own, self.dtype = X, basis, own, dtype
        self._block, self._solvers = kernel.on(basis.X), [row_solver(basis.L, dtype)]
        room = n * d if max_entries is None else max_entries
        step = n if n * d <= room and at_once(n * d, _MADE) == n * d else chunk_rows(n, d, np.dtype(dtype).itemsize)
        self._parts, self._room, self._kept = parts(n, max(step, 1)), room, dict[int, Floats]()

    def chunks(self) -> Iterator[tuple[slice, Floats]]:
        """Yield all rows in turn, with what is made of their covariances so far."""
        for at in self._parts:
            R = self._kept[at.start] if at.start in self._kept else self._make(at)
            if at.stop * R.shape[1] <= self._room:
                self._kept[at.start] = R
            yield at, R

    def _make(self, at: slice) -> Floats:
        V = np.require(self._block(self.X[at]), dtype=self.dtype, requirements=["C", "W"])
        here = np.flatnonzero((self.basis.rows >= at.start) & (self.basis.rows < at.stop))
        V[self.basis.rows[here] - at.start, here] = self.own[here]
        for solve in self._solvers:
            V = solve(V)
        return V

    def turn(self, Q: Floats) -> None:
        """Go on from V to R = V Q^-T."""
        self._solvers.append(row_solver(Q, self.dtype))
        for V in self._kept.values():
            self._solvers[-1](V)


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
    features : Features
        R, of shape (n, d), a chunk of rows at a time.
    Q : array of shape (d, d)
    variance_left : array of shape (n,)
        diag K - diag V V^T.
    weight : array of shape (n,)
        How many times each row counts, the diagonal of W.
    """

    kernel: Kernel
    classes: Rows
    basis: Basis
    features: "Features"
    Q: Floats
    variance_left: Floats
    weight: Floats

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        classes: Rows,
        X: Inputs,
        active: Rows,
        dtype: str,
        weight: Floats | None = None,
        max_entries: int | None = None,
    ) -> "Projection":
        """Project all rows; what does not fit into ``max_entries`` numbers is made anew whenever it is needed."""
        weight = np.ones(X.shape[0]) if weight is None else weight
        basis = make_basis(kernel, active, X[active], dtype)
        prior_var = np.asarray(kernel.diag(X), dtype=np.float64)
        features = Features(kernel, X, basis, prior_var[active], dtype, max_entries)
        explained, sums = np.empty(len(weight)), np.zeros((len(active), len(active)))
        for at, V in features.chunks():
            explained[at] = np.einsum("ij,ij->i", V, V)
            W = V * np.sqrt(weight[at]).astype(dtype)[:, None]
            sums += W.T @ W
        Q = beyond_identity(sums)
        features.turn(Q)
        return cls(kernel, classes, basis, features, Q, np.maximum(prior_var - explained, 0.0), weight)

    @property
    def R(self) -> Floats:
        """All of R."""
        return np.concatenate([R for _, R in self.features.chunks()])

    def times(self, z: Floats) -> Floats:
        """R z, in double precision."""
        found = np.empty((len(self.weight), z.shape[1]))
        for at, R in self.features.chunks():
            found[at] = R @ z.astype(R.dtype)
        return found

    def transposed_times(self, t: Floats) -> Floats:
        """R^T t, in double precision."""
        total = np.zeros((len(self.Q), t.shape[1]))
        for at, R in self.features.chunks():
            total += R.T @ t[at].astype(R.dtype)
        return total

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
