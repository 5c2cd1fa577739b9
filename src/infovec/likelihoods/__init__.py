"""Noise models p(y | f): immutable values. For one of your own see ``Likelihood``, for classes ``Discrete``."""

from ..numerics.monotone import Log, YeoJohnson
from ..numerics.roles import Role
from .base import Discrete, Likelihood, Prediction, Site, Tilted
from .gaussian import Gaussian
from .laplace import Laplace
from .lapse import Lapsing
from .logit import Logit
from .null_category import NullCategory
from .one_of_many import OneOfMany
from .ordinal import Ordinal
from .poisson import Poisson
from .probit import Probit
from .student_t import StudentT
from .transformed import Transformed, untransformed
from .weighted import Weighted, WeightedDiscrete, plain, total_weight, weighted, with_spare

__all__ = [
    "Discrete",
    "Gaussian",
    "Laplace",
    "Lapsing",
    "Likelihood",
    "Log",
    "Logit",
    "NullCategory",
    "OneOfMany",
    "Ordinal",
    "Poisson",
    "Prediction",
    "Probit",
    "Role",
    "Site",
    "StudentT",
    "Tilted",
    "Transformed",
    "Weighted",
    "WeightedDiscrete",
    "YeoJohnson",
    "plain",
    "total_weight",
    "untransformed",
    "weighted",
    "with_spare",
]
