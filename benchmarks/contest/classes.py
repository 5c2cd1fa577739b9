"""Who takes part in the table with classes: infovec at its defaults, peers at theirs, and the same peers tuned.

Tuned means chosen by the log loss of cross-validation, the SVC by its errors and then calibrated. The Gaussian process
learns its kernel by the evidence, tuned or not.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from .rows import Rows

__all__ = ["CLASS_SIDES", "fit_of", "judge_classes"]

Fit = Callable[[np.ndarray, np.ndarray], Any]
CLASS_SIDES = ("infovec", "svc", "logistic", "nystroem", "boosting", "forest", "gp", "svc-default", "logistic-default",
               "nystroem-default", "boosting-default", "forest-default", "frequencies")  # fmt: skip
FOLDS, FEATURES = 3, 300


def _svc(n: int, p: int) -> tuple[Any, dict[str, Any]]:
    from sklearn.svm import SVC

    return SVC(cache_size=500), {"C": [0.3, 1.0, 10.0, 100.0], "gamma": [0.1 / p, 0.3 / p, 1.0 / p, 3.0 / p]}


def _logistic(n: int, p: int) -> tuple[Any, dict[str, Any]]:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=2000), {"C": [0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 10.0, 100.0]}


def _nystroem(n: int, p: int) -> tuple[Any, dict[str, Any]]:
    from ..peers import nystroem_logistic

    pipe = nystroem_logistic(min(FEATURES, n // 2), 1.0 / p, 1.0)
    gamma = [0.03 / p, 0.1 / p, 0.3 / p, 1.0 / p]
    return pipe, {"nystroem__gamma": gamma, "logisticregression__C": [0.1, 1.0, 10.0, 100.0]}


def _boosting(n: int, p: int) -> tuple[Any, dict[str, Any]]:
    from sklearn.ensemble import HistGradientBoostingClassifier

    grid = {"learning_rate": [0.03, 0.1], "max_leaf_nodes": [5, 31], "max_iter": [50, 100]}
    return HistGradientBoostingClassifier(random_state=0), grid


def _forest(n: int, p: int) -> tuple[Any, dict[str, Any]]:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=0), {"min_samples_leaf": [1, 3, 10], "max_features": ["sqrt", 0.5]}


PEERS = {"svc": _svc, "logistic": _logistic, "nystroem": _nystroem, "boosting": _boosting, "forest": _forest}


def fit_of(side: str, n: int, p: int) -> Fit:
    """Return the function that tunes and fits a side."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.dummy import DummyClassifier
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel
    from sklearn.model_selection import GridSearchCV

    from infovec import IVMClassifier

    if side == "infovec":
        return IVMClassifier(random_state=0).fit
    if side == "frequencies":
        return DummyClassifier().fit
    if side == "gp":
        return GaussianProcessClassifier(ConstantKernel(1.0) * RBF(np.sqrt(p)), random_state=0).fit
    model, grid = PEERS[side.removesuffix("-default")](n, p)
    if side == "svc-default":
        model.set_params(gamma="scale")
        return CalibratedClassifierCV(model, ensemble=False).fit
    if side.endswith("-default"):
        return model.fit
    if side != "svc":
        return GridSearchCV(model, grid, cv=FOLDS, scoring="neg_log_loss").fit
    search = GridSearchCV(model, grid, cv=FOLDS, refit=False)
    return lambda X, y: CalibratedClassifierCV(
        model.set_params(**search.fit(X, y).best_params_), ensemble=False
    ).fit(X, y)  # fmt: skip


def judge_classes(side: str, rows: Rows) -> dict[str, float]:
    """Fit a side; return its log loss, error and calibration error in percent, and CPU seconds with the tuning."""
    from sklearn.metrics import log_loss

    from infovec.metrics import expected_calibration_error

    from ..measure import cpu_seconds

    X, y, Z, t = rows
    fit = fit_of(side, len(y), X.shape[1])
    with cpu_seconds() as spent:
        model = fit(X, y)
    proba = model.predict_proba(Z)
    return {
        "loss": float(log_loss(t, proba, labels=model.classes_)),
        "error": 100.0 * float(np.mean(model.classes_[proba.argmax(axis=1)] != t)),
        "calibration": 100.0 * float(expected_calibration_error(t, proba, classes=model.classes_)),
        "seconds": spent(),
    }
