"""What learning at the defaults promises beside its seconds: columns that count are found, seeds matter little.

* wide: 700 rows of 120 or 200 normal columns of which three count, the product of two and the sine of another; whether
  these have the shortest length scales, and the log loss of 2000 rows beside that of a model that has the three only.
* seeds: log loss of a fit at the defaults for several seeds, its mean and standard deviation, on real sets.
* weights: CPU seconds of a fit with ``class_weight="balanced"`` and with weights drawn at random over those without.
"""

import json
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from .contest import rows_of
from .measure import arguments, significant

__all__ = ["main", "seeds", "weights", "wide"]

_ROWS, _TEST, _WIDTHS = 700, 2000, (120, 200)
_MOST = (5600, 140)  # rows to train, and with --quick
_SETS = ("banana", "german", "ijcnn1", "spambase")


def wide(draws: int, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield a line for each draw and width."""
    from sklearn.metrics import log_loss

    from infovec import IVMClassifier

    for seed in range(draws):
        for p in (20,) if quick else _WIDTHS:
            rng = np.random.default_rng(seed)
            X, columns = rng.normal(size=(_ROWS + _TEST, p)), rng.permutation(p)[:3]
            f = 2.0 * X[:, columns[0]] * X[:, columns[1]] + 1.5 * np.sin(2.0 * X[:, columns[2]])
            y = f + 0.5 * rng.normal(size=len(X)) > 0.0
            start, loss = time.process_time(), []
            for Z in (X, X[:, columns]):
                model = IVMClassifier(random_state=0).fit(Z[:_ROWS], y[:_ROWS])
                loss.append(log_loss(y[_ROWS:], model.predict_proba(Z[_ROWS:])))
                if Z is X:
                    seconds = time.process_time() - start
                    scales = np.broadcast_to(model.kernel_.left.length_scale, p)
            found = bool(set(np.argsort(scales)[:3]) == set(columns))
            yield {
                "columns": p, "seed": seed, "found": found, "log_loss": loss[0], "known": loss[1],
                "ratio": loss[0] / loss[1], "seconds": seconds,
            }  # fmt: skip


def seeds(draws: int, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield a line for each set: the same rows, another seed."""
    from sklearn.metrics import log_loss

    from infovec import IVMClassifier

    for name in _SETS[:1] if quick else _SETS:
        X, y, Z, t = rows_of(name, 0, _MOST[quick])
        found = [log_loss(t, IVMClassifier(random_state=s).fit(X, y).predict_proba(Z)) for s in range(draws)]
        yield {"set": name, "seeds": draws, "log_loss": np.mean(found), "deviation": np.std(found, ddof=1)}


def weights(draws: int, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield a line for each set, with medians over the draws, the three sides in turn."""
    from infovec import IVMClassifier

    for name in _SETS[:1] if quick else _SETS:
        seconds: dict[str, list[float]] = {"plain": [], "balanced": [], "drawn": []}
        for split in range(draws):
            X, y, *_ = rows_of(name, split, _MOST[quick])
            drawn = np.random.default_rng(split).uniform(0.5, 2.0, size=len(y))
            for side, taken in seconds.items():
                model = IVMClassifier(random_state=0, class_weight="balanced" if side == "balanced" else None)
                start = time.process_time()
                model.fit(X, y, sample_weight=drawn if side == "drawn" else None)
                taken.append(time.process_time() - start)
        median = {side: float(np.median(taken)) for side, taken in seconds.items()}
        yield {
            "set": name,
            "seconds": median,
            **{side: median[side] / median["plain"] for side in ("balanced", "drawn")},
        }


def main() -> None:
    """Print a JSON line for each measurement."""
    parser = arguments(__doc__)
    parser.set_defaults(repeats=5)
    parser.add_argument("what", choices=("wide", "seeds", "weights"))
    options = parser.parse_args()
    measured = {"wide": wide, "seeds": seeds, "weights": weights}[options.what]
    for line in measured(2 if options.quick else options.repeats, options.quick):
        print(json.dumps(significant(line)), flush=True)


if __name__ == "__main__":
    main()
