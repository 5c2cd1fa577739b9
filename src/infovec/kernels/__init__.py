"""Layer 1: covariance functions."""

from .algebra import Kernel, Product, Scaled, Sum
from .constant import Bias, White
from .dot_product import MLP, Linear, Polynomial
from .embedding import Periodic, Relevance
from .foreign import FromFunction, Precomputed
from .stationary import RBF, Exponential, Matern, RationalQuadratic

__all__ = [
    "MLP",
    "RBF",
    "Bias",
    "Exponential",
    "FromFunction",
    "Kernel",
    "Linear",
    "Matern",
    "Periodic",
    "Polynomial",
    "Precomputed",
    "Product",
    "RationalQuadratic",
    "Relevance",
    "Scaled",
    "Sum",
    "White",
]
