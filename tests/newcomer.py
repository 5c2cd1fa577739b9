"""What a newcomer does: from a CSV file to predictions, with the README's commands and nothing else.

``python tests/newcomer.py FOLDER`` writes three tables to FOLDER and runs the commands there; it needs ``infovec`` in
the PATH.
"""

import csv
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.model_selection import train_test_split

ROOT = Path(__file__).parents[1]


def commands():
    """The commands of the README's section on the command line."""
    section = (ROOT / "README.md").read_text().split("## Command line")[1].split("\n## ")[0]
    return re.search(r"```sh\n(.*?)```", section, flags=re.S)[1]


def tables(n_species):
    """Name, columns, inputs and outcome of three tables: a number, two classes as 0 and 1, classes as words."""
    patients, tumours, flowers = (
        datasets.load_diabetes(scaled=False),
        datasets.load_breast_cancer(),
        datasets.load_iris(),
    )
    some = flowers.target >= 3 - n_species  # versicolor and virginica, which overlap, if it is to be two
    return [
        ("patients", patients.feature_names, patients.data[:300], patients.target[:300]),
        ("tumours", tumours.feature_names, tumours.data[:300], tumours.target[:300]),
        ("flowers", flowers.feature_names, flowers.data[some], flowers.target_names[flowers.target][some]),
    ]


def write(folder, columns, X, y):
    """Write train.csv, test.csv and, without the outcome, new.csv."""
    folder.mkdir(parents=True)
    train, test = train_test_split(np.arange(len(y)), test_size=0.3, random_state=0)
    for name, rows, known in (("train", train, True), ("test", test, True), ("new", test, False)):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([*columns, *(["outcome"] if known else [])])
            writer.writerows([*X[i].tolist(), *([y[i]] if known else [])] for i in rows)
    return y[test]


def check(folder, truth):
    """Compare the predictions with what was left out."""
    with (folder / "predictions.csv").open() as file:
        predicted = [row["prediction"] for row in csv.DictReader(file)]
    assert len(predicted) == len(truth)
    if truth.dtype.kind == "f":
        error = float(np.mean((np.array(predicted, dtype=float) - truth) ** 2) / np.var(truth))
        assert error < 0.75
    else:
        error = float(np.mean(np.array(predicted) != truth.astype(str)))
        assert error < 0.12
    return error


def run(folder):
    """Run the commands in a shell; return what they print."""
    done = subprocess.run(["sh", "-e", "-c", commands()], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def main(folder, n_species):
    """Run the commands for every table."""
    for name, columns, X, y in tables(n_species):
        truth = write(folder / name, columns, X, y)
        output = run(folder / name)
        print(f"{name}: {check(folder / name, truth):.3f}\n{output}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), 2)
