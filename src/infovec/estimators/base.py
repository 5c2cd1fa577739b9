"""What the three estimators share: the fit from targets to posterior, and the latent prediction."""

import logging
import time
from abc import ABCMeta, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

import joblib
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._types import Floats, Inputs
from ..errors import ParameterError
from ..kernels import Kernel
from ..learning import Learning, Step
from ..likelihoods import Likelihood
from ..numerics.deadline import Deadline
from ..numerics.heap import give_back
from ..selection import Callback, Driver, Patience, Progress, StopReason
from ..selection.interrupt import Interruption
from .budget import memory_limit, stub_entries, threads, time_limit
from .callbacks import CallbackSupportMixin, begin_fit, end_fit, listeners, with_callbacks
from .columns import Columns
from .defaults import default_kernel
from .ending import ended
from .gain_driver import GainDriver
from .in_time import in_time
from .inference import Result, Run
from .latent import Latent
from .learner import LEARN, Learned, predict_seconds
from .prepare import APPROXIMATIONS, prepare
from .reporting import Reporting
from .restarts import learn
from .sample import Sample
from .savable import Savable
from .settings import check_choice, check_growth, check_kernel
from .training import Plan, Training
from .warm import State, continues

__all__ = ["InformativeVectorMachine"]

_log = logging.getLogger("infovec")
_SOON, _SOON_SHARE = 3.0, 0.2  # seconds, and share of those that learning took, for a model after an interruption
_AT_LEAST = 0.1  # of the time, to select and infer in if nothing is left of it
_LEARNING_SHARE = 0.5  # of the time, so that there is some left to fit the model in


class InformativeVectorMachine(Savable, Reporting, Latent, CallbackSupportMixin, BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    """Common base. The parameters, and their defaults, are those of IVMClassifier."""

    _fitted: ClassVar[tuple[str, ...]] = (
        "n_features_in_", "feature_names_in_", "n_samples_fit_", "fit_seconds_", "kernel_", "likelihood_", "posterior_",
        "active_", "active_vectors_", "site_precision_", "site_mean_", "log_evidence_", "converged_", "history_",
        "stop_reason_", "dtype_",
    )  # fmt: skip
    """What ``fit`` leaves, all of which model files keep."""

    def __init__(
        self,
        kernel: Kernel | None = None,
        likelihood: str | Likelihood = "probit",
        approximation: str = "projected",
        n_active: int | float | str = 500,
        score: Any = "entropy",
        learn: str | Learning | None = "ep",
        block_size: int | str = "auto",
        pool_size: int | str | None = "auto",
        initial: Any = None,
        selection: str = "auto",
        blur: bool | str = "auto",
        max_memory: Any = None,
        max_time: float | None = None,
        dtype: str = "float32",
        n_jobs: int | None = None,
        warm_start: bool = False,
        callback: Callback | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.likelihood = likelihood
        self.approximation = approximation
        self.n_active = n_active
        self.score = score
        self.learn = learn
        self.block_size = block_size
        self.pool_size = pool_size
        self.initial = initial
        self.selection = selection
        self.blur = blur
        self.max_memory = max_memory
        self.max_time = max_time
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.callback = callback
        self.random_state = random_state
        self.verbose = verbose

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor parameters.

        Parameters
        ----------
        deep : bool
            Kept for scikit-learn; there are no nested estimators.
        """
        return {**super().get_params(deep), "score": vars(self)["score"]}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Select the active rows and fit their sites.

        When it fails, whatever was fitted before is still there. When it is interrupted from the keyboard or runs out
        of time, the model of the rows included so far is fitted, and ``stop_reason_`` says so. An interruption while
        learning leaves a few seconds to select and infer with the parameters found so far.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Or a sequence of objects, for a kernel that takes them.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), optional
            The likelihood of a row is raised to its weight: 2 counts like two equal rows, 0 leaves the row out. Equal
            rows are taken together in any case (for kernels without white noise; of the factorised posterior for more
            than two classes only), so that a weight and a repetition are the same up to rounding. Weights other
            than one need quadrature, or more sweeps for coupled classes, unless noise is Gaussian, which takes time.

            Where classes are learned (``learn`` is not None) only the proportions of weights count: they are scaled to
            sum to the effective number of observations, and a constant weight changes nothing. Copies of a row always
            agree, from which learning would conclude that there is no noise. Weights are counts of observations, and
            stay as they are, where the same inputs have different labels, at least a tenth as often as any two rows
            have. With ``learn=None``, and for numbers, they always are: to numbers learning takes the sum of the
            weights for the number of observations, so weights that are no counts should average to one.

        Returns
        -------
        self
        """
        begin_fit(self, X, y, sample_weight)
        before, start = dict(vars(self)), time.perf_counter()
        try:
            deadline = Deadline(start + time_limit(self.max_time))
            with threads(self.n_jobs):
                training = self._prepare(X, y, sample_weight)
                self._train(training, deadline)
            self.n_samples_fit_, self.fit_seconds_ = training.given.n_given, time.perf_counter() - start
            end_fit(self, X, y, sample_weight)
        except BaseException:
            if "_state" not in vars(self):  # it was going on from there
                before.pop("_state", None)
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def plan(self, X: Any, y: Any, sample_weight: Any = None) -> Plan:
        """Predict what ``fit(X, y)`` will take, without fitting.

        A short calibration (well under a second) times the parts of a block on some of the rows.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.

        Returns
        -------
        plan : Plan
            With ``seconds`` (``learning`` of these to find parameters: a rough guess), ``memory`` in bytes beyond the
            inputs, ``n_active``, ``block_size``, ``pool_size`` and more; ``print(plan)`` says it in a sentence.
        """
        before = dict(vars(self))
        try:
            with threads(self.n_jobs):
                training = self._prepare(X, y, sample_weight)
                learning = predict_seconds(training, self.kernel is None) if self.learn is not None else 0.0
                plan = training.plan()
                return plan._replace(seconds=plan.seconds + learning, learning=learning)
        finally:
            self.__dict__.clear()
            self.__dict__.update(before)

    def grow(self, n: int) -> Self:
        """Include more rows, without starting over.

        Needs ``warm_start=True`` when fitting, which keeps the training rows and their stubs in memory.

        Parameters
        ----------
        n : int
            How many rows to add.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        state: State | None = getattr(self, "_state", None)
        if state is None:
            raise ParameterError("grow goes on from the last fit, which was not kept: fit with warm_start=True")
        start = time.perf_counter()
        with threads(self.n_jobs):
            self._go_on(state, check_growth(n, state.driver.size), None, Deadline(start + time_limit(self.max_time)))
        self.fit_seconds_ += time.perf_counter() - start
        return self

    @abstractmethod
    def _read_targets(self, X: Any, y: Any, sample_weight: Any) -> tuple[Sample, Floats, Likelihood, float, Any]:
        """Read what was given; return the sample, its targets, likelihood, variance of a default kernel, and score."""

    def _sample(self, X: Inputs, y: Any, sample_weight: Any) -> Sample:
        """Return the rows that count, equal ones taken together where that changes nothing."""
        sample = Sample.of(X, y, sample_weight)
        return sample.merged(self.kernel, self.likelihood) if self.approximation != "factorised" else sample

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Training:
        check_choice("approximation", self.approximation, APPROXIMATIONS)
        if not isinstance(self.learn, Learning):
            check_choice("learn", self.learn, LEARN)
        check_kernel(self.kernel)
        sample, targets, likelihood, variance, score = self._read_targets(X, y, sample_weight)
        if self.kernel is None:
            given = isinstance(self.learn, Learning) and self.learn.has_units
            columns = None if given else Columns.of(sample.X, sample.weight, rounded=self.learn is not None)
            kernel = columns.kernel(variance) if columns else default_kernel(sample.X, variance, sample.weight)
            sample = replace(sample, columns=columns)
        else:
            unit, kernel = sample.unit.kernel(self.kernel)
            sample = replace(sample, unit=unit)
        return self._training(sample, targets, kernel, sample.weigh(likelihood, targets), score)

    def _training(
        self, sample: Sample, targets: Floats, kernel: Kernel, likelihood: Likelihood, score: Any
    ) -> Training:
        """Return what selection and inference need, the settings checked against the data."""
        return prepare(self, sample, targets, kernel, likelihood, score)

    def _train(self, training: Training, deadline: Deadline) -> None:
        """Select the active rows and store the posterior."""
        sample = training.given
        told = [sample.X, training.y, sample.weight, sample.rows, sample.unit.centre, sample.unit.scale]
        data = joblib.hash(told) if self.warm_start else ""
        settings = self.get_params()
        state: State | None = getattr(self, "_state", None)
        if state is not None and self.warm_start and data == state.data and continues(training, settings, state):
            self._go_on(state, training.wanted, training.patience(), deadline)
            return
        with Interruption() as interruption:
            self._begin(training, settings, data, interruption, deadline)

    def _begin(
        self, training: Training, settings: dict[str, Any], data: str, interruption: Interruption, deadline: Deadline
    ) -> None:
        """Learn, select and infer; an interruption between them counts too."""
        start, steps, n, short = time.perf_counter(), list[Step](), len(training.y), False
        training = in_time(training, deadline, 1.0 if self.learn is None else 1.0 - _LEARNING_SHARE)
        if self.learn is not None:
            learning = Deadline(time.perf_counter() + _LEARNING_SHARE * deadline.left)
            training, steps, _, _ = self._learn(training, learning)
            training, short = in_time(training, deadline), learning.over
        if _log.isEnabledFor(logging.INFO):
            _log.info("plan: %s", training.plan())
        learned = time.perf_counter() - start
        driver = training.driver()
        driver.include(training.initial)
        fewer = len(training.y) < n
        self._run(
            driver, training, training.wanted, training.patience(), interruption, deadline, learned, fewer or short
        )
        if steps:
            self.history_ |= {
                "criterion": np.array([step.criterion for step in steps]),
                "theta": np.array([step.theta for step in steps]),
                "major": np.array([step.major for step in steps]),
                "learning_seconds": learned,
            }
        _log.info("actual: %d rows in %.3g s", driver.size, time.perf_counter() - start)
        self.__dict__.pop("_state", None)
        if self.warm_start:
            self._state = State(driver, training, settings, data, interruption.asked or fewer)

    def _learn(self, training: Training, deadline: Deadline) -> Learned:
        """Find parameters by the evidence."""
        start, tell = time.perf_counter(), listeners(self)

        def watch(step: Step) -> bool:
            seconds = time.perf_counter() - start
            return tell is not None and tell(Progress(0, training.wanted, 0.0, seconds, None, step.criterion))

        learning = self.learn if isinstance(self.learn, Learning) else Learning(str(self.learn))
        learned = learn(training, self.kernel is None, deadline.left, watch, learning)
        give_back()
        return learned

    def _go_on(self, state: State, wanted: int, patience: Patience | None, deadline: Deadline) -> None:
        """Continue the driver of an earlier fit; when that fails it is no longer kept, the model is."""
        del self._state
        driver, training = state.driver, state.training
        wanted = min(wanted, driver.n_rows)
        X = training.given.X
        n, p = len(training.y), X.shape[1] if X.ndim == 2 else 1
        itemsize = np.dtype(training.dtype).itemsize
        entries = stub_entries(memory_limit(self.max_memory), n, p, wanted, training.schedule, itemsize)
        driver.enlarge(wanted, entries if entries < n * wanted else None)
        with Interruption() as interruption:
            self._run(driver, training, wanted, patience, interruption, deadline)
        if self.warm_start:
            self._state = state._replace(cut_short=state.cut_short or interruption.asked)

    def _run(
        self,
        driver: Driver | GainDriver,
        training: Training,
        wanted: int,
        patience: Patience | None,
        interruption: Interruption,
        deadline: Deadline,
        learned: float = 0.0,
        short: bool = False,
    ) -> None:
        """Select, infer, and store what came of it; soon if learning was interrupted.

        Parameters
        ----------
        driver, training, wanted, patience, interruption, deadline
            What to do, and until when.
        learned : float
            Seconds that learning took.
        short : bool
            Whether rows were left out, or learning ended, for want of time.
        """
        interrupted = interruption.asked
        left = max(deadline.left, _AT_LEAST * time_limit(self.max_time))  # a model without active rows is none
        left = min(left, max(_SOON, _SOON_SHARE * learned)) if interrupted else left
        run = Run(driver, training.given.inside, training, listeners(self), left)
        stop, result = run.to(wanted, patience)
        if short and stop not in (StopReason.CALLBACK, StopReason.INTERRUPTED):
            stop = StopReason.TIME
        stop = StopReason.INTERRUPTED if interruption.asked else stop
        self._store(driver, result, training, str(ended(stop, result, wanted, interrupted)))

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in super().__getstate__().items() if k != "_state"}

    def _store(self, driver: Driver | GainDriver, result: Result, training: Training, stop_reason: str) -> None:
        d, sample = len(result.active), training.given
        self.kernel_ = sample.unit.kernel_outside(training.fitted_kernel)
        result = result._replace(likelihood=sample.unweighed(result.likelihood)).in_unit(sample.unit, self.kernel_)
        self.likelihood_, self.posterior_ = result.likelihood, result.posterior
        if sample.columns:
            self.kernel_ = sample.columns.kernel_outside(self.kernel_)
            self.posterior_ = sample.columns.posterior_outside(self.posterior_)
        self.stop_reason_, self.active_ = stop_reason, sample.rows[result.active]
        vectors = sample.X[result.active]
        self.active_vectors_ = vectors if vectors.dtype == object else vectors.astype(np.float64)
        self.site_precision_, self.site_mean_ = result.site_precision, result.site_mean
        self.log_evidence_, self.converged_, self.dtype_ = result.log_evidence, result.converged, result.dtype
        self.history_ = {
            "row": self.active_, "score": driver.scores[:d].copy(), "seconds": driver.seconds[:d].copy(),
            **result.history(),
        }  # fmt: skip
