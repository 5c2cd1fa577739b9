"""From checked settings and data to a fitted posterior, without scikit-learn."""

from .bound_fit import fit_variational, fit_variational_rows
from .pairs import FactorisedClasses, fit_factorised
from .plan import Plan

__all__ = ["FactorisedClasses", "Plan", "fit_factorised", "fit_variational", "fit_variational_rows"]
