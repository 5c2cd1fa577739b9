"""What the three estimators share: the fit from targets to posterior, and the latent prediction."""

import time
from abc import ABCMeta, abstractmethod
from dataclasses import replace
from os import PathLike
from typing import Any, ClassVar, NamedTuple, Self, cast

import joblib
import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._types import Array, Floats, Inputs
from ..errors import ParameterError
from ..kernels import Kernel
from ..learning import CRITERIA, Learning
from ..likelihoods import Likelihood
from ..likelihoods.classes import ClassLikelihood
from ..machines.checkpoint import Checkpoint
from ..machines.cluster_plan import ClusterPlan
from ..machines.columns import Columns
from ..machines.defaults import noise_beside
from ..machines.fit import Course, Ended, begin, go_on
from ..machines.forms import kernel_of_form
from ..machines.machine import Machine
from ..machines.plan import Plan
from ..machines.prepare import prepare
from ..machines.sample import Sample
from ..machines.stages import predict_seconds
from ..machines.suited import suited
from ..runtime import Callback, work_within
from ..scores import Score
from ..selection import Patience
from ..shards import HERE, FarInputs
from .callbacks import CallbackSupportMixin, begin_fit, end_fit, listeners, with_callbacks
from .checkpoints import checkpointed
from .compressing import Compressing
from .course import history_of
from .ending import announced
from .far import given_client, is_dask, on_workers
from .far_target import warn_of_far_targets
from .images import Invariances, fit_with_images
from .importances import Importances
from .inputs import read_weight
from .joint import Sampling
from .kinds import APPROXIMATIONS
from .limits import memory_limit, threads, time_limit
from .raw_units import warn_if_in_raw_units
from .reporting import Reporting
from .saving import Savable
from .settings import check_choice, check_growth, check_kernel, settings_of
from .tasks import codes_of, gaps_of, grouped, kernel_on
from .telling import Telling
from .told import remembered
from .unexplained import warn_if_unexplained
from .values import form_of, given_kernel
from .warm import State, continues, kept

__all__ = ["InformativeVectorMachine", "Read"]


class Read(NamedTuple):
    """What was given, read."""

    sample: Sample
    targets: Floats
    likelihood: Likelihood | ClassLikelihood
    variance: float  # of a default kernel
    score: str | Score


class InformativeVectorMachine(
    Savable,
    Reporting,
    Importances,
    Sampling,
    Telling,
    Compressing,
    CallbackSupportMixin,  # type: ignore[misc]
    metaclass=ABCMeta,
):
    """Common base. The parameters, and their defaults, are those of IVMClassifier."""

    _fitted: ClassVar[tuple[str, ...]] = (
        "n_features_in_", "feature_names_in_", "n_samples_fit_", "fit_seconds_", "kernel_", "likelihood_", "posterior_",
        "active_", "active_vectors_", "site_precision_", "site_mean_", "log_evidence_", "converged_", "history_",
        "stop_reason_", "dtype_", "tasks_", "virtual_", "table_", "moved_",
    )  # fmt: skip
    """What ``fit`` leaves, all of which model files keep."""

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        likelihood: str | Likelihood = "probit",
        approximation: str = "projected",
        n_active: int | float | str = 500,
        score: str | Score = "entropy",
        learn: str | Learning | None = "ep",
        block_size: int | str = "auto",
        pool_size: int | str | None = "auto",
        initial: ArrayLike | None = None,
        selection: str = "auto",
        blur: bool | str = "auto",
        refine: str | None = "auto",
        max_memory: float | str | None = None,
        max_time: float | None = None,
        dtype: str = "float32",
        n_jobs: int | None = None,
        warm_start: bool = False,
        callback: Callback | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        invariances: Invariances = None,
        rounds: int = 1,
        move: str | bool = False,
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
        self.refine = refine
        self.max_memory = max_memory
        self.max_time = max_time
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.callback = callback
        self.random_state = random_state
        self.verbose = verbose
        self.invariances = invariances
        self.rounds = rounds
        self.move = move

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the constructor parameters.

        Parameters
        ----------
        deep : bool
            Whether to list the parameters of a kernel or a likelihood too, as ``kernel__length_scale``.
        """
        return {**super().get_params(deep), "score": vars(self)["score"]}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags

    @with_callbacks
    def fit(
        self,
        X: object,
        y: object,
        sample_weight: ArrayLike | None = None,
        checkpoint: str | PathLike[str] | None = None,
        client: object = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Select the active rows and fit their sites.

        When it fails, whatever was fitted before is still there. When it is interrupted from the keyboard or runs out
        of time, the model of the rows included so far is fitted, and ``stop_reason_`` says so. An interruption while
        learning leaves a second or two (a fifth of the time that learning took, if that is more) to select and infer
        with the parameters found so far; a second interruption ends it at once. One that comes before there is
        anything to keep is a KeyboardInterrupt.

        Parameters
        ----------
        X : array-like, CSR matrix or DataFrame of shape (n_samples, n_features)
            A DataFrame of pandas or polars may have categories, dates and missing values, an array NaN. Or a sequence
            of objects, for a kernel that takes them. An array that is not in memory (a memory map, one
            of HDF5 or zarr, ``infovec.datasets.ParquetRows``) stays where it is if it is large. A Dask array or
            dataframe stays on the workers of its cluster, which do the work.
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
        checkpoint : path, optional
            A file that takes note of every block and sweep. If this process ends before the fit does, the same call
            goes on from there, to the same model. It is removed when the fit is done. Needs a whole ``random_state``.
        client : distributed.Client, optional
            For Dask collections; the current one unless given.
        groups : array-like of shape (n_samples,), optional
            For the kernels ``Tasks`` and ``Coregion`` the task of each row, a label of one type. Predictions then take
            ``groups`` too; a label that is new to them is a new task.

            With any other kernel the rows that belong together, such as those of one speaker, writer or patient, by
            labels of any type. Wherever rows are left out to see how well others are predicted, whole groups are: then
            the model is as certain of rows of new groups as it may be. Predictions take no groups. For rows in memory.

        Returns
        -------
        self
        """
        begin_fit(self, X, y, sample_weight)
        with kept(self):
            start = time.perf_counter()
            with threads(self.n_jobs), work_within(memory_limit(self.max_memory)):
                course = self._course()
                with given_client(client):
                    rows, self._rows = grouped(X, groups), None
                    machine = self._prepare(rows, y, sample_weight)
                with checkpointed(self, checkpoint, machine) as noted:
                    self._train(machine, course, noted)
                self._compare(rows, y, sample_weight, course)
                if self.invariances is not None:
                    fit_with_images(self, rows, y, sample_weight, course)
                warn_of_far_targets(self, y, sample_weight)
                seen = rows if hasattr(self, "tasks_") else X
                if self.max_time is not None or not warn_if_unexplained(self, seen, y, sample_weight):
                    warn_if_in_raw_units(self)
            self.n_samples_fit_, self.fit_seconds_ = machine.data.given.n_given, time.perf_counter() - start
            self._rows = None if self._rows is None or self.moved_ else remembered(self._rows)
            end_fit(self, X, y, sample_weight)
        return self

    def plan(
        self,
        X: object,
        y: object,
        sample_weight: ArrayLike | None = None,
        workers: int | None = None,
        groups: ArrayLike | None = None,
    ) -> Plan | ClusterPlan:
        """Predict what ``fit(X, y)`` will take, without fitting.

        A short calibration (well under a second) times the parts of a block on some of the rows.

        Parameters
        ----------
        X, y, sample_weight, groups
            As for ``fit``.
        workers : int, optional
            Predict a fit on so many workers of a cluster; of Dask collections those that there are unless given. One
            of them is timed.

        Returns
        -------
        plan : Plan or ClusterPlan
            With ``seconds`` (``learning`` of these to find parameters: a rough guess), ``memory`` in bytes beyond the
            inputs, ``n_active``, ``block_size``, ``pool_size`` and more; ``print(plan)`` says it in a sentence.
        """
        before = dict(vars(self))
        try:
            with threads(self.n_jobs), work_within(memory_limit(self.max_memory)):
                machine = self._prepare(grouped(X, groups), y, sample_weight)
                given = self._learning
                learning = (
                    predict_seconds(machine, given_kernel(self.kernel) is None, given) if given is not None else 0.0
                )
                plan = machine.plan()
                plan = plan._replace(seconds=plan.seconds + learning, learning=learning)
                return plan if workers is None and not is_dask(X) else on_workers(machine, plan, workers)
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
            with threads(self.n_jobs), work_within(memory_limit(self.max_memory)):
                self._go_on(state, check_growth(n, state.selector.size), None, self._course())
            self.fit_seconds_ += time.perf_counter() - start
        return self

    def _compare(self, X: object, y: object, sample_weight: ArrayLike | None, course: Course) -> None:
        """Compare what was fitted with other models of the same rows, where there is reason to."""

    def _course(self) -> Course:
        """Return until when the work that begins now may go on, and who is told."""
        course = Course.of(time_limit(self.max_time), listeners(self))
        return course if self.invariances is None else course.half()

    @abstractmethod
    def _read_targets(self, X: object, y: object, sample_weight: ArrayLike | None) -> Read:
        """Read what was given."""

    def _sample(self, X: Inputs, y: Array, sample_weight: ArrayLike | None) -> Sample:
        """Return the rows that count, equal ones taken together where that changes nothing."""
        self._rows = X, y, read_weight(sample_weight, X.shape[0]), self.__dict__.pop("_folds", None)
        sample, all_rows = Sample.of(*self._rows), APPROXIMATIONS[self.approximation].all_rows
        return sample.merged(kernel_on(self, X), self.likelihood) if all_rows else sample

    def _prepare(self, X: object, y: object, sample_weight: ArrayLike | None) -> Machine:
        """Read what was given, and return the machine that was asked for."""
        check_choice("approximation", self.approximation, list(APPROXIMATIONS))
        if not isinstance(self.learn, Learning):
            check_choice("learn", self.learn, (*CRITERIA, None))
        check_kernel(self.kernel)
        read = self._read_targets(X, y, sample_weight)
        sample, begins = read.sample, list[Kernel]()
        if given_kernel(self.kernel) is None:
            form, given = form_of(self.kernel), isinstance(self.learn, Learning) and self.learn.has_units
            codes, gaps, variance = codes_of(self), gaps_of(self), read.variance
            columns = None if given else Columns.of(sample.X, sample.weight, self.learn is not None, codes, gaps)
            sample = replace(sample, columns=columns)
            kernel = kernel_of_form(sample, variance, form, codes, gaps)
        else:
            unit, kernel = sample.unit.kernel(cast(Kernel, kernel_on(self, sample.X)))
            sample = replace(sample, unit=unit)
            begins = suited(kernel, sample.X, read.variance) if self.learn is not None else []
        likelihood = sample.weigh(read.likelihood, read.targets)
        machine = self._machine(read._replace(sample=sample, likelihood=likelihood), kernel)
        noise = None
        if isinstance(self.likelihood, Likelihood) and any(role.noise for role in self.likelihood.free_roles):
            noise, begins = noise_beside(read.variance), begins or [kernel] * (self.learn is not None)
        doubt = machine.choices.doubt._replace(suited=tuple(begins), noise=noise)
        return replace(machine, choices=replace(machine.choices, doubt=doubt))

    def _machine(self, read: Read, kernel: Kernel) -> Machine:
        """Return the machine of the kind that was asked for."""
        return self._made(APPROXIMATIONS[self.approximation], read, kernel)

    def _made(self, kind: type[Machine], read: Read, kernel: Kernel) -> Machine:
        """Return a machine, the settings checked against the data."""
        sample, targets, likelihood, _, score = read
        settings = settings_of(self, score, sample.n_given)
        if settings.rule.by_gain and not kind.all_rows:
            raise ParameterError(
                f"score={score!r} is the gain of the projected posterior: it needs approximation='projected'"
            )
        priority = check_random_state(self.random_state).random_sample(sample.X.shape[0])
        places = sample.X.store.places(settings.limit) if isinstance(sample.X, FarInputs) else HERE
        return prepare(kind, settings, sample, targets, kernel, likelihood, priority, places)

    @property
    def _learning(self) -> Learning | None:
        """How parameters are learned; not at all if None."""
        return Learning(self.learn) if isinstance(self.learn, str) else self.learn

    def _train(self, machine: Machine, course: Course, checkpoint: Checkpoint | None = None) -> None:
        """Fit, or go on from the last fit, and store what came of it."""
        sample = machine.data.given
        told = [
            sample.X, machine.data.y, sample.weight, sample.rows, sample.unit.centre, sample.unit.scale, sample.folds,
        ]  # fmt: skip
        if self.warm_start and isinstance(sample.X, FarInputs):
            raise ParameterError("warm_start keeps the rows in memory, where these are not; fit with warm_start=False")
        data = joblib.hash(told) if self.warm_start else ""
        settings = self.get_params(deep=False)
        state: State | None = getattr(self, "_state", None)
        if state is not None and self.warm_start and data == state.data and continues(machine, settings, state):
            self._go_on(state, machine.work.wanted, machine.patience, course)
            return
        learning = self._learning
        ended = begin(machine, course, learning, given_kernel(self.kernel) is None, checkpoint)
        self._store(ended)
        self.__dict__.pop("_state", None)
        if self.warm_start:
            self._state = State(ended.selector, ended.machine, settings, data, ended.cut_short, ended.share)

    def _go_on(self, state: State, wanted: int, patience: Patience | None, course: Course) -> None:
        """Continue from an earlier fit; when that fails it is no longer kept, the model is."""
        del self._state
        machine = state.machine
        machine = replace(machine, work=replace(machine.work, limit=memory_limit(self.max_memory)))
        ended = go_on(machine, state.selector, wanted, patience, course)._replace(share=state.share)
        self._store(ended)
        if self.warm_start:
            self._state = state._replace(cut_short=state.cut_short or ended.cut_short)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in super().__getstate__().items() if k not in ("_state", "_rows")}

    def _store(self, ended: Ended) -> None:
        """Keep what a fit came to, in the units of the user."""
        result, sample = ended.result, ended.machine.data.given
        kernel = ended.machine.fitted_kernel  # which has been learned further where active inputs moved
        kernel = result.posterior.kernel if result.has_moved and isinstance(kernel, Kernel) else kernel
        self.kernel_ = sample.unit.kernel_outside(kernel)
        result = result._replace(likelihood=sample.unweighed(result.likelihood)).in_unit(sample.unit, self.kernel_)
        self.likelihood_, self.posterior_ = cast(Likelihood, result.likelihood), result.posterior
        if sample.columns:
            self.kernel_ = sample.columns.kernels_outside(self.kernel_)
            self.posterior_ = sample.columns.posterior_outside(self.posterior_)
        self.stop_reason_, self.active_ = str(announced(ended)), sample.rows[result.active]
        vectors = self.posterior_.X if result.has_moved else sample.X[result.active]
        self.__dict__.pop("virtual_", None)
        if sample.virtual is not None:
            self.virtual_ = sample.virtual[result.active]
        self.active_vectors_ = vectors if vectors.dtype == object else vectors.astype(np.float64)
        self.site_precision_, self.site_mean_ = result.site_precision, result.site_mean
        self.log_evidence_ = result.log_evidence / ended.share
        self.converged_, self.dtype_ = result.converged, result.dtype
        self.moved_, self.history_ = result.has_moved, history_of(ended, result)
