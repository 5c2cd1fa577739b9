"""Layer 3: which rows become active."""

from .driver import Driver, Progress, StopReason

__all__ = ["Driver", "Progress", "StopReason"]
