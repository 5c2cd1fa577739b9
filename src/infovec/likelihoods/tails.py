"""The density of targets that are predicted by a normal distribution, but have residuals of their own shape."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtri

from .._types import Floats
from ..numerics.residuals import LEVELS
from .base import Likelihood
from .student_t import StudentT
from .transformed import Transformed

__all__ = ["log_density", "residual_density"]

_NORMAL = 1e3  # degrees of freedom that nobody tells from a normal distribution
_FEWEST = 1.05  # of which a mean exists
_LEAST = 1e-12  # probability of an interval


def residual_density(quantiles: Floats) -> StudentT:
    r"""Return Student's t distribution whose shares of the intervals between quantiles are the most even.

    .. math:: \max_{s, k} \sum_i \log (T_k(q_{i+1} / s) - T_k(q_i / s))

    with q_0 and the last one infinite, so that tails have the weight they should have. It is the maximum likelihood of
    scores of which no more is known than these quantiles. Those of a normal distribution make it one.

    Parameters
    ----------
    quantiles : array
        Of scores, at ``LEVELS``.
    """
    q = np.maximum.accumulate(quantiles)

    def loss(logs: Floats) -> float:
        scale, df = np.exp(logs)
        below = StudentT(scale, df).cdf(q, np.zeros(len(q)))
        share = np.diff(below, prepend=0.0, append=1.0)
        return -float(np.mean(np.log(np.maximum(share, _LEAST))))

    bounds = [(-5.0, 5.0), (np.log(_FEWEST), np.log(_NORMAL))]
    half = q[np.searchsorted(LEVELS, (0.25, 0.75))]
    width = max(0.5 * float(half[1] - half[0]) / ndtri(0.75), np.exp(bounds[0][0]))
    starts = [np.log([width, df]) for df in (3.0, 30.0, _NORMAL)]
    found = minimize(loss, min(starts, key=loss), method="L-BFGS-B", bounds=bounds)
    scale, df = np.exp(found.x)
    return StudentT(float(scale), float(df))


def log_density(likelihood: Likelihood, residual: StudentT, y: Floats, mean: Floats, var: Floats) -> Floats:
    """Log density of targets whose scores under a conjugate likelihood are distributed as residuals are.

    Parameters
    ----------
    likelihood : Likelihood
        Under which targets, or their transforms, are normal where the latent value is.
    residual : StudentT
        Density of (y - mean) / deviation.
    y, mean, var : arrays of shape (n,)
        Targets, latent means and variances.
    """
    if isinstance(likelihood, Transformed):
        good = likelihood.transform.admits(y)
        safe = np.where(good, y, 1.0)
        inside = log_density(likelihood.likelihood, residual, likelihood.transform.of(safe), mean, var)
        return np.where(good, inside + likelihood.transform.log_slope(safe), -np.inf)
    middle, spread = likelihood.predict(mean, var)
    deviation = np.sqrt(spread)
    return residual.log_prob((y - middle) / deviation, np.zeros(len(middle))) - np.log(deviation)
