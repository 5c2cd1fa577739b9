"""The estimators with parameters that stay as given: for tests of everything but learning."""

from functools import partial

import infovec

IVMClassifier = partial(infovec.IVMClassifier, learn=None)
IVMRegressor = partial(infovec.IVMRegressor, learn=None)
IVMOrdinalClassifier = partial(infovec.IVMOrdinalClassifier, learn=None)
