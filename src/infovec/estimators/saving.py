"""Estimators that can be written to a file or pickled, and know the version that did it."""

import platform
import warnings
from collections.abc import Mapping
from os import PathLike

import numpy as np
import scipy
import sklearn
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.utils.validation import check_is_fitted

from .._types import Array, Inputs
from .._version import __version__
from ..errors import ModelFileError
from ..persistence import write
from ..runtime import outside
from .fitted import Fitted, as_given
from .records import Saved, registry

__all__ = ["PickleVersionWarning", "Savable", "some_rows", "testimony"]

_WITNESSES = 16  # active rows whose predictions are kept
_KEY = "_infovec_version"


class PickleVersionWarning(InconsistentVersionWarning):  # type: ignore[misc]
    """A pickle was written by another version of infovec than reads it; who filters scikit-learn's filters this."""

    def __str__(self) -> str:
        return (
            f"this {self.estimator_name} was pickled by infovec {self.original_sklearn_version} and is read by "
            f"{self.current_sklearn_version}, which may not understand it rightly. Model files are read by every later "
            "version: model.save(path) with the version that fitted it, then infovec.load(path)"
        )


class Pickled:
    """Warns when it comes from a pickle of another version, as estimators of scikit-learn do."""

    def __getstate__(self) -> dict[str, object]:
        return {**super().__getstate__(), _KEY: __version__}  # type: ignore[dict-item]

    def __setstate__(self, state: dict[str, object]) -> None:
        written = state.get(_KEY, "of an unknown version")
        if written != __version__:
            warning = PickleVersionWarning(
                estimator_name=type(self).__name__, current_sklearn_version=__version__,
                original_sklearn_version=written,
            )  # fmt: skip
            warnings.warn(warning, stacklevel=outside())
        super().__setstate__({k: v for k, v in state.items() if k != _KEY})  # type: ignore[misc]


class Savable(Pickled, Fitted):
    """Has ``save``. What is saved is what the record of the class says, which ``in_files`` makes."""

    def save(
        self,
        path: str | PathLike[str],
        extra: Mapping[str, object] | None = None,
        provenance: Mapping[str, object] | None = None,
    ) -> None:
        """Write the fitted model to a file that ``infovec.load`` reads.

        The file is data, never code: a zip of JSON and arrays (see docs/model_files.md). It takes the place of what was
        at ``path`` only when it is complete. What ``warm_start`` keeps is not saved, nor are functions given as
        ``score`` or ``callback``: the loaded model has the defaults instead, and says so in its provenance.

        Parameters
        ----------
        path : str or path
        extra : dict, optional
            Anything to keep with the model: numbers, texts, arrays, lists and dicts of them.
        provenance : dict, optional
            More about where the model comes from, as JSON has it. Version, time, command, shape of the data and
            seconds of the fit are there already.
        """
        check_is_fitted(self)
        known = registry()
        if known.for_instance(self) is None:
            raise ModelFileError(f"a {type(self).__name__} cannot be saved: only infovec's own estimators can")
        origin = {
            "infovec": __version__, "python": platform.python_version(), "numpy": np.__version__,
            "scipy": scipy.__version__, "scikit-learn": sklearn.__version__, "estimator": type(self).__name__,
            "rows": self.n_samples_fit_,
            "columns": getattr(self, "n_features_in_", None), "fit_seconds": round(self.fit_seconds_, 3),
        }  # fmt: skip
        inputs = some_rows(self)
        write(Saved(self, inputs, testimony(self, inputs)), path, known, extra, {**origin, **(provenance or {})})


def some_rows(model: Fitted) -> Inputs:
    """Active rows, evenly spaced in the order of inclusion."""
    X = model.active_vectors_
    X = X[0] if isinstance(X, list) else X
    return X[np.unique(np.linspace(0, X.shape[0] - 1, _WITNESSES).astype(np.intp))]


def testimony(model: Fitted, inputs: Inputs) -> dict[str, Array]:
    """Return what a model predicts, to be compared with what it predicts when it is loaded."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they have no feature names, and need none
        found: dict[str, Array] = model._testimony(as_given(model, inputs))
        return found
