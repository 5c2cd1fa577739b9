"""The classes below the estimators that a model file can have. A class not listed here cannot be in one."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from ..errors import ModelFileError
from ..kernels import (
    MLP,
    RBF,
    Bias,
    Exponential,
    FromFunction,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    Precomputed,
    Product,
    RationalQuadratic,
    Relevance,
    Scaled,
    Sum,
    White,
)
from ..likelihoods import Gaussian, Laplace, Logit, Ordinal, Poisson, Probit, StudentT, Weighted, WeightedDiscrete
from ..multiclass import ClassPosterior, MultivariateProbit, OneAgainstRest, SeparatePosterior, Softmax
from ..posterior import FactorisedPosterior, ProjectedPosterior
from .registry import Record, Registry, value

__all__ = ["BUILT_IN"]

_KERNELS = (
    RBF, Matern, Exponential, RationalQuadratic, Linear, Polynomial, MLP, Periodic, Bias, White, Relevance,
    FromFunction, Precomputed, Sum, Product, Scaled,
)  # fmt: skip
_LIKELIHOODS = (Gaussian, Probit, Logit, Ordinal, Laplace, StudentT, Poisson, Weighted, WeightedDiscrete)
_CLASS_LIKELIHOODS = (MultivariateProbit, Softmax, OneAgainstRest)
_POSTERIORS = (FactorisedPosterior, ProjectedPosterior, ClassPosterior, SeparatePosterior)


def _random_parts(random: np.random.RandomState) -> dict[str, Any]:
    state: Any = random.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        raise ModelFileError("a RandomState on another generator than MT19937 cannot be saved; give a number")
    return {"key": state["state"]["key"], "position": state["state"]["pos"],
            "has_gauss": state["has_gauss"], "gauss": state["gauss"]}  # fmt: skip


def _random(given: Mapping[str, Any]) -> np.random.RandomState:
    random = np.random.RandomState(0)
    random.set_state(("MT19937", given["key"], given["position"], given["has_gauss"], given["gauss"]))
    return random


BUILT_IN: Final = Registry.of(
    [
        *(value(cls) for cls in (*_KERNELS, *_LIKELIHOODS, *_CLASS_LIKELIHOODS, *_POSTERIORS)),
        Record(np.random.RandomState, _random_parts, _random),
    ]
)
"""All kernels, likelihoods and posteriors of infovec."""
