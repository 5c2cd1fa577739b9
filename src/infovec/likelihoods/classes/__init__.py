"""Likelihoods of a class label given one latent value for each class."""

from .against_rest import OneAgainstRest, against_rest
from .base import ClassLikelihood
from .null_category import NullAgainstRest
from .probit import MultivariateProbit
from .softmax import Softmax
from .winner import ClassMoments, Standing, moments, moments_bytes, standing, win_log_proba

__all__ = [
    "ClassLikelihood",
    "ClassMoments",
    "MultivariateProbit",
    "NullAgainstRest",
    "OneAgainstRest",
    "Softmax",
    "Standing",
    "against_rest",
    "moments",
    "moments_bytes",
    "standing",
    "win_log_proba",
]
