r"""Leaps of the sampler: Hamiltonian trajectories in the coordinates of Laplace's approximation.

Gibbs sweeps move by the unit noise of the auxiliary variables, and forget slowly where the kernel varies much more than
that. Leaps have no such unit. Next to the latent values m stands the noise u of the winner of each row, so that no
integral is left,

.. math:: p(m, u \mid y) \propto N(m \mid 0, K) \, N(u \mid 0, I) \prod_n \prod_{j \ne y_n} \Phi(m_{ny} + u_n - m_{nj})

In the normal approximation :math:`N(\mu, \Sigma)` of m by Laplace's method, trajectories are ellipses. What the
posterior has beside it pushes them, in steps (Shahbaba and others 2014).
"""

from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax

from .._types import Floats, Rows
from ..errors import NotConverged, NotPositiveDefinite
from ..numerics.normal import hazard, log_ndtr
from ..runtime import limit
from .cone import draw_in_cone
from .laplace_fit import Inner, laplace, product
from .memory import gibbs_need, leaps_need
from .noises import Logit
from .spectra import Spectrum

__all__ = ["Base", "Leaps", "State"]

_FIRST, _AIM = 0.2, 0.8  # angle of a step at first; share of the leaps that is to be accepted
_LARGEST = 1e10  # eigenvalue, beyond which rounding is all that is left of K - K M K
_ANGLE, _MOST = 1.5, 30  # of a whole leap, about a quarter of the ellipse; its steps at most


class Base(NamedTuple):
    r"""The normal approximation of the posterior, by Laplace's method for the logit.

    .. math:: \Sigma = (K^{-1} + W)^{-1} = K - K M K, \qquad W_n = \mathrm{diag}(\pi_n) - \pi_n \pi_n^T

    Any other would do: it decides how long leaps are, not where they lead.
    """

    spec: Spectrum
    K: Floats  # (1 or C, n, n)
    mean: Floats  # (n, C)
    pi: Floats  # (n, C)
    slope: Floats  # (n, C): of the log site in the centre
    inner: Inner

    @classmethod
    def of(cls, spec: Spectrum, labels: Rows, n_classes: int) -> "Base":
        """Find it for the kernels of a spectrum."""
        K = np.stack([(U * lam) @ U.T for U, lam in zip(spec.vectors, spec.values.T, strict=True)])
        found = laplace(Logit(), K, labels, n_classes)
        return cls(spec, K, found.latent, np.exp(log_softmax(found.latent, axis=1)), found.weights, found.inner)

    def curvature_times(self, A: Floats) -> Floats:
        """W A of an array of shape (n, k, C)."""
        part = self.pi[:, None] * A
        return np.asarray(part - self.pi[:, None] * part.sum(axis=2, keepdims=True))

    def covariance_times(self, A: Floats) -> Floats:
        """Sigma A of an array of shape (n, k, C)."""
        return product(self.K, A - self.inner.times(product(self.K, A)))

    def draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        r"""Draw from :math:`N(0, \Sigma)`: a draw f of the prior, plus Sigma (N(0, W) - W f)."""
        f = self.spec.back(np.sqrt(self.spec.values[:, None]) * rng.standard_normal(shape))
        noise = np.sqrt(self.pi)[:, None] * rng.standard_normal(shape)
        noise -= self.pi[:, None] * noise.sum(axis=2, keepdims=True)
        return np.asarray(f + self.covariance_times(noise - self.curvature_times(f)))


class State(NamedTuple):
    """Latent values less the mean of the base, shape (n, k, C), and noise of the winners, shape (n, k)."""

    x: Floats
    u: Floats


class _Push(NamedTuple):
    """Log of what the posterior has beside the base, for every chain, and its slopes."""

    value: Floats
    x: Floats
    u: Floats


class Leaps:
    """Leaps of several chains side by side; the length of steps is learned where that is asked for.

    Parameters
    ----------
    base : Base
    labels : array of int, shape (n,)
    """

    def __init__(self, base: Base, labels: Rows) -> None:
        self.base, self.labels, self._own = base, labels, labels[:, None, None]
        self._others = np.arange(base.mean.shape[1]) != self._own
        self._log_step, self._learned = float(np.log(_FIRST)), 0

    @classmethod
    def where_there_is_room(cls, spec: Spectrum, labels: Rows, n_classes: int) -> "Leaps | None":
        """Return them, or none where memory is too short for matrices of every class, or Laplace's method fails."""
        n = len(labels)
        if spec.values.max() > _LARGEST or gibbs_need(n, n_classes, True) + leaps_need(n, n_classes) > limit():
            return None
        try:
            return cls(Base.of(spec, labels, n_classes), labels)
        except (NotConverged, NotPositiveDefinite):
            return None

    def __call__(self, M: Floats, rng: np.random.Generator, learn: bool = False) -> Floats:
        """Move latent values of shape (n, k, C); ``learn`` the length of steps, as only burn-in may."""
        n, k, C = M.shape
        Y = draw_in_cone(M.reshape(-1, C), np.repeat(self.labels, k), rng).reshape(M.shape)
        own = np.take_along_axis(Y - M, np.broadcast_to(self._own, (n, k, 1)), axis=2)[:, :, 0]
        step = float(np.exp(self._log_step))
        before = State(M - self.base.mean[:, None], own)
        steps = np.asarray(step * rng.uniform(0.8, 1.2, k))
        after, chance = self.leap(before, steps, min(round(_ANGLE / step) or 1, _MOST), rng)
        if learn:
            self._learned += 1
            self._log_step = min(self._log_step + 3.0 * (float(chance.mean()) - _AIM) / (10.0 + self._learned), 0.0)
        taken = rng.uniform(size=k) < chance
        return np.where(taken[:, None], after.x, before.x) + self.base.mean[:, None]

    def leap(self, start: State, step: Floats, count: int, rng: np.random.Generator) -> tuple[State, Floats]:
        r"""Return where trajectories from random velocities end, and how likely they are to be accepted.

        A half push changes the energy by :math:`\tfrac{h}{2} g^T v + \tfrac{h^2}{8} g^T \Sigma g`, turning along
        the ellipse does not.
        """
        v, w = self.base.draw(start.x.shape, rng), rng.standard_normal(start.u.shape)
        at, push, energy = start, self._push(start), np.zeros(len(step))
        first, h = push.value, step[:, None]
        cos, sin = np.cos(step), np.sin(step)
        for k in range(2 * count):
            if k % 2:
                x, v = at.x * cos[:, None] + v * sin[:, None], v * cos[:, None] - at.x * sin[:, None]
                u, w = at.u * cos + w * sin, w * cos - at.u * sin
                at = State(x, u)
                push = self._push(at)
            if k % 2 or k == 0:
                turned = self.base.covariance_times(push.x)
            energy += 0.5 * step * (np.einsum("nkc,nkc->k", push.x, v) + np.einsum("nk,nk->k", push.u, w))
            squares = np.einsum("nkc,nkc->k", push.x, turned) + np.einsum("nk,nk->k", push.u, push.u)
            energy += step**2 / 8.0 * squares
            v, w = v + 0.5 * h * turned, w + 0.5 * step * push.u
        with np.errstate(invalid="ignore", over="ignore"):
            gain = push.value - first - energy
        return at, np.where(gain == gain, np.exp(np.minimum(gain, 0.0)), 0.0)

    def _push(self, at: State) -> _Push:
        m = at.x + self.base.mean[:, None]
        own = np.take_along_axis(m, np.broadcast_to(self._own, (*at.u.shape, 1)), axis=2)
        gap = own - m + at.u[:, :, None]
        h = np.where(self._others, hazard(gap), 0.0)
        against = h.sum(axis=2)
        slope = np.where(self._others, -h, against[:, :, None])
        curved = self.base.curvature_times(at.x)
        log_prob = np.where(self._others, log_ndtr(gap), 0.0).sum(axis=(0, 2))
        site = np.einsum("nkc,nc->k", at.x, self.base.slope) - 0.5 * np.einsum("nkc,nkc->k", at.x, curved)
        return _Push(log_prob - site, slope - self.base.slope[:, None] + curved, against)
