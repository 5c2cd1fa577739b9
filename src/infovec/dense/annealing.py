"""Marginal likelihood of the multinomial probit by simulation: from the prior, and by annealing."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, log_expit, logsumexp

from .._types import Floats, Rows
from ..runtime import at_once, check, parts
from .cone import draw_in_cone
from .race import race_log_prob
from .sampler import OnSweep, moved, smoothed
from .spectra import Spectrum, spectrum

__all__ = ["SimulatedEvidence", "annealed_evidence", "prior_evidence"]

_ENTRIES, _BYTES = 2**18, 64  # latent values of the prior drawn at once
_START = 1e-3  # first step, in units of one over the largest eigenvalue


class SimulatedEvidence(NamedTuple):
    """Log marginal likelihood, its standard error, and to how many equal weights the weights amount.

    The weights of annealing are those of the way from 0 to 1.
    """

    log_evidence: float
    error: float
    ess: float


def prior_evidence(
    K: Floats | Spectrum, labels: Rows, n_classes: int, n_samples: int, rng: np.random.Generator
) -> SimulatedEvidence:
    r"""Mean likelihood of draws of the prior, the estimate of GR06 6.2.

    .. math:: \log \frac{1}{N} \sum_s \prod_n P(y_n \mid m_n^{(s)}), \qquad m^{(s)} \sim N(0, K)

    With more than some ten rows nearly all of the sum is one draw: it is too small then, and so is its error.

    Parameters
    ----------
    K : array of shape (n, n) or (C, n, n), or Spectrum
    labels : array of int, shape (n,)
    n_classes, n_samples : int
    rng : Generator
    """
    spec = K if isinstance(K, Spectrum) else spectrum(np.asarray(K, dtype=np.float64))
    n, logs = len(labels), np.empty(n_samples)
    step = at_once(max(_ENTRIES // (n * n_classes), 1), _BYTES * n * n_classes)
    for at in parts(n_samples, step):
        shape = (n, at.stop - at.start, n_classes)
        M = spec.back(np.sqrt(spec.values[:, None]) * rng.standard_normal(shape))
        log_prob = race_log_prob(np.repeat(labels, shape[1]), M.reshape(-1, n_classes))
        logs[at] = log_prob.reshape(shape[:2]).sum(axis=0)
    ess = _equal_weights(logs)
    error = np.sqrt(max(1.0 / ess - 1.0 / n_samples, 0.0))  # that of a logarithm is the relative one
    return SimulatedEvidence(float(logsumexp(logs) - np.log(n_samples)), float(error), ess)


def annealed_evidence(
    K: Floats | Spectrum,
    labels: Rows,
    n_classes: int,
    rng: np.random.Generator,
    *,
    n_chains: int = 32,
    n_steps: int = 400,
    on_sweep: OnSweep | None = None,
) -> SimulatedEvidence:
    r"""Annealing along multiples s of the kernel, from 0 to 1 and back (Neal 2001; Bennett 1976).

    Without a kernel all classes are equally likely, :math:`Z(0) = C^{-n}`. From there the weights of chains of the
    Gibbs sampler grow by

    .. math:: \frac{N(y \mid 0, I + s' K)}{N(y \mid 0, I + s K)}

    where y is drawn given s. Their mean is Z(1) / Z(0) without bias, but nearly all of it may be one weight. So the
    chains go all the way back as well, with weights of the inverse ratio. Logs w of the weights and w' of those on the
    way back meet in the log ratio F with

    .. math:: \sum \frac{1}{1 + e^{F - w}} = \sum \frac{1}{1 + e^{-w' - F}}

    which is the best there is, as far as the draws at s = 1 are from the posterior. All multiples have the same
    eigenvectors. Where the classes share a kernel only the differences of classes count, which are all that is seen.
    The multiples are those at which a few chains of the same kind, run before, gain equally varied weights.

    Parameters
    ----------
    K : array of shape (n, n) or (C, n, n), or Spectrum
    labels : array of int, shape (n,)
    n_classes : int
    rng : Generator
    n_chains : int
        Side by side; the error comes from how they differ.
    n_steps : int
        Multiples of the kernel; the variance of the log weights falls as one over it.
    on_sweep : callable, optional
    """
    spec = K if isinstance(K, Spectrum) else spectrum(np.asarray(K, dtype=np.float64))
    settle = max(n_steps // 4, 50)
    told = _Told(on_sweep, 2 * n_steps + settle)
    factors = _schedule(spec, labels, n_classes, n_steps, rng)
    chains = _Chains(spec, labels, n_classes, n_chains, rng)
    ahead = chains.anneal(factors, told).sum(axis=0)
    for _ in range(settle):
        chains.sweep(1.0)
        told()
    back = chains.anneal(factors[::-1], told).sum(axis=0)
    ratio, error = _bennett(ahead, back)
    return SimulatedEvidence(float(ratio - len(labels) * np.log(n_classes)), error, _equal_weights(ahead))


class _Told:
    """Counts sweeps, and tells who wants to know."""

    def __init__(self, on_sweep: OnSweep | None, total: int) -> None:
        self.on_sweep, self.total, self.done = on_sweep, total, 0

    def __call__(self) -> None:
        self.done += 1
        if self.on_sweep is not None:
            self.on_sweep(self.done, self.total)


class _Chains:
    """Chains side by side, at a multiple of the kernel; T are coordinates of their auxiliary variables.

    A sweep is the same forwards and backwards, as the way back needs it: a move, the draws, and the move again.
    """

    def __init__(self, spec: Spectrum, labels: Rows, n_classes: int, n_chains: int, rng: np.random.Generator) -> None:
        self.spec, self.tiled, self.rng = spec, np.repeat(labels, n_chains), rng
        self.shape = (len(labels), n_chains, n_classes)
        self.T = self._drawn(np.zeros(self.shape))

    def _drawn(self, M: Floats) -> Floats:
        flat = draw_in_cone(M.reshape(-1, self.shape[2]), self.tiled, self.rng)
        return self.spec.turn(flat.reshape(self.shape))

    def sweep(self, factor: float) -> None:
        check()
        spec = self.spec.times(factor)
        M = smoothed(spec, moved(spec, self.T, self.rng), self.rng)
        self.T = moved(spec, self._drawn(M), self.rng)

    def anneal(self, factors: Floats, told: _Told) -> Floats:
        """Log weights that every step adds to every chain; the chains are at the first multiple before."""
        gains = np.empty((len(factors) - 1, self.shape[1]))
        for k, (now, then) in enumerate(pairwise(factors)):
            gains[k] = _log_ratio(self.spec, self.T, now, then)
            if k + 2 < len(factors):
                self.sweep(then)
            told()
        if factors[-1] == 1.0:
            self.sweep(1.0)
        return gains


def _bennett(ahead: Floats, back: Floats) -> tuple[float, float]:
    """Log ratio of normalisers by log weights of both directions, and its error (Bennett 1976)."""
    ends = sorted((-float(np.median(back)), float(np.median(ahead))))
    span = 50.0 + 10.0 * (ends[1] - ends[0])
    ratio = brentq(
        lambda F: float(np.sum(expit(ahead - F)) - np.sum(expit(back + F))), ends[0] - span, ends[1] + span, xtol=1e-10
    )
    parts = [log_expit(log) for log in (ahead - ratio, back + ratio)]
    return ratio, float(np.sqrt(sum(1.0 / _equal_weights(log) - 1.0 / len(log) for log in parts)))


def _log_ratio(spec: Spectrum, T: Floats, now: float, then: float) -> Floats:
    """Log of N(y | 0, I + then K) / N(y | 0, I + now K) of every chain; where classes share K, of differences."""
    C, lam = T.shape[2], spec.values
    if spec.shared:
        T = T - T.mean(axis=2, keepdims=True)
    squares = np.einsum("ikc,ikc->ik", T, T)[:, :, None] if spec.shared else T**2
    precision = 1.0 / (1.0 + then * lam) - 1.0 / (1.0 + now * lam)
    log_det = np.log1p(then * lam) - np.log1p(now * lam)
    return -0.5 * (np.einsum("ikc,ic->k", squares, precision) + (C - 1 if spec.shared else 1) * log_det.sum())


def _schedule(spec: Spectrum, labels: Rows, n_classes: int, n_steps: int, rng: np.random.Generator) -> Floats:
    """Multiples of the kernel between which weights of a short run vary equally."""
    first = np.concatenate(
        [[0.0], np.geomspace(_START / max(float(spec.values.max()), 1.0), 1.0, max(n_steps // 8, 16))]
    )
    spreads = _Chains(spec, labels, n_classes, 8, rng).anneal(first, _Told(None, 0)).std(axis=1)
    length = np.concatenate([[0.0], np.cumsum(spreads + 0.05 * spreads.mean() + 1e-12)])
    return np.interp(np.linspace(0.0, length[-1], n_steps + 1), length, first)


def _equal_weights(logs: Floats) -> float:
    """To how many equal weights those with these logs amount."""
    weights = np.exp(logs - logs.max())
    return float(weights.sum() ** 2 / (weights @ weights))
