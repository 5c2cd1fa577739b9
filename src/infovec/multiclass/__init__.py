"""Layer 4: more than two classes, each with a latent function of its own."""

from .coupled import CoupledShard
from .ep import infer_coupled
from .factorised import FactorisedClasses, fit_factorised
from .gradient import coupled_gradient
from .left_out import LeftOut, calibrated, left_out_loss
from .likelihood import ClassLikelihood, RaceLikelihood
from .pair_evidence import PairEvidence, pair_evidence, refine_pairs
from .pairs import select_pairs
from .posterior import ClassPosterior, SeparatePosterior
from .probit import MultivariateProbit
from .race import ClassMoments
from .rest import OneAgainstRest
from .sites import ClassSites, PairSites
from .softmax import Softmax

__all__ = [
    "ClassLikelihood",
    "ClassMoments",
    "ClassPosterior",
    "ClassSites",
    "CoupledShard",
    "FactorisedClasses",
    "LeftOut",
    "MultivariateProbit",
    "OneAgainstRest",
    "PairEvidence",
    "PairSites",
    "RaceLikelihood",
    "SeparatePosterior",
    "Softmax",
    "calibrated",
    "coupled_gradient",
    "fit_factorised",
    "infer_coupled",
    "left_out_loss",
    "pair_evidence",
    "refine_pairs",
    "select_pairs",
]
