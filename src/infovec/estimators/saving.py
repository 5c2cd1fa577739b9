"""Writing an estimator to a model file, with some of its predictions."""

import platform
import warnings
from collections.abc import Mapping
from os import PathLike

import numpy as np
import scipy
import sklearn
from sklearn.utils.validation import check_is_fitted

from .._types import Array, Inputs
from .._version import __version__
from ..errors import ModelFileError
from ..persistence import write
from .fitted import Fitted
from .records import Saved, registry

__all__ = ["save", "some_rows", "testimony"]

_WITNESSES = 16  # active rows whose predictions are kept


def save(
    model: Fitted,
    path: str | PathLike[str],
    extra: Mapping[str, object] | None,
    provenance: Mapping[str, object] | None,
) -> None:
    """Write a fitted estimator to a file."""
    check_is_fitted(model)
    known = registry()
    if known.for_instance(model) is None:
        raise ModelFileError(f"a {type(model).__name__} cannot be saved: only infovec's own estimators can")
    origin = {
        "infovec": __version__, "python": platform.python_version(), "numpy": np.__version__,
        "scipy": scipy.__version__, "scikit-learn": sklearn.__version__, "estimator": type(model).__name__,
        "rows": model.n_samples_fit_,
        "columns": getattr(model, "n_features_in_", None), "fit_seconds": round(model.fit_seconds_, 3),
    }  # fmt: skip
    inputs = some_rows(model)
    write(Saved(model, inputs, testimony(model, inputs)), path, known, extra, {**origin, **(provenance or {})})


def some_rows(model: Fitted) -> Inputs:
    """Active rows, evenly spaced in the order of inclusion."""
    X = model.active_vectors_
    X = X[0] if isinstance(X, list) else X
    return X[np.unique(np.linspace(0, X.shape[0] - 1, _WITNESSES).astype(np.intp))]


def testimony(model: Fitted, inputs: Inputs) -> dict[str, Array]:
    """Return what a model predicts, to be compared with what it predicts when it is loaded."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they have no feature names, and need none
        found: dict[str, Array] = model._testimony(inputs)
        return found
