"""What the unknown class of a row would tell of the functions of all classes."""

from functools import lru_cache

import numpy as np
from scipy.special import ndtr, ndtri, softmax

from .._types import Floats
from ..likelihoods.classes import ClassLikelihood, OneAgainstRest, Softmax, standing
from ..scores import Score
from .discrete import probit_gain

__all__ = ["class_information", "over_classes", "points_of_functions"]

_EULER = 0.5772156649015329  # mean of a Gumbel variable
_SAME_SPREAD = np.pi / np.sqrt(6.0)  # of Gumbel noise, in units of that of normal noise
_POINTS = 64  # of the functions, in which the race with normal noise is run
_MANY_POINTS = 256  # where labels may be wrong
_STEP, _REACH = 0.5, 6.5  # of the places where its winner may stand, from the leader
_NOISE = Softmax(np.zeros(2)).noise
_SMALL = 1e-300


def over_classes(likelihood: ClassLikelihood, mean: Floats, var: Floats, score: Score) -> Floats:
    """Mean, over the class as it is predicted, of a score of the tilted moments of every function; shape (n, C)."""
    proba, total = np.exp(likelihood.log_proba(mean, var)), np.zeros(mean.shape)
    for c in range(likelihood.n_classes):
        log_z, g, nu = likelihood.tilted(np.full(len(mean), c), mean, var)
        total += proba[:, c : c + 1] * score(log_z[:, None], g, nu, mean, var)
    return total


def class_information(likelihood: ClassLikelihood, mean: Floats, var: Floats) -> Floats:
    """Mutual information between the class and the functions, in nats, by the coupling that the likelihood is."""
    if likelihood.lapse:
        known = [likelihood.when_known(mean + np.sqrt(likelihood.spread * var) * z) for z in _points_of(mean)]
        return _gain_of_points(np.exp(known))
    if isinstance(likelihood, OneAgainstRest):
        return _against_rest(likelihood, mean, var)
    m, v = mean + likelihood.bias, likelihood.spread * var
    if isinstance(likelihood, Softmax):
        return _softmax(m, v)
    if m.shape[1] == 2:  # a race of two is a matter of the difference
        difference, of_it = (m[:, 0] - m[:, 1]) / np.sqrt(2.0), 0.5 * v.sum(axis=1)
        return np.asarray(
            sum(np.exp(q) * gain for q, gain in (probit_gain(s * difference, of_it) for s in (1.0, -1.0)))
        )
    return _probit(np.exp(likelihood.log_weights(mean, v)), m, v)


def _points_of(mean: Floats) -> Floats:
    return points_of_functions(mean.shape[1], _MANY_POINTS)


def _gain_of_points(proba: Floats) -> Floats:
    r"""Information by S points of the functions, with shape (S, n, C): never negative.

    .. math:: H\Bigl[\frac1S \sum_s P(y \mid f_s)\Bigr] - \frac1S \sum_s H\bigl[P(y \mid f_s)\bigr]
    """
    return np.maximum(_entropy(proba.mean(axis=0)) - np.mean([_entropy(p) for p in proba], axis=0), 0.0)


def _against_rest(likelihood: OneAgainstRest, mean: Floats, var: Floats) -> Floats:
    r"""Expected information gain of C independent functions, each told whether it is its class.

    .. math:: \sum_c P(c) \, D\bigl[p(f_c \mid \text{yes}) \,\|\, p(f_c)\bigr]
              + (1 - P(c)) \, D\bigl[p(f_c \mid \text{no}) \,\|\, p(f_c)\bigr]

    with P the prediction of all of them together.
    """
    proba, total = np.exp(likelihood.log_proba(mean, var)), np.zeros(len(mean))
    for c, bias in enumerate(likelihood.bias):
        m, v = mean[:, c] + bias, likelihood.spread * var[:, c]
        total += proba[:, c] * probit_gain(m, v)[1] + (1.0 - proba[:, c]) * probit_gain(-m, v)[1]
    return total


def _softmax(m: Floats, v: Floats) -> Floats:
    r"""For any number of classes by integrals of one dimension: the largest of f + Gumbel noise has the mean of lse(f).

    .. math:: E_f H[y \mid f] = E \log \sum_c e^{f_c} - \sum_c E[p_c f_c], \qquad
              E \log \sum_c e^{f_c} = E \max_c (f_c + \epsilon_c) - \gamma, \qquad
              E[p_c f_c] = \mu_c P_c + \sigma_c^2 \frac{\partial P_c}{\partial \mu_c}
    """
    found = standing(_NOISE, m, v)
    given = found.place - _EULER - np.sum(m * found.proba + v * found.slope, axis=1)
    return np.maximum(_entropy(found.proba) - given, 0.0)


def _probit(proba: Floats, m: Floats, v: Floats) -> Floats:
    r"""By points of the functions, the difference from Gumbel noise of the same spread alone: that one is known.

    .. math:: E_f H_{\text{normal}} \approx E_f H_{\text{Gumbel}} + \frac1S \sum_s \bigl(H_{\text{normal}}(f_s) -
              H_{\text{Gumbel}}(f_s)\bigr)
    """
    found = standing(_NOISE, _SAME_SPREAD * m, _SAME_SPREAD**2 * v)
    given = found.place - _EULER
    given -= np.sum(_SAME_SPREAD * (m * found.proba + _SAME_SPREAD * v * found.slope), axis=1)
    apart = np.zeros(len(m))
    for point in points_of_functions(m.shape[1]):
        f = m + np.sqrt(v) * point
        p = _race(f)
        apart += (_entropy(p) - _entropy(softmax(_SAME_SPREAD * f, axis=1))) / _POINTS
    return np.maximum(_entropy(proba) - given - apart, 0.0)


def _race(f: Floats) -> Floats:
    """Probabilities to win with standard normal noise, shape (n, C), by the trapezoidal rule."""
    leader = f.max(axis=1, keepdims=True)
    p = np.zeros(f.shape)
    for t in np.arange(-_REACH, _REACH + 2.0, _STEP):
        z = leader + t - f
        below = ndtr(z)
        p += np.exp(-0.5 * z * z) / below * np.prod(below, axis=1, keepdims=True)
    return p / p.sum(axis=1, keepdims=True)


@lru_cache
def points_of_functions(C: int, n: int = _POINTS) -> Floats:
    """Points of a standard normal distribution of C dimensions that fill it evenly: powers of a generalised ratio."""
    ratio = 2.0
    for _ in range(60):
        ratio = (1.0 + ratio) ** (1.0 / (C + 1.0))
    half = (0.5 + np.outer(np.arange(1, n // 2 + 1), ratio ** -np.arange(1.0, C + 1.0))) % 1.0
    points = ndtri(half)
    return np.concatenate([points, -points])


def _entropy(p: Floats) -> Floats:
    return -np.sum(p * np.log(np.maximum(p, _SMALL)), axis=1)
