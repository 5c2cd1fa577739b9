"""Which rows become active."""

from .by_bound import Included, select
from .by_gain import GainDriver
from .driver import Driver
from .exchange import ActiveRows, Exchanged, Move, exchange
from .in_turns import InTurns
from .order import sites_in_order
from .pairs import choose_pair_schedule, select_pairs
from .protocol import Chooser, Selector
from .schedule import Choosing, Patience, Schedule

__all__ = [
    "ActiveRows",
    "Chooser",
    "Choosing",
    "Driver",
    "Exchanged",
    "GainDriver",
    "InTurns",
    "Included",
    "Move",
    "Patience",
    "Schedule",
    "Selector",
    "choose_pair_schedule",
    "exchange",
    "select",
    "select_pairs",
    "sites_in_order",
]
