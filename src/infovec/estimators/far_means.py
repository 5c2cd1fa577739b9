"""Means of transformed targets that are far from all targets of the fit, for rows that the model knows little of."""

import warnings
from typing import Final

import numpy as np
from scipy.special import ndtr

from .._types import Floats, Foreign
from ..likelihoods import Transformed
from ..likelihoods.mixtures import median, quantile
from ..numerics.monotone import Log
from ..numerics.residuals import normal_scores
from ..runtime import outside

__all__ = ["warn_of_far_means"]

_TIMES: Final = (2.0, 5.0)  # as far as the targets of the fit reach, and as the mean if the function were known
_NEARLY_ALL: Final = ndtr(np.array([-2.0, 2.0]))  # targets
_TEXT = (
    "the mean predicted for row {row}{more} is {mean:.3g}, and nearly all targets that the fit knows are from "
    "{low:.3g} to {high:.3g} (the median there is {median:.3g}): of such a row the model knows little, and what "
    "is improbable rules a mean that is taken back from {transform}. Ask for the median, predict_quantiles(X, 0.5), or "
    "fit with target={other!r}, or with the logarithm of a column in which the row lies far out"
)


def warn_of_far_means(model: Foreign, latent: tuple[Floats, Floats], mean: Floats) -> None:
    """Warn of the first row whose mean the transform has thrown out of all that targets are.

    It is more than twice as far from the middle of the targets as they reach, and more than five times as far as the
    mean would be if the function were known: with much noise around a logarithm means are many times medians by right.
    What the targets were is asked of the model, at its active rows, so that models from files know it.

    Parameters
    ----------
    model : fitted estimator
    latent : tuple of arrays of shape (n,)
        Mean and variance of the latent function.
    mean : array of shape (n,)
        Of the targets.
    """
    noise = model.likelihood_.for_new_rows()
    if not isinstance(noise, Transformed):
        return
    middling = median(noise, latent[0])
    at, unit = (0.0, 0.0) if isinstance(noise.transform, Log) else (noise.transform.centre, noise.transform.scale)
    if not np.any(np.abs(mean - middling) > np.abs(middling - at) + unit):
        return  # and the targets of the fit need not be asked for
    low, high = _known(model, noise)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    sure = np.abs(noise.predict(latent[0], np.zeros(len(mean))).mean - middle)
    far = np.isfinite(mean) & (np.abs(mean - middle) > np.maximum(_TIMES[0] * half, _TIMES[1] * sure))
    if not far.any():
        return
    row, count, log = int(np.argmax(far)), int(far.sum()), isinstance(noise.transform, Log)
    told = _TEXT.format(
        row=row, more=f" (and {count - 1} more)" if count > 1 else "", mean=mean[row], low=low, high=high,
        median=middling[row], transform="a logarithm" if log else "a power", other="yeo-johnson" if log else "identity",
    )  # fmt: skip
    warnings.warn(told, stacklevel=outside())


def _known(model: Foreign, noise: Transformed) -> tuple[float, float]:
    """Return between which numbers nearly all targets of the active rows are, as the model has it."""
    mean, var = model.posterior_.predict(model.active_vectors_)
    share = ndtr(normal_scores(model.residual_quantiles_, _NEARLY_ALL))
    low, high = (quantile(noise, p, mean, var) for p in share)
    return float(low.min()), float(high.max())
