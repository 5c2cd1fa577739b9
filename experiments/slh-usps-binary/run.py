"""SLH table 1: USPS digits against the rest, hyperparameters from the EP evidence of the factorised posterior."""

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.report import compare
from experiments.slh import Outcome, learn_digit, measure, paper_learning, usps
from infovec import IVMClassifier

__all__ = ["FULL", "QUICK", "Sizes", "run"]

PAPER = json.loads((Path(__file__).parent / "expected.json").read_text())
Row = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    digits: tuple[int, ...]
    active: tuple[int, ...]
    major_steps: int
    rows: int | None = None
    test_rows: int | None = None
    defaults: bool = True  # whether the default, which is the projected posterior, is fitted as well


FULL = Sizes(tuple(range(10)), (50, 100, 200, 500), 15)
QUICK = Sizes((6,), (50,), 4, rows=1000, test_rows=500, defaults=False)


def run(quick: bool, sizes: Sizes | None = None) -> list[Row]:
    """Learn every task at every size, and return rows of paper, ours and difference."""
    sizes = sizes or (QUICK if quick else FULL)
    data = usps(sizes.rows, sizes.test_rows)
    rows: list[Row] = []
    for d in sizes.active:
        found = []
        for digit in sizes.digits:
            found.append(learn_digit(data, digit, d, paper_learning(sizes.major_steps)))
            _say(f"{digit} d={d}", found[-1])
        rows += _rows(sizes, d, found)
    if sizes.defaults:
        default = [measure(IVMClassifier(random_state=0), data, digit) for digit in sizes.digits]
        rows.append(compare("mean, defaults (projected): error %", PAPER["mean"]["500"][0], _mean(default, "error")))
        mean = _mean(default, "log_likelihood")
        rows.append(compare("mean, defaults (projected): log likelihood", PAPER["mean"]["500"][1], mean))
    return rows


def _rows(sizes: Sizes, d: int, found: list[Outcome]) -> list[Row]:
    rows, at = [], PAPER["sizes"].index(d)
    for digit, outcome in zip(sizes.digits, found, strict=True):
        paper = PAPER["error"][digit][at], PAPER["log_likelihood"][digit][at]
        rows.append(compare(f"{digit} against rest d={d}: error %", paper[0], outcome.error))
        rows.append(compare(f"{digit} against rest d={d}: log likelihood", paper[1], outcome.log_likelihood))
    paper = [np.mean([PAPER[name][c][at] for c in sizes.digits]) for name in ("error", "log_likelihood")]
    rows.append(compare(f"mean d={d}: error %", paper[0], _mean(found, "error")))
    rows.append(compare(f"mean d={d}: log likelihood", paper[1], _mean(found, "log_likelihood")))
    rows.append(compare(f"mean d={d}: s", None, _mean(found, "seconds")))
    return rows


def _mean(found: list[Outcome], name: str) -> float:
    return float(np.mean([getattr(outcome, name) for outcome in found]))


def _say(what: str, outcome: Outcome) -> None:
    kernel, bias = outcome.model.kernel_, outcome.model.likelihood_.bias
    print(
        f"[{time.strftime('%H:%M:%S')}] {what}: error {outcome.error:.2f} %, log likelihood "
        f"{outcome.log_likelihood:.4f}, {outcome.seconds:.0f} s, {kernel!r}, bias {bias:.3g}",
        file=sys.stderr, flush=True,
    )  # fmt: skip
