"""Threads, memory, deadlines, interruptions, clocks."""

from .caller import in_search, outside
from .clock import best_of_three, seconds_of, seconds_per_row
from .deadline import NEVER, Deadline, Late, Listener, check, current, work_until
from .heap import give_back, keep_freed
from .interrupt import Interruption
from .progress import Callback, Progress, StopReason
from .room import at_once, limit, pieces, work_within
from .scratch import reserve, scratch
from .threads import for_each, limited, n_threads, own_threads, parts

__all__ = [
    "NEVER",
    "Callback",
    "Deadline",
    "Interruption",
    "Late",
    "Listener",
    "Progress",
    "StopReason",
    "at_once",
    "best_of_three",
    "check",
    "current",
    "for_each",
    "give_back",
    "in_search",
    "keep_freed",
    "limit",
    "limited",
    "n_threads",
    "outside",
    "own_threads",
    "parts",
    "pieces",
    "reserve",
    "scratch",
    "seconds_of",
    "seconds_per_row",
    "work_until",
    "work_within",
]
