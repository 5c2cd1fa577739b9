"""Means of transformed targets that are far from all targets of the fit, for rows that the model knows little of."""

import warnings
from typing import Final

import numpy as np
from scipy.special import ndtr

from .._types import Floats, Foreign
from ..likelihoods import Transformed
from ..likelihoods.mixtures import centre, median, quantile
from ..numerics.monotone import Log
from ..numerics.residuals import normal_scores
from ..runtime import outside

__all__ = ["warn_of_far_means"]

_BEYOND, _MOVED = 1.5, 1.0  # from the middle, and by not knowing the function, as a multiple of half the targets' range
_SHARE: Final = 0.25  # of the distance from the middle that is owed to that
_LEAST: Final = 0.2  # the same of the distance from nothing, for the targets to be asked for
_NEARLY_ALL: Final = ndtr(np.array([-2.0, 2.0]))  # targets
_TEXT = (
    "the mean predicted for row {row}{more} is {mean:.3g}, and nearly all targets that the fit knows are from "
    "{low:.3g} to {high:.3g} (the median there is {median:.3g}): of such a row the model knows little, and what "
    "is improbable rules a mean that is taken back from {transform}. Ask for the median, predict_quantiles(X, 0.5), or "
    "fit with target={other}, or with the logarithm of a column in which the row lies far out"
)
_OTHER: Final = "'identity'", "'yeo-johnson', which may predict numbers below zero"  # of a power, and a logarithm


def warn_of_far_means(model: Foreign, latent: tuple[Floats, Floats], mean: Floats) -> None:
    """Warn of the first row whose mean the transform has thrown out of all that targets are.

    It is half as far again from the middle of the targets as they reach, which is one and a quarter times the largest
    where they come down to zero, and as much as they reach, and a quarter of its distance, is owed to the function not
    being known: with much noise around a logarithm means are many times medians by right, and trends that are known may
    go on. What the targets were is asked of the model, at its active rows, so that models from files know it. It is
    for models whose posterior is that of the fit.

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
    sure = centre(noise, latent[0], np.zeros(len(mean)))
    at, unit = (0.0, 0.0) if isinstance(noise.transform, Log) else (noise.transform.centre, noise.transform.scale)
    moved = np.abs(mean - sure)
    far = np.isfinite(mean) & (moved > _LEAST * (np.abs(sure - at) + unit))
    if not far.any():
        return  # and the targets of the fit need not be asked for
    low, high = _known(model, noise)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    out = np.abs(mean - middle)
    far &= (out > _BEYOND * half) & (moved > np.maximum(_MOVED * half, _SHARE * out))
    if not far.any():
        return
    row, count, log = int(np.argmax(far)), int(far.sum()), isinstance(noise.transform, Log)
    told = _TEXT.format(
        row=row, more=f" (and {count - 1} more)" if count > 1 else "", mean=mean[row], low=low, high=high,
        median=median(noise, latent[0][[row]])[0], transform="a logarithm" if log else "a power", other=_OTHER[log],
    )  # fmt: skip
    warnings.warn(told, stacklevel=outside())


def _known(model: Foreign, noise: Transformed) -> tuple[float, float]:
    """Return between which numbers nearly all targets of the active rows are, as the model has it."""
    mean, var = model.posterior_.predict(model.active_vectors_)
    share = ndtr(normal_scores(model.residual_quantiles_, _NEARLY_ALL))
    low, high = (quantile(noise, p, mean, var) for p in share)
    return float(low.min()), float(high.max())
