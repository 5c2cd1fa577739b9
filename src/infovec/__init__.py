"""Sparse Gaussian process models by informative vectors."""

from .estimators import IVMClassifier, IVMOrdinalClassifier, IVMRegressor

__version__ = "0.1.0"
__all__ = ["IVMClassifier", "IVMOrdinalClassifier", "IVMRegressor"]
