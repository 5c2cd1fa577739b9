"""Layer 4: more than two classes, each with a latent function of its own."""

from .coupled import CoupledShard
from .ep import infer_coupled
from .gradient import coupled_gradient
from .likelihood import ClassLikelihood
from .probit import MultivariateProbit
from .race import ClassMoments
from .softmax import Softmax

__all__ = ["ClassLikelihood", "ClassMoments", "CoupledShard", "MultivariateProbit", "Softmax", "coupled_gradient", "infer_coupled"]
