"""Rows of the training set as the active set sees them: projections, and what they leave of the variance."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from scipy.sparse import issparse

from .._types import Floats, Inputs, Rows
from ..kernels import Kernel
from ..numerics.cholesky import row_solver
from ..runtime import at_once, for_each, n_threads, parts
from .messages import Basis

__all__ = ["SITE_BYTES", "Projections", "chunk_rows"]

_CHUNK_ENTRIES = 2**20  # numbers of V in a chunk: it stays near the cache, and memory stays bounded
_CHUNK_INPUTS = 2**19  # numbers of the inputs that are copied at once
_ALIKE = 1e-3  # share of its variance that an active row has for itself, below which it nearly repeats others
_WHOLE = 2**18  # numbers of V that are too few to divide among threads
_BUFFERS = 3  # of the size of a chunk for each thread: two that it works in, and V where it is not kept
SITE_BYTES = 640  # for each row of a chunk while its site moves: cavity, moments, steps, of several classes perhaps
_FEWEST = 128  # rows in a chunk where memory is scarce: adding up d x d sums then takes much of the time
_MADE = 32  # bytes for a covariance while it is made, or passed on to the parameters of a kernel, in double precision


def chunk_rows(n: int, d: int, itemsize: int = 4) -> int:
    """Rows in a chunk: twice as many as are active at least, so that adding up d x d sums takes little of the time.

    Where memory is scarce there are fewer.
    """
    most = max(_CHUNK_ENTRIES // max(d, 1), 2 * d, 256)
    most = at_once(most, n_threads() * (_BUFFERS * d * itemsize + SITE_BYTES), _FEWEST)
    return max(1, min(most, n if n * d <= _WHOLE else -(-n // 2)))


class Projections:
    r"""Some rows of the training set, projected onto the active set (Thesis 4.4.2).

    .. math:: V = L^{-1} K_{I,\cdot}, \qquad \gamma_i = V_i^T v, \qquad u_i \mid v \sim N(\gamma_i, l_i^2), \qquad
              l_i^2 = k_{ii} - |V_i|^2

    Parameters
    ----------
    rows : array of int
        Numbers of these rows in the training set, ascending.
    X : inputs of these rows
    kernel : Kernel
    dtype : {"float32", "float64"}
        Precision of V and of products with it; sums are in double precision.
    blur : bool
        Whether a site knows the variance l^2 that is left when the active set is known (the blurred sites of the
        Thesis; with Gaussian noise FITC), or not (the KL-optimal projection; with Gaussian noise DTC).
    max_entries : int, optional
        Numbers of V to keep; what does not fit is made anew in every sweep.
    """

    def __init__(
        self, rows: Rows, X: Inputs, kernel: Kernel, dtype: str, blur: bool = True, max_entries: int | None = None
    ) -> None:
        self.rows, self.X, self.kernel, self.dtype, self.blur = rows, X, kernel, dtype, blur
        self.max_entries = max_entries
        self.prior_var = self.diagonal()
        self.open = np.ones(len(rows), dtype=bool)
        self.chunks: list[slice] = []
        self._kept: dict[int, Floats] = {}

    def diagonal(self) -> Floats:
        """Variances of the function at the rows before anything is known."""
        whole = self.X if isinstance(self.X, np.ndarray) or issparse(self.X) else self.X[:]
        return np.asarray(self.kernel.diag(whole), dtype=np.float64)

    def project(self, basis: Basis) -> None:
        """Take a new active set: make V, or as much of it as may be kept, and the blur."""
        n, d = len(self.rows), len(basis.L)
        self.chunks = parts(n, chunk_rows(n, d, np.dtype(self.dtype).itemsize))
        self._basis = basis
        room = n * d if self.max_entries is None else self.max_entries
        self._made_in = "float64" if basis.fine and self._keeps_all(room) else self._precision_of(basis)
        inputs = basis.X.astype(self._made_in) if self.kernel.numeric else basis.X
        self._block, self._solve, self._kept = self.kernel.on(inputs), row_solver(basis.L, self._made_in), {}
        self.variance_left = np.empty(n)
        fitting = [chunk for chunk in self.chunks if chunk.stop * d <= room]
        kept = np.empty(
            (fitting[-1].stop if fitting else 0, d), dtype=self.dtype
        )  # in one piece: no gaps between chunks
        keep = {chunk.start: kept[chunk] for chunk in fitting}

        def make(chunk: slice) -> None:
            V = self._make(chunk)
            explained = np.einsum("ij,ij->i", V, V)
            self.variance_left[chunk] = np.maximum(self.prior_var[chunk] - explained, 0.0)
            if chunk.start in keep:
                keep[chunk.start][:] = V

        for_each(make, self.chunks)
        self._kept = keep
        self._spare: list[Floats] = []
        self.depth = d

    def _precision_of(self, basis: Basis) -> str:
        """Precision in which V is made: where active rows nearly repeat each other, L^-1 makes much of rounding."""
        pivots = np.diagonal(basis.L) ** 2 / np.maximum(np.sum(basis.L**2, axis=1), 1e-300)
        return "float64" if np.min(pivots, initial=1.0) < _ALIKE else self.dtype

    def _keeps_all(self, room: int) -> bool:
        """Whether V is made once, given how many numbers of it may be kept."""
        return len(self.rows) * len(self._basis.L) <= room

    def open_all(self) -> None:
        """Let the next sweep visit all rows."""
        self.open[:] = True

    def n_open(self) -> int:
        """Return how many rows the next sweep visits."""
        return int(np.sum(self.open))

    @property
    def basis(self) -> Basis:
        """The active set."""
        return self._basis

    @property
    def whole(self) -> bool:
        """Whether all of V is kept."""
        return len(self._kept) == len(self.chunks)

    @contextmanager
    def _work(self) -> Iterator[Floats]:
        """Lend two buffers of the size of a chunk to a thread."""
        shape = 2, len(range(len(self.rows))[self.chunks[0]]), self.depth
        buffers = self._spare.pop() if self._spare else np.empty(0, dtype=self.dtype)
        if buffers.shape != shape:
            buffers = np.empty(shape, dtype=self.dtype)
        yield buffers
        self._spare.append(buffers)

    def _make(self, chunk: slice) -> Floats:
        """V of some rows, transposed: one row of it for each row."""
        K = self._covariances(chunk)
        here, which = self.own(chunk)
        if len(here):
            K[here, which] = self.prior_var[chunk][here]  # a row with itself: white noise counts
        return self._solve(K).astype(self.dtype, copy=False)

    def pieces(self, chunk: slice) -> list[slice]:
        """Parts of a chunk whose inputs may be copied: a chunk has few columns of V, but perhaps many inputs."""
        p = self.X.shape[1] if self.X.ndim == 2 else 1
        most = max(_CHUNK_INPUTS // p, 256)
        return parts(len(self.rows[chunk]), at_once(most, n_threads() * _MADE * max(len(self._basis.L), p), _FEWEST))

    def _covariances(self, chunk: slice) -> Floats:
        """K of some rows with the active ones."""
        X, pieces = self.X[chunk], self.pieces(chunk)
        made_in = self._made_in
        if made_in != self.dtype and self.kernel.numeric:
            X = X.astype(made_in)
        if len(pieces) == 1:
            return np.require(self._block(X), dtype=made_in, requirements=["C", "W"])
        K = np.empty((len(self.rows[chunk]), len(self._basis.L)), dtype=made_in)
        for piece in pieces:
            K[piece] = self._block(X[piece])
        return K

    def own(self, chunk: slice) -> tuple[Rows, Rows]:
        """Positions in the chunk of rows that are active, and their positions in the active set."""
        _, here, which = np.intersect1d(self.rows[chunk], self._basis.rows, assume_unique=True, return_indices=True)
        return here, which

    def features(self, chunk: slice) -> Floats:
        """V of a chunk, transposed."""
        V = self._kept[chunk.start] if chunk.start in self._kept else self._make(chunk)
        return V[:, : self.depth]

    def features_of(self, at: Rows) -> Floats:
        """V of some rows, by their positions, transposed."""
        V = np.empty((len(at), self.depth), dtype=self.dtype)
        for chunk in self.chunks:
            here = (at >= chunk.start) & (at < chunk.stop)
            if here.any():
                V[here] = self.features(chunk)[at[here] - chunk.start]
        return V

    @property
    def blur_var(self) -> Floats:
        """Variance by which each site is blurred."""
        return self.variance_left if self.blur else np.zeros(len(self.rows))
