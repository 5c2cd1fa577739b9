"""Layer 4: more than two classes, each with a latent function of its own."""

from .factorised import FactorisedClasses, fit_factorised, learn_factorised
from .likelihood import ClassLikelihood
from .pair_evidence import PairEvidence, pair_evidence, refine_pairs
from .pairs import select_pairs
from .probit import MultivariateProbit
from .race import ClassMoments
from .sites import ClassSites, PairSites
from .softmax import Softmax

__all__ = [
    "ClassLikelihood",
    "ClassMoments",
    "ClassSites",
    "FactorisedClasses",
    "MultivariateProbit",
    "PairEvidence",
    "PairSites",
    "Softmax",
    "fit_factorised",
    "learn_factorised",
    "pair_evidence",
    "refine_pairs",
    "select_pairs",
]
