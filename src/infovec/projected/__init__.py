"""Layer 3: inference with all rows on a given active set, by parallel expectation propagation."""

from .basis import make_basis
from .ep import Inference, Sweep, infer
from .gain import coupling_free_gain
from .gradient import Gradient, evidence_gradient
from .greedy import choose_block
from .left_out import left_out, of_groups
from .precision import sharp_sites, too_sharp

__all__ = [
    "Gradient",
    "Inference",
    "Sweep",
    "choose_block",
    "coupling_free_gain",
    "evidence_gradient",
    "infer",
    "left_out",
    "make_basis",
    "of_groups",
    "sharp_sites",
    "too_sharp",
]
