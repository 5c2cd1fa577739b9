"""Rows that come in groups: IVMClassifier() with ``fit(..., groups=)`` and without, on rows of groups it has not seen.

Sets are made rows of "speakers" (two classes; what a speaker's rows say of the label is the speaker's own), vowel and
isolet. Sides are "groups", "alone", and Nystroem features with logistic regression and a calibrated SVC ("nystroem",
"calibrated"), whose settings come from a grid of 5 by 5 by ``StratifiedGroupKFold`` on the same groups; the SVC is
calibrated by these folds too, by a temperature. ``error`` is in percent, ``sure`` the mean probability of the predicted
class in percent, which should be 100 less the error.
"""

import json
import time
from typing import Any

import numpy as np

from .measure import arguments, significant
from .tasks import arrays

__all__ = ["SETS", "SIDES", "main", "measured", "rows_of", "speakers_of_isolet"]

SETS = ("speakers", "vowel", "isolet")
SIDES = ("groups", "alone", "nystroem", "calibrated")
_FILES, _TWICE, _FOLDS = 4, 2, 8  # isolet1 to isolet4, two recordings of each letter
_GROUPS, _EACH, _NEW, _NOISE = 60, 10, 2000, 0.3


def speakers_of_isolet(y: Any) -> Any:
    """Return the speaker of each training row: letters are in order in each file, of the same speakers in order."""
    file = np.cumsum(np.append(0, np.diff(y) < 0))
    found = np.empty(len(y), dtype=np.intp)
    for start in np.unique(file):
        for letter in np.unique(y):
            at = np.flatnonzero((file == start) & (y == letter))
            found[at] = 30 * start + np.arange(len(at)) // _TWICE
    return found


def _made(rng: Any, n: int, each: int) -> tuple[Any, Any, Any]:
    centre = rng.normal(size=(n, 4))
    X = np.repeat(centre, each, axis=0) + _NOISE * rng.normal(size=(n * each, 4))
    label = centre[:, 0] + rng.normal(size=n) > 0.0
    return X, np.repeat(label, each).astype(np.intp), np.repeat(np.arange(n), each)


def rows_of(name: str, seed: int) -> tuple[Any, Any, Any, Any, Any]:
    """Return training inputs, labels and groups, and test inputs and labels of other groups."""
    if name == "speakers":
        rng = np.random.default_rng(seed)
        return *_made(rng, _GROUPS, _EACH), *_made(rng, _NEW, 1)[:2]
    data = arrays(name)
    y = data["y_train"].astype(np.intp)
    groups = data["speaker_train"] if name == "vowel" else speakers_of_isolet(y)
    return data["X_train"], y, groups, data["X_test"], data["y_test"].astype(np.intp)


def _peer(side: str, X: Any, y: Any, groups: Any) -> Any:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    folds = list(StratifiedGroupKFold(_FOLDS).split(X, y, groups))
    gamma = (np.array([0.1, 0.3, 1.0, 3.0, 10.0]) / X.shape[1]).tolist()
    if side == "nystroem":
        made = make_pipeline(
            StandardScaler(), Nystroem(n_components=300, random_state=0), LogisticRegression(max_iter=2000)
        )
        grid = {"nystroem__gamma": gamma, "logisticregression__C": [0.01, 0.1, 1.0, 10.0, 100.0]}
        return GridSearchCV(made, grid, cv=folds, scoring="neg_log_loss").fit(X, y)
    grid = {"svc__C": [0.1, 1.0, 10.0, 100.0, 1000.0], "svc__gamma": gamma}
    best = GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=folds).fit(X, y).best_estimator_
    return CalibratedClassifierCV(best, cv=folds, method="temperature").fit(X, y)


def measured(name: str, side: str, seed: int) -> dict[str, Any]:
    """Fit one side and return what it cost and how good it is."""
    from infovec import IVMClassifier

    X, y, groups, Z, t = rows_of(name, seed)
    start = time.process_time()
    if side in ("groups", "alone"):
        model: Any = IVMClassifier(random_state=seed).fit(X, y, groups=groups if side == "groups" else None)
    else:
        model = _peer(side, X, y, groups)
    seconds, proba = time.process_time() - start, model.predict_proba(Z)
    found = {"loss": -np.mean(np.log(np.clip(proba[np.arange(len(t)), t], 1e-15, 1.0))),
             "error": 100.0 * np.mean(proba.argmax(axis=1) != t), "sure": 100.0 * np.mean(proba.max(axis=1)),
             "cpu_seconds": seconds}  # fmt: skip
    return {"set": name, "side": side, "seed": seed, **{key: significant(float(v)) for key, v in found.items()}}


def main() -> None:
    """Print a JSON line for every side of every set."""
    parser = arguments(__doc__)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--sides", nargs="+", default=list(SIDES), choices=SIDES)
    asked = parser.parse_args()
    sets, repeats = (["speakers"], 1) if asked.quick else (asked.sets, asked.repeats)
    for name in sets:
        for seed in range(repeats if name == "speakers" else 1):
            for side in asked.sides:
                print(json.dumps(measured(name, side, seed)), flush=True)


if __name__ == "__main__":
    main()
