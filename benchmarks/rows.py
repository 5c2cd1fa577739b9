"""Rows in any number, the same ones whoever makes them: python -m benchmarks.rows FOLDER --rows 10000000."""

import argparse
from pathlib import Path

import numpy as np

__all__ = ["make", "write"]

COLUMNS, GROUP, FILE = 20, 1 << 16, 1 << 20  # columns, and rows of a row group and of a file


def make(start, n, seed=0):
    """Return rows from some number on: inputs and labels, of which a tenth is noise.

    As in HIGGS, low-level columns are known, of which the labels depend on functions that a linear model misses.
    """
    X, y = [], []
    for block in range(start // GROUP, (start + n - 1) // GROUP + 1):
        rng = np.random.default_rng([seed, block])
        x = rng.normal(size=(GROUP, COLUMNS))
        x[:, 15:] = np.exp(0.5 * x[:, 15:])
        f = x[:, 0] * x[:, 1] + np.sin(2.0 * x[:, 2]) + 0.5 * x[:, 3] ** 2 - np.hypot(x[:, 4], x[:, 5]) + 0.7 * x[:, 6]
        label = (f + 0.4 * rng.logistic(size=GROUP) > -0.3).astype(np.int8)
        X.append(x)
        y.append(label)
    first = start - start // GROUP * GROUP
    return np.concatenate(X)[first : first + n], np.concatenate(y)[first : first + n]


def write(folder, n, seed=0):
    """Write n rows as a folder of Parquet files, unless it is there."""
    import pyarrow as arrow
    from pyarrow import parquet

    folder = Path(folder)
    done = folder / f"{n}.rows"
    if done.exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    for number, start in enumerate(range(0, n, FILE)):
        path = folder / f"part-{number:05d}.parquet"
        writer = None
        for at in range(start, min(start + FILE, n), GROUP):
            X, y = make(at, min(GROUP, n - at), seed)
            table = arrow.table({**{f"x{j}": X[:, j] for j in range(COLUMNS)}, "label": y})
            writer = writer or parquet.ParquetWriter(path, table.schema, compression="none")
            writer.write_table(table, row_group_size=GROUP)
        writer.close()
    done.touch()
    return folder


def main():
    """Write rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--rows", type=int, default=10_000_000)
    arguments = parser.parse_args()
    write(arguments.folder, arguments.rows)


if __name__ == "__main__":
    main()
