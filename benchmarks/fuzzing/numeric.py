"""Numbers that nobody measures, at the ends of what floating point holds: an error of infovec, or finite predictions.

A trial draws rows, targets, weights and settings, fits, and predicts for rows of the training set and others. It is a
fault when anything is raised but an error of infovec or scikit-learn's own check of the inputs, when a warning appears
that is neither a ``ConvergenceWarning`` nor a ``UserWarning``, when a prediction is not finite and nothing was said of
it, or when probabilities do not sum to one.
"""

import time
import traceback
import warnings
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from infovec import IVMClassifier, IVMOrdinalClassifier, IVMRegressor
from infovec.errors import InfovecError
from infovec.kernels import MLP, RBF, Bias, Exponential, Linear, Matern, Polynomial, RationalQuadratic

__all__ = ["Problem", "draw", "outcome", "run"]

_KERNELS = (RBF, Matern, Exponential, RationalQuadratic)
_SUM = 1e-6  # that probabilities may be off


class Problem(NamedTuple):
    """An estimator and what it is to be fitted to and asked."""

    model: Any
    X: Any
    y: Any
    weight: Any
    new: Any

    def __str__(self) -> str:
        settings = {k: v for k, v in self.model.get_params().items() if v is not None and k in _TOLD}
        reach = (np.min(np.abs(_data(self.X)), initial=np.inf), np.max(np.abs(_data(self.X)), initial=0.0))
        kind = f"{self.X.dtype}{' sparse' if sparse.issparse(self.X) else ''}"
        weight = "" if self.weight is None else f", weights {min(self.weight):.2g}..{max(self.weight):.2g}"
        y = f", y to {np.max(np.abs(self.y)):.2g}"
        shape = f"X {self.X.shape} {kind} {reach[0]:.2g}..{reach[1]:.2g}"
        return f"{type(self.model).__name__} {settings} {shape}{y}{weight}"


_TOLD = ("kernel", "likelihood", "approximation", "multi_class", "learn", "class_weight", "dtype", "n_active", "blur")


def draw(seed: int) -> Problem:
    """Return the problem of a number."""
    rng = np.random.default_rng([seed, 10])
    n, p = int(np.exp(rng.uniform(0.0, np.log(300.0)))), int(rng.integers(1, 9))
    X, new = _inputs(rng, n, p), _inputs(rng, 5, p)
    latent = np.tanh(rng.normal(size=(n, 2)) @ rng.normal(size=2))
    common: dict[str, Any] = {
        "kernel": _kernel(rng, p), "approximation": str(rng.choice(["projected", "factorised"])),
        "n_active": min(n, int(rng.choice([1, 5, 20, 60]))), "learn": "ep" if rng.random() < 0.05 and n < 60 else None,
        "dtype": str(rng.choice(["float32", "float64"])), "random_state": 0, "max_time": 3.0,
    }  # fmt: skip
    kind = rng.choice(["regressor", "counts", "two", "many", "ordinal"], p=[0.35, 0.1, 0.25, 0.2, 0.1])
    y: Any
    if kind in ("regressor", "counts"):
        name = "poisson" if kind == "counts" else str(rng.choice(["gaussian", "laplace", "student_t"]))
        model: Any = IVMRegressor(likelihood=name, **common)
        y = np.floor(np.abs(latent) * _scale(rng, 12)) if kind == "counts" else _targets(rng, latent)
    elif kind == "ordinal":
        y = np.digitize(latent, [-0.3, 0.4])
        model = IVMOrdinalClassifier(**common)
    else:
        common["class_weight"] = rng.choice(np.array([None, None, "balanced", {0: 1e-9, 1: 1e9, 2: 1.0, 3: 1.0}]))
        forms = {"likelihood": str(rng.choice(["probit", "logit"]))}
        if kind == "many":
            forms = {"multi_class": str(rng.choice(["ovr", "probit", "softmax", "variational"]))}
        model = IVMClassifier(**forms, **common)
        y = np.digitize(latent, [0.0] if kind == "two" else [-0.4, 0.0, 0.5])
    weight = 10.0 ** rng.uniform(-12.0, 12.0, n) if rng.random() < 0.25 else None
    if weight is not None and rng.random() < 0.4:
        weight[:] = 10.0 ** rng.uniform(-12.0, 12.0)
    return Problem(model, X, y, weight, new)


def _scale(rng: np.random.Generator, most: int = 300) -> float:
    """A power of ten: usual, large or small, or at the ends."""
    reach = rng.choice([1.0, 20.0, 160.0, most], p=[0.5, 0.2, 0.15, 0.15])
    return float(10.0 ** rng.uniform(-min(reach, most), min(reach, most)))


def _inputs(rng: np.random.Generator, n: int, p: int) -> Any:
    X = rng.normal(size=(n, p)) * (_scale(rng) if rng.random() < 0.6 else [_scale(rng) for _ in range(p)])
    if rng.random() < 0.2:
        X[:, rng.integers(p)] = _scale(rng)
    if rng.random() < 0.2:
        X = X[rng.integers(max(1, n // 3), size=n)]
    if rng.random() < 0.15:
        X[rng.integers(n), rng.integers(p)] = _scale(rng)
    if rng.random() < 0.1:
        X = X + _scale(rng)
    if rng.random() < 0.2:
        X = np.clip(X, -3e38, 3e38).astype(np.float32)
    if rng.random() < 0.15:
        X = sparse.csr_array(np.where(rng.random(X.shape) < 0.5, X, np.zeros_like(X)))
    return X


def _targets(rng: np.random.Generator, latent: Any) -> Any:
    y = (latent + 0.1 * rng.normal(size=len(latent))) * _scale(rng)
    if rng.random() < 0.1:
        y[:] = _scale(rng)
    if rng.random() < 0.1:
        y[rng.integers(len(y))] = _scale(rng)
    return y


def _kernel(rng: np.random.Generator, p: int) -> Any:
    if rng.random() < 0.3:
        return None
    what = rng.random()
    if what < 0.6:
        length = _scale(rng) if rng.random() < 0.7 else np.array([_scale(rng) for _ in range(p)])
        kernel: Any = rng.choice(np.array(_KERNELS))(length, _scale(rng, 100))
    elif what < 0.85:
        relevance = None if rng.random() < 0.7 else np.array([_scale(rng, 100) for _ in range(p)])
        kernel = Linear(_scale(rng, 100), relevance)
    else:
        kernel = Polynomial() if rng.random() < 0.5 else MLP()
    return kernel + Bias(_scale(rng, 100)) if rng.random() < 0.3 else kernel


def _data(X: Any) -> Any:
    return X.data if sparse.issparse(X) else X


def outcome(problem: Problem) -> str:
    """Return ``rejected``, ``fitted``, or what is wrong."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            result = _outcome(problem)
        except InfovecError:
            result = "rejected"
        except ValueError as error:
            of_input = "sklearn" in traceback.format_exc() and ("Input" in str(error) or "least" in str(error))
            result = "rejected" if of_input else "raised: " + traceback.format_exc(limit=-4)
        except Exception:
            result = "raised: " + traceback.format_exc(limit=-4)
    leaked = [w for w in told if not issubclass(w.category, UserWarning)]
    if leaked and not result.startswith("raised"):
        w = leaked[0]
        return f"warning: {w.category.__name__}: {w.message} ({w.filename}:{w.lineno}), then {result}"
    explained = any("infinite" in str(w.message) or "largest number" in str(w.message) for w in told)
    return "fitted" if explained and result == "infinite" else result


def _outcome(problem: Problem) -> str:
    model, X, y, weight, new = problem
    try:
        model.fit(X, y, weight)
    except InfovecError as error:
        return "rejected" if 20 < len(str(error)) < 1000 else f"unclear: {error}"
    for inputs in (X[:20], new):
        try:
            told = _predictions(model, inputs)
        except InfovecError:
            continue
        for name, value in told.items():
            if np.any(np.isnan(value)):
                return f"{name} is nan"
        if "proba" in told and np.any(np.abs(told["proba"].sum(axis=1) - 1.0) > _SUM):
            return "probabilities do not sum to one"
        if not all(np.all(np.isfinite(value)) for value in told.values()):
            return "infinite"
    return "fitted"


def _predictions(model: Any, X: Any) -> dict[str, Any]:
    mean, std = model.predict_latent(X)
    told = {"latent mean": mean, "latent std": std}
    if hasattr(model, "predict_proba"):
        model.predict(X)
        return {**told, "proba": model.predict_proba(X)}
    return {**told, **dict(zip(("mean", "std"), model.predict(X, return_std=True), strict=True))}


def run(seconds: float, seed: int = 0, trials: int = 2000) -> dict[str, Any]:
    """Return how often what came of it, and all faults."""
    end, outcomes, faults = time.monotonic() + seconds, Counter[str](), list[str]()
    for number in range(seed * trials, (seed + 1) * trials):
        if time.monotonic() > end:
            break
        problem = draw(number)
        result = outcome(problem)
        outcomes[result if result in ("rejected", "fitted") else "fault"] += 1
        if result not in ("rejected", "fitted"):
            faults.append(f"{number} ({problem}): {result}")
    return {"trials": sum(outcomes.values()), "outcomes": dict(outcomes), "faults": faults}
