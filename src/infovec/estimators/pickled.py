"""Pickles know the version that wrote them."""

import warnings

from sklearn.exceptions import InconsistentVersionWarning

from .._version import __version__
from ..runtime import outside

__all__ = ["PickleVersionWarning", "Pickled"]

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
