"""What the experiments of SLH section 6 share: one digit of USPS against the rest, learned as there."""

import time
from typing import NamedTuple

import numpy as np

from infovec import IVMClassifier
from infovec.kernels import RBF
from infovec.learning import Learning, slh_priors
from infovec.likelihoods import Probit

from .data import whole

__all__ = ["Digits", "Outcome", "learn_digit", "measure", "paper_learning", "usps"]

_VARIANCE, _WEIGHT = 10.0, 0.0166  # v and w where learning starts


class Digits(NamedTuple):
    """Training and test rows of USPS."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


class Outcome(NamedTuple):
    """Test error in percent, mean log likelihood of test rows, and how it came about."""

    error: float
    log_likelihood: float
    seconds: float
    model: IVMClassifier


def usps(rows: int | None, test_rows: int | None) -> Digits:
    """Return the first rows of USPS."""
    X, y, n = whole("usps")
    return Digits(X[:n][:rows], y[:n][:rows], X[n:][:test_rows], y[n:][:test_rows])


def learn_digit(digits: Digits, digit: int, d: int, learning: Learning, seed: int = 0) -> Outcome:
    """Learn from the start of the paper, with its priors, and the factorised posterior.

    Pixels are scaled so that the start is one over the average variance of a component, as the paper says it is.
    """
    p, scale = digits.X.shape[1], 1.0 / np.sqrt(_WEIGHT * np.mean(digits.X.var(axis=0)))
    digits = digits._replace(X=scale * digits.X, X_test=scale * digits.X_test)
    model = IVMClassifier(
        kernel=RBF(np.sqrt(p / _WEIGHT), _VARIANCE), likelihood=Probit(), approximation="factorised", refine=None,
        n_active=d, selection="all", learn=learning, random_state=seed,
    )  # fmt: skip
    return measure(model, digits, digit)


def measure(model: IVMClassifier, digits: Digits, digit: int) -> Outcome:
    """Fit to one digit against the rest, and test."""
    start = time.perf_counter()
    model.fit(digits.X, digits.y == digit)
    seconds = time.perf_counter() - start
    right = digits.y_test == digit
    log_proba = model.predict_log_proba(digits.X_test)
    error = 100.0 * float(np.mean((log_proba[:, 1] > log_proba[:, 0]) != right))
    return Outcome(error, float(np.mean(log_proba[np.arange(len(right)), right.astype(int)])), seconds, model)


def paper_learning(major_steps: int, sites: str = "constant", p: int = 256, minor_steps: int = 8) -> Learning:
    """Return the settings of SLH 6.1: up to 8 minor steps in each major one, no rule that stops earlier."""
    return Learning(
        "ep", sites=sites, major_steps=major_steps, minor_steps=minor_steps, tolerance=0.0, lag=major_steps + 1,
        warm_up=False, max_rows=None, priors=slh_priors(p),
    )  # fmt: skip
