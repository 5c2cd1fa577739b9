"""Relative entropy of one posterior to another, which serves as its prior: what the rows between them have taught."""

from typing import NamedTuple

import numpy as np

from .._types import Floats
from ..errors import ParameterError
from ..numerics.cholesky import solve_lower
from ..posterior import ClassPosterior, FactorisedPosterior, Posterior, ProjectedPosterior, SeparatePosterior

__all__ = ["latent", "parts_of", "relative_entropy_between"]

_One = FactorisedPosterior | ProjectedPosterior


def parts_of(posterior: Posterior) -> tuple[_One, ...]:
    """Return the posteriors of single functions that a posterior is made of."""
    if isinstance(posterior, ClassPosterior | SeparatePosterior):
        return posterior.parts
    assert isinstance(posterior, FactorisedPosterior | ProjectedPosterior)
    return (posterior,)


def latent(posterior: Posterior, X: Floats) -> tuple[Floats, Floats]:
    """Means and variances of the latent functions at inputs, in double precision, both of shape (n, functions)."""
    found = [part.predict_in_double(X) for part in parts_of(posterior)]
    return np.column_stack([mean for mean, _ in found]), np.column_stack([var for _, var in found])


def relative_entropy_between(posterior: Posterior, prior: Posterior) -> float:
    """Relative entropy D[Q || R] of two posteriors with the same kernel, in nats, of all functions together."""
    pairs = zip(parts_of(posterior), parts_of(prior), strict=True)
    return sum(_between(q, r) for q, r in pairs)


def _between(q: _One, r: _One) -> float:
    r"""Return D[Q || R] where R is the prior P times exp(b'c - c' Lambda c / 2) / Z, c = L^-1 u at its active inputs.

    .. math:: D[Q \| R] = D[Q \| P] + \tfrac12 \mathrm{tr} \Lambda S + \tfrac12 m^T \Lambda m - b^T m + \log Z,
              \qquad \log Z = -\tfrac12 \log|I + \Lambda| + \tfrac12 b^T \mathrm{E}_R c

    where c has mean m and covariance S under Q. No matrix is factorised that was not before.
    """
    some = r.kernel.in_double(r.X[:2])
    if q.kernel != r.kernel or not np.allclose(r.kernel.diag(some), np.diagonal(r.kernel(some, some))):
        raise ParameterError(
            "a posterior can be the prior of another only if both have the same kernel, and one without white noise"
        )
    change = _change(r)
    K = np.asarray(r.kernel(r.kernel.in_double(r.X), q.kernel.in_double(q.X)), dtype=np.float64)
    mean = change.own(K @ q.weights)
    reduced = change.own(K @ q.reduction.T)
    S = change.prior - reduced @ reduced.T
    quadratic = float(np.sum(change.precision * S) + mean @ (change.precision @ mean))
    log_z = -0.5 * change.log_det + 0.5 * float(change.shift @ change.mean)
    return max(0.0, q.relative_entropy() + 0.5 * quadratic - float(change.shift @ mean) + log_z)


class _Change(NamedTuple):
    """How a posterior differs from the prior: by exp(b'c - c' Lambda c / 2) / Z."""

    L: Floats | None  # c = L^-1 u; u itself if None
    precision: Floats  # Lambda
    shift: Floats  # b
    prior: Floats  # covariance of c under the prior
    mean: Floats  # of c under the posterior
    log_det: float  # of the prior covariance of c times Lambda, plus I

    def own(self, values: Floats) -> Floats:
        """Return values at the active inputs in the coordinates c."""
        return values if self.L is None else solve_lower(self.L, values)


def _change(r: _One) -> _Change:
    if isinstance(r, FactorisedPosterior):
        K = np.asarray(r.kernel(r.kernel.in_double(r.X)), dtype=np.float64)
        mean = r.active_marginals().mean
        return _Change(None, np.diag(r.precision), r.precision * r.site_mean, K, mean, r.log_det_B)
    mean = solve_lower(r.Q, r.beta, transposed=True)
    log_det = 2.0 * float(np.sum(np.log(np.diagonal(r.Q))))
    prior = np.eye(len(r.Q))
    return _Change(r.L, r.Q @ r.Q.T - prior, r.Q @ r.beta, prior, mean, log_det)
