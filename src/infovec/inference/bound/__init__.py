"""The variational posterior of the multinomial probit (GR06), on a given active set."""

from .gradient import BoundGradient, bound_gradient
from .maximum import Optimum, maximise_bound
from .projection import Projection, classes_by_kernel, project
from .race import AgainstZero, Race, as_race
from .rows_left_out import left_out
from .shard import BoundShard

__all__ = [
    "AgainstZero",
    "BoundGradient",
    "BoundShard",
    "Optimum",
    "Projection",
    "Race",
    "as_race",
    "bound_gradient",
    "classes_by_kernel",
    "left_out",
    "maximise_bound",
    "project",
]
