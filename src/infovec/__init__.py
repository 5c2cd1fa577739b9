"""Sparse Gaussian process models by informative vectors."""

from .estimators import IVMClassifier, IVMOrdinalClassifier, IVMRegressor, load, load_with_extra

__version__ = "0.1.0"
__all__ = ["IVMClassifier", "IVMOrdinalClassifier", "IVMRegressor", "load", "load_with_extra"]
