"""Active rows for the projected posterior itself: inference and choice in turn (Thesis algorithm 2, in blocks)."""

from collections.abc import Sequence

import numpy as np

from .._types import Floats, Inputs, Rows
from ..inference import infer, make_basis
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..shards import Cavity, Gains, Group, SiteShard, coupling_free_gain, together
from ..shards.gain import LEAST_LEFT, site_on_u
from .inclusion import stack

__all__ = ["choose_block"]

_FEW_SWEEPS = 3  # between two blocks; the sites are those of the last block to start with


def choose_block(
    shards: Sequence[SiteShard] | Group,
    kernel: Kernel,
    likelihood: Likelihood,
    active: Rows,
    barred: Rows,
    size: int,
    pool_size: int,
) -> tuple[Rows, Floats]:
    """Return the next rows to become active, best first, and their gains.

    The shards are projected onto the active rows and their sites are brought up to date by a few sweeps. The rows of
    the largest gain form a pool; as rows are chosen from it, what they leave of the others' variances follows exactly,
    while sites and projections stay as they are.

    Parameters
    ----------
    shards : sequence of SiteShard
        All rows.
    kernel, likelihood
        The model; the likelihood is that of all rows.
    active : array of int
    barred : array of int
        Rows that must not become active.
    size, pool_size : int
    """
    shards = together(shards)
    basis = make_basis(kernel, active, _inputs(shards, active), shards.map("traits")[0].dtype)
    shards.broadcast("project", basis)
    beliefs = infer(shards, max_sweeps=_FEW_SWEEPS).beliefs
    pool = _merge(shards.map("gains", beliefs, pool_size, barred), pool_size)
    return _in_pool(pool, kernel, likelihood.take(pool.rows), min(size, len(pool.rows)))


def _inputs(shards: Group, rows: Rows) -> Inputs:
    """Inputs of some rows, wherever they are."""
    which, inputs = zip(*shards.map("inputs", rows), strict=True)
    return stack(inputs)[np.argsort(np.concatenate(which))]


def _merge(offers: Sequence[Gains], size: int) -> Gains:
    """Return the best rows of all shards, best first, as each shard offers its own."""
    if len(offers) == 1:
        return offers[0]
    rows, X, y, features, cavity, *rest = zip(*offers, strict=True)
    merged = Gains(
        np.concatenate(rows), stack(X), np.concatenate(y), np.concatenate(features), np.concatenate(cavity, axis=1),
        *map(np.concatenate, rest),
    )  # fmt: skip
    return merged.take(np.argsort(-merged.gain, kind="stable")[:size])


def _in_pool(pool: Gains, kernel: Kernel, likelihood: Likelihood, size: int) -> tuple[Rows, Floats]:
    """Choose the best, take its share out of what is left of the others, and so on."""
    rest = np.asarray(kernel(pool.X) - pool.features @ pool.features.T, dtype=np.float64)
    here, left, chosen, gains = Cavity(*pool.cavity), pool.left, list[int](), list[float]()
    for _ in range(size):
        usable = left > LEAST_LEFT * pool.prior_var
        if not usable.any():
            break
        site = site_on_u(likelihood, pool.y, here, np.maximum(left, 0.0))
        gain = np.where(usable, coupling_free_gain(here, np.maximum(left, 1e-300), site), -np.inf)
        i = int(np.argmax(gain))
        chosen.append(i)
        gains.append(float(gain[i]))
        rest = rest - np.outer(rest[i], rest[i]) / rest[i, i]
        left = np.minimum(left, np.diagonal(rest))
        left[i] = 0.0
    return pool.rows[chosen], np.array(gains)
