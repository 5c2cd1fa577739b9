"""Whether certificates hold as often as they promise, in worlds of known errors; and which bound is smallest when.

``python -m benchmarks.certificates coverage`` draws thousands of training samples, fits and certifies each, and counts
how often the true error is outside. Bounds that are wrong on purpose are counted, too, and must fail: else the count
would show nothing. ``python -m benchmarks.certificates bounds`` compares the bounds on real rows.
"""

import json
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import rel_entr

from .measure import arguments, significant

__all__ = ["World", "bounds", "coverage", "main", "outside", "within", "worlds"]

DELTAS = (0.01, 0.05, 0.2)
_POINTS = 60


@dataclass(frozen=True)
class World:
    """Points on a line with known probabilities of the classes, and a classifier for samples of them."""

    n: int
    n_classes: int
    noise: float  # share of labels that say nothing
    settings: dict[str, Any]
    by: str = "the rows of the fit"  # or "a split", or "rows held out"

    @property
    def points(self) -> np.ndarray:
        """All inputs there are, equally probable."""
        return np.linspace(-2.0, 2.0, _POINTS)[:, None]

    @property
    def probability(self) -> np.ndarray:
        """Of every class at every point."""
        latent = np.stack([np.sin(2.0 * self.points[:, 0] + 2.1 * c) for c in range(self.n_classes)], axis=1)
        clean = np.exp(6.0 * latent)
        clean /= clean.sum(axis=1, keepdims=True)
        return (1.0 - self.noise) * clean + self.noise / self.n_classes

    def sample(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows; all classes are among them."""
        while True:
            at = rng.integers(_POINTS, size=n)
            labels = (rng.random((n, 1)) > np.cumsum(self.probability[at], axis=1)).sum(axis=1)
            labels = np.minimum(labels, self.n_classes - 1)
            if len(np.unique(labels)) == self.n_classes and len(np.unique(labels[: n // 2])) == self.n_classes:
                return self.points[at], labels


def worlds() -> dict[str, World]:
    """Return every kind of certificate, in a world where it might fail."""
    from infovec.kernels import RBF
    from infovec.likelihoods import Probit

    given = {"kernel": RBF(0.4, 10.0), "learn": None, "n_active": 12, "block_size": 1}
    two = {**given, "likelihood": Probit()}
    return {
        "projected": World(60, 2, 0.4, two),
        "factorised": World(60, 2, 0.4, {**two, "approximation": "factorised"}),
        "bias from the rows": World(60, 2, 0.2, given),
        "overfitted": World(40, 2, 0.9, {**two, "n_active": 40, "kernel": RBF(0.03, 100.0)}),
        "three classes": World(80, 3, 0.4, given),
        "split": World(120, 2, 0.4, {"n_active": 12}, by="a split"),
        "held out": World(60, 2, 0.4, two, by="rows held out"),
    }


def outside(world: World, seed: int, deltas: tuple[float, ...] = DELTAS) -> dict[str, dict[float, bool]]:
    """Draw one sample, certify, and say of every bound whether the true error is outside, for every delta.

    Names that begin with "wrong" are bounds that no theorem has.
    """
    from infovec import IVMClassifier

    rng = np.random.default_rng([seed, 18])
    X, y = world.sample(world.n, rng)
    model = IVMClassifier(random_state=seed, **world.settings)
    if world.by == "a split":
        certify = lambda delta: model.fit_certified(X, y, delta=delta)  # noqa: E731
        deltas = deltas[-1:]  # each is another fit
    else:
        model.fit(X, y)
        rows = world.sample(world.n, rng) if world.by == "rows held out" else (X, y)
        certify = lambda delta: model.certify(*rows, delta=delta, held_out=world.by == "rows held out")  # noqa: E731
    found: dict[str, dict[float, bool]] = {}
    for delta in deltas:
        certificate = certify(delta)
        for name, failed in _failures(world, model, certificate, delta).items():
            found.setdefault(name, {})[delta] = bool(failed)
    return found


def _failures(world: World, model: Any, certificate: Any, delta: float) -> dict[str, bool]:
    from infovec.pac_bayes import binomial_upper, gibbs_maurer

    votes, truth = model.gibbs().predict_proba(world.points), world.probability
    gibbs = float(np.mean(1.0 - np.sum(votes * truth, axis=1)))
    vote = float(np.mean(1.0 - truth[np.arange(_POINTS), votes.argmax(axis=1)]))
    seen, joint = certificate.confusion.centre, (truth.T @ votes / _POINTS).ravel()
    found = {
        "Gibbs": gibbs > certificate.gibbs_bound, "Gibbs, below": gibbs < certificate.gibbs_lower,
        "twice Gibbs": vote > certificate.bayes_bound, "best": vote > certificate.best_bound,
        "confusion": float(np.sum(rel_entr(seen, joint))) > certificate.confusion.radius,
        "wrong: no relative entropy": gibbs > gibbs_maurer(certificate.gibbs_error, 0.0, certificate.n, delta).upper,
    }  # fmt: skip
    for name in ("margin", "compression", "test"):
        value = getattr(certificate, f"{name}_bound")
        if value is not None:
            found[name] = vote > value
    if world.by == "the rows of the fit":
        errors = round(certificate.bayes_error * certificate.n)
        found["wrong: rows of the fit as a test set"] = vote > binomial_upper(errors, certificate.n, np.log(delta))
    return found


def within(count: int, samples: int, delta: float) -> bool:
    """Whether so many failures are what a probability of delta, or less, may give: to four standard errors."""
    return count <= delta * samples + 4.0 * np.sqrt(delta * (1.0 - delta) * samples)


def coverage(samples: int, names: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """Count failures in every world, and say whether they are as few as promised."""
    for name, world in worlds().items():
        if names and name not in names:
            continue
        start, counts = time.perf_counter(), dict[str, dict[float, int]]()
        for seed in range(samples):
            for bound, failed in outside(world, seed).items():
                for delta, out in failed.items():
                    counts.setdefault(bound, {}).setdefault(delta, 0)
                    counts[bound][delta] += out
        right = {bound: by for bound, by in counts.items() if not bound.startswith("wrong")}
        yield {
            "world": name, "samples": samples, "failed": counts,
            "holds": all(within(k, samples, delta) for by in right.values() for delta, k in by.items()),
            "wrong bounds fail": sorted(
                bound for bound, by in counts.items()
                if bound not in right and not all(within(k, samples, delta) for delta, k in by.items())
            ),
            "seconds": time.perf_counter() - start,
        }  # fmt: skip


def bounds(n: int, seed: int) -> dict[str, Any]:
    """Compare all bounds for n rows of digits, twos against threes of 8 by 8 pixels; parameters from other rows."""
    from infovec import IVMClassifier
    from infovec.kernels import RBF
    from infovec.likelihoods import Probit
    from infovec.pac_bayes import compression, gibbs, margin_bound_meir_zhang

    X, y, T, t = _digits(seed)
    X, y = X[:n], y[:n]
    settings = {"kernel": RBF(np.sqrt(64 / 2.0), 120.0), "likelihood": Probit(), "learn": None, "random_state": seed}
    found: dict[str, Any] = {"rows": n}
    for approximation, d in (("factorised", max(10, n // 10)), ("projected", max(10, min(200, n // 10)))):
        model = IVMClassifier(**settings, approximation=approximation, n_active=d, block_size=1).fit(X, y)
        c = model.certify(X, y)
        own = (y > 0).astype(int)
        margins = 2.0 * model.gibbs().predict_proba(X)[np.arange(n), own] - 1.0
        found[f"{approximation}, all rows"] = {
            "active": d, "relative entropy": c.relative_entropy, "Gibbs error": c.gibbs_error,
            "Gibbs, theorem 3.1": gibbs(c.gibbs_error, c.relative_entropy, n, 0.01).upper, "Gibbs": c.gibbs_bound,
            "twice Gibbs": c.bayes_bound,
            "margin, as in 2003": margin_bound_meir_zhang(margins, c.relative_entropy, 0.01),
            "margin": c.margin_bound, "compression": c.compression_bound, "best, paid for": c.best_bound,
            "test error": float(np.mean(model.predict(T) != t)),
        }  # fmt: skip
        if c.compression_bound is not None:
            wrong = model.predict(X) != y
            found[f"{approximation}, all rows"]["compression, theorem B.2"] = compression(
                int(np.delete(wrong, model.active_).sum()), n, d, 0.01, d
            )
    model = IVMClassifier(**settings, n_active=max(10, min(200, n // 10)))
    c = model.fit_certified(X, y)
    found["projected, prior from half"] = {
        "relative entropy": c.relative_entropy, "Gibbs error": c.gibbs_error, "Gibbs": c.gibbs_bound,
        "twice Gibbs": c.bayes_bound, "margin": c.margin_bound, "best, paid for": c.best_bound,
        "test error": float(np.mean(model.predict(T) != t)),
    }  # fmt: skip
    half = IVMClassifier(**settings, n_active=max(10, min(200, n // 10))).fit(X[: n // 2], y[: n // 2])
    c = half.certify(X[n // 2 :], y[n // 2 :], held_out=True)
    found["projected of half, tested on the other"] = {
        "Gibbs error": c.gibbs_error, "Gibbs": c.gibbs_bound, "test set": c.test_bound, "best, paid for": c.best_bound,
        "test error": float(np.mean(half.predict(T) != t)),
    }  # fmt: skip
    return found


def _digits(seed: int) -> tuple[np.ndarray, ...]:
    from experiments.catalogue import load

    pool, test = load("thesis-pac-bayes").digits((2, 3))
    rows = np.random.default_rng(seed).permutation(len(pool.y))
    return pool.X[rows], pool.y[rows], test.X, test.y


def main() -> None:
    """Print JSON lines; exit code 1 if a bound fails more often than it promises, or a wrong one does not."""
    parser = arguments(__doc__)
    parser.add_argument("what", choices=["coverage", "bounds"])
    parser.add_argument("--samples", type=int, default=2000, help="training samples of each world")
    parser.add_argument("--worlds", nargs="+", help="names; all of them if not given")
    parser.add_argument("--rows", type=int, nargs="+", default=[200, 500, 1000, 2000, 5000, 10000])
    asked = parser.parse_args()
    if asked.what == "bounds":
        for n in asked.rows[:2] if asked.quick else asked.rows:
            print(json.dumps(significant(bounds(n, 0))), flush=True)
        return
    good, shown = True, False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits to few rows
        for line in coverage(20 if asked.quick else asked.samples, asked.worlds):
            print(json.dumps(significant(line)), flush=True)
            good, shown = good and line["holds"], shown or bool(line["wrong bounds fail"])
    raise SystemExit(0 if good and (shown or asked.quick or asked.worlds) else 1)


if __name__ == "__main__":
    main()
