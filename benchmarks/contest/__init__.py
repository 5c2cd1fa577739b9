"""The sets and the sides of ``benchmarks.table``."""

from .classes import CLASS_SIDES, judge_classes
from .numbers import NUMBER_SIDES, judge_numbers
from .rows import CLASS_SETS, NUMBER_SETS, SETS, Rows, rows_of

__all__ = [
    "CLASS_SETS", "CLASS_SIDES", "NUMBER_SETS", "NUMBER_SIDES", "SETS", "Rows", "judge_classes", "judge_numbers",
    "rows_of",
]  # fmt: skip
