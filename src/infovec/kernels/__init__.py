"""Covariance functions: immutable values that are added with ``+``, multiplied with ``*`` and scaled by numbers.

``RBF(length_scale=2.0) + 0.5 * Linear() + Bias()`` is a kernel, ``named("rbf + linear")`` another; so is a function of
yours in ``FromFunction``.
"""

from ..numerics.roles import Role
from .additive import MainEffects
from .algebra import Block, Kernel, Product, Scaled, Sum
from .categorical import Categorical
from .columns import On
from .constant import Bias, White
from .coregion import Coregion
from .dot_product import MLP, Linear, Polynomial
from .embedding import Periodic, Relevance, Standardised
from .foreign import FromFunction, Precomputed
from .grouped import Grouped, image_blocks
from .named import named
from .stationary import RBF, Exponential, Matern, RationalQuadratic
from .tasks import Tasks

__all__ = [
    "MLP",
    "RBF",
    "Bias",
    "Block",
    "Categorical",
    "Coregion",
    "Exponential",
    "FromFunction",
    "Grouped",
    "Kernel",
    "Linear",
    "MainEffects",
    "Matern",
    "On",
    "Periodic",
    "Polynomial",
    "Precomputed",
    "Product",
    "RationalQuadratic",
    "Relevance",
    "Role",
    "Scaled",
    "Standardised",
    "Sum",
    "Tasks",
    "White",
    "image_blocks",
    "named",
]
