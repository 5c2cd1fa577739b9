"""Likelihoods of a class label given one latent value for each class."""

from .against_rest import OneAgainstRest
from .base import ClassLikelihood
from .probit import MultivariateProbit
from .softmax import Softmax
from .winner import ClassMoments, Standing, moments, moments_bytes, standing, win_log_proba

__all__ = [
    "ClassLikelihood",
    "ClassMoments",
    "MultivariateProbit",
    "OneAgainstRest",
    "Softmax",
    "Standing",
    "moments",
    "moments_bytes",
    "standing",
    "win_log_proba",
]
