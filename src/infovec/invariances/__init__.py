"""What may be done to a row without changing its target: functions from rows to transformed rows.

A function takes an array of shape (n, p) and returns one of the same shape, or of shape (k, n, p) for k images of every
row. Those here are immutable values.
"""

from .pictures import Rotations, Scalings, Shifts, Thickness
from .tables import Jitter, Permutations, Signs

__all__ = ["Jitter", "Permutations", "Rotations", "Scalings", "Shifts", "Signs", "Thickness"]
