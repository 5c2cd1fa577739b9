"""The methods that are compared: full regression, and sparse regression with several scores."""

import time
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from infovec import IVMRegressor
from infovec.kernels import RBF, Bias
from infovec.learning import LearnedRows, Model, ProjectedEvidence, Step, optimise
from infovec.likelihoods import Gaussian

from .splits import Split

__all__ = ["Fit", "begin", "error_of", "fit_sparse", "full_gpr", "learn", "length_scales", "score_of"]

_NOISE = 0.1  # where learning of full regression starts, of targets of unit variance
_FIRST_PART = 4  # a quarter of the rows finds where learning with all of them starts


class Fit(NamedTuple):
    """Test error and training seconds."""

    error: float
    seconds: float
    active: np.ndarray


def begin(p: int, ard: bool = True, noise: float = _NOISE) -> Model:
    """Squared-exponential kernel, bias and noise; a bias of the likelihood would say the same as the kernel's."""
    length = np.full(p, np.sqrt(p)) if ard else np.sqrt(p)
    model = Model.begin(RBF(length, 1.0) + Bias(1.0), Gaussian(noise, bias=0.0))
    group = model.group.copy()
    group[-1] = -1
    return replace(model, group=group)


def learn(model: Model, X: np.ndarray, y: np.ndarray, active: np.ndarray, iterations: int) -> tuple[Model, list[Step]]:
    """Maximise the sparse criterion of Thesis 4.18 and the log prior for a given active set."""
    given = LearnedRows(np.arange(len(y)), X, y, blur=False)
    return optimise(ProjectedEvidence(given, active), model, iterations)[:2]


def full_gpr(X: np.ndarray, y: np.ndarray, iterations: int, ard: bool = True) -> Model:
    """Maximise the posterior of the hyperparameters of exact regression: the active set is all rows.

    The optimiser first runs on a part of the rows, which costs next to nothing and saves most of the iterations.
    """
    model = begin(X.shape[1], ard)
    for m in (len(y) // _FIRST_PART, len(y)):
        model, _ = learn(model, X[:m], y[:m], np.arange(m), iterations)
    return model


def length_scales(model: Model) -> np.ndarray:
    """Length scales of the squared-exponential kernel."""
    return np.atleast_1d(model.kernel.left.length_scale)


def error_of(estimator: IVMRegressor, split: Split) -> float:
    """Average of (1/2) (y - mu)^2 over the test rows, as the Thesis measures it."""
    mean = estimator.predict_latent(split.X_test, return_std=False) + estimator.likelihood_.bias
    return 0.5 * float(np.mean((split.y_test - mean) ** 2))


def fit_sparse(
    model: Model, split: Split, n: int, d: int, score: str, seed: int = 0, initial: np.ndarray | None = None
) -> Fit:
    """Train on the first n rows with d active ones, without blur: the PLV scheme of the Thesis."""
    estimator = IVMRegressor(
        kernel=model.kernel, likelihood=model.likelihood, approximation="projected", blur=False, n_active=d,
        score=score, initial=initial, learn=None, random_state=seed,
    )  # fmt: skip
    start = time.perf_counter()
    estimator.fit(split.X[:n], split.y[:n])
    seconds = time.perf_counter() - start
    return Fit(error_of(estimator, split), seconds, estimator.active_)


def score_of(method: str) -> str:
    """Score by the name the figures use."""
    return {"info-gain": "projected_gain", "random": "random", "fixed": "random", "ivm-gain": "information_gain",
            "variance": "variance"}[method]  # fmt: skip
