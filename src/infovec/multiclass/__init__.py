"""Layer 4: more than two classes, each with a latent function of its own."""

from .likelihood import ClassLikelihood
from .probit import MultivariateProbit
from .race import ClassMoments
from .softmax import Softmax

__all__ = ["ClassLikelihood", "ClassMoments", "MultivariateProbit", "Softmax"]
