"""Training of many classes with one kernel and one active set."""

import time
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtri

from .._types import Floats, Inputs, Rows
from ..errors import ParameterError
from ..inference import Inference, Watch, calibrated, infer_coupled
from ..inference import cost as sweep_cost
from ..kernels import Kernel
from ..learning import AgainstRest, CoupledEvidence, Model, Step, refine_scales
from ..likelihoods import Probit
from ..likelihoods.classes import ClassLikelihood, OneAgainstRest
from ..numerics.cholesky import row_solver
from ..posterior import ClassPosterior
from ..runtime import NEVER, Deadline, best_of_three
from ..selection import ClassDriver, Driver
from ..shards import Basis, CoupledShard
from .budget import Needs, Sizes, coupled_need, pairs_need, selection_need
from .class_by_class import PairDriver, RestDriver
from .one_function import SELECTION, Plan, Training
from .settings import PROJECTED_GAIN

__all__ = ["ClassTraining", "class_bias"]

_USUAL_SWEEPS = 15  # over all rows
_SHORTER = 1.4  # factor between length scales that are tried
_TELLING = 50  # rows that are enough for that
_TIMED = 50  # rows that a row's time is measured on
_FEWEST_SWEEPS = 4  # over all rows that there is time for
_ROUGH = 1e-3  # least tolerance of the sites while learning


@dataclass(frozen=True)
class RestTraining(Training):
    """Training of one class of many against the rest."""

    site_tolerance = 1e-3


@dataclass(frozen=True)
class ClassTraining(Training):
    """The same for many classes; ``y`` holds labels 0, ..., C - 1, and ``likelihood`` is a ClassLikelihood."""

    kernels: tuple[Kernel, ...] = ()  # one for each class, unless they share ``kernel``

    site_tolerance = 1e-3
    learning_tolerance = 1e-3  # what it adds up to over many classes is more than enough

    def __post_init__(self) -> None:
        if self.score_name == PROJECTED_GAIN:
            raise ParameterError(f"score={PROJECTED_GAIN!r} is for two classes; leave out score for more")
        if self.approximation == "factorised" and self.class_likelihood.couples and self.held_back.any():
            raise ParameterError(
                "n_active='auto' is not for the factorised posterior of coupled classes; give a number"
            )

    @property
    def n_functions(self) -> int:
        """One for each class."""
        return self.class_likelihood.n_classes

    def one_function(self) -> Training:
        """Return the training of the first class against the rest."""
        return self._against_rest(0, self.wanted)

    @classmethod
    def needs(cls, sizes: Sizes, approximation: str, likelihood: Any) -> Needs:
        """Memory of selection and of what follows it, for all classes."""
        if not likelihood.couples:  # class after class, whose posteriors stay
            stays, both = 8 * 3 * sizes.n_functions * sizes.d**2, super().needs(sizes, approximation, likelihood)
            return Needs(*(need._replace(fixed=need.fixed + stays) for need in both))
        if approximation == "factorised":
            return Needs(pairs_need(sizes))
        return Needs(selection_need(sizes, sizes.n_functions), coupled_need(sizes))

    def _against_rest(self, c: int, wanted: int) -> Training:
        """Training of one class against the rest, to select rows by."""
        common = {field.name: getattr(self, field.name) for field in fields(Training)}
        share = np.average(self.y == c, weights=self.class_likelihood.weight)
        share = np.clip(share, 0.5 / len(self.y), 1.0 - 0.5 / len(self.y))
        return replace(
            RestTraining(**common), y=np.where(self.y == c, 1.0, -1.0), likelihood=Probit(float(ndtri(share))),
            wanted=wanted, kernel=self.kernels[c] if self.kernels else self.kernel,
        )  # fmt: skip

    @property
    def _entries_of_class(self) -> int | None:
        """Numbers of stubs for each of the machines: one share is for the copy that is made when one grows."""
        return None if self.rule.max_entries is None else self.rule.max_entries // (self.n_functions + 1)

    @property
    def fitted_kernel(self) -> Kernel | list[Kernel]:
        """The kernel that all classes share, or all of them."""
        return list(self.kernels) or self.kernel

    def _driver(self, c: int, wanted: int) -> Driver:
        """Return one of the machines that take turns, with its share of the stubs."""
        one = self._against_rest(c, wanted)
        driver = replace(one, rule=replace(one.rule, max_entries=self._entries_of_class)).driver()
        assert isinstance(driver, Driver)
        return driver

    def against_rest(self, c: int, wanted: int) -> Training:
        """Return the training of a machine of its own for one class against the rest, whose rows have weights."""
        assert isinstance(self.class_likelihood, OneAgainstRest)
        return replace(self._against_rest(c, wanted), likelihood=self.class_likelihood.of_class(c))

    def rest_driver(self, c: int, wanted: int) -> Driver:
        """Return the driver of that machine."""
        driver = self.against_rest(c, wanted).sufficient().driver()
        assert isinstance(driver, Driver)
        return driver

    def driver(self) -> Any:
        """Return what selects, and with the factorised posterior infers."""
        if not self.class_likelihood.couples:
            return RestDriver(self)
        return PairDriver(self) if self.approximation == "factorised" else self._selector()

    def select(self) -> Rows:
        """Return active rows for all classes, without inference."""
        driver = self._selector()
        driver.run(self.wanted)
        return driver.active[: driver.size].copy()

    def _selector(self) -> Any:
        """Return a driver that lets the classes take turns; without labels there is nothing to take turns for."""
        if self.score_name in ("variance", "random"):
            one = self._against_rest(0, self.wanted).driver()
            assert isinstance(one, Driver)
            return _WithoutSites(one)
        rows = self.rows_looked_at()
        n_rows = int(np.sum(~self.held_back[rows]))
        return ClassDriver(self._driver, self.n_functions, self.wanted, n_rows, self._entries_of_class)

    def projected_shard(self, left_out: Rows | None = None) -> Any:
        """Return all rows, but those left out, for inference with all of them."""
        rows = np.arange(len(self.y)) if left_out is None else np.setdiff1d(np.arange(len(self.y)), left_out)
        X = self.X if left_out is None else self.X[rows]
        return CoupledShard(
            rows, X, self.y[rows], self.kernel, self.class_likelihood, self.dtype, self.blur, self.feature_entries,
            self.groups_of(rows),
        )  # fmt: skip

    @property
    def class_likelihood(self) -> ClassLikelihood:
        """The likelihood of all classes."""
        likelihood: Any = self.likelihood
        return likelihood

    def left_out(self, shard: Any, found: Inference) -> Floats:
        """Latent means and variances of the rows of a shard, each without those of the same inputs, (2, n, C)."""
        known: Floats = shard.left_out
        return known

    def infer(self, shard: Any, sites: Any, watch: Watch, deadline: Deadline = NEVER) -> Inference:
        """Run inference with all rows."""
        return infer_coupled([shard], tolerance=self.site_tolerance, watch=watch)

    def posterior(self, X: Inputs, basis: Basis, found: Inference) -> Any:
        """Return the posterior of new inputs."""
        return ClassPosterior(self.kernel, X, basis.L, *found.beliefs)

    def objective(self, rows: Rows, active: Rows, tolerance: float) -> CoupledEvidence:
        """Return what learning maximises."""
        tolerance, exact = max(tolerance, _ROUGH), self.exact_rows(rows)
        return CoupledEvidence(rows, self.X, self.y, active, self.dtype, self.blur, tolerance, self.group, exact)

    def fitted_likelihood(self, shard: CoupledShard, found: Inference, left: float = np.inf) -> Any:
        """Return the likelihood to predict with: calibrated by what the cavities say of rows left out."""
        return calibrated(self.class_likelihood.for_new_rows(), [shard], Deadline(time.perf_counter() + left))

    def refined(self, objective: CoupledEvidence, model: Model, watch: Callable[[Step], bool]) -> Model:
        """Return the model whose length scales predict rows left out best.

        The evidence of classes that are independent, or nearly so, prefers functions smoother than those that tell the
        classes apart best. Few rows would be predicted best by chance.
        """
        if len(self.y) < _TELLING:
            return model
        if self.class_likelihood.couples:
            return refine_scales(objective, model, _SHORTER, watch)
        ones, nothing = [self.against_rest(c, self.wanted) for c in range(self.n_functions)], np.arange(0)
        machines = [one.objective(objective.rows, nothing, objective.tolerance) for one in ones]

        def select(c: int, kernel: Kernel) -> Rows:
            return replace(ones[c], kernel=kernel).select()

        return refine_scales(AgainstRest(machines, self.y, select), model, _SHORTER, watch)

    def plan(self) -> Plan:
        """Predict seconds and memory, after a short calibration."""
        n, d, C = len(self.y), self.wanted, self.n_functions
        if self.approximation == "factorised" or not self.class_likelihood.couples:
            one = self._against_rest(0, d).plan()
            entries = min(self.rule.peak(self.looked_at, d), self.rule.max_entries or self.looked_at * d)
            separate = 0 if self.class_likelihood.couples else entries
            return one._replace(seconds=C * one.seconds, memory=self.plan_memory(separate), n_active=d)
        share = min(-(-d // C) + 1, d)
        one = replace(self._against_rest(0, share), approximation="factorised").plan()
        binary = self._against_rest(0, d)
        rates = sweep_cost.calibrate(self.X, binary.y, d, self.kernel, binary.likelihood, self.dtype)
        rates = rates._replace(sweeps=_USUAL_SWEEPS)
        sweeps = sweep_cost.predict_seconds(rates, n, d, self.feature_entries / (n * d))
        seconds = C * (one.seconds + sweeps) + _USUAL_SWEEPS * self._moments_seconds()
        memory = self.plan_memory(min(C * self.looked_at * share, self.rule.max_entries or C * n * share))
        return one._replace(seconds=seconds, memory=memory, n_active=d)

    def model_seconds(self, d: int) -> float:
        """Seconds for a row in the selection of d active ones, and in inference if that is with all rows."""
        C = self.n_functions
        if not self.class_likelihood.couples:
            return C * self._against_rest(0, d).model_seconds(d)
        if self.approximation == "factorised":  # moments of all classes in every look
            return self.schedule.looks(d) * self.seconds_per_row(1) / _FEWEST_SWEEPS + C * self._product_seconds(d)
        selection = C * self._against_rest(0, d)._selection_seconds(-(-d // C))
        return max(selection / SELECTION, selection + self.seconds_per_row(d))

    def seconds_per_row(self, d: int) -> float:
        """Seconds for a row in the fewest sweeps that are of use, and in the calibration that follows."""
        y, likelihood = self.y[:_TIMED], self.class_likelihood.for_new_rows()
        mean = np.zeros((len(y), self.n_functions))
        var = mean + np.asarray(self.kernel.diag(self.X[:_TIMED]), dtype=np.float64)[:, None]
        likelihood.tilted(y[:1], mean[:1], var[:1])  # makes tables, if it has some
        moments, weights = (
            _seconds(once)
            for once in (lambda: likelihood.tilted(y, mean, var), lambda: likelihood.log_weights(mean, var))
        )
        V, solve = np.zeros((len(y), d), dtype=self.dtype), row_solver(np.eye(d), self.dtype)
        products = self.products_of_sweep * _seconds(lambda: solve(V))
        return (_FEWEST_SWEEPS * (moments + products) + weights) / len(y)

    @property
    def products_of_sweep(self) -> int:
        """Products of d^2 numbers for every row: variances and sums of every class."""
        return 2 * self.n_functions

    def _moments_seconds(self) -> float:
        """Seconds for the moments of all rows once."""
        some = self.y[:200]
        mean = np.zeros((len(some), self.n_functions))
        once = partial(self.class_likelihood.tilted, some, mean, mean + 1.0)
        return best_of_three(once) * len(self.y) / len(some)


def _seconds(once: Callable[[], object]) -> float:
    start = time.perf_counter()
    once()
    return time.perf_counter() - start


class _WithoutSites:
    """A driver whose sites are those of another likelihood than the one that inference has."""

    sites = None

    def __init__(self, driver: Driver) -> None:
        self.__dict__["driver"] = driver

    def __getattr__(self, name: str) -> Any:
        return getattr(self.driver, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.driver, name, value)


def class_bias(labels: Rows, n_classes: int, weight: Floats | None = None) -> Floats:
    """Frequencies of the classes as probits, each class counted once more."""
    counts = np.bincount(labels, weights=weight, minlength=n_classes) + 1.0
    return ndtri(counts / counts.sum() * (1.0 - 1e-9))
