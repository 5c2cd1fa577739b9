"""Classifiers at their defaults, to be fitted beside infovec, and another version of infovec itself."""

import importlib
import sys
from pathlib import Path
from typing import Any

__all__ = ["BEFORE", "MOST_ROWS", "SIDES", "import_from", "machine", "takes_part"]

BEFORE = "infovec before"
SIDES = ("infovec", "svc", "boosting", "nystroem", "gp", "svgp")
MOST_ROWS = {"svc": 20_000, "gp": 1000}
FEATURES = 500  # of Nystroem


def takes_part(side: str, n: int, n_classes: int) -> bool:
    """Say whether a side is meant for a problem of this size."""
    return n <= MOST_ROWS.get(side, n) and (side != "svgp" or n_classes == 2)


def machine(side: str, n: int, p: int) -> Any:
    """Return the classifier of a side, not fitted, with everything that it needs imported."""
    if side in ("infovec", BEFORE):
        return importlib.import_module("infovec").IVMClassifier(random_state=0)
    peers = {"svc": _svc, "boosting": _boosting, "nystroem": _nystroem, "gp": _gp, "svgp": _svgp}
    return peers[side](n, p)


def _svc(n: int, p: int) -> Any:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.svm import SVC

    return CalibratedClassifierCV(SVC(), ensemble=False)


def _boosting(n: int, p: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=0)


def _scaled(*steps: Any) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), *steps)


def _nystroem(n: int, p: int) -> Any:
    from .peers import nystroem_logistic

    return _scaled(nystroem_logistic(min(FEATURES, n), gamma=1.0 / p, C=1.0))


def _gp(n: int, p: int) -> Any:
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel

    return _scaled(GaussianProcessClassifier(ConstantKernel(1.0) * RBF(p**0.5), random_state=0))


def _svgp(n: int, p: int) -> Any:
    from .peers import SVGPClassifier, warm_up

    warm_up()
    return _scaled(SVGPClassifier())


def import_from(source: str) -> None:
    """Import the infovec of a folder, and no other."""
    sys.path.insert(0, source)
    found = Path(importlib.import_module("infovec").__file__ or "").resolve()
    if not found.is_relative_to(source):
        raise ImportError(f"infovec was there before the one of {source}")
