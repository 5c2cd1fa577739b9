"""Parallel expectation propagation for many classes: precisions by sweeps, means by Newton steps that couple them."""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cho_solve

from .._types import Floats
from ..errors import NotPositiveDefinite
from ..numerics.cholesky import ROUNDING, factorise
from ..runtime import own_threads
from ..shards import Beliefs, CoupledShard, solvers
from .class_by_class import infer_apart
from .ep import SHORTER, TRIES, Inference, Sweep, Watch, astray, next_damping

__all__ = ["infer_coupled"]

_STILL = 0.1  # a row rests until the next look at all rows when its site moves by less than this share of the tolerance
_NEAR = 0.5  # largest change from which on the classes are coupled; farther away that overshoots
_CG_STEPS, _CG_TOLERANCE = 40, 0.03  # of the linear solve of a Newton step


def infer_coupled(
    shards: Sequence[CoupledShard],
    tolerance: float = 1e-4,
    max_sweeps: int = 100,
    watch: Watch | None = None,
) -> Inference:
    r"""Run expectation propagation over all rows of the shards, from the sites they have.

    At a fixed point every force is the slope of its log Z, :math:`\alpha = g`, and every precision matches nu. Sites
    that are diagonal in the classes do not see that a shift of all classes changes no probability: updated one class at
    a time they would creep. So the forces move by the Newton step of all classes,

    .. math:: \Bigl(I + \sum_i V_i V_i^T \otimes P_i\Bigr) \Delta = \sum_i V_i \rho_i^T, \qquad
              \alpha_i \leftarrow \alpha_i + \rho_i - P_i \Delta V_i,

    where rho is what the forces lack while the mean stands still; solved by conjugate gradients with the posteriors of
    the classes as preconditioners. An iteration takes 1/d of the time of a sweep. Whatever P, this has the same fixed
    points. Classes that are independent are inferred one after the other; see ``infer_apart``.

    Parameters
    ----------
    shards : sequence of CoupledShard
        Already projected onto the active set.
    tolerance : float
        Largest change of a site, in units of the posterior, that counts as none.
    max_sweeps : int
    watch : callable, optional
        Told of every sweep; a true answer ends it.
    """
    with own_threads():
        if not any(shard.likelihood.couples for shard in shards):
            return infer_apart(shards, tolerance, max_sweeps, watch)
        return _settle(shards, tolerance, max_sweeps, watch)


def _settle(shards: Sequence[CoupledShard], tolerance: float, max_sweeps: int, watch: Watch | None) -> Inference:
    state = _State(shards)
    sweeps: list[Sweep] = []
    while len(sweeps) < max_sweeps:
        sweeps.append(state.sweep(_STILL * tolerance))
        everywhere, change = sweeps[-1].rows == state.n, sweeps[-1].change
        asked = watch is not None and bool(watch(sweeps[-1]))
        if asked or (change <= tolerance and everywhere):
            break
        state.accept(reopen=change <= tolerance)
    sweeps[-1] = state.end(sweeps[-1])
    beliefs = Beliefs(state.Q, np.einsum("cji,cj->ci", state.Q, state.mean))
    return Inference(beliefs, sweeps[-1].log_evidence, bool(everywhere and change <= tolerance), sweeps)


class _State:
    """Sites added up, the posterior they give, and how far to move the next time."""

    def __init__(self, shards: Sequence[CoupledShard]) -> None:
        self.shards, self.n = shards, sum(len(s.rows) for s in shards)
        self.moving = _total([s.sums() for s in shards])
        self.settled = np.zeros_like(self.moving)
        self.damping, self.change = 1.0, np.inf
        self.tries, self.strayed, self.evidence = 0, False, -np.inf
        self._open_all()
        self._posterior()

    def _open_all(self) -> None:
        for shard in self.shards:
            shard.open[:] = True

    def _posterior(self) -> None:
        """Factors and means of all classes from their sites."""
        self.Q = _factors(self.settled + self.moving)
        self.mean = self._covariance_times(_total([s.shift() for s in self.shards]))

    def sweep(self, still: float) -> Sweep:
        """Visit the open rows."""
        visited = sum(int(np.sum(shard.open)) for shard in self.shards)
        solve, pace = solvers(self.Q, self.shards[0].dtype), min(self.change, 1.0)
        self.tied = self.change < _NEAR
        found = [shard.sweep(self.mean, solve, self.damping, still, pace, self.tied) for shard in self.shards]
        self.used = damping = self.damping
        self.settled += _total([f.settled for f in found])
        self.moving = _total([f.open for f in found])
        change = max(f.steps.largest for f in found)
        self.strayed = self.tries < TRIES and astray(change, self.change)
        if self.strayed:
            return Sweep(self.evidence, change, damping, visited)
        self.tries, self.evidence = 0, self.log_evidence()
        self.damping = next_damping(damping, sum(f.steps.along for f in found), sum(f.steps.before for f in found))
        self.change = change
        return Sweep(self.evidence, change, damping, visited)

    def log_evidence(self) -> float:
        r"""EP approximation to log P(y): :math:`\sum_i \log s_i + \tfrac12 \sum_c (m_c^T M_c m_c - \log|M_c|)`."""
        quadratic = np.einsum("cji,cj->ci", self.Q, self.mean)
        log_det = 2.0 * np.sum(np.log(np.diagonal(self.Q, axis1=1, axis2=2)))
        return float(0.5 * (np.sum(quadratic**2) - log_det) + sum(np.sum(shard.log_site) for shard in self.shards))

    def accept(self, reopen: bool) -> None:
        """Take over the new sites, or a share of the last step where it led astray; visit all rows again if asked."""
        if self.strayed:
            self._retreat()
            return
        if self.tied:
            change = self._newton()
            for shard in self.shards:
                shard.couple(change, self.used)
        try:
            self._posterior()
        except NotPositiveDefinite:
            self._shorten(SHORTER)
        if reopen:
            self.settled = np.zeros_like(self.settled)
            self._open_all()

    def _retreat(self) -> None:
        for shard in self.shards:
            shard.undo()
        self._shorten(SHORTER)

    def _shorten(self, share: float) -> None:
        """Take a share of the last step only."""
        self.tries, self.damping, self.strayed = self.tries + 1, share * self.damping, False
        self.settled, self.moving = np.zeros_like(self.settled), _total([s.shorten(share) for s in self.shards])
        self._open_all()
        self._posterior()

    def end(self, last: Sweep) -> Sweep:
        """Go back to the last sites whose posterior is known to be good, if the last sweep strayed from them."""
        if self.strayed:
            for shard in self.shards:
                shard.undo()
            self._shorten(0.0)
            return last._replace(change=self.change)
        return last

    def _newton(self) -> Floats:
        """Solve for the change of the means by preconditioned conjugate gradients."""
        residual = _total([shard.missing() for shard in self.shards])
        x = np.zeros_like(residual)
        solved = self._covariance_times(residual)
        direction, rho = solved, float(np.vdot(residual, solved))
        first = rho
        most = 3 if not all(shard.whole for shard in self.shards) else _CG_STEPS
        for _ in range(most if first > 0.0 else 0):
            image = direction + _total([shard.response(direction) for shard in self.shards])
            step = rho / np.vdot(direction, image)
            x, residual = x + step * direction, residual - step * image
            solved = self._covariance_times(residual)
            rho, before = float(np.vdot(residual, solved)), rho
            if rho < _CG_TOLERANCE**2 * first:
                break
            direction = solved + rho / before * direction
        return x

    def _covariance_times(self, residual: Floats) -> Floats:
        """Covariance of v in every class, times a vector for each."""
        pairs = zip(self.Q, residual, strict=True)
        return np.stack([cho_solve((Q, True), r, check_finite=False) for Q, r in pairs])


def _total(parts: Sequence[Floats]) -> Floats:
    return np.sum(parts, axis=0)


def _factors(sums: Floats) -> Floats:
    """Cholesky factors of I + V Pi V^T for every class, made in the place of the sums."""
    if not np.all(np.isfinite(sums)):  # a Cholesky factorisation takes NaN as it is
        raise NotPositiveDefinite("the sites leave no posterior: they are not finite")
    at, largest = np.arange(sums.shape[1]), float(np.max(sums, initial=1.0))
    sums[:, at, at] += 1.0
    return factorise(sums, "the sites leave no posterior: their precisions are negative", ROUNDING, by=largest).L
