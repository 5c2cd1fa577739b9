"""The posterior of all rows on a given active set, what it says of rows left out, and its gradients."""

from .active_ep import settle_active
from .basis import make_basis
from .calibration import LeftOut, best_spread, calibrated, left_out_loss, spreads
from .cost import calibrate, predict_bytes, predict_evaluations
from .coupled_ep import infer_coupled
from .coupled_gradient import coupled_gradient
from .ep import infer
from .gradient import Moved, evidence_gradient, moved_gradient, through_active
from .kin import Look, Seen, leave_out_together, through
from .precision import SHARPEST_FOR_GRADIENTS, sharp_sites, too_sharp
from .rows_left_out import left_out, left_out_by_folds, left_out_in_turn, left_out_of_classes
from .settle import LOST, Inference, Sweep, Watch, astray, next_damping
from .without_sites import MOST_ROWS, some_rows, without_folds, without_own_site

__all__ = [
    "LOST",
    "MOST_ROWS",
    "SHARPEST_FOR_GRADIENTS",
    "Inference",
    "LeftOut",
    "Look",
    "Moved",
    "Seen",
    "Sweep",
    "Watch",
    "astray",
    "best_spread",
    "calibrate",
    "calibrated",
    "coupled_gradient",
    "evidence_gradient",
    "infer",
    "infer_coupled",
    "leave_out_together",
    "left_out",
    "left_out_by_folds",
    "left_out_in_turn",
    "left_out_loss",
    "left_out_of_classes",
    "make_basis",
    "moved_gradient",
    "next_damping",
    "predict_bytes",
    "predict_evaluations",
    "settle_active",
    "sharp_sites",
    "some_rows",
    "spreads",
    "through",
    "through_active",
    "too_sharp",
    "without_folds",
    "without_own_site",
]
