"""SLH 6.1.1 and figure 1: what becomes of the sites while the active set is fixed."""

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.catalogue import figure_folder
from experiments.report import claim, compare
from experiments.slh import Outcome, learn_digit, paper_learning, usps

from .figure import draw

__all__ = ["FULL", "QUICK", "Sizes", "run"]

PAPER = json.loads((Path(__file__).parent / "expected.json").read_text())
_DIGIT = 2


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    active: int
    major_steps: int
    rows: int | None = None
    test_rows: int | None = None


FULL = Sizes(200, 15)
QUICK = Sizes(40, 3, rows=600, test_rows=500)


def run(quick: bool, sizes: Sizes | None = None) -> list[dict[str, Any]]:
    """Learn 2 against the rest with each strategy, and draw the criterion."""
    sizes = sizes or (QUICK if quick else FULL)
    data = usps(sizes.rows, sizes.test_rows)
    found: dict[str, Outcome] = {}
    rows = []
    for sites, paper in PAPER["strategies"].items():
        found[sites] = learn_digit(data, _DIGIT, sizes.active, paper_learning(sizes.major_steps, sites))
        outcome = found[sites]
        print(f"[{time.strftime('%H:%M:%S')}] {sites}: {outcome.model.kernel_!r}", file=sys.stderr, flush=True)
        rows.append(compare(f"{sites} d={sizes.active}: error %", 100.0 * paper["error"], outcome.error))
        rows.append(
            compare(f"{sites} d={sizes.active}: log likelihood", paper["log_likelihood"], outcome.log_likelihood)
        )
        history = outcome.model.history_
        at_major = history["criterion"][history["major"]]
        gained = float(at_major.max() - at_major[0])
        rows.append(claim(f"{sites} d={sizes.active}: criterion gained", "> 0", gained, gained > 0))
        rows.append(compare(f"{sites} d={sizes.active}: evaluations", None, len(history["criterion"])))
    draw(figure_folder("slh-strategies") / "figure-1.png", {s: o.model.history_ for s, o in found.items()})
    return rows
