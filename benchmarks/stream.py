"""Memory and speed of the command line on large tables: ``predict`` on millions of rows, ``fit`` on a wide table."""

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from .measure import significant

__all__ = ["fit", "main", "predict"]

_LOOK = 0.01  # seconds between two looks at the memory of a process
_BLOCK = 10_000  # rows that are generated, and then repeated


def main() -> None:
    """Print one JSON line for each command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000, help="to predict for")
    parser.add_argument("--active", type=int, default=100, help="rows that the model keeps")
    parser.add_argument(
        "--wide", type=int, nargs=2, default=(60_000, 784), metavar=("ROWS", "COLUMNS"), help="to fit to"
    )
    parser.add_argument("--time", default="60s", help="that fitting may take")
    parser.add_argument("--only", choices=["predict", "fit"])
    parser.add_argument("--formats", nargs="+", choices=list(_WRITERS), default=["csv"], help="of the table to fit to")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that everything runs")
    options = parser.parse_args()
    rows, wide = (20_000, (2_000, 50)) if options.quick else (options.rows, tuple(options.wide))
    with tempfile.TemporaryDirectory() as folder:
        if options.only != "fit":
            print(json.dumps(significant(predict(Path(folder), rows, options.active))), flush=True)
        for kind in options.formats if options.only != "predict" else ():
            print(json.dumps(significant(fit(Path(folder), kind, *wide, options.active, options.time))), flush=True)


def predict(folder: Path, rows: int, active: int) -> dict[str, Any]:
    """Predict for many rows of eight columns; the figures include starting the program."""
    X = np.random.default_rng(0).normal(size=(_BLOCK, 8))
    _write(folder / "train.csv", X[:2000], 2000)
    _write(folder / "new.csv", X, rows)
    run("fit", folder / "train.csv", "-t", "y", "-o", folder / "m.ivm", "--active", active, "--quiet")
    cost = run("predict", folder / "m.ivm", folder / "new.csv", "--proba", "-o", folder / "out.csv", "--quiet")
    with (folder / "out.csv").open() as file:
        assert sum(1 for _ in file) == rows + 1
    size = (folder / "new.csv").stat().st_size / 1e6
    return {"command": "predict", "rows": rows, "csv_mb": size, "rows_per_second": rows / cost["seconds"], **cost}


def fit(folder: Path, kind: str, rows: int, columns: int, active: int, limit: str) -> dict[str, Any]:
    """Fit to a wide table; memory as a multiple of the table in single precision, with and without the program."""
    X, table = np.random.default_rng(0).integers(0, 256, size=(_BLOCK, columns)), folder / f"wide.{kind}"
    _WRITERS[kind](table, X, rows)
    empty = _program_alone()
    cost = run("fit", table, "-t", "y", "-o", folder / "w.ivm", "--active", active, "--time", limit, "--quiet")
    matrix = 4 * rows * columns / 2**20
    return {
        "command": "fit", "format": kind, "rows": rows, "columns": columns, "matrix_mb": matrix, "program_mb": empty,
        "times_the_matrix": cost["peak_memory_mb"] / matrix,
        "times_the_matrix_beyond_the_program": (cost["peak_memory_mb"] - empty) / matrix, **cost,
    }  # fmt: skip


def _program_alone() -> float:
    """Peak memory of a program that only imports what a fit needs."""
    start = "import infovec.cli.start as s; s.start_without_pandas(); import infovec.cli.fit"
    return _measured([sys.executable, "-c", start])["peak_memory_mb"]


def run(*arguments: Any) -> dict[str, float]:
    """Run a command of infovec in a process of its own."""
    return _measured([sys.executable, "-m", "infovec.cli", *map(str, arguments)])


def _measured(command: list[str]) -> dict[str, float]:
    """Run a command; its peak memory is looked up while it runs, since that of a child begins with its parent's."""
    start, peak = time.perf_counter(), 0.0
    process = subprocess.Popen(command)
    while process.poll() is None:
        with contextlib.suppress(OSError, StopIteration):  # it has just ended
            lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
            peak = max(peak, next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 2**10)
        time.sleep(_LOOK)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    return {"seconds": time.perf_counter() - start, "peak_memory_mb": peak}


def _write(path: Path, X: Any, rows: int) -> None:
    """Write rows with a target that depends on them, the block repeated as often as need be."""
    y = _target(X)
    lines = [",".join([*(f"{v:.6g}" for v in x), label]) + "\n" for x, label in zip(X.tolist(), y, strict=True)]
    with path.open("w") as file:
        file.write(",".join(f"x{j}" for j in range(X.shape[1])) + ",y\n")
        for start in range(0, rows, len(lines)):
            file.write("".join(lines[: rows - start]))


def _target(X: Any) -> Any:
    return np.where(X[:, 0] + X[:, 1] > X[:, 2] + X[:, 3], "yes", "no")


def _write_npz(path: Path, X: Any, rows: int) -> None:
    X = np.resize(X.astype(np.float32), (rows, X.shape[1]))
    np.savez(path, X=X, y=_target(X))


def _write_parquet(path: Path, X: Any, rows: int) -> None:
    import pyarrow
    from pyarrow import parquet

    X = np.resize(X.astype(np.float32), (rows, X.shape[1]))
    columns = {f"x{j}": column for j, column in enumerate(X.T)}
    parquet.write_table(pyarrow.table({**columns, "y": _target(X)}), path)


_WRITERS = {"csv": _write, "npz": _write_npz, "parquet": _write_parquet}

if __name__ == "__main__":
    main()
