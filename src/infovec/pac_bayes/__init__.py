"""Guarantees for the error on new rows: PAC-Bayesian, compression and test set bounds, and certificates of them.

The theorems are those of the Thesis, chapter 3 and appendix B, as functions of numbers.
"""

from .bernoulli import binomial_upper, relative_entropy, relative_entropy_lower, relative_entropy_upper
from .certificate import Bound, Certificate, Compressed, Observed, certificate
from .compression import compression, compression_by_tail, log_arrangements
from .confusion import Ball, confusion_ball, log_moment_of_outcomes, log_moment_of_types
from .gibbs import (
    Interval,
    bayes_upper,
    bounded_loss,
    check_delta,
    gibbs,
    gibbs_maurer,
    hoeffding_loss,
    log_moment,
    log_moment_maurer,
    pay,
)
from .laplace import certified_laplace, laplace_posterior
from .margin import margin_bound, margin_bound_meir_zhang
from .priors import latent, parts_of, relative_entropy_between
from .rules import Votes, votes_of_classes, votes_of_ordered, votes_of_two

__all__ = [
    "Ball",
    "Bound",
    "Certificate",
    "Compressed",
    "Interval",
    "Observed",
    "Votes",
    "bayes_upper",
    "binomial_upper",
    "bounded_loss",
    "certificate",
    "certified_laplace",
    "check_delta",
    "compression",
    "compression_by_tail",
    "confusion_ball",
    "gibbs",
    "gibbs_maurer",
    "hoeffding_loss",
    "laplace_posterior",
    "latent",
    "log_arrangements",
    "log_moment",
    "log_moment_maurer",
    "log_moment_of_outcomes",
    "log_moment_of_types",
    "margin_bound",
    "margin_bound_meir_zhang",
    "parts_of",
    "pay",
    "relative_entropy",
    "relative_entropy_between",
    "relative_entropy_lower",
    "relative_entropy_upper",
    "votes_of_classes",
    "votes_of_ordered",
    "votes_of_two",
]
