"""From a fitted estimator to an ONNX model."""

import os
from typing import Any

import numpy as np

from ..errors import ParameterError
from ..estimators import GPClassifier, IVMClassifier, IVMOrdinalClassifier, IVMRegressor
from ..likelihoods.ranks import by_class
from ..persistence import check_output, writing
from ..posterior import Posterior
from .classes import label, probability
from .graph import Graph
from .latent import latent, parts
from .numbers import real

__all__ = ["to_onnx"]


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None, dtype: str = "float64") -> Any:
    """Return a fitted estimator as an ONNX model, and write it to a file if a path is given.

    The graph has one input ``X`` of shape (n, n_features). Its outputs are, in this order, ``label`` and
    ``probability`` (n, n_classes) of a classifier, or ``mean`` and ``std`` of the target of a regressor, and then
    ``latent_mean`` and ``latent_variance``, of shape (n,) or, with more than two classes, (n, n_classes). It computes
    in double precision. A model of a table with categories or missing values takes the rows that
    ``TableEncoder.from_model(model)`` makes of it.

    Parameters
    ----------
    model : IVMClassifier, IVMRegressor or IVMOrdinalClassifier
        Fitted; of many classes not with ``multi_class="softmax"``.
    path : str or path, optional
    dtype : {"float64", "float32"}
        Type of the input.

    Returns
    -------
    model : onnx.ModelProto
    """
    posterior = _posterior(model)
    if path is not None:
        check_output(path)
    if dtype not in ("float64", "float32"):
        raise ParameterError(f"dtype must be 'float64' or 'float32', got {dtype!r}")
    try:
        g = Graph()
    except ImportError as error:
        raise ImportError("to_onnx needs the package onnx: pip install 'infovec[onnx]'") from error
    mean, var = latent(g, posterior)
    functions = ["n"] if len(parts(posterior)) == 1 else ["n", len(parts(posterior))]
    outputs: dict[str, tuple[int, list[Any]]]
    likelihood = model.likelihood_.for_new_rows()
    if isinstance(model, IVMRegressor):
        real(g, likelihood, mean, var)
        outputs = {"mean": (g.types.DOUBLE, ["n"]), "std": (g.types.DOUBLE, ["n"])}
    else:
        prior = max(float(np.max(part.kernel.diag(part.X))) for part in parts(posterior))
        column = by_class(model, np.arange(len(model.classes_)))
        kind = label(g, probability(g, likelihood, mean, var, prior, model.class_shift_, column), model.classes_)
        outputs = {"label": (kind, ["n"]), "probability": (g.types.DOUBLE, ["n", len(model.classes_)])}
    outputs |= dict.fromkeys(("latent_mean", "latent_variance"), (g.types.DOUBLE, functions))
    exported = g.model(g.types.DOUBLE if dtype == "float64" else g.types.FLOAT, _width(model), outputs)
    if path is not None:
        with writing(path) as file:
            file.write(exported.SerializeToString())
    return exported


def _width(model: Any) -> int:
    """Columns of the inputs: of a model of a table those that a TableEncoder makes of its rows."""
    return int(model.table_.width if hasattr(model, "table_") else model.n_features_in_)


def _posterior(model: Any) -> Posterior:
    if hasattr(model, "outputs_"):
        raise ParameterError(
            f"to_onnx is for a model of one target, and this one has {len(model.outputs_)}: call "
            "to_onnx(model.outputs_[0]) for the first of them"
        )
    if isinstance(model, GPClassifier):
        raise ParameterError(
            "GPClassifier cannot be exported to ONNX: its models have all training rows, and its probabilities are "
            "integrals that ONNX does not have. Fit an IVMClassifier, which can be exported"
        )
    if not isinstance(model, IVMClassifier | IVMRegressor | IVMOrdinalClassifier) or not hasattr(model, "posterior_"):
        raise ParameterError(f"to_onnx needs a fitted estimator of infovec, got {model!r}")
    posterior: Posterior = model.posterior_
    if not all(part.kernel.numeric for part in parts(posterior)):
        raise ParameterError("a kernel of objects cannot be exported to ONNX, which knows numbers only")
    return posterior
