"""Likelihoods of a class label given one latent value for each class."""

from .against_rest import OneAgainstRest
from .base import ClassLikelihood
from .probit import MultivariateProbit
from .softmax import Softmax
from .winner import ClassMoments, moments, moments_bytes, win_log_proba

__all__ = [
    "ClassLikelihood",
    "ClassMoments",
    "MultivariateProbit",
    "OneAgainstRest",
    "Softmax",
    "moments",
    "moments_bytes",
    "win_log_proba",
]
