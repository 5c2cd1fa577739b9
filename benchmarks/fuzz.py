"""Hostile inputs by chance, for minutes or hours: ``python -m benchmarks.fuzz files --minutes 10``.

Every part is a function of seconds and a seed that returns a dict with ``trials`` and ``faults``, a list of texts. Each
prints one line of JSON; the exit code is 1 when there was a fault. Without a name all parts run, for the minutes each.
"""

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

from .fuzzing import files, numeric

PARTS: dict[str, Callable[[float, int], dict[str, Any]]] = {"files": files.run, "numeric": numeric.run}
"""What can be tried, by name."""

_SHOWN = 20  # faults at most


def main(arguments: list[str] | None = None) -> int:
    """Run the parts asked for; return 1 if there was a fault."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="all of them unless named")
    parser.add_argument("--minutes", type=float, default=10.0, help="for each part at most")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    faults = 0
    for name in given.parts or PARTS:
        found = PARTS[name](60.0 * given.minutes, given.seed)
        faults += len(found["faults"])
        shown = {**found, "n_faults": len(found["faults"]), "faults": found["faults"][:_SHOWN]}
        print(json.dumps({"part": name, "seed": given.seed, **shown}), flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
