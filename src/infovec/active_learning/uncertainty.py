"""What is uncertain about a label: noise, and what is not known of the function."""

from typing import NamedTuple

import numpy as np

from .._types import Floats
from ..likelihoods import Discrete
from ..likelihoods.classes import ClassLikelihood
from .classes import points_of_functions
from .discrete import discrete_information

__all__ = ["Uncertainty", "label_uncertainty"]

_POINTS = 256


class Uncertainty(NamedTuple):
    """Entropies of labels in nats, one for each row; ``total`` is the sum of the other two."""

    total: Floats
    aleatoric: Floats
    epistemic: Floats


def label_uncertainty(likelihood: Discrete | ClassLikelihood, mean: Floats, var: Floats) -> Uncertainty:
    r"""Entropy of the label, what is left of it when the function is known, and what knowing the function tells.

    .. math:: H[y] = E_f H[y \mid f] + I(y; f)

    Of several classes the share of the first term is found with points of the functions.

    Parameters
    ----------
    likelihood : Discrete or ClassLikelihood
    mean, var : array of shape (n,) or (n, C)
        Of the latent functions.
    """
    total = _entropy(likelihood.log_proba(mean, var))
    if isinstance(likelihood, Discrete):
        told = discrete_information(likelihood, mean, likelihood.spread * var)
        epistemic = np.clip(told, 0.0, total)
        return Uncertainty(total, total - epistemic, epistemic)
    points, sd = points_of_functions(mean.shape[1], _POINTS), np.sqrt(likelihood.spread * var)
    mixture, left = np.zeros(mean.shape), np.zeros(len(mean))
    for point in points:
        log_p = likelihood.when_known(mean + sd * point)
        mixture += np.exp(log_p) / len(points)
        left += _entropy(log_p) / len(points)
    whole = _entropy(np.log(np.maximum(mixture, 1e-300)))
    aleatoric = total * np.clip(left / np.maximum(whole, 1e-300), 0.0, 1.0)
    return Uncertainty(total, aleatoric, total - aleatoric)


def _entropy(log_p: Floats) -> Floats:
    """Entropy of probabilities whose logarithms are along axis 1."""
    return np.asarray(-np.sum(np.exp(log_p) * np.maximum(log_p, -1e300), axis=1))
