"""How many observations the weights of a training set are taken for."""

import numpy as np

from .counting import Predicted, dispersion, likely_counts
from .training import Training

__all__ = ["first_guess", "second_thought"]

_FAR = 1.5  # factor between numbers of observations that is worth another fit


def first_guess(training: Training) -> Training:
    """Return the training with weights as they were given, if equal inputs have different labels; else as it is.

    Weights that average one count every distinct row for one observation, more or less.
    """
    if not training.copied or not counts(training):
        return training
    return training.rescaled(training.given.count)


def counts(training: Training) -> bool:
    """Whether the weights look like numbers of observations."""
    sample = training.given.times_all(training.given.count)
    assert sample.weight is not None
    return likely_counts(np.unique(training.y, return_inverse=True)[1], sample.weight, training.group)


def second_thought(training: Training, known: Predicted | None) -> float | None:
    """Return the factor for the weights that rows left out ask for, or None if they may stay as they are."""
    if known is None or not training.copied:
        return None
    sample = training.given
    now = 1.0 if sample.weight is None else float(np.mean(sample.weight))  # observations for an average row
    units = sample.times_all(sample.count / now)
    assert units.weight is not None
    phi = dispersion(known, units.weight[known.rows], training.groups_of(known.rows))
    right = float(np.clip(sample.count / max(phi, 1e-300), 1.0, sample.count))
    return right / now if max(right / now, now / right) > _FAR else None
