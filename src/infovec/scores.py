"""How much a row would teach the model if it were included next. Larger is better.

The papers print negative scores and an arg max; the signs here are those of LSH05 eq. 26. A score is any function
of five arrays: ``log_z``, ``g`` and ``nu`` of the tilted densities, and the ``mean`` and ``var`` of the marginals.
"""

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from ._types import Floats

__all__ = [
    "RULES",
    "SCORES",
    "Rule",
    "Score",
    "entropy_reduction",
    "indifference",
    "information_gain",
    "surprise",
    "uncertainty",
]

Score: TypeAlias = Callable[[Floats, Floats, Floats, Floats, Floats], Floats]


def entropy_reduction(log_z: Floats, g: Floats, nu: Floats, mean: Floats, var: Floats) -> Floats:
    r"""Fall in the entropy of the posterior (NIPS03 eq. 4, LSH05 eq. 26).

    .. math:: H[Q] - H[Q'] = -\tfrac12 \log(1 - a \nu)
    """
    return -0.5 * np.log1p(-np.minimum(var * nu, _ALMOST_ONE))


def information_gain(log_z: Floats, g: Floats, nu: Floats, mean: Floats, var: Floats) -> Floats:
    r"""Relative entropy of the posterior after to the posterior before (SLH eq. 5).

    .. math:: D[Q' \| Q] = \tfrac12 \bigl(-\log(1 - a \nu) - a \nu + a g^2\bigr)
    """
    shrunk = np.minimum(var * nu, _ALMOST_ONE)
    return 0.5 * (-np.log1p(-shrunk) - shrunk + var * g**2)


def surprise(log_z: Floats, g: Floats, nu: Floats, mean: Floats, var: Floats) -> Floats:
    r"""Smallest predictive probability of the target first (GR06 eq. 5.5).

    .. math:: -\log Z
    """
    return -log_z


def indifference(log_z: Floats, g: Floats, nu: Floats, mean: Floats, var: Floats) -> Floats:
    """The same for every row: ties are broken at random, so this is random selection."""
    return np.zeros_like(var)


def uncertainty(log_z: Floats, g: Floats, nu: Floats, mean: Floats, var: Floats) -> Floats:
    """Largest variance first, whatever the targets; without noise this is the pivoting of a Cholesky factorisation."""
    return var


_ALMOST_ONE = 1.0 - 1e-15


class Rule(NamedTuple):
    """What rows are selected by, and what that asks of a selection."""

    score: Score
    sees_targets: bool = True  # without them the classes have nothing to take turns for
    noiseless: bool = False  # the projected posterior is selected for as if there were no noise: by pivots
    by_gain: bool = False  # by what the projected posterior itself would gain, which no score of one marginal tells
    for_all_classes: str | None = None  # score of rows that are included for all classes at once (GR06 5.5)


RULES: Final[dict[str, Rule]] = {
    "entropy": Rule(entropy_reduction, for_all_classes="predictive"),
    "information_gain": Rule(information_gain, for_all_classes="predictive"),
    "predictive": Rule(surprise, for_all_classes="predictive"),
    "random": Rule(indifference, sees_targets=False, for_all_classes="random"),
    "variance": Rule(uncertainty, sees_targets=False, noiseless=True, for_all_classes="entropy"),
    "projected_gain": Rule(entropy_reduction, by_gain=True),
}
"""Entropies do not see the labels where rows come in for all classes at once: there the predictive probability does."""

SCORES: Final[dict[str, Score]] = {name: rule.score for name, rule in RULES.items() if not rule.by_gain}
"""Those of them that are functions of one marginal."""
