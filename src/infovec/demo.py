"""What ``make demo`` runs: a comparison on real data, and a picture."""

import argparse
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from ._types import Array
from .errors import ParameterError
from .estimators import IVMClassifier
from .kernels import RBF, Bias
from .persistence import check_output, writing

__all__ = ["main", "run"]


def compare_on_digits() -> None:
    """Print error, log loss and seconds on every digit against the rest, beside a calibrated SVC."""
    X, digits = load_digits(return_X_y=True)
    print("Digits (1797 images of 8 x 8), one digit against the rest, 70 % to train and 30 % to test")
    print("                 IVMClassifier (200 active)            calibrated SVC")
    print("  digit     error %   log loss   seconds       error %   log loss   seconds")
    totals = []
    for digit in range(10):
        y = (digits == digit).astype(int)
        split = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
        ivm = _measure(IVMClassifier(n_active=200, random_state=0), *split)
        svc = _measure(CalibratedClassifierCV(SVC(), ensemble=False), *split)
        totals.append(ivm + svc)
        print(_row(str(digit), ivm + svc), flush=True)
    print(_row("mean", tuple(np.mean(totals, axis=0))))


def _measure(model: Any, X: Array, Z: Array, y: Array, t: Array) -> tuple[float, ...]:
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    return 100.0 * (1.0 - model.score(Z, t)), log_loss(t, model.predict_proba(Z)), seconds


def _row(name: str, values: tuple[float, ...]) -> str:
    error, loss, seconds, error_, loss_, seconds_ = values
    return f"  {name:5s} {error:11.2f} {loss:10.4f} {seconds:9.2f} {error_:13.2f} {loss_:10.4f} {seconds_:9.2f}"


def two_rings(n: int, seed: int) -> tuple[Array, Array]:
    """A noisy ring around a noisy disc."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [n - n // 2, n // 2])
    radius = np.where(y == 1, 2.2, 0.8) + 0.33 * rng.normal(size=n)
    angle = rng.uniform(0.0, 2.0 * np.pi, size=n)
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), y


def draw(path: Path) -> None:
    """Write the figure of a two-dimensional problem."""
    import matplotlib as mpl

    mpl.use("Agg")
    from .plots import plot_classifier

    X, y = two_rings(400, seed=3)
    model = IVMClassifier(kernel=RBF(1.2, 10.0) + Bias(1.0), n_active=60, random_state=0).fit(
        X, np.where(y, "ring", "disc")
    )
    ax = plot_classifier(model, X, np.where(y, "ring", "disc"))
    ax.set_title("60 informative vectors of 400 rows; p(ring) = 0.5 solid, 0.25 and 0.75 dashed", fontsize=9)
    ax.set_aspect("equal")
    with writing(path) as file:
        ax.figure.savefig(file, format="png", dpi=130)
    print(f"figure of a two-dimensional problem: {path}")


def run(out: Path) -> None:
    """Print the comparison and write the figure to a folder."""
    if find_spec("matplotlib") is None:
        raise ParameterError("the figure needs matplotlib, which is not installed: pip install 'infovec[plot]'")
    out.mkdir(parents=True, exist_ok=True)
    check_output(out / "classification.png")
    compare_on_digits()
    draw(out / "classification.png")


def main() -> None:
    """Run the demonstration."""
    parser = argparse.ArgumentParser(prog="python -m infovec.demo", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the figure")
    run(parser.parse_args().out)


if __name__ == "__main__":
    main()
