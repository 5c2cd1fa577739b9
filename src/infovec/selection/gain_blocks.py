"""Active rows for the projected posterior itself: inference and choice in turn (Thesis algorithm 2, in blocks)."""

import numpy as np

from .._types import Floats, Mask, Rows
from ..inference import infer, make_basis
from ..likelihoods import Site
from ..numerics.cholesky import row_solver
from ..shards import Beliefs, ProjectedShard
from ..shards.projected import Cavity
from .gain import coupling_free_gain

__all__ = ["choose_block"]

_FEW_SWEEPS = 3  # between two blocks; the sites are those of the last block to start with
_LEAST_LEFT = 1e-6  # share of its prior variance that an active row must add


def choose_block(shard: ProjectedShard, active: Rows, barred: Mask, size: int, pool_size: int) -> tuple[Rows, Floats]:
    """Return the next rows to become active, best first, and their gains.

    The shard is projected onto the active rows and its sites are brought up to date by a few sweeps. The rows of the
    largest gain form a pool; as rows are chosen from it, what they leave of the others' variances follows exactly,
    while sites and projections stay as they are.

    Parameters
    ----------
    shard : ProjectedShard
        All rows; row numbers are positions.
    active : array of int
    barred : array of bool
        Rows that must not become active.
    size, pool_size : int
    """
    basis = make_basis(shard.kernel, active, shard.X[active], shard.dtype)
    shard.project(basis)
    beliefs = infer([shard], max_sweeps=_FEW_SWEEPS).beliefs
    cavity, site = _all_cavities(shard, beliefs)
    left = shard.variance_left.copy()
    open_ = ~barred & (left > _LEAST_LEFT * shard.prior_var)
    open_[active] = False
    gain = np.where(open_, coupling_free_gain(cavity, np.maximum(left, 1e-300), site), -np.inf)
    pool = np.argsort(-gain, kind="stable")[:pool_size]
    pool = pool[np.isfinite(gain[pool])]
    return _in_pool(shard, pool, cavity, left[pool], min(size, len(pool)))


def _all_cavities(shard: ProjectedShard, beliefs: Beliefs) -> tuple[Cavity, Site]:
    """Cavities of all rows, and the sites they would have on u itself."""
    solve = row_solver(beliefs.Q, shard.dtype)
    parts = []
    for chunk in shard.chunks:
        at = np.arange(chunk.start, chunk.stop)
        parts.append(shard.cavity(at, solve(shard.features(chunk).copy()), beliefs.beta))
    cavity = Cavity(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    return cavity, _site_on_u(shard, np.arange(len(shard.y)), cavity, shard.variance_left)


def _site_on_u(shard: ProjectedShard, at: Rows, cavity: Cavity, left: Floats) -> Site:
    likelihood, y, var = shard.likelihood.take(at), shard.y[at], cavity.cavity_var + left
    return likelihood.site(y, cavity.cavity_mean, var, likelihood.tilted(y, cavity.cavity_mean, var))


def _in_pool(shard: ProjectedShard, pool: Rows, cavity: Cavity, left: Floats, size: int) -> tuple[Rows, Floats]:
    """Choose the best, take its share out of what is left of the others, and so on."""
    V = shard.features_of(pool)
    X = shard.X[pool]
    rest = np.asarray(shard.kernel(X) - V @ V.T, dtype=np.float64)
    here = Cavity(*(column[pool] for column in cavity))
    prior, chosen, gains = shard.prior_var[pool], [], []
    for _ in range(size):
        usable = left > _LEAST_LEFT * prior
        if not usable.any():
            break
        site = _site_on_u(shard, pool, here, np.maximum(left, 0.0))
        gain = np.where(usable, coupling_free_gain(here, np.maximum(left, 1e-300), site), -np.inf)
        i = int(np.argmax(gain))
        chosen.append(i)
        gains.append(float(gain[i]))
        rest = rest - np.outer(rest[i], rest[i]) / rest[i, i]
        left = np.minimum(left, np.diagonal(rest))
        left[i] = 0.0
    return pool[chosen], np.array(gains)
