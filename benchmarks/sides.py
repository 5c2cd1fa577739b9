"""The sides that are compared: infovec and the support vector machines."""

import importlib
from typing import Any

from .tasks import Task

__all__ = ["SIDES", "build", "input_type", "installed", "missing"]

SIDES = ("infovec", "learned", "svc", "svc-intelex", "calibrated")
CACHE_MB = 2000


def installed(package: str) -> bool:
    """Say whether a package can be imported."""
    try:
        importlib.import_module(package)
    except ImportError:
        return False
    return True


def missing(side: str) -> str | None:
    """Say why a side cannot run here, or return None if it can."""
    if side == "svc-intelex" and not installed("sklearnex"):
        return "scikit-learn-intelex cannot be imported"
    return None


def input_type(side: str) -> str:
    """Return the type of inputs in which a side works fastest; the SVC of scikit-learn works in float64 only."""
    return "float64" if side == "svc" or (side == "calibrated" and not installed("sklearnex")) else "float32"


def build(side: str, task: Task) -> Any:
    """Return the estimator of a side, not fitted, with everything that it needs imported."""
    if side == "infovec":
        return _infovec(task)
    if side == "learned":
        from infovec import IVMClassifier

        return IVMClassifier(n_active=task.n_active, random_state=0)
    if side == "calibrated":
        from sklearn.calibration import CalibratedClassifierCV

        faster = "svc-intelex" if installed("sklearnex") else "svc"
        return CalibratedClassifierCV(build(faster, task), ensemble=False)
    SVC = importlib.import_module("sklearn.svm" if side == "svc" else "sklearnex.svm").SVC
    return SVC(C=task.C, gamma=task.svc_gamma, cache_size=CACHE_MB)


def _infovec(task: Task) -> Any:
    from infovec import IVMClassifier
    from infovec.kernels import RBF, Bias

    length_scale = (2 * task.gamma) ** -0.5
    kernel = RBF(length_scale, task.variance) + Bias(0.1)
    return IVMClassifier(kernel=kernel, approximation="factorised", learn=None, n_active=task.n_active, random_state=0)
