"""Parallel expectation propagation for many classes: precisions by sweeps, means by Newton steps that couple them."""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cho_solve

from .._types import Floats
from ..errors import NotPositiveDefinite
from ..numerics.cholesky import ROUNDING, factorise
from ..runtime import own_threads
from ..shards import Beliefs, ClassShard, Group, Swept, together
from .settle import CAREFUL, Inference, Watch, settle
from .sites import Sites

__all__ = ["infer_coupled"]

_NEAR = 0.5  # largest change from which on the classes are coupled; farther away that overshoots
_FIRST = 0.7  # damping of the first sweep from nothing: alone, every class would go as far as all of them should
_CG_STEPS, _CG_TOLERANCE = 40, 0.03  # of the linear solve of a Newton step


def infer_coupled(
    shards: Sequence[ClassShard] | Group, tolerance: float = 1e-4, max_sweeps: int = 100, watch: Watch | None = None
) -> Inference:
    r"""Run expectation propagation over all rows of the shards, from the sites they have.

    At a fixed point every force is the slope of its log Z, :math:`\alpha = g`, and every precision matches nu. Sites
    that are diagonal in the classes do not see that a shift of all classes changes no probability: updated one class at
    a time they would creep. So the forces move by the Newton step of all classes,

    .. math:: \Bigl(I + \sum_i V_i V_i^T \otimes P_i\Bigr) \Delta = \sum_i V_i \rho_i^T, \qquad
              \alpha_i \leftarrow \alpha_i + \rho_i - P_i \Delta V_i,

    where rho is what the forces lack while the mean stands still; solved by conjugate gradients with the posteriors of
    the classes as preconditioners. An iteration takes 1/d of the time of a sweep. Whatever P, this has the same fixed
    points.

    Parameters
    ----------
    shards : sequence of ClassShard
        Already projected onto the active set.
    tolerance : float
        Largest change of a site, in units of the posterior, that counts as none.
    max_sweeps : int
    watch : callable, optional
        Told of every sweep; a true answer ends it.
    """
    with own_threads():
        return settle(_Coupled(together(shards)), tolerance, max_sweeps, watch)


class _Coupled(Sites[Floats]):
    """Sites of all classes, with a posterior for each.

    Near the end the classes move together, farther away each moves alone. A site has farther to go in one of these ways
    than in the other, and they may take turns for a while, so the changes of two sweeps in turn do not compare.
    """

    steady = False

    def __init__(self, shards: Group) -> None:
        super().__init__(shards, shards.reduce("sums"))
        self.damping = 1.0 if np.any(self.moving) else _FIRST
        if any(t.lapses for t in shards.map("traits")):
            self.damping = self.most = CAREFUL
        self.shards, self.tied, self.used = shards, False, self.damping

    def _visit(self, damping: float, still: float, change: float) -> Swept[Floats]:
        self.tied, self.used = change < _NEAR, damping
        Q, pace = self.beliefs.Q, min(change, 1.0)
        swept: Swept[Floats] = self.shards.reduce("sweep", self.mean, Q, damping, still, pace, self.tied)
        return swept

    def accept(self) -> None:
        """Take over the sites that the last sweep found, with the Newton step that couples the classes."""
        if self.tied:
            change = self._newton()
            self.shards.broadcast("couple", change, self.used)
        super().accept()

    def _infer(self, sites: Floats) -> None:
        shift = self.shards.reduce("shift")
        if not np.all(np.isfinite(shift)):
            raise NotPositiveDefinite("the sites leave no posterior: they are not finite")
        Q = _factors(sites)
        self.mean = _covariance_times(Q, shift)
        self.beliefs = Beliefs(Q, np.einsum("cji,cj->ci", Q, self.mean))

    def _newton(self) -> Floats:
        """Solve for the change of the means by preconditioned conjugate gradients."""
        residual = self.shards.reduce("missing")
        x = np.zeros_like(residual)
        solved = _covariance_times(self.beliefs.Q, residual)
        direction, rho = solved, float(np.vdot(residual, solved))
        first = rho
        most = 3 if not all(t.whole for t in self.shards.map("traits")) else _CG_STEPS
        for _ in range(most if first > 0.0 else 0):
            image = direction + self.shards.reduce("response", direction)
            step = rho / np.vdot(direction, image)
            x, residual = x + step * direction, residual - step * image
            solved = _covariance_times(self.beliefs.Q, residual)
            rho, before = float(np.vdot(residual, solved)), rho
            if rho < _CG_TOLERANCE**2 * first:
                break
            direction = solved + rho / before * direction
        return x


def _covariance_times(factors: Floats, vectors: Floats) -> Floats:
    """Covariance of v in every class, times a vector for each."""
    if not vectors.size:  # no active rows yet: SciPy before 1.14 does not solve for nothing
        return vectors
    pairs = zip(factors, vectors, strict=True)
    return np.stack([cho_solve((Q, True), r, check_finite=False) for Q, r in pairs])


def _factors(sums: Floats) -> Floats:
    """Cholesky factors of I + V Pi V^T for every class, made in the place of the sums."""
    if not np.all(np.isfinite(sums)):  # a Cholesky factorisation takes NaN as it is
        raise NotPositiveDefinite("the sites leave no posterior: they are not finite")
    at, largest = np.arange(sums.shape[1]), float(np.max(sums, initial=1.0))
    sums[:, at, at] += 1.0
    return factorise(sums, "the sites leave no posterior: their precisions are negative", ROUNDING, by=largest).L
