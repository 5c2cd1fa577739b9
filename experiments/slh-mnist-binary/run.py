"""SLH table 2: the hardest digits of MNIST against the rest, learned by the EP evidence of the factorised posterior."""

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.data import stored
from experiments.report import compare
from experiments.slh import Digits, Outcome, measure, paper_learning
from infovec import IVMClassifier
from infovec.kernels import RBF
from infovec.likelihoods import Probit

__all__ = ["FULL", "QUICK", "Sizes", "mnist", "run"]

PAPER = json.loads((Path(__file__).parent / "expected.json").read_text())
_VARIANCE, _WEIGHT = 10.0, 0.066  # v and w where learning starts
_PIXELS = 784


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    digits: tuple[int, ...]
    major_steps: int
    active: int | None = None  # as in the paper, a size for each digit
    rows: int | None = None
    test_rows: int | None = None


FULL = Sizes((5, 8, 9), 7)
QUICK = Sizes((5,), 3, active=80, rows=700, test_rows=1000)


def mnist(rows: int | None, test_rows: int | None) -> Digits:
    """Return the first rows of MNIST, pixels between 0 and 1."""
    file = stored("mnist")
    X, X_test = (file[f"X_{part}"][:n].astype(np.float32) / np.float32(255)
                 for part, n in (("train", rows), ("test", test_rows)))  # fmt: skip
    return Digits(X, file["y_train"][:rows], X_test, file["y_test"][:test_rows])


def run(quick: bool, sizes: Sizes | None = None) -> list[dict[str, Any]]:
    """Learn every digit, and return rows of paper, ours and difference."""
    sizes = sizes or (QUICK if quick else FULL)
    data, rows = mnist(sizes.rows, sizes.test_rows), []
    for digit in sizes.digits:
        paper = PAPER[str(digit)]
        d = sizes.active or paper["d"]
        outcome = learn_digit(data, digit, d, sizes.major_steps)
        kernel = outcome.model.kernel_
        ours = {
            "error %": outcome.error, "log likelihood": outcome.log_likelihood, "v": kernel.variance,
            "w": _PIXELS / kernel.length_scale**2,
        }  # fmt: skip
        rows += [compare(f"{digit} against rest d={d}: {key}", paper[key], ours[key]) for key in ours]
        rows.append(compare(f"{digit} against rest d={d}: s", None, outcome.seconds))
        print(f"[{time.strftime('%H:%M:%S')}] {digit} d={d}: {ours}", file=sys.stderr, flush=True)
    return rows


def learn_digit(data: Digits, digit: int, d: int, major_steps: int) -> Outcome:
    """Learn from the start of the paper with its priors, rows leaving the selection as it goes on."""
    model = IVMClassifier(
        kernel=RBF(np.sqrt(_PIXELS / _WEIGHT), _VARIANCE), likelihood=Probit(), approximation="factorised", refine=None,
        n_active=d, selection="shrinking", learn=paper_learning(major_steps, p=_PIXELS, minor_steps=4), random_state=0,
    )  # fmt: skip
    return measure(model, data, digit)
