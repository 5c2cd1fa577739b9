"""Parallel expectation propagation for one function: all sites are updated at once, sweep after sweep."""

from collections.abc import Sequence

import numpy as np

from .._types import Floats, Rows
from ..errors import NotPositiveDefinite
from ..numerics.cholesky import ROUNDING, factorise, solve_lower
from ..runtime import own_threads
from ..shards import Beliefs, Group, SiteShard, Sums, Swept, together
from .settle import CAREFUL, LOST, Inference, Sweep, Watch, settle
from .sites import Sites, log_evidence

__all__ = ["infer"]

_DEEP = 400  # active rows from which a quarter of them, then half of them, give sites to start from
_ROUGH, _FEW = 0.1, 8  # tolerance and most sweeps there


def infer(
    shards: Sequence[SiteShard] | Group,
    start: tuple[Rows, Floats, Floats] | None = None,
    tolerance: float = 1e-4,
    max_sweeps: int = 100,
    watch: Watch | None = None,
    rescue: bool = False,
    thorough: bool = True,
) -> Inference:
    """Run expectation propagation over all rows of the shards.

    A sweep costs two matrix products with V. Rows whose site stands still are passed over until the others stand still
    too; then all are visited again, and it ends when none of them moves by more than the tolerance.

    Parameters
    ----------
    shards : sequence of SiteShard, projected onto the active set
    start : rows, precisions and shifts, optional
        Sites to start from, as selection found them; None goes on from the sites that the shards have.
    tolerance : float
        Largest change of a site, in units of the posterior, that counts as none.
    max_sweeps : int
    watch : callable, optional; see Watch
    rescue : bool
        Whether to try again where sites lead nowhere, from nothing or without those of negative precision: so there is
        a posterior to use in any case. The gradient of the evidence does not know of it.
    thorough : bool
        Whether rows that are at rest are visited again in the end.
    """
    asked, shards = False, together(shards)

    def told(sweep: Sweep) -> bool:
        nonlocal asked
        asked = asked or (watch is not None and bool(watch(sweep)))
        return asked

    with own_threads():
        found = _infer(shards, start, tolerance, max_sweeps, told, thorough)
        lost = not (found.converged or found.sweeps[-1].change <= LOST)
        if asked or not (lost and rescue):
            exact = thorough and found.converged
            return found._replace(beliefs=_refined(shards, found.beliefs)) if exact else found
        again = settle(_OneFunction(shards, shards.reduce("begin_again")), tolerance, max_sweeps, told)
        return again._replace(sweeps=found.sweeps + again.sweeps)


def _infer(
    shards: Group,
    start: tuple[Rows, Floats, Floats] | None,
    tolerance: float,
    max_sweeps: int,
    watch: Watch | None,
    thorough: bool,
) -> Inference:
    first, traits = shards.reduce("start", *start) if start else shards.reduce("sums"), shards.map("traits")
    if all(t.conjugate for t in traits):
        beliefs = _beliefs(shards.reduce("exact"))
        return Inference(beliefs, log_evidence(shards, beliefs), True, [])
    d = len(first.shift)
    depths = [max(d // 4, 1), max(d // 2, 1)] if start and d >= _DEEP and all(t.whole for t in traits) else []
    for depth in depths:
        rough = settle(_OneFunction(shards, _look(shards, depth)), _ROUGH, _FEW, watch)
        if not rough.converged:
            max_sweeps = 1 if len(rough.sweeps) < _FEW else max_sweeps  # somebody asked for an end
    return settle(_OneFunction(shards, _look(shards, d) if depths else first), tolerance, max_sweeps, watch, thorough)


def _refined(shards: Group, beliefs: Beliefs) -> Beliefs:
    r"""Take the rounding of single precision out of the mean: what is left over is solved for once more.

    .. math:: m \leftarrow m + M^{-1} \Bigl(\sum_i (b_i - \pi_i V_i^T m) V_i - m\Bigr)
    """
    if not any(t.dtype == "float32" for t in shards.map("traits")):
        return beliefs
    mean = solve_lower(beliefs.Q, beliefs.beta, transposed=True)
    left = shards.reduce("forces", mean) - mean
    return beliefs._replace(beta=beliefs.beta + solve_lower(beliefs.Q, left))


def _look(shards: Group, depth: int) -> Sums:
    sums: Sums = shards.reduce("look", depth)
    return sums


class _OneFunction(Sites[Sums]):
    """Sites of one function, with the Gaussian posterior that they make of the prior."""

    def __init__(self, shards: Group, moving: Sums) -> None:
        super().__init__(shards, moving)
        self.shards = shards
        traits = shards.map("traits")
        self.damping = 1.0 if all(t.log_concave for t in traits) else 0.5
        self.most = CAREFUL if any(t.lapses for t in traits) else 1.0

    def _visit(self, damping: float, still: float, change: float) -> Swept[Sums]:
        swept: Swept[Sums] = self.shards.reduce("sweep", self.beliefs, damping, still, min(change, 1.0))
        return swept

    def _infer(self, sites: Sums) -> None:
        self.beliefs = _beliefs(sites)


def _beliefs(sites: Sums) -> Beliefs:
    r"""Posterior of v given sites (Thesis 4.4.2), whose sum is overwritten.

    .. math:: M = I + V \Pi V^T = Q Q^T, \qquad \beta = Q^{-1} V b
    """
    M, at = sites.precision, np.arange(len(sites.shift))
    M[at, at] += 1.0
    if not (np.all(np.isfinite(M)) and np.all(np.isfinite(sites.shift))):  # a Cholesky factorisation takes NaN as it is
        raise NotPositiveDefinite("the sites leave no posterior: they are not finite")
    message, scale = "the sites leave no posterior: their precisions are negative", np.max(np.diagonal(M), initial=1.0)
    Q, _ = factorise(M, message, ROUNDING, by=scale)
    return Beliefs(Q, solve_lower(Q, sites.shift))
