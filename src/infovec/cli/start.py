"""A quick and small start: scikit-learn imports pandas where it is installed, and the program has no use for it."""

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["start_without_pandas"]

_IMPORTER, _NAME = "sklearn.utils.fixes", "pd"  # which does without pandas where there is none


class _NotForScikitLearn(MetaPathFinder):
    """Finds no pandas for scikit-learn while that is imported; for all others it is there as ever."""

    def find_spec(self, fullname: str, path: object = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Raise for that one import, leave all others to who comes next."""
        if fullname == "pandas" and _IMPORTER in sys.modules and not hasattr(sys.modules[_IMPORTER], _NAME):
            raise ModuleNotFoundError("pandas is not needed here", name="pandas")
        return None


def start_without_pandas() -> None:
    """Save half a second and 60 MB in this process, which must not have imported scikit-learn yet."""
    sys.meta_path.insert(0, _NotForScikitLearn())
