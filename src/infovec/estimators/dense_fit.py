"""A dense fit from labels to a posterior: find the kernel, then infer."""

import sys
import time
import warnings
from typing import NamedTuple, cast

import numpy as np

from .._types import Array, Floats, Inputs, Rows
from ..dense.draws import draw_kernels, fit_gibbs
from ..dense.fits import Kernels
from ..dense.importance import Sampled, sample_precisions, with_precisions
from ..dense.learn import climb
from ..inference.bound import as_race
from ..kernels import RBF, Kernel
from ..learning import Step
from ..likelihoods import Discrete, Likelihood
from ..likelihoods.classes import ClassLikelihood
from ..machines.defaults import CLASS_VARIANCE, column_spreads, default_kernel, mixed_kernel
from ..machines.suited import suited
from ..posterior import Posterior
from ..runtime import outside
from .dense_settings import CRITERIA, DenseSettings
from .values import form_of, given_kernel

__all__ = ["Outcome", "fit_dense"]

_FEWEST = 10.0  # equal weights of the importance sampler, below which they say little
_R_HAT = 1.05  # of chains that agree
_EVERY = 1.0  # seconds between lines of progress


class Outcome(NamedTuple):
    """What a fit came to."""

    posterior: Posterior
    likelihood: Discrete | ClassLikelihood
    log_evidence: float
    converged: bool
    history: dict[str, Array]
    diagnostics: dict[str, Array | float]


class _Found(NamedTuple):
    """A kernel, or one for each class, and the way there."""

    kernel: Kernels
    history: dict[str, Array]
    diagnostics: dict[str, Array | float]


def fit_dense(
    X: Inputs,
    labels: Rows,
    columns: tuple[Rows, Rows],
    kernel: Kernel | str | None,
    likelihood: Discrete | ClassLikelihood,
    asked: DenseSettings,
    rng: np.random.Generator,
) -> Outcome:
    """Find the kernel, then infer; columns with codes of categories, and those of them for gaps, have their own."""
    codes, gaps = columns
    telling, drawn = _Telling(asked.verbose), asked.learn in ("importance", "mcmc")
    own, form = given_kernel(kernel), form_of(kernel)
    start = own or (
        _separate(X, codes) if drawn else default_kernel(X, CLASS_VARIANCE, form=form, codes=codes, gaps=gaps)
    )
    found = _Found(start, {}, {})
    if asked.learn == "importance":
        found = _by_importance(X, labels, start, likelihood, asked, rng, telling)
    elif asked.learn is None and asked.n_kernels > 1:
        found = _Found((start,) * asked.n_kernels, {}, {})
    elif asked.learn not in ("mcmc", None):
        found = _by_gradients(X, labels, start, own is None, likelihood, asked, rng, telling)
    ended = _infer(X, labels, found.kernel, likelihood, asked, rng, telling)
    return ended._replace(history=found.history, diagnostics={**found.diagnostics, **ended.diagnostics})


def _separate(X: Inputs, codes: Rows) -> Kernel:
    """The kernel of GR06 with a length scale for each column, so that rows are about as far apart as in one column."""
    p = X.shape[1]
    numbers = np.setdiff1d(np.arange(p), codes)
    deviation, _ = column_spreads(X[:, numbers])
    spread = np.where(deviation > 0.0, deviation, 1.0)
    scale, relevance = spread * np.sqrt(0.5 * p), np.full(len(codes), 2.0 / p)
    return RBF(scale) if not len(codes) else mixed_kernel(numbers, scale, codes, relevance, 1.0)


def _by_gradients(
    X: Inputs,
    labels: Rows,
    kernel: Kernel,
    tied: bool,
    likelihood: Discrete | ClassLikelihood,
    asked: DenseSettings,
    rng: np.random.Generator,
    telling: "_Telling",
) -> _Found:
    order = rng.permutation(len(labels))
    start = kernel if asked.n_kernels == 1 else (kernel,) * asked.n_kernels
    learned = climb(
        CRITERIA[asked.criterion], X, labels, start, likelihood, order,
        tied=tied and asked.n_kernels == 1, watch=telling.step,
        suited=[] if tied else suited(kernel, X, CLASS_VARIANCE),
    )  # fmt: skip
    values, thetas = [step.criterion for step in learned.steps], [step.theta for step in learned.steps]
    history = {"criterion": np.array(values), "theta": np.array(thetas).reshape(len(values), -1)}
    return _Found(learned.kernel, history, {})


def _by_importance(
    X: Inputs,
    labels: Rows,
    kernel: Kernel,
    likelihood: Discrete | ClassLikelihood,
    asked: DenseSettings,
    rng: np.random.Generator,
    telling: "_Telling",
) -> _Found:
    race = as_race(cast(Likelihood, likelihood))
    found = sample_precisions(X, labels, kernel, race, rng, n_samples=asked.n_samples, watch=telling.bound)
    if found.ess[-1] < _FEWEST:
        warnings.warn(
            f"{asked.n_samples} draws of {len(found.mean)} length scales amount to {found.ess[-1]:.1f} equal ones: the "
            "relevances may be right in magnitude, but their intervals are not. Raise n_samples, or use "
            "inference='gibbs' with learn='mcmc'; learn='bound' finds the best length scales without draws",
            stacklevel=outside(),
        )
    history = {"bound": found.bounds, "precision": found.path, "ess": found.ess}
    return _Found(found.kernel, history, {"theta": _thetas(kernel, found), "weights": found.weights})


def _thetas(kernel: Kernel, found: Sampled) -> Floats:
    return np.array([with_precisions(kernel, one).theta for one in found.draws])


def _infer(
    X: Inputs,
    labels: Rows,
    kernel: Kernels,
    likelihood: Discrete | ClassLikelihood,
    asked: DenseSettings,
    rng: np.random.Generator,
    telling: "_Telling",
) -> Outcome:
    chains = {"n_samples": asked.n_samples, "n_chains": asked.n_chains, "burn_in": asked.burn_in}
    if asked.learn == "mcmc" and isinstance(kernel, Kernel):
        drawn = draw_kernels(X, labels, kernel, likelihood, rng, **chains, on_sweep=telling.sweep)
        ess, r_hat = float(drawn.draws.ess.min()), float(drawn.draws.r_hat.max())
        theta = drawn.draws.theta.reshape(-1, kernel.theta.size)
        about: dict[str, Array | float] = {"ess": ess, "r_hat": r_hat, "theta": theta, "weights": _equal(len(theta))}
        return Outcome(drawn.posterior, likelihood, np.nan, _agree(r_hat, ess), {}, about)
    if asked.way.fit is None:
        evidence = asked.evidence
        found = fit_gibbs(X, labels, kernel, likelihood, rng, **chains, evidence=evidence, on_sweep=telling.sweep)
        about = {"ess": found.ess, "r_hat": found.r_hat, "evidence_error": found.evidence.error}
        agree = _agree(found.r_hat, found.ess)
        return Outcome(found.posterior, likelihood, found.evidence.log_evidence, agree, {}, about)
    fitted = asked.way.fit(X, labels, kernel, likelihood)
    return Outcome(fitted.posterior, likelihood, fitted.log_evidence, fitted.converged, {}, {})


def _equal(n: int) -> Floats:
    return np.full(n, 1.0 / n)


def _agree(r_hat: float, ess: float) -> bool:
    """Whether chains agree; warn if they do not."""
    if r_hat > _R_HAT:
        warnings.warn(
            f"the chains have not come together (R-hat is {r_hat:.2f}, the effective sample size {ess:.0f}): raise "
            "burn_in and n_samples",
            stacklevel=outside(),
        )
    return r_hat <= _R_HAT


class _Telling:
    """Writes about once a second how far a fit is."""

    def __init__(self, verbose: bool) -> None:
        self.verbose, self.start = verbose, time.perf_counter()
        self.next = self.start + _EVERY

    def step(self, step: Step) -> bool:
        """Tell of a step of learning."""
        self._say(f"learning, criterion {step.criterion:.1f}")
        return False

    def bound(self, bound: float, precisions: Floats) -> bool:
        """Tell of an iteration of the importance sampler."""
        self._say(f"drawing {len(precisions)} length scales, bound {bound:.1f}")
        return False

    def sweep(self, done: int, wanted: int) -> None:
        """Tell of a sweep of all chains."""
        self._say(f"sweep {done} of {wanted}")

    def _say(self, text: str) -> None:
        now = time.perf_counter()
        if self.verbose and now >= self.next:
            self.next = now + _EVERY
            print(f"infovec: {text}, {now - self.start:.1f} s", file=sys.stderr)
