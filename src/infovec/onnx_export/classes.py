"""Likelihoods of classes as ONNX operations: probabilities, and labels."""

from typing import Any, cast

import numpy as np

from .._types import Array, Floats, Rows
from ..errors import ParameterError
from ..likelihoods import Lapsing, Likelihood, Logit, Ordinal, Probit
from ..likelihoods.classes import ClassLikelihood, MultivariateProbit, OneAgainstRest
from ..numerics.logistic import normal_mixture
from .graph import Graph
from .normal import log_odds, normal_cdf
from .race import nodes_for, win_log_weights

__all__ = ["label", "probability"]


def probability(
    g: Graph, likelihood: Likelihood | ClassLikelihood, mean: str, var: str, prior: float, shift: Floats, column: Rows
) -> str:
    """Probability of every class, of shape (n, C).

    Parameters
    ----------
    g : Graph
    likelihood : Likelihood or ClassLikelihood
    mean, var : str
        Of the latent functions.
    prior : float
        Their largest prior variance.
    shift : array of shape (C,)
        Of the logarithms, before they are normalised.
    column : array of shape (C,)
        Which column of the likelihood each class has.
    """
    found = _unshifted(g, likelihood, mean, var, prior)
    if not np.array_equal(column, np.arange(len(column))):
        found = g.do("Gather", found, g.constant(column.astype(np.int64)), axis=1)
    if not shift.any():
        return g.do("Identity", found, name="probability")
    weighed = g.do("Mul", found, g.constant(np.exp(shift - shift.max())))
    total = g.do("Unsqueeze", g.row_sums(weighed), g.constant(np.array([1])))
    return g.do("Div", weighed, total, name="probability")


def _unshifted(g: Graph, likelihood: Likelihood | ClassLikelihood, mean: str, var: str, prior: float) -> str:
    if isinstance(likelihood, ClassLikelihood):
        found, (each, rest) = _of_many(g, likelihood, mean, var, prior), likelihood.shares
    else:
        found, (each, rest) = _of_one(g, likelihood, mean, var), cast(Lapsing, likelihood).shares
    return g.plus(g.times(found, rest), each) if each else found


def _of_one(g: Graph, likelihood: Likelihood, mean: str, var: str) -> str:
    """Probabilities between the cuts, of labels that are right."""
    below = _cumulative(g, likelihood, mean, var)
    zero = g.times(g.do("Unsqueeze", mean, g.constant(np.array([1]))), 0.0)
    lower, upper = g.do("Concat", zero, below, axis=1), g.do("Concat", below, g.plus(zero, 1.0), axis=1)
    return g.do("Sub", upper, lower)


def _cumulative(g: Graph, likelihood: Likelihood, mean: str, var: str) -> str:
    """Probability of a class below each cut, of shape (n, cuts)."""
    if type(likelihood) is Probit:
        cuts, scales, weights = np.array([-likelihood.bias]), np.array([1.0 / likelihood.slope]), None
    elif type(likelihood) is Ordinal:
        cuts, scales, weights = likelihood.thresholds, np.array([1.0 / likelihood.slope]), None
    elif type(likelihood) is Logit:
        scales, weights = normal_mixture()
        cuts, scales = np.array([-likelihood.bias]), scales / likelihood.slope
    else:
        raise ParameterError(f"{likelihood!r} cannot be exported to ONNX; Probit, Logit and Ordinal can")
    column = g.constant(np.array([1]))
    gap = g.do("Sub", g.constant(cuts), g.do("Unsqueeze", mean, column))
    counted = g.times(g.do("Unsqueeze", var, column), likelihood.spread)
    below = normal_cdf(g, g.do("Div", gap, g.do("Sqrt", g.plus(counted, scales**2))))
    return below if weights is None else g.do("MatMul", below, g.constant(weights[:, None]))


def _of_many(g: Graph, likelihood: ClassLikelihood, mean: str, var: str, prior: float) -> str:
    """Weights of the classes to the power that was calibrated, normalised: of labels that are right."""
    shifted, counted = g.plus(mean, likelihood.bias), g.times(var, likelihood.spread)
    if type(likelihood) is OneAgainstRest:
        log_weights = log_odds(g, g.do("Div", shifted, g.do("Sqrt", g.plus(counted, 1.0))))
    elif type(likelihood) is MultivariateProbit:
        log_weights = win_log_weights(g, shifted, counted, nodes_for(likelihood.spread * prior))
    else:
        raise ParameterError(
            f"{type(likelihood).__name__} cannot be exported to ONNX: its probabilities are integrals of a function "
            "that ONNX does not have. Fit with multi_class='ovr' or 'probit', which can be exported"
        )
    return g.do("Softmax", g.times(log_weights, likelihood.power), axis=1)


def label(g: Graph, probability: str, classes: Array) -> int:
    """Add the most probable class; return the type of its label."""
    labels = _plain(classes)
    kinds = {"b": g.types.BOOL, "i": g.types.INT64, "f": g.types.DOUBLE, "U": g.types.STRING}
    best = g.do("ArgMax", probability, axis=1, keepdims=0)
    g.do("Gather", g.constant(labels), best, name="label")
    return int(kinds[labels.dtype.kind])


def _plain(classes: Array) -> Array:
    """Return labels as truth values, whole numbers, numbers or words."""
    given: list[Any] = classes.tolist()
    labels = np.array(given)
    if labels.dtype.kind == "u":
        labels = labels.astype(np.float64)  # beyond what a signed number holds
    if labels.dtype.kind not in "bifU" or labels.tolist() != given:
        raise ParameterError(
            f"labels such as {given[0]!r} and {given[-1]!r} cannot be exported to ONNX: they must all be words, all "
            "truth values or all numbers that it can hold; fit with such labels"
        )
    return labels
