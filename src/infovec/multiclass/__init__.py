"""Layer 4: more than two classes, each with a latent function of its own."""

from .coupled import CoupledShard
from .ep import infer_coupled
from .factorised import FactorisedClasses, fit_factorised, learn_factorised
from .gradient import coupled_gradient
from .likelihood import ClassLikelihood, RaceLikelihood
from .pair_evidence import PairEvidence, pair_evidence, refine_pairs
from .pairs import select_pairs
from .posterior import ClassPosterior
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
    "MultivariateProbit",
    "OneAgainstRest",
    "PairEvidence",
    "PairSites",
    "RaceLikelihood",
    "Softmax",
    "coupled_gradient",
    "fit_factorised",
    "infer_coupled",
    "learn_factorised",
    "pair_evidence",
    "refine_pairs",
    "select_pairs",
]
