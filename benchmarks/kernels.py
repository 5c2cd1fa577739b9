"""Kernels of classes: log loss, error and CPU seconds of IVMClassifier(kernel=...), means over splits.

    python -m benchmarks.kernels --sets ijcnn1 spambase --sizes 500 --splits 2

"none" is the default, whose form is left to the data; "rbf" the same without further terms, which more than two
classes have only by name ("rbf + main_effects"). Rows are drawn from all
that a set has, at most 70 % of them to learn from and 3000 to test. What the default does was chosen on the sets of
``CHOSEN_ON``. The like for numbers is ``benchmarks.regression kernels``.
"""

import argparse
import time
import warnings
from collections.abc import Iterator

import numpy as np

from .tasks import arrays

__all__ = ["CHOSEN_ON", "CONFIRMED_ON", "losses", "main", "rows_of"]

CHOSEN_ON = ("spambase", "heart", "sonar", "australian", "german", "banana", "splice", "satimage", "vowel", "glass")
CONFIRMED_ON = ("ionosphere", "pima", "wdbc", "crabs", "synth", "ijcnn1", "waveform", "segment")
_TEST_ROWS = 3000


def rows_of(name: str, n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training inputs and labels, test inputs and labels."""
    data = arrays(name)
    parts = [part for part in ("", "_train", "_test") if f"X{part}" in data]
    X, y = (np.concatenate([data[f"{c}{part}"] for part in parts]) for c in "Xy")
    order = np.random.default_rng(seed).permutation(len(y))
    X, y, n = X[order].astype(np.float64), np.unique(y, return_inverse=True)[1][order], min(n, 7 * len(y) // 10)
    return X[:n], y[:n], X[n : n + _TEST_ROWS], y[n : n + _TEST_ROWS]


def losses(name: str, kernel: str, n: int, seed: int) -> tuple[float, float, float]:
    """Return log loss and error of test rows, and CPU seconds."""
    from infovec import IVMClassifier

    X, y, Z, t = rows_of(name, n, seed)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = IVMClassifier(kernel=None if kernel == "none" else kernel, random_state=0).fit(X, y)
        cpu = time.process_time() - began
        log_proba = model.predict_log_proba(Z)
    at = np.searchsorted(model.classes_, t)
    return -float(log_proba[np.arange(len(t)), at].mean()), float(np.mean(log_proba.argmax(axis=1) != at)), cpu


def table(sets: tuple[str, ...], kernels: tuple[str, ...], n: int, splits: int) -> Iterator[str]:
    """Yield a line for every set."""
    for name in sets:
        shown = []
        for kernel in kernels:
            loss, error, cpu = np.mean([losses(name, kernel, n, seed) for seed in range(splits)], axis=0)
            shown.append(f"{kernel} {loss:.4f} {100 * error:.2f} % {cpu:.1f} s")
        yield f"{name:12s} {', '.join(shown)}"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=[*CHOSEN_ON, *CONFIRMED_ON])
    parser.add_argument("--kernels", nargs="+", default=["rbf", "none"])
    parser.add_argument("--sizes", nargs="+", type=int, default=[500])
    parser.add_argument("--splits", type=int, default=2)
    given = parser.parse_args()
    for n in given.sizes:
        for line in table(tuple(given.sets), tuple(given.kernels), n, given.splits):
            print(line, flush=True)


if __name__ == "__main__":
    main()
