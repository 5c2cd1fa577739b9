"""What the experiments with dense models share: kernels, and the three approximations of GR06 beside each other."""

from typing import NamedTuple

import numpy as np

from experiments.classes import from_precision
from infovec.dense import class_proba
from infovec.dense.draws import MakeEvidence, fit_gibbs
from infovec.dense.fits import fit_bound, fit_ep, fit_laplace
from infovec.dense.importance import sample_precisions
from infovec.dense.learn import climb, ep_criterion
from infovec.inference.bound import as_race
from infovec.kernels import RBF, Kernel
from infovec.likelihoods import Logit, Probit
from infovec.likelihoods.classes import ClassLikelihood, MultivariateProbit, Softmax

__all__ = ["Judged", "by_evidence", "by_importance", "judge", "probit_of", "three_rings"]


class Judged(NamedTuple):
    """Predictions of some test rows by one way of inference."""

    log_evidence: float
    error: float  # per cent
    log_likelihood: float  # of the labels of all test rows together
    r_hat: float = 1.0


def three_rings(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Ten inputs of which two tell the class: two rings and a Gaussian in their centre (GR06 6.1)."""
    y = rng.integers(0, 3, n)
    low, high = np.array([0.1, 0.6, 0.0])[y], np.array([0.5, 1.0, 0.0])[y]
    radius, angle = np.sqrt(rng.uniform(low, high)), rng.uniform(0, 2 * np.pi, n)
    plane = np.where(
        (y == 2)[:, None],
        0.1 * rng.normal(size=(n, 2)),
        radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]),
    )
    return np.hstack([plane, rng.normal(size=(n, 8))]), y.astype(np.intp)


def probit_of(C: int) -> Probit | MultivariateProbit:
    """Return the probit of C classes."""
    return Probit() if C == 2 else MultivariateProbit(np.zeros(C))


def by_importance(X: np.ndarray, y: np.ndarray, n_samples: int, rng: np.random.Generator) -> RBF:
    """A length scale for each column by GR06's sampler, from precisions of one."""
    race, start = as_race(probit_of(y.max() + 1)), from_precision(np.ones(X.shape[1]))
    found = sample_precisions(X, y, start, race, rng, n_samples=n_samples).kernel
    assert isinstance(found, RBF)
    return found


def by_evidence(X: np.ndarray, y: np.ndarray) -> Kernel:
    """A length scale for each column and a variance by the evidence of EP, from GR06's start and a smoother one."""
    likelihood, p, order = probit_of(y.max() + 1), X.shape[1], np.arange(len(y))
    starts = [from_precision(np.full(p, phi)) for phi in (1.0, 1.0 / p)]
    found = [climb(ep_criterion, X, y, start, likelihood, order).kernel for start in starts]
    return max(found, key=lambda kernel: fit_ep(X, y, kernel, likelihood).log_evidence)


def judge(
    way: str, kernel: Kernel, X: np.ndarray, y: np.ndarray, Z: np.ndarray, t: np.ndarray, rng: np.random.Generator,
    burn_in: int = 2000, evidence: MakeEvidence | None = None,
) -> Judged:  # fmt: skip
    """Infer in one of four ways, and predict test rows Z with labels t; Laplace is that of the logit, as in GR06."""
    C, r_hat = int(y.max()) + 1, 1.0
    likelihood = probit_of(C)
    if way == "Laplace":
        likelihood = Logit() if C == 2 else Softmax(np.zeros(C))
        fitted = fit_laplace(X, y, kernel, likelihood)
        log_evidence = fitted.log_evidence
        if isinstance(likelihood, ClassLikelihood):
            log_proba = np.log(class_proba(likelihood, *fitted.posterior.predict_cov(Z)))
        else:
            log_proba = likelihood.log_proba(*fitted.posterior.predict(Z))
    elif way == "Gibbs":
        drawn = fit_gibbs(X, y, kernel, likelihood, rng, n_samples=1000, burn_in=burn_in, evidence=evidence)
        log_evidence, r_hat = drawn.evidence.log_evidence, drawn.r_hat
        log_proba = drawn.posterior.log_proba(Z, likelihood)
    elif way == "variational":
        fitted = fit_bound(X, y, kernel, likelihood)
        log_evidence, log_proba = fitted.log_evidence, fitted.posterior.log_proba(Z, likelihood)
    else:
        fitted = fit_ep(X, y, kernel, likelihood)
        log_evidence, log_proba = fitted.log_evidence, likelihood.log_proba(*fitted.posterior.predict(Z))
    own = log_proba[np.arange(len(t)), t]
    return Judged(log_evidence, 100.0 * float(np.mean(log_proba.argmax(axis=1) != t)), float(own.sum()), r_hat)
