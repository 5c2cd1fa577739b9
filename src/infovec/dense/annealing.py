"""Marginal likelihood of the multinomial probit by simulation: from the prior, and by annealing."""

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from .._types import Floats, Rows
from ..runtime import at_once, check, parts
from .cone import draw_in_cone
from .race import race_log_prob
from .sampler import OnSweep, latent_given
from .spectra import Spectrum, spectrum

__all__ = ["SimulatedEvidence", "annealed_evidence", "prior_evidence"]

_ENTRIES, _BYTES = 2**18, 64  # latent values of the prior drawn at once
_START = 1e-3  # first step, in units of one over the largest eigenvalue


class SimulatedEvidence(NamedTuple):
    """Log marginal likelihood, its standard error, and to how many equal weights the weights amount."""

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
    return _log_mean(logs)


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
    r"""Annealed importance sampling along multiples s of the kernel, from 0 to 1 (Neal 2001).

    Without a kernel all classes are equally likely, :math:`Z(0) = C^{-n}`. From there the weights of chains of the
    Gibbs sampler grow by

    .. math:: \frac{N(y \mid 0, I + s' K)}{N(y \mid 0, I + s K)}

    where y is drawn given s. Z(1) is Z(0) times the mean weight, without bias. All multiples have the same
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
    factors = _schedule(spec, labels, n_classes, n_steps, rng)
    return _log_mean(
        _anneal(spec, labels, n_classes, factors, n_chains, rng, on_sweep)[0], -len(labels) * np.log(n_classes)
    )


def _anneal(
    spec: Spectrum,
    labels: Rows,
    n_classes: int,
    factors: Floats,
    n_chains: int,
    rng: np.random.Generator,
    on_sweep: OnSweep | None = None,
) -> tuple[Floats, Floats]:
    """Log weights of the chains, and the standard deviation of what each step has added."""
    shape, tiled = (len(labels), n_chains, n_classes), np.repeat(labels, n_chains)
    logs, spreads = np.zeros(n_chains), np.zeros(len(factors) - 1)
    M = np.zeros(shape)
    for k in range(len(factors) - 1):
        check()
        Y = draw_in_cone(M.reshape(-1, n_classes), tiled, rng).reshape(shape)
        gain = _log_ratio(spec, Y, factors[k], factors[k + 1])
        logs += gain
        spreads[k] = gain.std()
        if k + 2 < len(factors):
            M = latent_given(spec.times(factors[k + 1]), Y, rng)
        if on_sweep is not None:
            on_sweep(k + 1, len(factors) - 1)
    return logs, spreads


def _log_ratio(spec: Spectrum, Y: Floats, now: float, then: float) -> Floats:
    """Log of N(y | 0, I + then K) / N(y | 0, I + now K) of every chain; where classes share K, of differences."""
    T, lam = spec.turn(Y), spec.values
    C = T.shape[2]
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
    _, spreads = _anneal(spec, labels, n_classes, first, 8, rng)
    length = np.concatenate([[0.0], np.cumsum(spreads + 0.05 * spreads.mean() + 1e-12)])
    return np.interp(np.linspace(0.0, length[-1], n_steps + 1), length, first)


def _log_mean(logs: Floats, constant: float = 0.0) -> SimulatedEvidence:
    """Log of the mean of weights given by their logs; the error of a logarithm is the relative one."""
    n = len(logs)
    weights = np.exp(logs - logs.max())
    relative = weights.std(ddof=1) / weights.mean() / np.sqrt(n) if n > 1 else np.nan
    value = constant + float(logsumexp(logs)) - np.log(n)
    return SimulatedEvidence(float(value), float(relative), float(weights.sum() ** 2 / (weights @ weights)))
