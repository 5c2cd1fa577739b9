"""Many columns of which few count: log loss of IVMClassifier() on all of them, beside one that is given those alone.

The classes of made rows are told apart by a product of two columns, a wave in a third and a plane of a fourth. Sides
are "all" and "known"; ``found`` is how many of the columns that count are among as many of the most relevant, ``kept``
how many have a relevance at all.
"""

import json
import time
from typing import Any

import numpy as np

from infovec import IVMClassifier
from infovec.kernels.relevances import column_weights

from .measure import arguments, significant

__all__ = ["SIZES", "draw", "main", "measured"]

SIZES = ("400x100", "400x200", "700x120", "700x200")
_TEST_ROWS, _COUNT, _NOTHING = 2000, 4, 1e-6


def draw(n: int, p: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return inputs, classes and the columns that count."""
    rng = np.random.default_rng([seed, n, p, _COUNT])
    X = rng.normal(size=(n, p))
    columns = rng.permutation(p)[:_COUNT]
    a, b, c, d = X[:, columns].T
    f = 2.0 * a * b + 1.5 * np.sin(2.0 * c) + 1.5 * d
    return X, (f + 0.5 * rng.normal(size=n) > 0.0).astype(np.intp), columns


def measured(n: int, p: int, seed: int) -> dict[str, Any]:
    """Return log loss and CPU seconds of both sides for one draw."""
    X, y, columns = draw(n + _TEST_ROWS, p, seed)
    found: dict[str, Any] = {"rows": n, "columns": p, "seed": seed}
    for side, some in (("all", np.arange(p)), ("known", columns)):
        start = time.process_time()
        model = IVMClassifier(random_state=0).fit(X[:n, some], y[:n])
        found[f"{side}_seconds"] = significant(time.process_time() - start)
        proba = model.predict_proba(X[n:, some])[np.arange(_TEST_ROWS), y[n:]]
        found[side] = significant(-float(np.mean(np.log(proba))))
        if side == "all":
            weight = np.broadcast_to(column_weights(model.kernel_, p), (p,))
            found["found"] = len(set(np.argsort(-weight)[:_COUNT]) & set(columns)) if np.ptp(weight) else 0
            found["kept"] = int(np.sum(weight > _NOTHING * weight.max()))
    return found


def main() -> None:
    """Print a JSON line for every draw."""
    parser = arguments(__doc__)
    parser.add_argument("--sizes", nargs="+", default=list(SIZES), help="rows x columns, such as 400x100")
    parser.add_argument("--first", type=int, default=0, help="seed of the first draw")
    asked = parser.parse_args()
    sizes, repeats = (["150x70"], 1) if asked.quick else (asked.sizes, asked.repeats)
    for size in sizes:
        n, p = map(int, size.split("x"))
        for seed in range(asked.first, asked.first + repeats):
            print(json.dumps(measured(n, p, seed)), flush=True)


if __name__ == "__main__":
    main()
