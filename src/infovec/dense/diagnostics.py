"""How far draws of Markov chains can be trusted."""

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from .._types import Floats

__all__ = ["effective_sample_size", "split_r_hat"]


def effective_sample_size(draws: Floats) -> Floats:
    r"""Number of independent draws whose mean is as uncertain as that of all these.

    .. math:: \frac{N}{1 + 2 \sum_{t > 0} \rho_t}

    with the autocorrelation :math:`\rho_t` of halves of chains about their common mean, summed in pairs while they are
    positive, and not rising (Geyer 1992; Vehtari and others 2021).

    Parameters
    ----------
    draws : array of shape (chains, draws, ...)
    """
    x = _halves(draws)
    chains, n = x.shape[:2]
    if n < 2:
        return np.full(x.shape[2:], float(chains * n))
    mean, within = x.mean(axis=1), x.var(axis=1, ddof=1).mean(axis=0)
    total = within * (n - 1) / n + (mean.var(axis=0, ddof=1) if chains > 1 else 0.0)
    power = np.abs(np.fft.rfft(x - mean[:, None], n=2 * n, axis=1)) ** 2
    covariance = np.fft.irfft(power, axis=1)[:, :n].mean(axis=0) / n
    with np.errstate(invalid="ignore", divide="ignore"):
        rho = 1.0 - (within - covariance * n / (n - 1)) / total
    rho[0] = 1.0
    pairs = rho[: n - n % 2].reshape(n // 2, 2, *x.shape[2:]).sum(axis=1)
    positive = np.logical_and.accumulate(pairs > 0.0, axis=0)
    pairs = np.minimum.accumulate(np.where(positive, pairs, 0.0), axis=0)
    time = np.maximum(2.0 * pairs.sum(axis=0) - 1.0, 1.0 / np.log10(max(chains * n, 10)))
    return np.where(total > 0.0, chains * n / time, float(chains * n))


def split_r_hat(draws: Floats) -> Floats:
    r"""Spread of all draws to that within halves of chains; 1 where all of them have seen the same.

    .. math:: \hat R = \sqrt{\frac{n - 1}{n} + \frac{V_b}{V_w}}

    with the variances of the means and within, of the ranks as normal numbers (Vehtari and others 2021); the larger of
    that of the draws and that of their distances from the median, which sees chains of different widths.

    Parameters
    ----------
    draws : array of shape (chains, draws, ...)
    """
    x = _halves(draws)
    folded = np.abs(x - np.median(x, axis=(0, 1)))
    return np.maximum(_r_hat(_normal_ranks(x)), _r_hat(_normal_ranks(folded)))


def _halves(draws: Floats) -> Floats:
    """Every chain as two, the draw in the middle left out of an odd number."""
    half = draws.shape[1] // 2
    if half < 2:
        return np.asarray(draws, dtype=np.float64)
    return np.concatenate([draws[:, :half], draws[:, -half:]]).astype(np.float64)


def _normal_ranks(x: Floats) -> Floats:
    flat = x.reshape(x.shape[0] * x.shape[1], -1)
    return np.asarray(ndtri((rankdata(flat, axis=0) - 0.375) / (len(flat) + 0.25))).reshape(x.shape)


def _r_hat(x: Floats) -> Floats:
    chains, n = x.shape[:2]
    if chains < 2 or n < 2:
        return np.full(x.shape[2:], np.nan)
    between, within = x.mean(axis=1).var(axis=0, ddof=1), x.var(axis=1, ddof=1).mean(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(within > 0.0, np.sqrt((n - 1) / n + between / within), 1.0)
