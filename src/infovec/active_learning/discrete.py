"""What the unknown label of a row would tell, for likelihoods whose targets take finitely many values."""

import numpy as np

from .._types import Floats
from ..likelihoods import Discrete, Lapsing, Logit, Ordinal, Probit
from ..numerics.normal import log_ndtr
from ..numerics.quadrature import gauss_legendre, tilted_log_prob
from ..scores import Score

__all__ = ["discrete_information", "over_labels", "probit_gain"]

_NODES = 64  # of a panel, which is this many units wide
_PANEL = 17.0
_PROBIT_NODES = 48  # of what a yes would tell: error below 1e-12
_REACH = 8.7  # standard deviations beyond which nothing is left of a Gaussian
_DECIDED = 9.0  # of the argument of a cumulative Gaussian, beyond which a label is as good as known
_LOGIT_DECIDED, _LOGIT_UNIT = 40.0, 2.0  # the same for the logistic function, and over how much it is smooth
_STEEP = 11.0  # below its mode, or below zero, a Gaussian times its cumulative has nothing left after this


def over_labels(likelihood: Discrete, mean: Floats, var: Floats, score: Score) -> Floats:
    """Mean of a score of the tilted moments over the label, weighted as it is predicted."""
    total = np.zeros(len(mean))
    for label in likelihood.labels:
        tilted = likelihood.tilted(np.full(len(mean), label), mean, var)
        total += np.exp(tilted.log_z) * score(*tilted, mean, var)
    return total


def discrete_information(likelihood: Discrete, mean: Floats, var: Floats) -> Floats:
    r"""Mutual information between label and function, in nats: what the label is expected to tell of the function.

    .. math:: I(y; f) = H[y] - E_f H[y \mid f] = \sum_y P(y) \, D\bigl[p(f \mid y) \,\|\, p(f)\bigr]
    """
    if isinstance(likelihood, Probit) and not likelihood.lapse:
        m, v = likelihood.slope * (mean + likelihood.bias), likelihood.slope**2 * var
        return np.asarray(sum(np.exp(log_q) * gain for log_q, gain in (probit_gain(m, v), probit_gain(-m, v))))
    if type(likelihood) is Probit:
        ends = -likelihood.bias - _DECIDED / likelihood.slope, -likelihood.bias + _DECIDED / likelihood.slope
        return _from_entropies(likelihood, mean, var, ends, 1.0 / likelihood.slope)
    if isinstance(likelihood, Logit):
        reach = _LOGIT_DECIDED / likelihood.slope
        ends = -likelihood.bias - reach, -likelihood.bias + reach
        return _from_entropies(likelihood, mean, var, ends, _LOGIT_UNIT / likelihood.slope)
    if isinstance(likelihood, Ordinal):
        cuts, reach = likelihood.thresholds, _DECIDED / likelihood.slope
        return _from_entropies(likelihood, mean, var, (cuts[0] - reach, cuts[-1] + reach), 1.0 / likelihood.slope)
    total = np.zeros(len(mean))
    for label in likelihood.labels:
        log_p, told = tilted_log_prob(likelihood.log_prob, np.full(len(mean), label), mean, var)
        total += np.exp(log_p) * np.maximum(told - log_p, 0.0)
    return total


def probit_gain(m: Floats, v: Floats) -> tuple[Floats, Floats]:
    r"""Log probability of yes, and how much it would tell, for z that is N(m, v) and yes of probability Phi(z).

    .. math:: \log q = \log \Phi\Bigl(\frac{m}{\sqrt{1 + v}}\Bigr), \qquad
              D\bigl[p(z \mid \text{yes}) \,\|\, p(z)\bigr] = \frac1q \int \Phi(z) \log \Phi(z) N(z \mid m, v) \, dz
              - \log q

    The nodes are where that product is, so it is accurate however improbable a yes.
    """
    v = np.maximum(v, 1e-100)
    sd, total = np.sqrt(v), np.sqrt(1.0 + v)
    u = m / total
    log_q = log_ndtr(u)
    hazard = np.exp(-0.5 * u * u - 0.5 * np.log(2.0 * np.pi) - log_q)
    centre, spread = (
        m + v / total * hazard,
        sd * np.sqrt(np.maximum(1.0 - v / total**2 * hazard * (hazard + u), 1e-300)),
    )
    low = np.maximum(centre - 1.2 * _REACH * spread, np.minimum(0.0, m / total**2) - _STEEP)
    high = np.maximum(np.minimum(centre + 1.2 * _REACH * spread, _DECIDED), low)
    nodes, log_weights = gauss_legendre(_PROBIT_NODES)
    z = low[:, None] + (high - low)[:, None] * nodes
    log_phi = log_ndtr(z)
    density = log_phi - 0.5 * ((z - m[:, None]) / sd[:, None]) ** 2 + log_weights
    scale = (high - low) / (np.sqrt(2.0 * np.pi) * sd)
    told = scale * (log_phi * np.exp(density - log_q[:, None])).sum(axis=1)
    return log_q, np.maximum(told - log_q, 0.0)


def _from_entropies(likelihood: Lapsing, mean: Floats, var: Floats, ends: tuple[float, float], unit: float) -> Floats:
    """Information as a difference of entropies; beyond the ends only a lapse is open, and over a unit it is smooth."""
    log_p = np.stack([likelihood.tilted(np.full(len(mean), v), mean, var).log_z for v in likelihood.labels])
    sd = np.sqrt(np.maximum(var, 1e-100))
    low, high = np.maximum(mean - _REACH * sd, ends[0]), np.minimum(mean + _REACH * sd, ends[1])
    width = np.maximum(high - low, 0.0)
    panels = int(np.ceil(np.max(width / (_PANEL * np.minimum(sd, unit)), initial=1.0)))
    nodes, log_weights = gauss_legendre(_NODES)
    each, rest = likelihood.shares
    open_ = float(_entropy(np.log(np.append(np.full(len(likelihood.labels) - 1, max(each, 1e-300)), each + rest))))
    given = np.zeros(len(mean))
    for k in range(panels):
        f = low[:, None] + width[:, None] * ((k + nodes) / panels)
        weight = np.exp(log_weights - 0.5 * ((f - mean[:, None]) / sd[:, None]) ** 2)
        closed = _entropy(np.stack([likelihood.log_prob(v, f) for v in likelihood.labels])) - open_
        given += (weight * closed).sum(axis=1)
    given = open_ + given * width / (panels * np.sqrt(2.0 * np.pi) * sd)
    return np.maximum(_entropy(log_p) - given, 0.0)


def _entropy(log_p: Floats) -> Floats:
    """Entropy of probabilities whose logarithms are along axis 0."""
    return -np.sum(np.exp(log_p) * np.maximum(log_p, -1e300), axis=0)
