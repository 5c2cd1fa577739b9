"""Layer 4: the multinomial probit by a variational posterior over auxiliary variables and functions (GR06)."""

from .bound import Optimum, maximise_bound
from .fit import fit_variational
from .gradient import BoundGradient, bound_gradient
from .learn import VariationalBound, learn_kernels
from .left_out import left_out
from .posterior import VariationalPosterior
from .projection import Projection, project
from .shard import BoundShard
from .sparse import Included, select

__all__ = [
    "BoundGradient",
    "BoundShard",
    "Included",
    "Optimum",
    "Projection",
    "VariationalBound",
    "VariationalPosterior",
    "bound_gradient",
    "fit_variational",
    "learn_kernels",
    "left_out",
    "maximise_bound",
    "project",
    "select",
]
