"""Hyperparameters from the evidence, with exact gradients."""

from .against_rest import RestEvidence
from .bound import VariationalBound, learn_kernels
from .by_task import EvidenceByTask
from .class_kernels import ClassKernels
from .climb import climb, minor_steps, most_evaluations
from .curvature import Curvature
from .distil import Distillation, Evidence, evidence_of
from .factorised import FACTORISED, FactorisedObjective
from .few_of_many import FEWEST_TO_SCREEN, MOST_FOR_SCREENING, few_of_many, screenable
from .fewer_columns import FEWEST_COLUMNS, MOST_FOR_FEWER, fewer_columns, price_of, worth_of
from .form import Form, can_be_richer, further_terms, most_for_form, of_labels, richer, with_terms
from .lag import LagRule
from .leaving_out import LeavesGroupsOut, loss_of
from .model import Model
from .moving import MovedEvidence, MovingInputs, MovingModel, no_rows
from .objective import CoupledEvidence, LearnedRows, ProjectedEvidence
from .optimise import Climbed, Step, find_scale, optimise, value_at
from .pairs import PairObjective, learn_factorised
from .priors import WEAK, Expected, Gamma, Normal, slh_priors
from .refine import MOST_BY_GROUPS, MOST_TRIALS, refine_by_groups, refine_scales, refine_scales_by_groups
from .separation import MOST_FOR_COLUMNS, alike, separable, separate
from .settings import CRITERIA, Learning
from .spare import MOST_FOR_SPARE, enough_for_spare, has_spare, put_back, still_pays, take_up, to_begin_with
from .starts import best_of_starts, elsewhere, most_starts, second_look, starts

__all__ = [
    "CRITERIA",
    "FACTORISED",
    "FEWEST_COLUMNS",
    "FEWEST_TO_SCREEN",
    "MOST_BY_GROUPS",
    "MOST_FOR_COLUMNS",
    "MOST_FOR_FEWER",
    "MOST_FOR_SCREENING",
    "MOST_FOR_SPARE",
    "MOST_TRIALS",
    "WEAK",
    "ClassKernels",
    "Climbed",
    "CoupledEvidence",
    "Curvature",
    "Distillation",
    "Evidence",
    "EvidenceByTask",
    "Expected",
    "FactorisedObjective",
    "Form",
    "Gamma",
    "LagRule",
    "LearnedRows",
    "Learning",
    "LeavesGroupsOut",
    "Model",
    "MovedEvidence",
    "MovingInputs",
    "MovingModel",
    "Normal",
    "PairObjective",
    "ProjectedEvidence",
    "RestEvidence",
    "Step",
    "VariationalBound",
    "alike",
    "best_of_starts",
    "can_be_richer",
    "climb",
    "elsewhere",
    "enough_for_spare",
    "evidence_of",
    "few_of_many",
    "fewer_columns",
    "find_scale",
    "further_terms",
    "has_spare",
    "learn_factorised",
    "learn_kernels",
    "loss_of",
    "minor_steps",
    "most_evaluations",
    "most_for_form",
    "most_starts",
    "no_rows",
    "none_wrong",
    "of_labels",
    "optimise",
    "price_of",
    "put_back",
    "refine_by_groups",
    "refine_scales",
    "refine_scales_by_groups",
    "richer",
    "screenable",
    "second_look",
    "separable",
    "separate",
    "slh_priors",
    "starts",
    "still_pays",
    "take_up",
    "to_begin_with",
    "value_at",
    "with_terms",
    "worth_of",
]
