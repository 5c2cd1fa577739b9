"""Rows as functions with one kernel and one active set see them."""

from collections.abc import Mapping

import numpy as np

from .._types import Floats, Inputs, Rows
from ..errors import NotPositiveDefinite, ParameterError
from ..kernels import Block, Kernel
from ..runtime import at_once, for_each, n_threads, parts
from .messages import Inclusions

__all__ = ["CHUNK", "FEWEST", "Stubs", "absorbed_at_once"]

# per precision of the stubs: share of the prior variance that is rounding, and that betrays an indefinite kernel
_ROUNDING: Mapping[str, float] = {"float32": 1e-5, "float64": 1e-13}
_INDEFINITE: Mapping[str, float] = {"float32": 1e-2, "float64": 1e-6}
_FEW = 4  # rows in a block below which starting threads costs more than they gain
_GATHERED = 2**18  # numbers of the stub matrix copied at once
_CHUNK_NUMBERS = 2**22  # numbers of the inputs in such a chunk: while it is prepared there are several copies
CHUNK = 16384  # rows whose kernel block is formed at once: it stays in cache, and memory stays bounded
FEWEST = 256  # rows in a chunk where memory is scarce
_BLOCK = 128  # inclusions that it is made for: the largest block, unless somebody asks for more


def absorbed_at_once(n: int, itemsize: int) -> int:
    """Rows whose stubs a thread makes at once: kernel, product and their sum for a block of inclusions."""
    return max(1, at_once(min(n, CHUNK), 3 * n_threads() * _BLOCK * itemsize, FEWEST))


class Stubs:
    r"""Stubs and marginals of some rows, for one function or for several whose sites have the same precisions.

    .. math:: M = L^{-1} \Pi_I^{1/2} K_{I,\cdot}, \qquad h_f = M^T \beta_f, \qquad
              a = \mathrm{diag}(K) - \mathrm{diag}(M^T M)

    (SLH C.1, GR06 5.1-5.4).

    Parameters
    ----------
    rows : array of int
        Numbers of these rows in the training set, ascending.
    X : inputs of these rows, in the precision of the stubs
    kernel : Kernel
    capacity : int
        How many inclusions to make room for; more room is made when they do not suffice.
    n_functions : int, optional
        Means have shape (n, n_functions); (n,) if None.
    max_entries : int, optional
        Cap on the numbers that room is made for at first.
    """

    def __init__(
        self,
        rows: Rows,
        X: Inputs,
        kernel: Kernel,
        capacity: int,
        dtype: str,
        n_functions: int | None = None,
        max_entries: int | None = None,
    ) -> None:
        n, entries = len(rows), capacity * len(rows)
        self.rows, self.X, self.kernel, self.size, self.dtype = rows, X, kernel, 0, np.dtype(dtype)
        self._columns = X.shape[1] if X.ndim == 2 else 1
        self.prior_var = np.asarray(kernel.diag(X), dtype=np.float64)
        self.mean = np.zeros(n if n_functions is None else (n, n_functions))
        self.var = self.prior_var.copy()
        self._buffer = np.empty(min(entries, max_entries or entries), dtype=self.dtype)
        self.bind()
        self._check_definite()

    def bind(self) -> None:
        """Prepare the kernel on chunks of the rows."""
        n = len(self.rows)
        half = -(-n // 2)  # two chunks at least, so that two threads have work
        step = min(CHUNK, max(2048, min(half, _CHUNK_NUMBERS // self._columns)))
        step = min(step, absorbed_at_once(n, self.dtype.itemsize))
        self._blocks = [(chunk, self.kernel.on(self.X[chunk])) for chunk in parts(n, step)]

    def _stubs(self, size: int) -> Floats:
        n = len(self.rows)
        return self._buffer[: size * n].reshape(size, n)

    @property
    def M(self) -> Floats:
        """The stub matrix, (number of included rows, number of rows here)."""
        return self._stubs(self.size)

    @property
    def min_var(self) -> float:
        """Share of the prior variance below which a variance is rounding."""
        return _ROUNDING[self.dtype.name]

    def gather(self, at: Rows) -> Floats:
        """Stubs of some rows, by their positions, a share of them on every thread."""
        stubs = np.empty((self.size, len(at)), dtype=self.dtype)

        def copy(part: slice) -> None:
            self.M[part].take(at, axis=1, out=stubs[part], mode="clip")

        for_each(copy, parts(self.size, max(1, _GATHERED // max(len(at), 1))))
        return stubs

    def absorb(self, block: Inclusions) -> None:
        r"""Append the stubs of newly included rows and update all marginals (NIPS03 eq. 3, for a block).

        .. math:: M_B = L_{BB}^{-1} (\Pi_B^{1/2} K_{B,\cdot} - L_{BI} M_I)
        """
        t, end = self.size, self.size + len(block.rows)
        self._make_room(end)
        here = np.flatnonzero(np.isin(self.rows, block.rows))
        which = np.argsort(block.rows)[np.searchsorted(np.sort(block.rows), self.rows[here])]
        inverse = np.linalg.inv(block.L_corner)
        both = np.hstack([-inverse @ block.L_left, inverse * block.root_precision]).astype(self.dtype)
        beta = block.beta.T.astype(self.dtype)
        M = self._stubs(end)

        def absorb(part: tuple[slice, Block]) -> None:
            chunk, kernel = part
            own = (here >= chunk.start) & (here < chunk.stop)
            M[t:end, chunk] = kernel(block.X)
            M[t + which[own], here[own]] = self.prior_var[here[own]]  # a row with itself: white noise counts
            new = both @ M[:end, chunk]  # one product for both terms
            M[t:end, chunk] = new
            self.mean[chunk] += (beta @ new).T
            self.var[chunk] -= np.einsum("ij,ij->j", new, new)

        if len(block.rows) < _FEW:
            for part in self._blocks:
                absorb(part)
        else:
            for_each(absorb, self._blocks)
        self.size = end
        self._check_definite()

    def _make_room(self, size: int) -> None:
        n = len(self.rows)
        if size * n > len(self._buffer):
            larger = np.empty(max(size, self.size + self.size // 4) * n, dtype=self.dtype)
            larger[: self.size * n] = self._buffer[: self.size * n]
            self._buffer = larger

    def _check_definite(self) -> None:
        if not np.all(np.isfinite(self.var)):
            raise ParameterError(
                f"the kernel is not finite: row {self.rows[np.argmin(np.isfinite(self.var))]} has variance nan or inf. "
                "Check the kernel function or matrix for NaN and overflow; rescale inputs or targets that are huge"
            )
        at = int(np.argmin(self.var / np.maximum(np.abs(self.prior_var), 1e-300))) if len(self.var) else 0
        if len(self.var) and self.var[at] < -_INDEFINITE[self.dtype.name] * np.abs(self.prior_var[at]):
            single = self.dtype == np.float32
            raise NotPositiveDefinite(
                f"the kernel is not positive definite{' in single precision' if single else ''}: after {self.size} "
                f"inclusions row {self.rows[at]} has variance {self.var[at]:.3g}. "
                + ("Use dtype='float64'. If that fails too, check" if single else "Check")
                + " the kernel function or matrix on the rows included so far and this one, or add White(...) to it"
            )
        np.maximum(self.var, 0.0, out=self.var)
