"""Which rows become active."""

from .by_bound import Included, select
from .by_gain import GainDriver
from .driver import Driver
from .in_turns import InTurns
from .order import sites_in_order
from .pairs import select_pairs
from .protocol import Callback, Chooser, Progress, Selector, StopReason
from .schedule import Patience, Schedule

__all__ = [
    "Callback",
    "Chooser",
    "Driver",
    "GainDriver",
    "InTurns",
    "Included",
    "Patience",
    "Progress",
    "Schedule",
    "Selector",
    "StopReason",
    "select",
    "select_pairs",
    "sites_in_order",
]
