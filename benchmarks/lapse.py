"""Wrong labels: log loss of IVMClassifier() where a share of all labels is exchanged, beside a model that knows which.

Made rows are told apart by a plane with a product of two columns in twenty ("plane20"), by the product of two columns
in five ("product5"), and by a wave in two ("wave2"); of four classes there are the quadrants of two waves ("waves4").
Others are named sets in $INFOVEC_DATA, such as those of two classes (``SETS``) and of more (``MANY``). Labels to test
are exchanged like those of the training rows, by ``--flips`` of them, each for any of the others. Sides:

* infovec: IVMClassifier with its defaults, which finds the share itself.
* known: the same with a lapse that is given, and held at the share that was exchanged.
* none: the same with a likelihood that takes no label for wrong.
"""

import json
import time
from dataclasses import replace
from typing import Any

import numpy as np

from .measure import arguments, significant
from .tasks import arrays

__all__ = ["MADE", "MANY", "SETS", "draw", "losses", "main"]

MADE = ("plane20", "product5", "wave2")
MANY = ("waveform", "segment", "satimage", "vowel", "optdigits")
SETS = ("banana", "pima", "german", "heart", "australian", "twonorm", "ionosphere", "wdbc", "spambase", "sonar")
_TEST_ROWS = 5000
Rows = tuple[np.ndarray, np.ndarray]


def draw(name: str, n: int, flips: float, seed: int) -> tuple[np.ndarray, ...]:
    """Return training inputs and labels, and test inputs and labels, a share of which are wrong."""
    rng = np.random.default_rng([seed, n])
    X, y = _made(name, n + _TEST_ROWS, rng) if name in (*MADE, "waves4") else _stored(name, rng)
    n, classes = min(n, int(0.7 * len(y))), int(y.max()) + 1
    wrong = rng.random(len(y)) < flips
    y = np.where(wrong, (y + (rng.integers(1, classes, len(y)) if classes > 2 else 1)) % classes, y)
    return X[:n], y[:n], X[n : n + _TEST_ROWS], y[n : n + _TEST_ROWS]


def _made(name: str, n: int, rng: np.random.Generator) -> Rows:
    if name in ("wave2", "waves4"):
        X = rng.uniform(-2.0, 2.0, size=(n, 2))
        side = np.sin(3.0 * X[:, 0]) + X[:, 1]
        if name == "waves4":
            return X, 2 * (side > 0.0) + (np.sin(2.0 * X[:, 1]) > X[:, 0])
    else:
        X = rng.normal(size=(n, 20 if name == "plane20" else 5))
        side = X[:, 0] * X[:, 1]
        if name == "plane20":
            side = 0.5 * side + X @ rng.normal(size=20) / np.sqrt(20.0)
    return X, (side > 0.0).astype(np.intp)


def _stored(name: str, rng: np.random.Generator) -> Rows:
    stored = arrays(name)
    parts = ("",) if "X" in stored else ("_train", "_test")  # mixed here
    X = np.concatenate([np.asarray(stored["X" + part], dtype=np.float64) for part in parts])
    y = np.unique(np.concatenate([stored["y" + part] for part in parts]), return_inverse=True)[1]
    order = rng.permutation(len(y))
    return X[order], y[order]


def losses(name: str, n: int, flips: float, seed: int, sides: list[str], form: str = "ovr") -> dict[str, Any]:
    """Return test log loss, CPU seconds and lapse of every side for one draw."""
    from sklearn.metrics import log_loss

    from infovec import IVMClassifier
    from infovec.learning import Learning

    X, y, Z, t = draw(name, n, flips, seed)
    clean = _likelihood(y, form)
    held = {"likelihood": replace(clean, lapse=flips), "learn": Learning(fixed=["likelihood.lapse"] if flips else [])}
    given: dict[str, dict[str, Any]] = {"infovec": {}, "known": held, "none": {"likelihood": clean}}
    found = dict[str, Any]()
    for side in sides:
        start = time.process_time()
        model = IVMClassifier(random_state=0, multi_class=form, **given[side]).fit(X, y)
        seconds = time.process_time() - start
        loss = float(log_loss(t, model.predict_proba(Z)))
        found[side] = {"log_loss": loss, "seconds": seconds, "lapse": model.likelihood_.lapse}
    return found


def _likelihood(y: np.ndarray, form: str) -> Any:
    """Return what the estimator begins with by name."""
    from scipy.special import ndtri

    from infovec.estimators.kinds import MULTI_CLASS
    from infovec.likelihoods import Probit

    counts = np.bincount(y) + 1.0
    bias = ndtri(counts / counts.sum())
    return Probit() if len(bias) == 2 else MULTI_CLASS[form].likelihood(bias)


def main() -> None:
    """Print one JSON line for each set, share of wrong labels and draw, and one for each share."""
    parser = arguments(__doc__)
    parser.set_defaults(repeats=1)
    parser.add_argument("--sets", nargs="+", default=list(MADE))
    parser.add_argument("--flips", type=float, nargs="+", default=[0.0, 0.05, 0.1, 0.2])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="seed of the first draw")
    parser.add_argument(
        "--sides", nargs="+", choices=("infovec", "known", "none"), default=["infovec", "known", "none"]
    )
    parser.add_argument("--form", default="ovr", help="multi_class, for more than two classes")
    options = parser.parse_args()
    rows, repeats = (300, 1) if options.quick else (options.rows, options.repeats)
    for flips in options.flips:
        lines = []
        for name in options.sets:
            for seed in range(options.first, options.first + repeats):
                lines.append(losses(name, rows, flips, seed, options.sides, options.form))
                head = {"set": name, "flips": flips, "rows": rows, "seed": seed}
                print(json.dumps(significant(head | lines[-1])), flush=True)
        others = options.sides[1:]
        ratios = {s: [line["infovec"]["log_loss"] / line[s]["log_loss"] for line in lines] for s in others}
        over = {f"over_{s}": {"mean": float(np.mean(r)), "most": max(r)} for s, r in ratios.items()}
        print(json.dumps(significant({"flips": flips, "draws": len(lines), **over})), flush=True)


if __name__ == "__main__":
    main()
