"""The race of the classes with normal noise as ONNX operations: who wins, by as many nodes for every row."""

import numpy as np

from ..errors import ParameterError
from .graph import Graph
from .normal import log_cdf

__all__ = ["nodes_for", "win_log_weights"]

_REACH, _DROP, _COARSE = (
    8.0,
    30.0,
    32,
)  # as in infovec.likelihoods.classes.winner, whose nodes are as many as a row needs
_STEP, _MOST = 0.8, 4096


def nodes_for(variance: float) -> int:
    """Return how many nodes are no wider apart than 0.8 of the noise while classes reach as far as the prior lets them.

    A trapezoidal rule with such steps is off by some 1e-12 of a probability.
    """
    wanted = 2.0 * _REACH * np.sqrt(1.0 + variance) / _STEP
    if wanted > _MOST:
        raise ParameterError(
            f"coupled classes of a prior variance of {variance:.3g} cannot be exported to ONNX: their probabilities "
            "need too many nodes. Fit with multi_class='ovr', which can be exported"
        )
    return int(2 ** np.ceil(np.log2(max(wanted, 2 * _COARSE))))


def win_log_weights(g: Graph, mean: str, var: str, nodes: int) -> str:
    r"""Log probability of every class to win, up to a constant of the row, of shape (n, C).

    .. math:: P(y) = \int \frac{p_y(t)}{F_y(t)} \prod_j F_j(t) \, dt
    """
    sd = g.do("Sqrt", g.plus(var, 1.0))
    reach = g.times(sd, _REACH)
    low = g.do("ReduceMin", g.do("Sub", mean, reach), axes=[1], keepdims=1)
    width = g.do("Sub", g.do("ReduceMax", g.do("Add", mean, reach), axes=[1], keepdims=1), low)
    for _ in range(2):
        low, width = _narrowed(g, _integrands(g, mean, sd, low, width, _COARSE), low, width)
    terms = _integrands(g, mean, sd, low, width, nodes)
    top = g.do("ReduceMax", terms, axes=[1], keepdims=1)
    total = g.do("ReduceSum", g.do("Exp", g.do("Sub", terms, top)), g.constant(np.array([1])), keepdims=0)
    return g.add(g.do("Squeeze", top, g.constant(np.array([1]))), g.do("Log", total))


def _integrands(g: Graph, mean: str, sd: str, low: str, width: str, steps: int) -> str:
    """Logs of the integrands of all classes at evenly spaced points, of shape (n, points, C)."""
    t = g.add(low, g.times(width, np.arange(steps + 1)[None, :] / steps))
    point, one = g.constant(np.array([2])), g.constant(np.array([1]))
    sd = g.do("Unsqueeze", sd, one)
    z = g.do("Div", g.do("Sub", g.do("Unsqueeze", t, point), g.do("Unsqueeze", mean, one)), sd)
    below = log_cdf(g, z)
    density = g.do("Sub", g.times(g.do("Mul", z, z), -0.5), g.do("Log", sd))
    return g.add(g.do("Sub", density, below), g.row_sums(below, keep=True))


def _narrowed(g: Graph, terms: str, low: str, width: str) -> tuple[str, str]:
    """Where the integrand of some class is more than e^-30 of its peak, and a step beyond."""
    limit = g.plus(g.do("ReduceMax", terms, axes=[1], keepdims=1), -_DROP)
    inside = g.cast(g.do("Greater", terms, limit), g.types.FLOAT)
    some = g.do("ReduceMax", inside, axes=[2], keepdims=0)
    first, last = (
        g.cast(g.do("ArgMax", some, axis=1, keepdims=1, select_last_index=which), g.types.DOUBLE) for which in (0, 1)
    )
    first = g.do("Max", g.plus(first, -1.0), g.constant(0.0))
    last = g.do("Min", g.plus(last, 1.0), g.constant(float(_COARSE)))
    step = g.times(width, 1.0 / _COARSE)
    return g.add(low, g.do("Mul", step, first)), g.do("Mul", step, g.do("Sub", last, first))
