"""Mean and standard deviation of real targets as ONNX operations."""

import numpy as np

from ..errors import ParameterError
from ..likelihoods import Gaussian, Laplace, Likelihood, Log, StudentT, Transformed, YeoJohnson
from .graph import Graph

__all__ = ["real"]

_NODES = 64


def real(g: Graph, likelihood: Likelihood, mean: str, var: str) -> None:
    """Add the mean and the standard deviation of a target with noise that is added, to it or to a transform of it."""
    noise = likelihood.likelihood if isinstance(likelihood, Transformed) else likelihood
    if type(noise) not in (Gaussian, Laplace, StudentT):
        raise ParameterError(f"{likelihood!r} cannot be exported to ONNX; Gaussian, Laplace and StudentT can")
    bias, added = noise.predict(np.zeros(1), np.zeros(1))
    mean, var = g.plus(mean, bias), g.plus(var, added)
    if not isinstance(likelihood, Transformed):
        g.do("Identity", mean, name="mean")
        g.do("Sqrt", var, name="std")
        return
    if not isinstance(noise, Gaussian):
        raise ParameterError(
            f"{likelihood!r} cannot be exported to ONNX: of noise around a transform Gaussian noise can; fit with "
            "likelihood='gaussian', or with target='identity'"
        )
    if isinstance(likelihood.transform, Log):
        _log_normal(g, mean, var)
    else:
        _by_nodes(g, likelihood.transform, mean, var)


def _log_normal(g: Graph, mean: str, var: str) -> None:
    middle = g.do("Exp", g.add(mean, g.times(var, 0.5)), name="mean")
    g.do("Mul", middle, g.do("Sqrt", g.plus(g.do("Exp", var), -1.0)), name="std")


def _by_nodes(g: Graph, transform: YeoJohnson, mean: str, var: str) -> None:
    """Gauss-Hermite quadrature of the target, one column for each node."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    weights = weights / np.sqrt(2.0 * np.pi)
    sd, last = g.do("Sqrt", var), g.constant(np.array([-1]))
    sd, mean = (g.do("Unsqueeze", part, last) for part in (sd, mean))
    z = g.add(mean, g.times(sd, nodes[None, :]))
    size = g.do("Abs", z)
    up, down = (_back(g, size, power) for power in (transform.power, 2.0 - transform.power))
    t = g.do("Where", g.do("Less", z, g.constant(0.0)), g.times(down, -1.0), up)
    y = g.plus(g.times(t, transform.scale), transform.centre)
    middle = g.row_sums(g.times(y, weights[None, :]), keep=True)
    off = g.do("Sub", y, middle)
    g.do("Squeeze", middle, last, name="mean")
    g.do("Sqrt", g.row_sums(g.times(g.do("Mul", off, off), weights[None, :])), name="std")


def _back(g: Graph, size: str, power: float) -> str:
    """Return t from ((1 + t)^power - 1) / power."""
    if not power:
        return g.plus(g.do("Exp", size), -1.0)
    return g.plus(g.do("Pow", g.plus(g.times(size, power), 1.0), g.constant(1.0 / power)), -1.0)
