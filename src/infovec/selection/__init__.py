"""Layer 3: which rows become active."""

from .driver import Driver, Progress, StopReason
from .schedule import Schedule

__all__ = ["Driver", "Progress", "Schedule", "StopReason"]
