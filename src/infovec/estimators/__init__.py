"""Estimators for scikit-learn. The only place that knows scikit-learn."""

from .classifier import IVMClassifier
from .dense import GPClassifier
from .files import load, load_with_extra
from .gibbs import GibbsClassifier
from .ordinal import IVMOrdinalClassifier
from .regressor import IVMRegressor

__all__ = [
    "GPClassifier",
    "GibbsClassifier",
    "IVMClassifier",
    "IVMOrdinalClassifier",
    "IVMRegressor",
    "load",
    "load_with_extra",
]
