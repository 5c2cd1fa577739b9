"""Layer 3: which rows become active."""

from .driver import Callback, Driver, Progress, StopReason
from .schedule import Patience, Schedule

__all__ = ["Callback", "Driver", "Patience", "Progress", "Schedule", "StopReason"]
