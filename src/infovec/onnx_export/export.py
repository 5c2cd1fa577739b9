"""From a fitted estimator to an ONNX model."""

import os
from typing import Any

import numpy as np
from scipy import sparse

from .._types import Floats
from ..errors import NotPositiveDefinite, ParameterError
from ..estimators import IVMClassifier, IVMOrdinalClassifier, IVMRegressor
from ..likelihoods import Gaussian, Laplace, Likelihood, Logit, Ordinal, Probit, StudentT
from ..numerics.logistic import normal_mixture
from ..persistence import replacing
from ..posterior import Posterior
from .graph import Graph
from .kernels import diagonal, matrix

__all__ = ["to_onnx"]


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None, dtype: str = "float64") -> Any:
    """Return a fitted estimator as an ONNX model, and write it to a file if a path is given.

    The graph has one input ``X`` of shape (n, n_features). Its outputs are ``latent_mean`` and ``latent_variance``, and
    ``probability`` (n, n_classes) and ``label`` of a classifier, or ``mean`` and ``std`` of the target of a regressor.
    It computes in double precision, but for the error function.

    Parameters
    ----------
    model : IVMClassifier, IVMRegressor or IVMOrdinalClassifier
        Fitted, with one latent function.
    path : str or path, optional
    dtype : {"float64", "float32"}
        Type of the input.

    Returns
    -------
    model : onnx.ModelProto
    """
    posterior = _posterior(model)
    if dtype not in ("float64", "float32"):
        raise ParameterError(f"dtype must be 'float64' or 'float32', got {dtype!r}")
    try:
        g = Graph()
    except ImportError as error:
        raise ImportError("to_onnx needs the package onnx: pip install 'infovec[onnx]'") from error
    mean, var = _latent(g, posterior)
    outputs: dict[str, tuple[int, list[Any]]] = {
        "latent_mean": (g.types.DOUBLE, ["n"]),
        "latent_variance": (g.types.DOUBLE, ["n"]),
    }
    likelihood = model.likelihood_.for_new_rows()
    if isinstance(model, IVMRegressor):
        _real(g, likelihood, mean, var)
        outputs |= {"mean": (g.types.DOUBLE, ["n"]), "std": (g.types.DOUBLE, ["n"])}
    else:
        kind = _labels(g, likelihood, model.classes_, model.class_shift_, mean, var)
        outputs |= {"probability": (g.types.DOUBLE, ["n", len(model.classes_)]), "label": (kind, ["n"])}
    exported = g.model(g.types.DOUBLE if dtype == "float64" else g.types.FLOAT, model.n_features_in_, outputs)
    if path is not None:
        with replacing(path) as file:
            file.write(exported.SerializeToString())
    return exported


def _posterior(model: Any) -> Posterior:
    if not isinstance(model, IVMClassifier | IVMRegressor | IVMOrdinalClassifier) or not hasattr(model, "posterior_"):
        raise ParameterError(f"to_onnx needs a fitted estimator of infovec, got {model!r}")
    posterior = model.posterior_
    if not isinstance(posterior, Posterior):
        raise ParameterError("models with several latent functions cannot be exported to ONNX")
    if not posterior.kernel.numeric:
        raise ParameterError("a kernel of objects cannot be exported to ONNX, which knows numbers only")
    return posterior


def _latent(g: Graph, posterior: Posterior) -> tuple[str, str]:
    """Mean k'xi and variance k(x, x) - |T k|^2."""
    X = g.cast("X", g.types.DOUBLE)
    Z = posterior.X.toarray() if sparse.issparse(posterior.X) else posterior.X
    try:
        T = posterior.reduction
    except NotPositiveDefinite as error:
        raise ParameterError("the posterior is wider than the prior somewhere, which cannot be exported") from error
    K = matrix(g, posterior.kernel, X, Z)
    stubs = g.do("MatMul", K, g.constant(T.T))
    mean = g.do("MatMul", K, g.constant(posterior.weights), name="latent_mean")
    explained = g.row_sums(g.do("Mul", stubs, stubs))
    left = g.do("Sub", diagonal(g, posterior.kernel, X), explained)
    return mean, g.do("Max", left, g.constant(0.0), name="latent_variance")


def _real(g: Graph, likelihood: Likelihood, mean: str, var: str) -> None:
    """Mean and standard deviation of a target with noise that is added."""
    if type(likelihood) not in (Gaussian, Laplace, StudentT):
        raise ParameterError(f"{likelihood!r} cannot be exported to ONNX; Gaussian, Laplace and StudentT can")
    bias, noise = likelihood.predict(np.zeros(1), np.zeros(1))
    g.do("Add", mean, g.constant(bias), name="mean")
    g.do("Sqrt", g.plus(var, noise), name="std")


def _labels(g: Graph, likelihood: Likelihood, classes: Any, shift: Floats, mean: str, var: str) -> int:
    """Probability of every class, and the most probable one; returns the type of its label."""
    below = _cumulative(g, likelihood, mean, var)
    zero = g.times(g.do("Unsqueeze", mean, g.constant(np.array([1]))), 0.0)
    lower, upper = g.do("Concat", zero, below, axis=1), g.do("Concat", below, g.plus(zero, 1.0), axis=1)
    if not shift.any():
        probability = g.do("Sub", upper, lower, name="probability")
    else:
        weighed = g.do("Mul", g.do("Sub", upper, lower), g.constant(np.exp(shift - shift.max())))
        total = g.do("Unsqueeze", g.row_sums(weighed), g.constant(np.array([1])))
        probability = g.do("Div", weighed, total, name="probability")
    labels = np.asarray(classes)
    known = {"b": g.types.BOOL, "i": g.types.INT64, "u": g.types.INT64, "f": g.types.DOUBLE}
    labels = labels.astype(np.int64) if labels.dtype.kind in "iu" else labels
    best = g.do("ArgMax", probability, axis=1, keepdims=0)
    g.do("Gather", g.constant(labels), best, name="label")
    return int(known.get(labels.dtype.kind, g.types.STRING))


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
    below = g.normal_cdf(g.do("Div", gap, g.do("Sqrt", g.plus(counted, scales**2))))
    return below if weights is None else g.do("MatMul", below, g.constant(weights[:, None]))
