"""Layer 3: which rows become active."""

from .by_bound import Included, select
from .by_gain import GainDriver
from .driver import Callback, Driver, Progress, StopReason
from .gain import coupling_free_gain
from .in_turns import ClassDriver
from .order import sites_in_order
from .pairs import select_pairs
from .schedule import Patience, Schedule

__all__ = [
    "Callback",
    "ClassDriver",
    "Driver",
    "GainDriver",
    "Included",
    "Patience",
    "Progress",
    "Schedule",
    "StopReason",
    "coupling_free_gain",
    "select",
    "select_pairs",
    "sites_in_order",
]
