"""Dense models: CPU seconds of every way of inference by the number of rows, the kernel given or learned.

Three classes are told apart by the largest of three of five normal inputs, with some noise. Sides are the ways of
``GPClassifier``; ``log_loss`` is that of 1000 test rows, ``predict`` the seconds for these. Gibbs draws 1000 samples
without an estimate of the marginal likelihood. Beside them stand single steps of the variational form with a given
kernel: ours, and the iteration of GR06 eq. 4.6 with expectations by 1000 draws, as the authors' programs and vbmp have
it; ``below`` is by how many nats the bound is below its maximum after ten of them.
"""

import json
import time
import warnings
from typing import Any

import numpy as np
from scipy.stats import norm

from infovec import GPClassifier
from infovec.inference.bound import maximise_bound, project
from infovec.kernels import RBF, Bias
from infovec.likelihoods.classes import MultivariateProbit

from .measure import arguments, significant

__all__ = ["compare", "main", "published", "rows", "steps"]

SIDES = ("variational", "ep", "laplace", "gibbs")
KERNEL = RBF(2.0, 10.0) + Bias(1.0)
TEST_ROWS = 1000
STEPS, DRAWS = 10, 1000


def rows(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs and classes."""
    rng = np.random.default_rng([seed, n])
    X = rng.normal(size=(n, 5))
    return X, np.argmax(X[:, :3] + 0.3 * rng.normal(size=(n, 3)), axis=1)


def compare(n: int, side: str, learned: bool, repeats: int) -> dict[str, Any]:
    """Return medians of CPU seconds and the log loss of one way."""
    found = []
    for seed in range(repeats):
        (X, y), (Z, t) = rows(n, seed), rows(TEST_ROWS, seed + 1000)
        model = GPClassifier(
            None if learned else KERNEL, side, "auto" if learned else None, evidence=None, random_state=0
        )
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of chains that have not come together
            model.fit(X, y)
        fitted = time.process_time()
        log_proba = model.predict_log_proba(Z)
        found.append([fitted - start, time.process_time() - fitted, -np.mean(log_proba[np.arange(len(t)), t])])
    seconds, predict, log_loss = (significant(float(v)) for v in np.median(found, axis=0))
    return {"rows": n, "side": side, "learned": learned, "seconds": seconds, "predict": predict, "log_loss": log_loss}


def published(y: np.ndarray, mean: np.ndarray, S: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return the means after one iteration of GR06 eq. 4.6, and the auxiliary variables that led to them."""
    target, at = mean.copy(), np.arange(len(y))
    u, own = rng.normal(size=DRAWS), mean[at, y][:, None]
    below = np.stack([norm.cdf(u + own - m[:, None]) for m in mean.T])  # (C, n, draws)
    below[y, at] = 1.0
    whole = below.prod(axis=0)
    for k in range(mean.shape[1]):
        density = norm.pdf(u + own - mean[:, k, None]) * whole / np.maximum(below[k], 1e-300)
        target[:, k] -= np.where(y == k, 0.0, density.mean(axis=1) / whole.mean(axis=1))  # eq. 4.3
    target[at, y] += (mean - target).sum(axis=1)  # eq. 4.4
    return S @ target, target


def steps(n: int) -> list[dict[str, Any]]:
    """Return CPU seconds of a step and what is missing of the bound after ten, of theirs and of ours."""
    (X, y), likelihood, rng = rows(n, 0), MultivariateProbit(np.zeros(3)), np.random.default_rng(0)
    projections = project(KERNEL, 3, X, np.arange(n))
    best = maximise_bound(projections, y, likelihood, tolerance=1e-7).bound
    start = time.process_time()
    ours = maximise_bound(projections, y, likelihood, max_iterations=STEPS - 1)
    seconds = (time.process_time() - start) / ours.evaluations
    found = [("ours", seconds, best - ours.bound)]
    K, mean = KERNEL(X), np.zeros((n, 3))
    S = np.linalg.solve(np.eye(n) + K, K)
    start = time.process_time()
    for _ in range(STEPS):
        mean, target = published(y, mean, S, rng)
    seconds = (time.process_time() - start) / STEPS
    there = maximise_bound(projections, y, likelihood, projections[0].transposed_times(target), max_iterations=0)
    found.append(("published", seconds, best - there.bound))
    return [{"rows": n, "step": name, "seconds": significant(s), "below": significant(b)} for name, s, b in found]


def main() -> None:
    """Print a JSON line for every size and way."""
    parser = arguments(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 500, 1000, 2000])
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=list(SIDES))
    asked = parser.parse_args()
    sizes, repeats = ([30], 1) if asked.quick else (asked.sizes, asked.repeats)
    for n in sizes:
        for step in steps(n):
            print(json.dumps(step), flush=True)
        for side in asked.sides:
            for learned in (False, True):
                print(json.dumps(compare(n, side, learned, repeats)), flush=True)


if __name__ == "__main__":
    main()
