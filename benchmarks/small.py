"""Few rows: log loss of IVMClassifier() with 5 to 40 training rows, where anybody can be too sure.

Inputs are normal. Two classes are told apart by a plane or a parabola in two columns, or by a plane in five; three are
clouds in two columns. Labels are "clean", or a fifth of them is exchanged ("flips"; of three classes, three tenths are
drawn anew), or all are drawn at random ("noise", with which no model can be better than not knowing). Every draw has
training rows of its own, with all classes among them, and 2000 rows to test. Sides:

* infovec: IVMClassifier with its defaults; of three classes, ``--multi-class``.
* uncalibrated: the same fit, predicting with a spread and a power of one.
* gp: GaussianProcessClassifier(RBF) of scikit-learn.
* frequencies: those of the classes in the training rows; add_one: the same with one more row of each class.
"""

import json
from dataclasses import replace
from typing import Any

import numpy as np

from .measure import arguments, significant

__all__ = ["KINDS", "SHAPES", "compare", "draw", "losses", "main"]

SHAPES = {2: ("plane2", "parabola2", "plane5"), 3: ("clouds2",)}
KINDS = ("clean", "flips", "noise")
SIZES = {2: (5, 10, 20, 40), 3: (9, 15, 30)}
TEST_ROWS = 2000
_EXCHANGED = {2: 0.2, 3: 0.3}  # share of the labels
_CENTRES = np.array([[0.0, 2.0], [1.7, -1.0], [-1.7, -1.0]])
Rows = tuple[np.ndarray, np.ndarray]


def draw(shape: str, kind: str, n: int, seed: int) -> tuple[np.ndarray, ...]:
    """Return training inputs and classes, with all classes, and test inputs and classes."""
    rng = np.random.default_rng([seed, n, sum(SHAPES.values(), ()).index(shape)])
    classes = 3 if shape in SHAPES[3] else 2
    while True:
        X, y = _rows(rng, shape, kind, n)
        if len(np.unique(y)) == classes:
            return X, y, *_rows(rng, shape, kind, TEST_ROWS)


def _rows(rng: np.random.Generator, shape: str, kind: str, n: int) -> Rows:
    X, classes = rng.normal(size=(n, int(shape[-1]))), 3 if shape in SHAPES[3] else 2
    if classes == 3:
        y = rng.integers(3, size=n)
        X += _CENTRES[y]
    else:
        bent = X[:, 1] ** 2 - 1.0 if shape == "parabola2" else X[:, 1]
        y = (X[:, 0] + 0.5 * bent > 0.0).astype(np.intp)
    if kind == "noise":
        return X, rng.integers(classes, size=n)
    if kind == "flips":
        other = 1 - y if classes == 2 else rng.integers(3, size=n)
        y = np.where(rng.random(n) < _EXCHANGED[classes], other, y)
    return X, y


def losses(shape: str, kind: str, n: int, seed: int, multi_class: str = "ovr", gp: bool = True) -> dict[str, float]:
    """Return the test log loss of every side for one draw."""
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF
    from sklearn.metrics import log_loss

    from infovec import IVMClassifier

    X, y, Z, t = draw(shape, kind, n, seed)
    model = IVMClassifier(random_state=0, multi_class=multi_class).fit(X, y)
    counts = np.bincount(y)
    proba = {"infovec": model.predict_proba(Z)}
    power = {"power": 1.0} if len(counts) > 2 else {}
    model.likelihood_ = replace(model.likelihood_, spread=1.0, **power)
    proba["uncalibrated"] = model.predict_proba(Z)
    if gp:
        proba["gp"] = GaussianProcessClassifier(RBF(), random_state=0).fit(X, y).predict_proba(Z)
    proba["frequencies"] = np.tile(counts / counts.sum(), (len(t), 1))
    proba["add_one"] = np.tile((counts + 1.0) / (counts + 1.0).sum(), (len(t), 1))
    return {side: float(log_loss(t, p, labels=np.arange(len(counts)))) for side, p in proba.items()}


def compare(shape: str, kind: str, n: int, seeds: range, multi_class: str) -> dict[str, Any]:
    """Return the mean over the draws of every side, the worst of infovec, and how it compares with the frequencies."""
    found = [losses(shape, kind, n, seed, multi_class) for seed in seeds]
    mean = {side: float(np.mean([one[side] for one in found])) for side in found[0]}
    return {
        "shape": shape, "labels": kind, "n": n, "draws": len(found), "log_loss": mean,
        "worst": max(one["infovec"] for one in found), "over_frequencies": mean["infovec"] / mean["frequencies"],
    }  # fmt: skip


def main() -> None:
    """Print one JSON line for each problem and number of rows, and one for all problems of that number."""
    parser = arguments(__doc__)
    parser.set_defaults(repeats=25)
    parser.add_argument("--first", type=int, default=0, help="seed of the first draw")
    parser.add_argument("--classes", type=int, choices=(2, 3), default=2)
    parser.add_argument("--sizes", type=int, nargs="+", help="numbers of training rows")
    parser.add_argument("--multi-class", choices=("ovr", "probit", "softmax", "variational"), default="ovr")
    options = parser.parse_args()
    seeds = range(options.first, options.first + (2 if options.quick else options.repeats))
    for n in options.sizes or SIZES[options.classes]:
        lines = []
        for shape, kind in ((shape, kind) for shape in SHAPES[options.classes] for kind in KINDS):
            lines.append(compare(shape, kind, n, seeds, options.multi_class))
            print(json.dumps(significant(lines[-1])), flush=True)
        sides = lines[0]["log_loss"]
        mean = {side: float(np.mean([line["log_loss"][side] for line in lines])) for side in sides}
        most = max(line["over_frequencies"] for line in lines)
        print(json.dumps(significant({"n": n, "mean_log_loss": mean, "most_over_frequencies": most})), flush=True)


if __name__ == "__main__":
    main()
