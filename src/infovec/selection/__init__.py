"""Layer 3: which rows become active."""

from .driver import Callback, Driver, Progress, StopReason
from .order import sites_in_order
from .schedule import Patience, Schedule

__all__ = ["Callback", "Driver", "Patience", "Progress", "Schedule", "StopReason", "sites_in_order"]
