"""Rows left out together: the images of a row, or a group that the user has named, which are at other inputs."""

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np

from .._types import Floats, Inputs, Rows
from ..kernels import Kernel
from ..numerics.cholesky import solve_lower
from ..shards import Basis, Beliefs

__all__ = ["Seen", "leave_out_together", "through"]

_NUMBERS = 1 << 22  # of projections at a time
_LEAST = 1e-12  # of a posterior precision, relative, that is not that of the rows left out


class Seen(NamedTuple):
    """Some rows as the active ones see them."""

    V: Floats  # projections, (n, d)
    left: Floats  # variances that the active rows leave


Look: TypeAlias = Callable[[Rows], Seen]
"""Returns how rows are seen, by their positions."""


def through(kernel: Kernel, rows: Rows, X: Inputs, basis: Basis) -> Look:
    r"""Return how rows are seen through the active ones, :math:`V = K L^{-T}`, in double precision.

    Parameters
    ----------
    kernel : Kernel
    rows, X : numbers of the rows, and their inputs
    basis : Basis
        The active ones; of a row with itself white noise counts.
    """
    active = kernel.in_double(basis.X)

    def look(at: Rows) -> Seen:
        some = kernel.in_double(X[at])
        K, prior = (np.array(part, dtype=np.float64) for part in (kernel(some, active), kernel.diag(some)))
        _, here, which = np.intersect1d(rows[at], basis.rows, assume_unique=True, return_indices=True)
        K[here, which] = prior[here]
        V = solve_lower(basis.L, K.T).T
        return Seen(V, np.maximum(prior - np.einsum("ij,ij->i", V, V), 0.0))

    return look


def leave_out_together(look: Look, beliefs: Beliefs, sites: tuple[Floats, Floats], kin: Rows) -> Floats:
    r"""Means and variances of latent values without the sites of all rows that are kin, shape (2, n) or (2, n, C).

    With the projections :math:`\gamma_G = V_G v` of some rows, and their sites :math:`\Pi_G, b_G`, which stay as they
    are, taken out of the posterior of v,

    .. math:: C = V_G Q^{-T}, \qquad A = I - C^T \Pi_G C, \qquad
              \mu_{\setminus G} = C A^{-1} (\beta - C^T b_G), \qquad S_{\setminus G} = C A^{-1} C^T

    and the variance that the active rows leave is added to the diagonal. For no more rows than there are active ones
    the same from their own covariances, :math:`S = C C^T`, :math:`r = C \beta - S b_G`:

    .. math:: B = I - \Pi_G^{1/2} S \Pi_G^{1/2}, \qquad
              \mu_{\setminus G} = r + S \Pi_G^{1/2} B^{-1} \Pi_G^{1/2} r, \qquad
              S_{\setminus G} = S + S \Pi_G^{1/2} B^{-1} \Pi_G^{1/2} S.

    So a group of m rows takes the time of m d^2 and the cube of the smaller of m and d.

    Parameters
    ----------
    look : callable
        How rows are seen, see ``through``.
    beliefs : Beliefs
        Factor and mean of the posterior of v, or those of every class.
    sites : precisions and shifts, each of shape (n,) or (n, C)
    kin : array of int, shape (n,)
        The same number for rows that are left out together.
    """
    shape = sites[0].shape
    Q, beta = beliefs.Q.reshape(-1, *beliefs.Q.shape[-2:]), beliefs.beta.reshape(-1, beliefs.beta.shape[-1])
    precision, b = (np.reshape(part, (len(kin), len(Q))) for part in sites)
    found = np.empty((2, *precision.shape))
    d = Q.shape[-1]
    for group in _of_one_size(kin, max(d, 1)):
        if group.shape[1] <= d:
            V, left = look(group.ravel())
            for c in range(len(Q)):
                C = solve_lower(Q[c], V.T).T.reshape(*group.shape, -1)
                own = _few(C, beta[c], precision[group, c], b[group, c])
                found[:, group, c] = own + np.stack([np.zeros(group.shape), left.reshape(group.shape)])
        else:
            _many(look, Beliefs(Q, beta), precision, b, group[0], found)
    return found.reshape(2, *shape)


def _of_one_size(kin: Rows, d: int) -> Iterator[Rows]:
    """Yield groups of the same size, one in each row, as many as are looked at together."""
    order = np.argsort(kin, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(kin[order]) != 0)) if len(kin) else np.empty(0, dtype=np.intp)
    sizes = np.diff(np.append(starts, len(order)))
    for size in np.unique(sizes):
        groups = order[starts[sizes == size][:, None] + np.arange(size)]
        step = 1 if size > d else max(1, _NUMBERS // (int(size) * d))
        yield from (groups[k : k + step] for k in range(0, len(groups), step))


def _few(C: Floats, beta: Floats, precision: Floats, b: Floats) -> Floats:
    """Return means and variances of groups of few rows; C has the shape (groups, rows, d)."""
    if precision.min(initial=0.0) >= 0.0:
        S, root = C @ C.transpose(0, 2, 1), np.sqrt(precision)
        r = C @ beta - np.einsum("gij,gj->gi", S, b)
        B = np.eye(S.shape[1]) - root[:, :, None] * S * root[:, None, :]
        try:
            R = np.linalg.cholesky(B)
        except np.linalg.LinAlgError:
            pass
        else:
            right = np.concatenate([root[:, :, None] * S, (root * r)[:, :, None]], axis=2)
            H = np.linalg.solve(R, right)
            mean = r + np.einsum("gki,gk->gi", H[:, :, :-1], H[:, :, -1])
            return np.stack([mean, np.einsum("gii->gi", S) + np.einsum("gki,gki->gi", H[:, :, :-1], H[:, :, :-1])])
    return np.stack([_rest(*one, beta)(one[0]) for one in zip(C, precision, b, strict=True)], axis=1)


def _many(look: Look, beliefs: Beliefs, precision: Floats, b: Floats, group: Rows, found: Floats) -> None:
    """Find means and variances of one group of more rows than there are active ones."""
    C, d = len(beliefs.Q), beliefs.Q.shape[-1]
    step = max(1, _NUMBERS // d)
    parts = [group[k : k + step] for k in range(0, len(group), step)]
    taken, shift = np.zeros((C, d, d)), np.zeros((C, d))
    for at in parts:
        V = look(at).V
        for c in range(C):
            W = solve_lower(beliefs.Q[c], V.T).T
            taken[c] += (W.T * precision[at, c]) @ W
            shift[c] += b[at, c] @ W
    rest = [_without(taken[c], beliefs.beta[c] - shift[c]) for c in range(C)]
    for at in parts:
        V, left = look(at)
        for c in range(C):
            found[:, at, c] = rest[c](solve_lower(beliefs.Q[c], V.T).T)
            found[1, at, c] += left


def _rest(C: Floats, precision: Floats, b: Floats, beta: Floats) -> Callable[[Floats], Floats]:
    return _without((C.T * precision) @ C, beta - b @ C)


def _without(taken: Floats, shift: Floats) -> Callable[[Floats], Floats]:
    """Return what is said of rows, by their C, when that much is taken out of the precision one; something is left."""
    A = np.eye(len(shift)) - taken
    try:
        R = np.linalg.cholesky(A)
    except np.linalg.LinAlgError:  # sites of negative precision, or rounding
        values, vectors = np.linalg.eigh(A)
        R = np.linalg.cholesky((vectors * np.maximum(values, _LEAST)) @ vectors.T + _LEAST * np.eye(len(A)))
    inner = solve_lower(R, shift)

    def say(C: Floats) -> Floats:
        H = solve_lower(R, C.T)
        return np.stack([inner @ H, np.einsum("ij,ij->j", H, H)])

    return say
