"""What asking for the label of a row is expected to bring, from the marginal of its latent values alone."""

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from .._types import Floats
from ..errors import ParameterError
from ..likelihoods import Discrete, Gaussian, Laplace, Likelihood, StudentT, untransformed
from ..likelihoods.classes import ClassLikelihood
from ..scores import Score, entropy_reduction
from .classes import class_information, over_classes
from .discrete import discrete_information, over_labels
from .numbers import number_information, over_targets

__all__ = ["CANDIDATE_SCORES", "AnyLikelihood", "Expected", "expected_precision", "in_blocks", "information"]

AnyLikelihood: TypeAlias = Likelihood | ClassLikelihood
Expected: TypeAlias = Callable[[AnyLikelihood, Floats, Floats], Floats]

_ENTRIES = 2**20  # numbers of a block of the work


def information(likelihood: AnyLikelihood, mean: Floats, var: Floats) -> Floats:
    """Mutual information between the unknown label and the function, in nats (Thesis 4.2.2, SLH 3.2)."""
    if isinstance(likelihood, ClassLikelihood):
        return class_information(likelihood, mean, var)
    if isinstance(likelihood, Discrete):
        return discrete_information(likelihood, mean, likelihood.spread * var)
    return number_information(likelihood, mean, var)


def expected_entropy(likelihood: AnyLikelihood, mean: Floats, var: Floats) -> Floats:
    r"""Fall in the entropy of the Gaussian posterior that is expected of the unknown label (Thesis 4.2.2).

    .. math:: E_y \bigl[ -\tfrac12 \log(1 - a \nu_y) \bigr]

    summed over the functions of several classes.
    """
    found = _over(likelihood, mean, var, entropy_reduction)
    return found.sum(axis=1) if found.ndim == 2 else found


def expected_precision(likelihood: AnyLikelihood, mean: Floats, var: Floats) -> Floats:
    r"""Mean of nu over the unknown label, by which the variance is expected to fall: :math:`a - a^2 E_y \nu_y`.

    That of the mean does not change, since :math:`E_y g_y = 0`.
    """
    return np.maximum(_over(likelihood, mean, var, _share), 0.0) / np.maximum(var, 1e-300)


def _share(log_z: Floats, g: Floats, nu: Floats, mean: Floats, var: Floats) -> Floats:
    """Share of the variance that a label explains."""
    return var * nu


def _over(likelihood: AnyLikelihood, mean: Floats, var: Floats, score: Score) -> Floats:
    if isinstance(likelihood, ClassLikelihood):
        return over_classes(likelihood, mean, var, score)
    if isinstance(likelihood, Discrete):
        return over_labels(likelihood, mean, var, score)
    return over_targets(likelihood, mean, var, score)


def variance(likelihood: AnyLikelihood, mean: Floats, var: Floats) -> Floats:
    """Variance of the latent function; of several classes their mean."""
    return var.mean(axis=1) if var.ndim == 2 else var


def margin(likelihood: AnyLikelihood, mean: Floats, var: Floats) -> Floats:
    r"""How close the two most probable labels are: one less the difference of their probabilities."""
    if not isinstance(likelihood, Discrete | ClassLikelihood):
        raise ParameterError("score='margin' compares classes; for numbers use 'information', 'entropy' or 'variance'")
    second, first = np.sort(np.exp(likelihood.log_proba(mean, var)), axis=1)[:, -2:].T
    return 1.0 - (first - second)


CANDIDATE_SCORES: Final[dict[str, Expected]] = {
    "information": information,
    "entropy": expected_entropy,
    "variance": variance,
    "margin": margin,
}
"""By name. Larger is better."""


def in_blocks(score: Expected, likelihood: AnyLikelihood, mean: Floats, var: Floats) -> Floats:
    """Return the scores of all rows, or what else there is one of for each, some of them at a time."""
    few = isinstance(
        untransformed(likelihood), Gaussian | Laplace | StudentT
    )  # many rows at once are little work for each
    numbers = 1 if few else 64 if isinstance(likelihood, Discrete | ClassLikelihood) else 64 * 256
    step = max(1, _ENTRIES // (numbers * (mean.shape[1] if mean.ndim == 2 else 1)))
    blocks = (slice(start, start + step) for start in range(0, max(len(mean), 1), step))
    return np.concatenate([score(likelihood, mean[at], var[at]) for at in blocks])
