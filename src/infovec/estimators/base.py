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
from ..machines.budget import memory_limit, threads, time_limit
from ..machines.columns import Columns
from ..machines.defaults import default_kernel
from ..machines.in_time import in_time
from ..machines.learn import learn
from ..machines.one_function import Plan, Training
from ..machines.prepare import APPROXIMATIONS, prepare
from ..machines.run import Result, Run
from ..machines.sample import Sample
from ..machines.settings import check_choice, check_growth, check_kernel
from ..machines.stages import LEARN, Learned, predict_seconds
from ..machines.warm import State, continues, kept
from ..runtime import Deadline, Interruption, give_back, work_within
from ..selection import Callback, Driver, GainDriver, Patience, Progress, StopReason
from .callbacks import CallbackSupportMixin, begin_fit, end_fit, listeners, with_callbacks
from .ending import Ending, ended
from .latent import Latent
from .reporting import Reporting
from .savable import Savable

__all__ = ["InformativeVectorMachine"]

_log = logging.getLogger("infovec")
_SOON, _SOON_SHARE = 1.0, 0.2  # seconds, and share of those that learning took, for a model after an interruption
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
        learning leaves a second or two (a fifth of the time that learning took, if that is more) to select and infer
        with the parameters found so far; a second interruption ends it at once. One that comes before there is
        anything to keep is a KeyboardInterrupt.

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
        with kept(self):
            start = time.perf_counter()
            deadline = Deadline(start + time_limit(self.max_time))
            with threads(self.n_jobs), work_within(memory_limit(self.max_memory)):
                training = self._prepare(X, y, sample_weight)
                self._train(training, deadline)
            self.n_samples_fit_, self.fit_seconds_ = training.given.n_given, time.perf_counter() - start
            end_fit(self, X, y, sample_weight)
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
            with threads(self.n_jobs), work_within(memory_limit(self.max_memory)):
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
        with kept(self):
            start = time.perf_counter()
            deadline = Deadline(start + time_limit(self.max_time))
            with threads(self.n_jobs), work_within(memory_limit(self.max_memory)):
                self._go_on(state, check_growth(n, state.driver.size), None, deadline)
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
            state, run = self._begin(training, settings, data, interruption, deadline)
        self._end(run, interruption)
        self.__dict__.pop("_state", None)
        if self.warm_start:
            self._state = state._replace(cut_short=state.cut_short or interruption.noted)

    def _begin(
        self, training: Training, settings: dict[str, Any], data: str, interruption: Interruption, deadline: Deadline
    ) -> tuple[State, Ending]:
        """Learn, select and infer; an interruption between them counts too."""
        start, steps, n, short = time.perf_counter(), list[Step](), len(training.y), False
        training = in_time(training, deadline, 1.0 if self.learn is None else 1.0 - _LEARNING_SHARE)
        if self.learn is not None:
            learning = Deadline(time.perf_counter() + _LEARNING_SHARE * deadline.left)
            training, steps, _, _ = self._learn(training, learning)
            training, short = in_time(training, deadline), learning.over
        if _log.isEnabledFor(logging.INFO):
            _log.info("plan: %s", training.plan())
        learned = time.perf_counter() - start if self.learn is not None else None
        cut = learned is not None and interruption.answer()
        driver = training.driver()
        driver.include(training.initial)
        fewer = len(training.y) < n
        patience = training.patience()
        run = self._run(
            driver, training, training.wanted, patience, interruption, deadline, learned, cut, fewer or short
        )
        if steps:
            self.history_ |= {
                "criterion": np.array([step.criterion for step in steps]),
                "theta": np.array([step.theta for step in steps]),
                "major": np.array([step.major for step in steps]),
                "learning_seconds": learned,
            }
        _log.info("actual: %d rows in %.3g s", driver.size, time.perf_counter() - start)
        return State(driver, training, settings, data, fewer), run

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
        training = replace(training, limit=memory_limit(self.max_memory))
        driver.enlarge(wanted, training.within_limit(wanted, np.dtype(training.dtype).itemsize).rule.max_entries)
        with Interruption() as interruption:
            run = self._run(driver, training, wanted, patience, interruption, deadline)
        self._end(run, interruption)
        if self.warm_start:
            self._state = state._replace(cut_short=state.cut_short or interruption.noted)

    def _run(
        self,
        driver: Driver | GainDriver,
        training: Training,
        wanted: int,
        patience: Patience | None,
        interruption: Interruption,
        deadline: Deadline,
        spent: float | None = None,
        cut: bool = False,
        fewer: bool = False,
    ) -> Ending:
        """Select, infer, and store what came of it; soon if learning was cut short.

        Parameters
        ----------
        driver, training, wanted, patience, interruption, deadline
            What to do, and until when.
        spent : float, optional
            Seconds that learning took.
        cut : bool
            Whether learning was interrupted.
        fewer : bool
            Whether rows were left out for want of time.
        """
        left = max(deadline.left, _AT_LEAST * time_limit(self.max_time))  # a model without active rows is none
        soon = max(_SOON, _SOON_SHARE * (spent or 0.0))
        run = Run(driver, training.given.inside, training, listeners(self), left, soon)
        interrupted = cut or (spent is not None and interruption.answer())
        if interrupted:
            run.hurry()
        stop, result = run.to(wanted, patience)
        if fewer and stop not in (StopReason.CALLBACK, StopReason.INTERRUPTED):
            stop = StopReason.TIME
        self._store(driver, result, training, str(stop))
        return Ending(stop, result, wanted, interrupted)

    def _end(self, ending: Ending, interruption: Interruption) -> None:
        """Say how it ended, once no interruption can be noted any more: none is passed over."""
        self.stop_reason_ = str(ended(ending, interruption.noted))

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
