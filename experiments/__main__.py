"""Command line: ``python -m experiments list`` and ``python -m experiments run NAME [--quick]``."""

import argparse
import time

from .catalogue import load, names
from .report import table


def main() -> None:
    """Run one experiment and print the paper's figures beside ours."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="name the experiments")
    run = commands.add_parser("run", help="run one of them")
    run.add_argument("name", choices=names())
    run.add_argument("--quick", action="store_true", help="smaller sizes, one split: less than a minute")
    asked = parser.parse_args()
    if asked.command == "list":
        print("\n".join(names()))
        return
    start = time.perf_counter()
    rows = load(asked.name).run(asked.quick)
    print(table(rows))
    print(f"\n{time.perf_counter() - start:.0f} s; figures in out/{asked.name}")


if __name__ == "__main__":
    main()
