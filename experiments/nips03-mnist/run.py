"""NIPS03 section 4: MNIST digits of 13 by 13 pixels, each against the rest, combined, and with rows rejected."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.special import log_ndtr
from sklearn.svm import SVC

from experiments.catalogue import figure_folder
from experiments.classes import Split, official
from experiments.report import claim, compare
from infovec import IVMClassifier
from infovec.kernels import RBF, Bias
from infovec.metrics import ErrorReject, error_reject_curve
from infovec.plots import plot_error_reject

__all__ = ["FULL", "QUICK", "Sizes", "run", "shrunk"]

PAPER = json.loads((Path(__file__).parent / "expected.json").read_text())
GAMMA, VARIANCE, BIAS_VARIANCE = 0.03, 200.0, 0.1  # the kernel is VARIANCE exp(-GAMMA |x - z|^2) + BIAS_VARIANCE
SVC_C, SVC_GAMMA = 10.0, 0.12
HARDEST = 9
Row = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    rows: int
    test_rows: int | None
    active: tuple[int, ...]  # for each digit
    svm_for_all: bool  # else for the reject curve of the hardest digit only


FULL = Sizes(rows=59000, test_rows=None, active=tuple(PAPER["active"]), svm_for_all=True)
QUICK = Sizes(rows=1000, test_rows=1000, active=(150,) * 10, svm_for_all=False)


def shrunk(X: np.ndarray) -> np.ndarray:
    """Images of 28 by 28 pixels as 13 by 13, each the mean of four, without the margin; between 0 and 1."""
    inner = X.reshape(-1, 28, 28)[:, 1:27, 1:27]
    return inner.reshape(-1, 13, 2, 13, 2).mean(axis=(2, 4)).reshape(len(X), 169) / 255.0


def run(quick: bool, sizes: Sizes | None = None) -> list[Row]:
    """Fit ten machines, combine them, draw figure 1; return rows of paper, ours and difference."""
    sizes = sizes or (QUICK if quick else FULL)
    whole = official("mnist").some(sizes.rows, sizes.test_rows)
    data = Split(shrunk(whole.X), whole.y, shrunk(whole.X_test), whole.y_test)
    as_printed = sizes.active == tuple(PAPER["active"])
    rows: list[Row] = []
    log_p, outputs = np.empty((len(data.y_test), 10)), np.full((len(data.y_test), 10), np.nan)
    for digit in range(10):
        y = np.where(data.y == digit, 1, -1)
        log_p[:, digit], decided = _ivm(data, y, sizes.active[digit])
        wrong = 100.0 * np.mean(decided != np.where(data.y_test == digit, 1, -1))
        rows.append(compare(f"IVM {digit}: error %", PAPER["ivm"][digit] if as_printed else None, wrong))
        if sizes.svm_for_all or digit == HARDEST:
            outputs[:, digit] = SVC(C=SVC_C, gamma=SVC_GAMMA).fit(data.X, y).decision_function(data.X_test)
            wrong = 100.0 * np.mean((outputs[:, digit] > 0) != (data.y_test == digit))
            rows.append(compare(f"SVM {digit}: error %", PAPER["svm"][digit] if as_printed else None, wrong))
        print(f"digit {digit}: {rows[-1]['quantity']} {rows[-1]['ours']:.2f}", file=sys.stderr)
    combined = 100.0 * np.mean(log_p.argmax(axis=1) != data.y_test)
    rows.append(compare("IVM combined: error %", PAPER["ivm_combined"] if as_printed else None, combined))
    if sizes.svm_for_all:
        combined = 100.0 * np.mean(outputs.argmax(axis=1) != data.y_test)
        rows.append(compare("SVM combined: error %", PAPER["svm_combined"] if as_printed else None, combined))
    return [*rows, *_figure_1(data.y_test == HARDEST, np.exp(log_p[:, HARDEST]), outputs[:, HARDEST])]


def _ivm(data: Split, y: np.ndarray, n_active: int) -> tuple[np.ndarray, np.ndarray]:
    """Log P(y = +1) at the test rows, which is accurate for both classes, and the decisions."""
    kernel = RBF(float(np.sqrt(0.5 / GAMMA)), VARIANCE) + Bias(BIAS_VARIANCE)
    model = IVMClassifier(
        kernel=kernel, learn=None, approximation="factorised", score="entropy", n_active=n_active, random_state=0
    ).fit(data.X, y)
    mean, sd = model.predict_latent(data.X_test)
    u = (mean + model.likelihood_.bias) / np.sqrt(model.likelihood_.slope**-2 + sd**2)
    return log_ndtr(u), np.where(u > 0, 1, -1)


def _figure_1(truth: np.ndarray, proba: np.ndarray, output: np.ndarray) -> list[Row]:
    """Errors against rejected rows, for the hardest digit."""
    ivm = error_reject_curve(truth.astype(int), proba)
    svm = error_reject_curve(truth.astype(int), (output > 0).astype(float), certainty=np.abs(output))
    figure = Figure(figsize=(5.6, 4.2), layout="constrained")
    ax = plot_error_reject({"IVM": ivm, "SVM": svm}, figure.subplots())
    ax.set(xlim=(0, 20), title=f"digit {HARDEST} against the rest")
    figure.savefig(figure_folder("nips03-mnist") / "figure-1.png", dpi=120)
    rows = [compare(f"{name} {HARDEST}, {share} % rejected: error %", None, 100.0 * curve.at(share / 100))
            for share in (2, 5, 10) for name, curve in (("IVM", ivm), ("SVM", svm))]  # fmt: skip
    ratio = _area(ivm) / max(_area(svm), 1e-9)
    return [*rows, claim(f"IVM / SVM {HARDEST}: area below the curve, to 20 %", "< 1", ratio, ratio < 1.0)]


def _area(curve: ErrorReject) -> float:
    return float(np.mean([curve.at(share) for share in np.linspace(0.0, 0.2, 201)]))
