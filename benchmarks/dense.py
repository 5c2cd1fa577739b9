"""Dense models: CPU seconds of every way of inference by the number of rows, the kernel given or learned.

Three classes are told apart by the largest of three of five normal inputs, with some noise. Sides are the ways of
``GPClassifier``; ``log_loss`` is that of 1000 test rows, ``predict`` the seconds for these. Gibbs draws 1000 samples
without an estimate of the marginal likelihood.
"""

import json
import time
import warnings
from typing import Any

import numpy as np

from infovec import GPClassifier
from infovec.kernels import RBF, Bias

from .measure import arguments, significant

__all__ = ["compare", "main", "rows"]

SIDES = ("variational", "ep", "laplace", "gibbs")
KERNEL = RBF(2.0, 10.0) + Bias(1.0)
TEST_ROWS = 1000


def rows(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs and classes."""
    rng = np.random.default_rng([seed, n])
    X = rng.normal(size=(n, 5))
    return X, np.argmax(X[:, :3] + 0.3 * rng.normal(size=(n, 3)), axis=1)


def compare(n: int, side: str, learned: bool, repeats: int) -> dict[str, Any]:
    """Return medians of CPU seconds and the log loss of one way."""
    found = []
    for seed in range(repeats):
        (X, y), (Z, t) = rows(n, seed), rows(TEST_ROWS, seed + 1000)
        model = GPClassifier(
            None if learned else KERNEL, side, "auto" if learned else None, evidence=None, random_state=0
        )
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of chains that have not come together
            model.fit(X, y)
        fitted = time.process_time()
        log_proba = model.predict_log_proba(Z)
        found.append([fitted - start, time.process_time() - fitted, -np.mean(log_proba[np.arange(len(t)), t])])
    seconds, predict, log_loss = (significant(float(v)) for v in np.median(found, axis=0))
    return {"rows": n, "side": side, "learned": learned, "seconds": seconds, "predict": predict, "log_loss": log_loss}


def main() -> None:
    """Print a JSON line for every size and way."""
    parser = arguments(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 500, 1000, 2000])
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=list(SIDES))
    asked = parser.parse_args()
    sizes, repeats = ([30], 1) if asked.quick else (asked.sizes, asked.repeats)
    for n in sizes:
        for side in asked.sides:
            for learned in (False, True):
                print(json.dumps(compare(n, side, learned, repeats)), flush=True)


if __name__ == "__main__":
    main()
