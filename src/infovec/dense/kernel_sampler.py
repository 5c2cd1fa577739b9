"""Gibbs sampler that draws the parameters of the kernel too, by Metropolis-Hastings (GR06 appendix D, last line)."""

from collections.abc import Callable
from contextlib import nullcontext
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.linalg import solve_triangular

from .._types import Floats, Inputs, Rows
from ..kernels import Kernel
from ..runtime import at_once, check, limited, parts
from .cone import draw_in_cone
from .diagnostics import effective_sample_size, split_r_hat
from .race import race_log_prob
from .sampler import GibbsProba, OnSweep, averaged, class_log_proba, sweeps_per_draw

__all__ = ["KernelDraws", "LogPrior", "gibbs_kernel", "gibbs_kernel_proba"]

LogPrior: TypeAlias = Callable[[Floats], float]
"""Log density of theta, up to a constant."""

_JITTER = 1e-8  # of the mean variance, which the model has in addition
_FIRST_STEP, _AIM = 0.5, 0.3  # standard deviation of proposals at first; share of them that is to be accepted
_ENTRIES, _BYTES = 2**24, 64
_SMALL = 700  # rows up to which threads of the linear algebra are in each other's way


class KernelDraws(NamedTuple):
    """Draws of theta and of the auxiliary variables, and how the chains went.

    ``accepted`` are the shares of the proposals given the auxiliary variables, and given the whitened latent values.
    """

    theta: Floats  # (chains, draws, q)
    auxiliary: Floats  # (chains, draws, n, C)
    accepted: Floats  # (chains, 2)
    ess: Floats  # (q,)
    r_hat: Floats  # (q,)


class _Prior:
    """Covariance of the training rows for one theta, factorised where it is needed."""

    def __init__(self, kernel: Kernel, X: Inputs, theta: Floats, log_prior: float) -> None:
        self.theta, self.log_density = theta, log_prior
        self.K = np.asarray(kernel.with_theta(theta)(X), dtype=np.float64)
        self.K[np.diag_indices(len(self.K))] += _JITTER * np.trace(self.K) / len(self.K)

    @cached_property
    def L(self) -> Floats:
        return np.linalg.cholesky(self.K)

    @cached_property
    def R(self) -> Floats:
        return np.linalg.cholesky(np.eye(len(self.K)) + self.K)

    def given_auxiliary(self, Y: Floats) -> float:
        """Log density of theta and the differences of classes of the auxiliary variables."""
        half = solve_triangular(self.R, Y, lower=True, check_finite=False)
        log_det = float(np.log(np.diagonal(self.R)).sum())
        return self.log_density - 0.5 * float(np.vdot(half, half)) - (Y.shape[1] - 1) * log_det

    def latent(self, Y: Floats, rng: np.random.Generator) -> Floats:
        """Latent values given auxiliary variables: a draw of the prior, moved by what it lacks (Matheron's rule)."""
        f = self.L @ rng.standard_normal(Y.shape)
        lacks = Y - f - rng.standard_normal(Y.shape)
        inner = solve_triangular(self.R, lacks, lower=True, check_finite=False)
        return _centred(f + self.K @ solve_triangular(self.R, inner, lower=True, trans="T", check_finite=False))


class _Chain:
    """State of one chain: the parameters, and latent values up to what all classes have in common."""

    def __init__(self, at: "_Model", rng: np.random.Generator) -> None:
        self.at, self.rng = at, rng
        prior = None
        while prior is None:  # the first one apart from that of the other chains, but possible
            prior = at.prior(at.kernel.theta + _FIRST_STEP * rng.standard_normal(at.kernel.theta.size))
        self.prior = prior
        self.M = _centred(prior.L @ rng.standard_normal((len(at.labels), at.n_classes)))
        self.Y = np.empty(0)

    def sweep(self, root: Floats, scales: Floats) -> Floats:
        """Draw everything once; return how likely the two proposals were to be accepted."""
        at, rng = self.at, self.rng
        self.Y = _centred(draw_in_cone(self.M, at.labels, rng))
        chances = np.zeros(2)
        # theta given the auxiliary variables, the latent values integrated out
        new = at.prior(self.prior.theta + scales[0] * (root @ rng.standard_normal(len(root))))
        if new is not None:
            chances[0] = _chance(new.given_auxiliary(self.Y) - self.prior.given_auxiliary(self.Y))
            self.prior = new if rng.uniform() < chances[0] else self.prior
        self.M = self.prior.latent(self.Y, rng)
        # theta given the whitened latent values, the auxiliary variables integrated out
        new = at.prior(self.prior.theta + scales[1] * (root @ rng.standard_normal(len(root))))
        if new is not None:
            M = new.L @ solve_triangular(self.prior.L, self.M, lower=True, check_finite=False)
            gain = at.log_prob(M) + new.log_density - at.log_prob(self.M) - self.prior.log_density
            chances[1] = _chance(gain)
            if rng.uniform() < chances[1]:
                self.prior, self.M = new, M
        return chances


class _Model(NamedTuple):
    kernel: Kernel
    X: Inputs
    labels: Rows
    n_classes: int
    log_prior: LogPrior

    def prior(self, theta: Floats) -> _Prior | None:
        """Return what belongs to theta, or none where it is impossible."""
        low, high = self.kernel.bounds.T
        if np.any(theta < low) or np.any(theta > high):
            return None
        density = float(self.log_prior(theta))
        if not density > -np.inf:
            return None
        found = _Prior(self.kernel, self.X, theta, density)
        try:
            return found if np.all(np.isfinite(found.K)) and found.L.size and found.R.size else None
        except np.linalg.LinAlgError:
            return None

    def log_prob(self, M: Floats) -> float:
        return float(race_log_prob(self.labels, M).sum())


def gibbs_kernel(
    kernel: Kernel,
    X: Inputs,
    labels: Rows,
    n_classes: int,
    log_prior: LogPrior,
    n_samples: int,
    rng: np.random.Generator,
    *,
    n_chains: int = 4,
    burn_in: int = 500,
    thin: int = 1,
    max_bytes: float = 2.0**28,
    on_sweep: OnSweep | None = None,
) -> KernelDraws:
    r"""Draw from the posterior of kernel parameters, latent values and auxiliary variables.

    Every sweep proposes theta twice: given the auxiliary variables, by

    .. math:: p(\theta) \prod_c N(y_c \mid 0, I + K_\theta),

    and given :math:`\nu = L_\theta^{-1} m`, where K = L L^T, by :math:`p(\theta) \, P(y \mid L_\theta \nu)`. The first
    goes far where the labels say much, the second where they say little, and together they mix where neither does
    alone (Yu and Meng 2011). Proposals are normal; their covariance and lengths are learned during burn-in only.

    Parameters
    ----------
    kernel : Kernel
        That all classes share; its parameters are where the chains begin.
    X : array of shape (n, p)
    labels : array of int, shape (n,)
    n_classes : int
    log_prior : callable
        Log density of theta, which is on the free scale.
    n_samples, rng, n_chains, burn_in, thin, max_bytes, on_sweep
        As in ``gibbs``. A sweep costs several factorisations of each chain.
    """
    model = _Model(kernel, kernel.in_double(X), labels, n_classes, log_prior)
    chains = [_Chain(model, rng) for _ in range(n_chains)]
    each = thin * -(-n_samples // n_chains)
    thin = sweeps_per_draw(each, thin, 8 * n_chains * len(labels) * n_classes, max_bytes)
    tuning = _Tuning(kernel.theta.size, burn_in)
    thetas, auxiliary, chances = [], [], np.zeros((n_chains, 2))
    for k in range(burn_in + each):
        check()
        with limited(1) if len(labels) <= _SMALL else nullcontext():
            found = np.stack([chain.sweep(tuning.root, np.exp(tuning.log_scales)) for chain in chains])
        if k < burn_in:
            tuning.learn(k, found, np.stack([chain.prior.theta for chain in chains]))
        else:
            chances += found / each
            if (k - burn_in + 1) % thin == 0:
                thetas.append(np.stack([chain.prior.theta for chain in chains]))
                auxiliary.append(np.stack([chain.Y for chain in chains]))
        if on_sweep is not None:
            on_sweep(k + 1, burn_in + each)
    theta = np.stack(thetas, axis=1)
    return KernelDraws(
        theta, np.stack(auxiliary, axis=1), chances, effective_sample_size(theta), split_r_hat(theta)
    )  # fmt: skip


class _Tuning:
    """Lengths of both kinds of proposals, and the covariance they have in common."""

    def __init__(self, q: int, burn_in: int) -> None:
        self.root, self.log_scales = np.eye(q), np.full(2, np.log(_FIRST_STEP))
        self._seen: list[Floats] = []
        self._forget = max(burn_in // 4, 1)

    def learn(self, k: int, chances: Floats, theta: Floats) -> None:
        """Robbins-Monro steps to the share that is to be accepted; the covariance of the last half of what was seen."""
        self.log_scales += (chances.mean(axis=0) - _AIM) * 5.0 / (10.0 + k)
        self._seen.append(theta)
        if (k + 1) % self._forget == 0 and theta.shape[1] > 1:
            late = np.concatenate(self._seen[len(self._seen) // 2 :])
            cov = np.atleast_2d(np.cov(late.T)) + 1e-4 * np.eye(theta.shape[1])
            scale = np.exp(np.log(np.diagonal(cov)).mean() / 2.0)
            self.root = np.linalg.cholesky(cov) / scale


def gibbs_kernel_proba(
    draws: KernelDraws, kernel: Kernel, X: Inputs, X_new: Inputs, *, max_draws: int = 200
) -> GibbsProba:
    """Probabilities of new rows, averaged over parameters and auxiliary variables.

    Parameters
    ----------
    draws : KernelDraws
    kernel : Kernel
        As it was given to ``gibbs_kernel``.
    X : array of shape (n, p)
        The training rows.
    X_new : array of shape (m, p)
    max_draws : int
        Each needs a factorisation; of more draws so many are taken, equally spaced.
    """
    chains, S, _, C = draws.auxiliary.shape
    X, X_new = kernel.in_double(X), kernel.in_double(X_new)
    at_draw = np.unique(np.linspace(0, S - 1, max(min(S, max_draws // chains), 1)).round().astype(int))
    size = chains * len(at_draw) * C
    out = GibbsProba(*(np.empty((X_new.shape[0], C)) for _ in range(3)))
    for at in parts(X_new.shape[0], at_once(max(_ENTRIES // size, 1), _BYTES * size)):
        p = np.stack([[_one(kernel, X, X_new[at], draws, k, s) for s in at_draw] for k in range(chains)])
        for full, part in zip(out, averaged(p), strict=True):
            full[at] = part
    return out


def _one(kernel: Kernel, X: Inputs, X_new: Inputs, draws: KernelDraws, chain: int, draw: int) -> Floats:
    """Probabilities of new rows given one draw."""
    check()
    kernel = kernel.with_theta(draws.theta[chain, draw])
    with limited(1) if X.shape[0] <= _SMALL else nullcontext():
        R = np.linalg.cholesky(np.eye(X.shape[0]) + kernel(X))
        half = solve_triangular(R, kernel(X, X_new), lower=True, check_finite=False)
        mean = half.T @ solve_triangular(R, draws.auxiliary[chain, draw], lower=True, check_finite=False)
    var = np.maximum(kernel.diag(X_new) - np.einsum("ij,ij->j", half, half), 0.0)
    return np.exp(class_log_proba(mean, np.broadcast_to(var[:, None], mean.shape)))


def _chance(gain: float) -> float:
    return float(np.exp(min(gain, 0.0))) if gain == gain else 0.0


def _centred(A: Floats) -> Floats:
    """Without what all classes have in common, which the labels say nothing about."""
    return np.asarray(A - A.mean(axis=1, keepdims=True))
