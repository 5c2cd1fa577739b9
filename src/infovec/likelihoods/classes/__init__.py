"""Likelihoods of a class label given one latent value for each class."""

from .against_rest import OneAgainstRest
from .base import ClassLikelihood
from .probit import MultivariateProbit
from .softmax import Softmax
from .winner import ClassMoments

__all__ = ["ClassLikelihood", "ClassMoments", "MultivariateProbit", "OneAgainstRest", "Softmax"]
