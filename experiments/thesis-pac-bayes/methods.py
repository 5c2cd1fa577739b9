"""The classifiers of Thesis 3.5, and what a run of each gives: errors, bounds, and the choice of parameters."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.svm import SVC

from infovec import IVMClassifier
from infovec.kernels import RBF
from infovec.likelihoods import Probit
from infovec.pac_bayes import compression, gibbs, laplace_posterior, latent, margin_bound_meir_zhang, votes_of_two

__all__ = ["Figures", "Gaussian", "Rows", "ivm", "ivm_bayes", "laplace", "select", "svm"]

DELTA = 0.01
Figures = dict[str, float]


class Rows(NamedTuple):
    """Images and labels, -1 and 1."""

    X: np.ndarray
    y: np.ndarray

    def take(self, rows: np.ndarray) -> "Rows":
        """Return some of them."""
        return Rows(self.X[rows], self.y[rows])


class Gaussian(NamedTuple):
    """A kernel of the Thesis (eq. 2.29): C exp(-(w / 2 p) |x - z|^2)."""

    w: float
    C: float

    def kernel(self, p: int) -> RBF:
        """Return it."""
        return RBF(float(np.sqrt(p / self.w)), self.C)


def _gibbs_error(votes: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean(votes[np.arange(len(y)), (y < 0).astype(int)]))


def _machine(given: Gaussian, rows: Rows, d: int, seed: int) -> IVMClassifier:
    """Fit the informative vector machine of the papers: greedy, one row at a time, no bias, nothing learned.

    In double precision: where scores nearly tie, rounding would choose, and the order could not be found again.
    """
    return IVMClassifier(
        kernel=given.kernel(rows.X.shape[1]), likelihood=Probit(), learn=None, approximation="factorised",
        n_active=d, block_size=1, random_state=seed, dtype="float64",
    ).fit(rows.X, rows.y)  # fmt: skip


def ivm(given: Gaussian, rows: Rows, test: Rows, d: int, seed: int) -> Figures:
    """Table 3.2, and beside it what is tighter today."""
    model = _machine(given, rows, d, seed)
    found = model.certify(*rows, delta=DELTA)
    n = len(rows.y)
    margins = 1.0 - 2.0 * model.gibbs().predict_proba(rows.X)[np.arange(n), (rows.y < 0).astype(int)]
    return {
        "emp": found.gibbs_error, "gen": _gibbs_error(model.gibbs().predict_proba(test.X), test.y),
        "upper": gibbs(found.gibbs_error, found.relative_entropy, n, DELTA).upper,
        "gen-bayes": float(np.mean(model.predict(test.X) != test.y)), "upper, exact moment": found.gibbs_bound,
        "relative entropy": found.relative_entropy, "margin, theorem 3.4": margin_bound_meir_zhang(
            margins, found.relative_entropy, DELTA
        ),
        "margin": float(found.margin_bound or 1.0),
    }  # fmt: skip


def ivm_bayes(given: Gaussian, rows: Rows, test: Rows, d: int, seed: int) -> Figures:
    """Table 3.3: the compression bound, with the number of ways that theorem B.2 counts where no order matters."""
    model = _machine(given, rows, d, seed)
    wrong = model.predict(rows.X) != rows.y
    others = int(np.delete(wrong, model.active_).sum())
    found = model.certify(*rows, delta=DELTA)
    return {
        "emp": float(np.mean(wrong)), "gen": float(np.mean(model.predict(test.X) != test.y)),
        "upper": compression(others, len(rows.y), d, DELTA, d),
        "upper, made again": float("nan" if found.compression_bound is None else found.compression_bound),
    }  # fmt: skip


def laplace(given: Gaussian, rows: Rows, test: Rows, d: int, seed: int) -> Figures:
    """Table 3.1: Laplace's approximation with all rows."""
    posterior = laplace_posterior(given.kernel(rows.X.shape[1]), rows.X, rows.y.astype(float))
    (mean, var), (mean_test, var_test) = latent(posterior, rows.X), latent(posterior, test.X)
    emp = _gibbs_error(votes_of_two(mean[:, 0], var[:, 0]).probability, rows.y)
    divergence = posterior.relative_entropy()
    return {
        "emp": emp, "gen": _gibbs_error(votes_of_two(mean_test[:, 0], var_test[:, 0]).probability, test.y),
        "upper": gibbs(emp, divergence, len(rows.y), DELTA).upper,
        "gen-bayes": float(np.mean(np.sign(mean_test[:, 0]) != test.y)), "relative entropy": divergence,
    }  # fmt: skip


def svm(given: tuple[float, float], rows: Rows, test: Rows, d: int, seed: int) -> Figures:
    """Table 3.4: a support vector machine, for which rows that are no support vectors are never wrong."""
    C, gamma = given
    model = SVC(C=C, gamma=gamma).fit(*rows)
    active = len(model.support_)
    wrong = model.predict(rows.X) != rows.y
    others = int(np.delete(wrong, model.support_).sum())
    return {
        "emp": float(np.mean(wrong)), "gen": float(np.mean(model.predict(test.X) != test.y)),
        "upper": compression(others, len(rows.y), active, DELTA, active), "num-sv": float(active),
    }  # fmt: skip


def select(method: Any, candidates: list[Any], by: str, rows: Rows, validation: Rows, d: int, seed: int) -> Any:
    """Return the candidate with the smallest error on a validation set (Thesis 3.5.1); both sets see no other use."""
    errors = [method(given, rows, validation, d, seed)[by] for given in candidates]
    return candidates[int(np.argmin(errors))]
