"""Defaults on many data sets: losses, errors, calibration, CPU seconds and ranks of infovec and of its peers.

The sets, half of them those on which defaults were chosen, are in ``contest/rows.py``, the peers in ``contest``. Losses
are log losses of classes, negative log densities of numbers. Ranks are by the medians over the splits, among the peers
that are tuned and among those at their defaults. Results are kept in ``--store`` as they come, and not made again.
"""

import argparse
import json
import warnings
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from .contest import CLASS_SETS, CLASS_SIDES, NUMBER_SETS, NUMBER_SIDES, SETS, judge_classes, judge_numbers, rows_of

__all__ = ["KEYS", "main", "medians", "ranks", "run", "summary"]

KEYS = ("loss", "error", "calibration", "seconds")
KINDS = {"classes": (CLASS_SETS, CLASS_SIDES, judge_classes), "numbers": (NUMBER_SETS, NUMBER_SIDES, judge_numbers)}
FIELDS = {"tuned": "", "default": "-default"}  # of peers, and how their names end
BASE = "frequencies"  # that nobody may be behind
Result = dict[str, Any]


def run(
    kind: str, sets: Iterable[str], sides: Iterable[str], splits: range, most: int, done: list[Result]
) -> Iterator[Result]:
    """Yield one result for each split, set and side that is not among those done."""
    known = {(one["set"], one["side"], one["split"], one["most"]) for one in done}
    judge = KINDS[kind][2]
    for split in splits:
        for name in sets:
            for side in [side for side in sides if (name, side, split, most) not in known]:
                rows = rows_of(name, split, most)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = judge(side, rows)
                n, p = rows[0].shape
                yield {"kind": kind, "set": name, "side": side, "split": split, "most": most, "n": n, "p": p, **found}


def medians(results: Iterable[Result]) -> dict[str, dict[str, Result]]:
    """Return the medians over splits, by set and side; sides count where they have all splits that infovec has."""
    runs: dict[tuple[str, str], dict[int, Result]] = {}
    for one in results:
        runs.setdefault((one["set"], one["side"]), {})[one["split"]] = one
    table: dict[str, dict[str, Result]] = {}
    for (name, side), of_split in runs.items():
        asked = set(runs.get((name, "infovec"), of_split))
        if asked <= set(of_split):
            median = {key: float(np.median([of_split[split][key] for split in asked])) for key in KEYS}
            first = next(iter(of_split.values()))
            table.setdefault(name, {})[side] = {**median, "n": first["n"], "p": first["p"], "splits": len(asked)}
    return table


def ranks(losses: dict[str, float]) -> dict[str, float]:
    """Return the rank of every side, 1 for the lowest loss; equal ones share the mean of their ranks."""
    values = np.array(list(losses.values()))
    return {side: float(np.sum(values < loss) + 0.5 * (np.sum(values == loss) + 1.0)) for side, loss in losses.items()}


def summary(table: dict[str, dict[str, Result]], field: str, key: str = "loss") -> dict[str, Result]:
    """Return mean ranks among tuned peers or those at defaults, how often a side was worst, and its CPU seconds."""
    total: dict[str, Result] = {}
    for sides in table.values():
        losses = {side: one[key] for side, one in sides.items() if side in _field(sides, field)}
        for side, rank in ranks(losses).items():
            one = total.setdefault(side, {"ranks": [], "worst": 0, "behind": 0, "seconds": 0.0})
            one["ranks"].append(rank)
            one["worst"] += int(len(losses) > 1 and losses[side] == max(losses.values()))
            one["behind"] += int(BASE in sides and losses[side] > sides[BASE][key])
            one["seconds"] += sides[side]["seconds"]
    return {side: {**one, "rank": float(np.mean(one.pop("ranks")))} for side, one in total.items()}


def _field(sides: Iterable[str], field: str) -> list[str]:
    """Those who take part: the Gaussian process learns, so that it is in both."""
    both = ("infovec", "gp")
    ours = [side for side in sides if side.endswith("-default") == (field == "default") and side != BASE]
    return [side for side in sides if side in both or side in ours]


def _lines(kind: str, results: list[Result]) -> Iterator[str]:
    """The table as text: a line for each set, then mean ranks of both fields, over all sets and each half."""
    mine = [one for one in results if one["kind"] == kind]
    table = medians(mine)
    for name, sides in table.items():
        any_side = next(iter(sides.values()))
        shown = ", ".join(f"{side} {one['loss']:.4g}/{one['error']:.3g}/{one['calibration']:.2g}/{one['seconds']:.2g}s"
                          for side, one in sides.items())  # fmt: skip
        size = f"{any_side['n']:4d} x {any_side['p']:3d}, {any_side['splits']} splits"
        yield f"{name:14s} {SETS[name]:9s} {size}: {shown}"
    for half, field, key in product(("chosen", "confirmed", ""), FIELDS, KEYS[:3]):
        part = {name: sides for name, sides in table.items() if half in ("", SETS[name])}
        if part:
            yield f"{half or 'all'} {len(part)} sets, {field} peers, {key}: " + ", ".join(_ranked(part, field, key))


def _ranked(table: dict[str, dict[str, Result]], field: str, key: str) -> list[str]:
    """Mean ranks, the best first, with how often a side was worst and behind the base, and its seconds."""
    found = sorted(summary(table, field, key).items(), key=lambda item: float(item[1]["rank"]))
    return [
        f"{side} {one['rank']:.2f} (worst {one['worst']}, behind {one['behind']}, {one['seconds']:.0f} s)"
        for side, one in found
    ]


def main() -> None:
    """Run what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=list(KINDS))
    parser.add_argument("--sets", nargs="+", choices=list(SETS))
    parser.add_argument("--sides", nargs="+", choices=sorted({*CLASS_SIDES, *NUMBER_SIDES}))
    parser.add_argument("--half", choices=("chosen", "confirmed"), help="the sets of one half only")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1000, help="to train, at most")
    parser.add_argument("--store", type=Path, help="file of JSON lines: results in it are not made again")
    parser.add_argument("--read", action="store_true", help="print what is in the store, run nothing")
    given = parser.parse_args()
    sets, all_sides, _ = KINDS[given.kind]
    names = given.sets or [name for half, part in sets.items() if given.half in (None, half) for name in part]
    sides = [side for side in all_sides if side in (given.sides or all_sides)]
    kept = given.store.read_text().splitlines() if given.store and given.store.exists() else []
    done = [json.loads(line) for line in kept]
    if not given.read:
        for result in run(given.kind, names, sides, range(given.splits), given.rows, done):
            done.append(result)
            if given.store:
                with given.store.open("a") as file:
                    file.write(json.dumps(result) + "\n")
    wanted = [one for one in done if one["set"] in names and one["side"] in sides and one["most"] == given.rows]
    for line in _lines(given.kind, wanted):
        print(line, flush=True)


if __name__ == "__main__":
    main()
