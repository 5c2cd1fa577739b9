"""Learning curves: test error and training seconds against the size of the active set."""

import time
from collections import defaultdict

import numpy as np

from infovec.learning import Model

from .methods import Fit, fit_sparse, score_of
from .smola_bartlett import select
from .splits import Split

__all__ = ["METHODS", "Curves", "sweep"]

METHODS = ("info-gain", "random", "smo-bart", "ivm-gain", "variance")


class Curves:
    """Fits by method and size, one for each split, and the full regression of each split."""

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self.sizes, self.full = sizes, []
        self.fits: dict[tuple[str, int], list[Fit]] = defaultdict(list)

    def errors(self, method: str, d: int) -> np.ndarray:
        """Test errors, one for each split; empty where the method was not run."""
        return np.array([fit.error for fit in self.fits.get((method, d), [])])

    def error(self, method: str, d: int) -> float:
        """Median test error."""
        return float(np.median(self.errors(method, d)))

    def seconds(self, method: str, d: int) -> float:
        """Median training time."""
        return float(np.median([fit.seconds for fit in self.fits[method, d]]))

    def full_error(self) -> float:
        """Median test error of full regression."""
        return float(np.median(self.full))


def sweep(curves: Curves, model: Model, split: Split, n: int, seed: int, largest_smo_bart: int) -> None:
    """Add one split's fits on the first n training rows."""
    for method in METHODS:
        for d in curves.sizes:
            if method != "smo-bart":
                curves.fits[method, d].append(fit_sparse(model, split, n, d, score_of(method), seed))
            elif d <= largest_smo_bart:
                curves.fits[method, d].append(_smola_bartlett(model, split, n, d, seed))


def _smola_bartlett(model: Model, split: Split, n: int, d: int, seed: int) -> Fit:
    start = time.perf_counter()
    active = select(model, split.X[:n], split.y[:n], d, seed)
    seconds = time.perf_counter() - start
    fit = fit_sparse(model, split, n, d, "random", seed, initial=active)
    return fit._replace(seconds=fit.seconds + seconds)
