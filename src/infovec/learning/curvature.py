"""How a criterion bends, from the steps taken so far."""

from typing import NamedTuple, Self

import numpy as np

from .._types import Floats

__all__ = ["NOTHING_KNOWN", "Curvature"]

_MEMORY = 12  # pairs that are remembered
_LONGEST = 1.0  # of a first step along the gradient
_FARTHEST = 2.0  # of any parameter in one step
_FLAT = 1e-10  # share of what a step could bend, below which it says nothing


class Curvature(NamedTuple):
    """Pairs of a step and the fall of the gradient along it; a value.

    A criterion of more rows bends more, but in the same directions: what was learned of one is passed on to the next.
    """

    pairs: tuple[tuple[Floats, Floats], ...] = ()

    def direction(self, gradient: Floats) -> Floats:
        """Uphill direction of limited-memory BFGS, by the recursion over the pairs."""
        if not self.pairs:
            return _shorter(gradient * min(1.0, _LONGEST / max(float(np.linalg.norm(gradient)), 1e-300)))
        q, shares = gradient.copy(), []
        for step, bend in reversed(self.pairs):
            share = float(step @ q) / float(step @ bend)
            q -= share * bend
            shares.append(share)
        step, bend = self.pairs[-1]
        q *= float(step @ bend) / float(bend @ bend)
        for (step, bend), share in zip(self.pairs, reversed(shares), strict=True):
            q += step * (share - float(bend @ q) / float(step @ bend))
        return _shorter(q if float(q @ gradient) > 0.0 else gradient)

    def after(self, step: Floats, bend: Floats) -> Self:
        """Return what is known after a step along which the gradient fell by ``bend``."""
        if not float(step @ bend) > _FLAT * float(np.linalg.norm(step) * np.linalg.norm(bend)):
            return self
        return type(self)((*self.pairs, (step, bend))[-_MEMORY:])

    def times(self, factor: float) -> Self:
        """Return that of a criterion so many times as large."""
        return type(self)(tuple((step, factor * bend) for step, bend in self.pairs))


def _shorter(direction: Floats) -> Floats:
    return direction * min(1.0, _FARTHEST / max(float(np.max(np.abs(direction), initial=0.0)), 1e-300))


NOTHING_KNOWN = Curvature()
"""Where learning begins."""
