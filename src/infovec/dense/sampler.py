"""Gibbs sampler of the multinomial probit with Gaussian process priors (GR06 appendix D)."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import NamedTuple, TypeAlias

import numpy as np

from .._types import Floats, Rows
from ..likelihoods.classes import MultivariateProbit
from ..runtime import at_once, check, limit, parts
from .cone import draw_in_cone
from .diagnostics import effective_sample_size, split_r_hat
from .leaps import Leaps
from .spectra import Spectrum, spectrum

__all__ = [
    "GibbsDraws",
    "GibbsProba",
    "OnSweep",
    "averaged",
    "class_log_proba",
    "gibbs",
    "gibbs_proba",
    "latent_given",
    "moved",
    "smoothed",
    "sweeps",
    "sweeps_per_draw",
]

OnSweep: TypeAlias = Callable[[int, int], None]
"""Told after every sweep how many are done, and how many there will be."""

_ENTRIES, _BYTES = 2**20, 64  # latent values of new rows made at once


class GibbsDraws(NamedTuple):
    """Draws of the posterior, and what they say of the latent values of the training rows.

    ``mean`` and ``var`` are averages over the draws of what is known given the auxiliary variables, ``error`` is the
    standard error of the mean, ``ess`` and ``r_hat`` belong to it.
    """

    spectrum: Spectrum
    auxiliary: Floats  # (chains, draws, n, C)
    mean: Floats  # (n, C)
    var: Floats
    error: Floats
    ess: Floats
    r_hat: Floats


class GibbsProba(NamedTuple):
    """Probabilities of new rows, their Monte Carlo errors, and the effective number of draws, all (n_new, C)."""

    proba: Floats
    error: Floats
    ess: Floats


def gibbs(
    K: Floats | Spectrum,
    labels: Rows,
    n_classes: int,
    n_samples: int,
    rng: np.random.Generator,
    *,
    n_chains: int = 4,
    burn_in: int = 500,
    thin: int = 1,
    max_bytes: float = 2.0**28,
    leap: bool = True,
    on_sweep: OnSweep | None = None,
) -> GibbsDraws:
    r"""Draw from the posterior of the latent values m and the auxiliary variables y.

    .. math:: y_n \mid m_n \sim N(m_n, I) \text{ in the cone of its label}, \qquad
              m_c \mid y_c \sim N(S_c y_c, S_c), \qquad S_c = K_c (I + K_c)^{-1}

    Each of these sweeps ends with a leap, without which chains forget slowly where kernels vary much; see ``Leaps``.

    Parameters
    ----------
    K : array of shape (n, n) or (C, n, n), or Spectrum
        Of all classes, or of each.
    labels : array of int, shape (n,)
    n_classes : int
    n_samples : int
        Draws of all chains together, rounded up to the same number of each.
    rng : Generator
    n_chains : int
        Side by side, each from a draw of the prior.
    burn_in : int
        First sweeps of each chain that are dropped.
    thin : int
        Sweeps for each draw, which cost less than a prediction by a draw: more of them make the draws less alike.
    max_bytes : float
        Memory for draws; where it is too small there are fewer of them, with more sweeps for each.
    leap : bool
        Whether sweeps end with leaps, as far as there is memory for them. Without, it is the sampler of the paper.
    on_sweep : callable, optional
    """
    spec = K if isinstance(K, Spectrum) else spectrum(np.asarray(K, dtype=np.float64))
    each = thin * -(-n_samples // n_chains)
    thin = sweeps_per_draw(each, thin, 16 * n_chains * len(labels) * n_classes, max_bytes)  # draws, and what they say
    kept: list[Floats] = []
    leaps = Leaps.where_there_is_room(spec, labels, n_classes) if leap else None
    for k, Y in enumerate(sweeps(spec, labels, n_classes, n_chains, rng, leaps, burn_in)):
        if on_sweep is not None:
            on_sweep(k + 1, burn_in + each)
        if k >= burn_in and (k - burn_in + 1) % thin == 0:
            kept.append(Y.transpose(1, 0, 2))
        if k + 1 == burn_in + each:
            break
    return _summary(spec, np.stack(kept, axis=1))


def sweeps_per_draw(each: int, thin: int, bytes_each: int, max_bytes: float) -> int:
    """Return the multiple of ``thin`` with which the draws of that many sweeps have room."""
    room = max(int(min(max_bytes, limit() / 4) // bytes_each), 4)
    return thin * -(-each // (thin * room))


def sweeps(
    spec: Spectrum,
    labels: Rows,
    n_classes: int,
    n_chains: int,
    rng: np.random.Generator,
    leaps: Leaps | None = None,
    burn_in: int = 0,
) -> Iterator[Floats]:
    """Yield auxiliary variables of shape (n, chains, C), for ever; leaps learn their steps in the first sweeps."""
    tiled = np.repeat(labels, n_chains)
    shape = (len(labels), n_chains, n_classes)
    M = spec.back(np.sqrt(spec.values[:, None]) * rng.standard_normal(shape))
    for k in count():
        check()
        Y = draw_in_cone(M.reshape(-1, n_classes), tiled, rng).reshape(shape)
        yield Y
        M = latent_given(spec, Y, rng)
        if leaps is not None:
            M = leaps(M, rng, learn=k < burn_in)


def latent_given(spec: Spectrum, Y: Floats, rng: np.random.Generator) -> Floats:
    r"""Latent values given auxiliary variables, which are first moved along what their cones do not see.

    A cone does not change when all variables are multiplied by one number, nor when a number is added to all classes
    of a row. Moves along both that leave :math:`N(0, I + K)` in the cones as it is make the chain forget sooner (Liu
    and Wu 1999),

    .. math:: y \leftarrow y \sqrt{\chi^2_{n C} / q}, \qquad q = \sum_c y_c^T (I + K_c)^{-1} y_c,

    and where the classes share a kernel their mean is drawn from its prior anew.
    """
    return smoothed(spec, moved(spec, spec.turn(Y), rng), rng)


def moved(spec: Spectrum, T: Floats, rng: np.random.Generator) -> Floats:
    """Move coordinates of auxiliary variables along what the cones do not see."""
    n, _, C = T.shape
    lam = spec.values[:, None]
    if spec.shared:
        common = np.sqrt((1.0 + lam) / C) * rng.standard_normal((*T.shape[:2], 1))
        T = T + (common - T.mean(axis=2, keepdims=True))
    q = np.einsum("ikc,ikc->k", T, T / (1.0 + lam))
    return np.asarray(T * np.sqrt(rng.chisquare(n * C, len(q)) / q)[:, None])


def smoothed(spec: Spectrum, T: Floats, rng: np.random.Generator) -> Floats:
    """Latent values given coordinates of auxiliary variables."""
    share = spec.values[:, None] / (1.0 + spec.values[:, None])
    return spec.back(share * T + np.sqrt(share) * rng.standard_normal(T.shape))


def _summary(spec: Spectrum, Y: Floats) -> GibbsDraws:
    """What the draws say, a few at a time: E[m | y] = S y, V[m | y] = S."""
    chains, draws, n, C = Y.shape
    mean = np.empty(Y.shape)
    share = spec.values[:, None] / (1.0 + spec.values[:, None])
    step = at_once(max(_ENTRIES // (n * C * chains), 1), _BYTES * n * C * chains)
    for at in parts(draws, step):
        T = spec.turn(np.ascontiguousarray(Y[:, at].reshape(-1, n, C).transpose(1, 0, 2)))
        mean[:, at] = spec.back(share * T).transpose(1, 0, 2).reshape(chains, -1, n, C)
    own = np.stack([(U**2) @ s for U, s in zip(spec.vectors, share[:, 0].T, strict=True)], axis=1)
    average, error, ess = averaged(mean)
    return GibbsDraws(spec, Y, average, mean.var(axis=(0, 1)) + own, error, ess, split_r_hat(mean))


def averaged(draws: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean over chains and draws, its Monte Carlo error, and the effective number of draws."""
    ess = effective_sample_size(draws)
    return draws.mean(axis=(0, 1)), draws.std(axis=(0, 1)) / np.sqrt(ess), ess


def gibbs_proba(draws: GibbsDraws, K_star: Floats, k_diag: Floats) -> GibbsProba:
    r"""Probabilities of the classes of new rows, averaged over the draws.

    .. math:: P(y = c) = E\bigl[P(c \mid \mu, \sigma^2)\bigr], \qquad \mu_c = k_c^T (I + K_c)^{-1} y_c, \qquad
              \sigma_c^2 = k_c(x, x) - k_c^T (I + K_c)^{-1} k_c

    Given the auxiliary variables the latent values of a new row are normal, and its probabilities one integral, where
    GR06 draws them.

    Parameters
    ----------
    draws : GibbsDraws
    K_star : array of shape (n_new, n) or (C, n_new, n)
        Of new and training rows.
    k_diag : array of shape (n_new,) or (C, n_new)
        Of each new row with itself.
    """
    spec, Y = draws.spectrum, draws.auxiliary
    chains, S, _, C = Y.shape
    cross = K_star if K_star.ndim == 3 else K_star[None]
    along = [k @ U for k, U in zip(cross, spec.vectors, strict=True)]
    lams = spec.values.T
    A = np.stack([(a / (1.0 + lam)) @ U.T for a, lam, U in zip(along, lams, spec.vectors, strict=True)])
    less = np.stack([(a**2) @ (1.0 / (1.0 + lam)) for a, lam in zip(along, lams, strict=True)])
    var = np.broadcast_to(np.maximum(np.atleast_2d(k_diag) - less, 0.0).T, (cross.shape[1], C))
    out = GibbsProba(*(np.empty((cross.shape[1], C)) for _ in range(3)))
    for at in parts(len(var), at_once(max(_ENTRIES // (chains * S * C), 1), _BYTES * chains * S * C)):
        mean = np.stack([Y[..., c] @ A[c % len(A), at].T for c in range(C)], axis=-1)  # (chains, S, rows, C)
        log_p = class_log_proba(mean.reshape(-1, C), np.tile(var[at], (chains * S, 1)))
        p = np.exp(log_p).reshape(mean.shape)
        for full, part in zip(out, averaged(p), strict=True):
            full[at] = part
    return out


def class_log_proba(mean: Floats, var: Floats) -> Floats:
    """Log probabilities of all classes where latent values are independent."""
    return MultivariateProbit(np.zeros(mean.shape[1])).log_proba(mean, var)
