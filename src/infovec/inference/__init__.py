"""Layer 3: the posterior of all rows on a given active set, what it says of rows left out, and its gradients."""

from .basis import make_basis
from .class_by_class import infer_apart
from .class_calibration import LeftOut, calibrated, left_out_loss
from .cost import calibrate, predict_bytes, predict_evaluations
from .coupled_ep import infer_coupled
from .coupled_gradient import coupled_gradient
from .ep import LOST, Inference, Sweep, Watch, astray, infer, next_damping
from .gradient import evidence_gradient
from .precision import SHARPEST_FOR_GRADIENTS, sharp_sites, too_sharp
from .rows_left_out import left_out
from .spread import best_spread, spreads
from .without_sites import MOST_ROWS, some_rows, without_own_site

__all__ = [
    "LOST",
    "MOST_ROWS",
    "SHARPEST_FOR_GRADIENTS",
    "Inference",
    "LeftOut",
    "Sweep",
    "Watch",
    "astray",
    "best_spread",
    "calibrate",
    "calibrated",
    "coupled_gradient",
    "evidence_gradient",
    "infer",
    "infer_apart",
    "infer_coupled",
    "left_out",
    "left_out_loss",
    "make_basis",
    "next_damping",
    "predict_bytes",
    "predict_evaluations",
    "sharp_sites",
    "some_rows",
    "spreads",
    "too_sharp",
    "without_own_site",
]
