"""Layer 0: threads, deadlines, interruptions, clocks."""

from .clock import best_of_three, seconds_per_row
from .deadline import NEVER, Deadline, Late, check, current, work_until
from .heap import give_back
from .interrupt import Interruption
from .room import at_once, limit, pieces, work_within
from .threads import for_each, limited, n_threads, own_threads, parts

__all__ = [
    "NEVER",
    "Deadline",
    "Interruption",
    "Late",
    "at_once",
    "best_of_three",
    "check",
    "current",
    "for_each",
    "give_back",
    "limit",
    "limited",
    "n_threads",
    "own_threads",
    "parts",
    "pieces",
    "seconds_per_row",
    "work_until",
    "work_within",
]
