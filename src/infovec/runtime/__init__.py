"""Layer 0: threads, deadlines, interruptions, clocks."""

from .clock import best_of_three
from .deadline import NEVER, Deadline, Late, check, current, work_until
from .heap import give_back
from .interrupt import Interruption
from .threads import for_each, limited, own_threads, parts

__all__ = [
    "NEVER",
    "Deadline",
    "Interruption",
    "Late",
    "best_of_three",
    "check",
    "current",
    "for_each",
    "give_back",
    "limited",
    "own_threads",
    "parts",
    "work_until",
]
