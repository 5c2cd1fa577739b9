r"""The normal distribution as ONNX operations, in double precision and far into the tails.

The error function of ONNX runs in single precision in the common runtimes. What is used here is

.. math:: \log\Phi(-t) = -\tfrac12 t^2 + \log \tfrac12 - \log(1 + x) + p\Bigl(\frac{x - k}{x + k}\Bigr), \qquad
          x = t / \sqrt 2 \ge 0,

where p is the polynomial through :math:`\log\bigl((1 + x) \, \mathrm{erfcx}(x)\bigr)`, a function of u = (x - k) / (x +
k) that is smooth from x = 0 (u = -1) to infinity (u = 1).
"""

from functools import lru_cache

import numpy as np
from numpy.polynomial import chebyshev
from scipy.special import erfcx

from .._types import Floats
from .graph import Graph

__all__ = ["log_cdf", "log_odds", "log_tail", "normal_cdf", "polynomial"]

_CENTRE, _DEGREE, _POINTS = 2.5, 24, 400


@lru_cache(maxsize=1)
def polynomial() -> Floats:
    """Return the coefficients of p, that of the highest power first. Its error is some units of rounding."""
    u = chebyshev.chebpts1(_POINTS)
    x = _CENTRE * (1.0 + u) / (1.0 - u)
    fitted = chebyshev.chebfit(u, np.log((1.0 + x) * erfcx(x)), _DEGREE)
    return np.asarray(chebyshev.cheb2poly(fitted)[::-1])


def log_tail(g: Graph, t: str) -> str:
    """Log probability that a standard normal variable is beyond t, which is not negative."""
    x = g.times(t, np.sqrt(0.5))
    beyond = g.plus(x, _CENTRE)
    u = g.do("Div", g.plus(x, -_CENTRE), beyond)
    first, *rest = polynomial()
    value = g.plus(g.times(u, 0.0), first)
    for coefficient in rest:
        value = g.plus(g.do("Mul", value, u), coefficient)
    smooth = g.do("Sub", value, g.do("Log", g.plus(x, 1.0)))
    return g.do("Sub", g.plus(smooth, np.log(0.5)), g.do("Mul", x, x))


def _tails(g: Graph, z: str) -> tuple[str, str, str]:
    """Whether z is negative, and the logs of the probabilities beyond |z| and within it on the other side."""
    beyond = log_tail(g, g.do("Abs", z))
    within = g.do("Log", g.plus(g.times(g.do("Exp", beyond), -1.0), 1.0))
    return g.do("Less", z, g.constant(0.0)), beyond, within


def log_cdf(g: Graph, z: str) -> str:
    """Log Phi(z)."""
    negative, beyond, within = _tails(g, z)
    return g.do("Where", negative, beyond, within)


def log_odds(g: Graph, z: str) -> str:
    """Log Phi(z) - log Phi(-z)."""
    negative, beyond, within = _tails(g, z)
    size = g.do("Sub", within, beyond)
    return g.do("Where", negative, g.times(size, -1.0), size)


def normal_cdf(g: Graph, z: str) -> str:
    """Phi(z)."""
    return g.do("Exp", log_cdf(g, z))
