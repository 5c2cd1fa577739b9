"""What a column does to predictions, the others being as they are in some rows."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax

from .._types import Array, Floats
from ..likelihoods.mixtures import centre
from ..likelihoods.ranks import by_class
from ..posterior import ClassPosterior, FactorisedPosterior, Posterior, ProjectedPosterior, SeparatePosterior
from .given import column_of, rows_of, values_of

__all__ = ["Dependence", "partial_dependence"]

_LEVELS = (0.025, 0.975)


class Dependence(NamedTuple):
    """Mean prediction over some rows, for values of one column."""

    column: int
    values: Floats
    mean: Floats  # (number of values, C): a number, or a probability for each class, as ``classes_`` are
    low: Floats | None  # of 95 % of the functions, where their covariance is known
    high: Floats | None
    words: tuple[str, ...] | None = None  # what the values stand for, if they are the numbers of categories

    @property
    def reach(self) -> float:
        """How far the mean prediction moves, of the class that moves most."""
        return float(np.max(np.ptp(self.mean, axis=0)))


def partial_dependence(
    model: Any, X: Any, column: int | str, values: Sequence[Any] | Array, draws: int = 0, seed: int = 0
) -> Dependence:
    r"""Return the mean prediction over rows, when one column has a given value in all of them.

    .. math:: \mathrm{E}\Bigl[ \frac1n \sum_i \mathrm{E}[y \mid f(x_i')] \Bigr], \qquad x_{ij}' = z

    for each value z of column j. The band has 95 % of what stands in the outer brackets, when the function f is drawn
    from the posterior, all rows together: how well the mean over these rows is known, not how far single ones are
    from it, nor how targets vary.

    Parameters
    ----------
    model : fitted estimator
    X : DataFrame of pandas or polars, or array of shape (n, p)
        Rows as ``predict`` takes them, or as ``TableEncoder`` makes them.
    column : int or str
        Its number, or its name.
    values : array
        Numbers; of a table's column of categories or dates also these.
    draws : int
        Functions to be drawn for the band; none if 0.
    seed : int
    """
    at = column_of(model, X, column)
    X, values = rows_of(model, X), values_of(model, at, values)
    known = draws > 0 and _parts(model.posterior_) is not None
    noise = np.random.default_rng(seed).standard_normal((draws, len(X), _n_functions(model))) if known else None
    table = getattr(model, "table_", None)
    gap = None if table is None else table.gap(at)
    means, lows, highs = list[Floats](), list[Floats](), list[Floats]()
    for value in values:
        rows = X.copy()
        rows[:, at] = value
        if gap is not None:
            rows[:, gap] = 0.0
        means.append(_predicted(model, rows).mean(axis=0))
        if noise is not None:
            mean = np.asarray(model.posterior_.mean(rows))
            functions = _draw(model, rows, mean.reshape(len(X), -1), noise)
            low, high = np.quantile(_given(model, functions, mean.ndim), _LEVELS, axis=0)
            lows.append(low)
            highs.append(high)
    ends = (np.array(lows), np.array(highs)) if known else (None, None)
    words = None if table is None else table.words(at, values)
    return Dependence(at, np.asarray(values), np.array(means), ends[0], ends[1], words)


def _predicted(model: Any, X: Floats) -> Floats:
    """What the model says of rows as it takes them, without names: a number, or probabilities, in columns."""
    if _parts(model.posterior_) is not None:
        return expected(model, *model.posterior_.predict(X))
    table = getattr(model, "table_", None)
    given = X if table is None else table.rows(X)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names", category=UserWarning)
        if getattr(model, "classes_", None) is None:
            return np.asarray(model.predict(given))[:, None]
        return np.asarray(model.predict_proba(given))


def expected(model: Any, mean: Floats, var: Floats) -> Floats:
    """Mean of the target, or the probability of each class, for latent values N(mean, var); one column for each."""
    likelihood = model.likelihood_.for_new_rows()
    if getattr(model, "classes_", None) is None:
        return centre(likelihood, mean, var)[:, None]
    log_proba = by_class(model, likelihood.log_proba(mean, var))
    return np.asarray(softmax(log_proba + getattr(model, "class_shift_", 0.0), axis=1))


def _given(model: Any, functions: Floats, ndim: int) -> Floats:
    """Mean over rows of what is expected given each of the functions, shape (draws, C)."""
    draws, n, q = functions.shape
    flat = functions.reshape(draws * n, q)
    flat = flat[:, 0] if ndim == 1 else flat
    return expected(model, flat, np.zeros_like(flat)).reshape(draws, n, -1).mean(axis=1)


def _parts(posterior: Posterior) -> Sequence[Posterior] | None:
    """Posteriors of the latent functions, if they are independent and their covariances are known."""
    if isinstance(posterior, ClassPosterior | SeparatePosterior):
        return posterior.parts
    return (posterior,) if isinstance(posterior, ProjectedPosterior | FactorisedPosterior) else None


def _n_functions(model: Any) -> int:
    return len(_parts(model.posterior_) or ())


def _draw(model: Any, X: Floats, mean: Floats, noise: Floats) -> Floats:
    """Functions at the rows of X, shape (draws, n, q), from standard normal noise of that shape."""
    found, counts = np.empty_like(noise), getattr(model.likelihood_, "spread", 1.0)  # share of the variance
    for k, part in enumerate(_parts(model.posterior_) or ()):
        value, vector = np.linalg.eigh(counts * covariance(part, X))
        root = vector * np.sqrt(np.maximum(value, 0.0)) @ vector.T  # symmetric, so that it moves with X smoothly
        found[:, :, k] = mean[:, k] + noise[:, :, k] @ root
    return found


def covariance(posterior: Posterior, X: Floats) -> Floats:
    """Posterior covariance of a function between the rows of X."""
    A, B = posterior.features(np.asarray(posterior.kernel(X, posterior.X), dtype=np.float64))
    prior = np.array(posterior.kernel(X, X), dtype=np.float64)
    np.fill_diagonal(prior, posterior.kernel.diag(X))  # a row with itself: white noise counts
    return prior - A @ A.T + B @ B.T
