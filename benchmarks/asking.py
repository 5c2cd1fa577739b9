"""CPU seconds and memory to score the rows of a pool, and to suggest a batch, beside those of predict_proba."""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from infovec import IVMClassifier
from infovec.active_learning import CANDIDATE_SCORES

from .measure import significant, watched

__all__ = ["compare", "main"]

_COLUMNS, _TRAINING, _CHUNK = 10, 2000, 100_000


def compare(rows: int, active: int, classes: int, folder: str) -> dict[str, Any]:
    """Return seconds for each way, in units of those of ``predict_proba``, and the memory that each took."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(_TRAINING, _COLUMNS))
    f = X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.5 * rng.normal(size=_TRAINING)
    y = np.digitize(f, np.quantile(f, np.arange(1, classes) / classes))
    model = IVMClassifier(n_active=active, random_state=0).fit(X, y)
    pool = np.lib.format.open_memmap(Path(folder) / "pool.npy", "w+", np.float64, (rows, _COLUMNS))
    for start in range(0, rows, _CHUNK):
        pool[start : start + _CHUNK] = 1.5 * rng.normal(size=(min(_CHUNK, rows - start), _COLUMNS))
    pool.flush()
    pool = np.load(Path(folder) / "pool.npy", mmap_mode="r")
    model.predict_proba(pool[:2000])
    ways = {"predict_proba": lambda: model.predict_proba(pool)}
    ways |= {score: lambda score=score: model.score_candidates(pool, score) for score in CANDIDATE_SCORES}
    ways["suggest 20"] = lambda: model.suggest(pool, 20)
    seconds, memory = {}, {}
    for name, work in ways.items():
        start = time.process_time()  # whatever else the machine does
        memory[name] = watched(work).peak_memory_mb
        seconds[name] = time.process_time() - start
    ratios = {name: value / seconds["predict_proba"] for name, value in seconds.items()}
    return {
        "rows": rows,
        "active": active,
        "classes": classes,
        "seconds": seconds,
        "ratios": ratios,
        "memory MB": memory,
    }


def main() -> None:
    """Print a JSON line for two classes, and one for four."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.asking", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--active", type=int, default=500)
    parser.add_argument("--classes", type=int, nargs="+", default=[2, 4])
    chosen = parser.parse_args()
    for classes in chosen.classes:
        with tempfile.TemporaryDirectory() as folder:
            line = compare(chosen.rows, chosen.active, classes, folder)
        print(json.dumps(significant(line)), flush=True)


if __name__ == "__main__":
    main()
