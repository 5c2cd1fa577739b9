"""What a fit needs: from checked settings and data to selection, inference, learning and their cost."""

import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import ndtri

from .._types import Floats, Inputs, Mask, Rows
from ..errors import ParameterError
from ..estimators.callbacks import outside
from ..inference import Inference, Watch, best_spread, infer, left_out, sharp_sites, spreads
from ..inference import cost as sweep_cost
from ..kernels import Kernel
from ..learning import Model, ProjectedEvidence, Step, refine_scales
from ..likelihoods import Discrete, Gaussian, Likelihood, Weighted, total_weight
from ..likelihoods.mixtures import cumulative
from ..likelihoods.parts import in_parts, row_bytes
from ..numerics.cholesky import row_solver
from ..numerics.residuals import score_quantiles
from ..posterior import Posterior, ProjectedPosterior
from ..runtime import NEVER, Deadline, at_once, best_of_three, own_threads, seconds_per_row
from ..scores import Score
from ..selection import Driver, GainDriver, Patience, Schedule
from ..selection.cost import calibrate, predict_seconds
from ..selection.precision import sufficient_precision
from ..shards import Basis, IndexRule, LocalShard, ProjectedShard, RefilledShard
from .budget import Need, Needs, Sizes, inference_need, selection_need, shown_bytes, within
from .sample import Sample
from .settings import PROJECTED_GAIN

__all__ = ["SELECTION", "SMALL_STUBS", "Plan", "Training"]

SELECTION = 0.5  # of the time, at most, where inference with all rows follows
SMALL_STUBS = 1_000_000  # numbers in a stub matrix that is kept in double precision whatever dtype says
_FULL_UNTIL = 200  # NIPS03: full greedy selection until then
_INDEX_SIZE = 500  # NIPS03: rows in an index that is refilled
_SHORTER = 1.2  # factor between length scales that are tried by rows left out
_TELLING = 1000  # rows that are enough for that
_MEASURED = 4096  # rows that seconds for a row are measured on, at most
_TIMED, _CALIBRATED = 50, 200  # rows to time a prediction on, and those that calibration has whatever the time
_TRIALS = 150  # predictions of all rows that it takes, at most
_FEWEST_SWEEPS = 4  # over all rows that there is time for
_CUMULATIVE = 8 * 48 * 8  # bytes for each row: 48 nodes, and what the likelihood makes of them
_TOLD = 120  # bytes for each row whose residual is looked at: its score, their order and what is added up
_CERTAIN = 1e-15  # probability of what was thought impossible
_RETAINED = 0.5  # NIPS03: share of it that stays


class Plan(NamedTuple):
    """What a fit will take, said before it starts."""

    seconds: float
    memory: int  # bytes, beyond the inputs themselves
    n_rows: int
    n_active: int
    n_index: int  # rows still considered at the end
    block_size: int
    pool_size: int
    dtype: str
    learning: float = 0.0  # seconds of these for learning

    def __str__(self) -> str:
        return (
            f"{self.n_active} of {self.n_rows} rows in about {self.seconds:.3g} s and {shown_bytes(self.memory)}; "
            f"blocks of up to {self.block_size} from {self.pool_size} candidates, {self.n_index} rows considered "
            f"at the end, {self.dtype}" + (f"; {self.learning:.3g} s of these for learning" if self.learning else "")
        )


@dataclass(frozen=True)
class Training:
    """Everything a selection needs, checked."""

    X: Inputs
    y: Floats
    kernel: Kernel
    likelihood: Likelihood
    score: Score
    score_name: str
    wanted: int
    initial: Rows
    schedule: Schedule
    rule: IndexRule
    dtype: str
    selection: str
    priority: Floats
    held_back: Mask
    approximation: str
    blur: bool
    calibrate: bool  # the certainty of predictions, by rows left out
    feature_entries: int  # numbers of V that fit into memory
    keep: bool  # what selection made, to go on from
    given: Sample  # the rows as the user has them
    limit: int  # bytes that training may take, as it was given
    looked_at: int  # rows that selection chooses from
    group: Rows | None = None  # the same number for rows of equal inputs
    learned: int = 0  # numbers that were learned from these rows

    site_tolerance: ClassVar[float] = 1e-4
    """Largest change of a site at the end of inference, in units of the posterior."""
    learning_tolerance: ClassVar[float] = 1e-4
    """Of the criterion and its gradient, as optimisation has it."""

    @property
    def n_functions(self) -> int:
        """Latent functions of the model."""
        return 1

    def driver(self) -> "Driver | GainDriver":
        """Return a driver with all rows in one shard."""
        if self.score_name == PROJECTED_GAIN:
            return GainDriver(self.projected_shard(), self.wanted, self.schedule, self.priority, self.held_back)
        likelihood, score = self.likelihood, self.score
        if self.score_name == "variance" and self.approximation == "projected":
            likelihood = _almost_no_noise(self.kernel, self.X)  # then what is left is that of a pivoted Cholesky factor
        rows, every = self.rows_looked_at(), self.looked_at >= len(self.y)
        common: tuple[Any, ...] = (
            rows, *(v if every else v[rows] for v in (self.X, self.y, self.priority)), self.kernel, likelihood, score,
            self.wanted, self.dtype, self.rule, self.held_back if every else self.held_back[rows],
        )  # fmt: skip
        if self.selection != "refilled":
            shard = LocalShard(*common)
        else:
            rng = np.random.default_rng(int(1e9 * self.priority[0]))
            shard = RefilledShard(
                *common, index_size=max(_INDEX_SIZE, 2 * self.schedule.pool_size), retained=_RETAINED,
                full_until=_FULL_UNTIL, rng=rng,
            )  # fmt: skip
        return Driver([shard], self.kernel, likelihood, score, self.wanted, self.schedule)

    def rows_looked_at(self) -> Rows:
        """Rows that selection chooses from: those first in line, if memory is too little for the marginals of all."""
        n = len(self.y)
        if self.looked_at >= n:
            return np.arange(n)
        first = self.priority + self.held_back  # rows held back, and initial ones, are there in any case
        first[self.initial] += 2.0
        return np.sort(np.argpartition(-first, self.looked_at)[: self.looked_at])

    @property
    def fitted_kernel(self) -> Kernel | list[Kernel]:
        """What is remembered of a fit as its kernel."""
        return self.kernel

    def with_model(self, model: Model) -> "Training":
        """Return the same with the parameters of a model that was learned."""
        return replace(self, kernel=model.kernel, likelihood=model.likelihood, learned=model.size)

    def sufficient(self) -> "Training":
        """Return the same in double precision where its parameters need that."""
        if self.dtype != "float32" or self.n_functions > 1:
            return self
        told = self.X, self.y, self.priority, self.kernel, self.likelihood
        if self.approximation == "factorised":
            return self if sufficient_precision(self.dtype, *told) == self.dtype else self.raised()
        return self.raised() if sharp_sites(*told) else self

    def raised(self) -> "Training":
        """Return the same in double precision, if memory allows."""
        try:
            raised = self.within_limit(self.wanted, 8)
        except ParameterError as error:
            warnings.warn(
                "single precision is not enough for noise so low, or a kernel so large and smooth, but double does not "
                f"fit: {error}. Predictions may be wrong",
                stacklevel=outside(),
            )
            return self
        return replace(raised, X=self._exact_inputs, dtype="float64").in_precision()

    @classmethod
    def needs(cls, sizes: Sizes, approximation: str, likelihood: Any) -> Needs:
        """Memory of selection and of what follows it."""
        return Needs(selection_need(sizes), inference_need(sizes) if approximation == "projected" else Need(0.0))

    def sizes(self, wanted: int, itemsize: int) -> Sizes:
        """Return what the memory of this training depends on."""
        n, p = len(self.y), self.X.shape[1] if self.X.ndim == 2 else 1
        return Sizes(n, p, wanted, itemsize, self.schedule, row_bytes(self.likelihood), self.n_functions)

    def within_limit(self, wanted: int, itemsize: int) -> Self:
        """Return the same with as many rows looked at and numbers kept as there is room for; refuse if it is too few.

        Parameters
        ----------
        wanted : int
            Size of the active set.
        itemsize : int
            Bytes of a number that is kept.
        """
        sizes = self.sizes(wanted, itemsize)
        needs = within(self.limit, sizes, lambda: self.needs(sizes, self.approximation, self.likelihood))
        (looked_at, entries), (_, kept) = (need.share(self.limit) for need in needs)
        rule = replace(self.rule, max_entries=entries if entries < needs.selection.numbers else None)
        return replace(self, rule=rule, feature_entries=kept, looked_at=looked_at)

    @property
    def _exact_inputs(self) -> Inputs:
        """Inputs as they were given, as far as these are all of them."""
        if self.given.X.shape[0] != len(self.y) or not self.kernel.numeric:
            return self.X
        return self.given.columns.inside(self.given.X) if self.given.columns else self.given.X

    def sample(self, size: int) -> Rows:
        """Return rows drawn at random, the same for the same random state, none of them held back."""
        order = np.argsort(self.priority, kind="stable")
        return np.sort(order[~self.held_back[order]][:size])

    def shown(self, step: Step) -> Step:
        """Return a step of learning on all rows here with the criterion as the user has it."""
        observations = total_weight(self.likelihood, len(self.y))
        return step._replace(criterion=self.given.unit.evidence_outside(step.criterion, observations))

    def part(self, rows: Rows, wanted: int, kernel: Kernel, likelihood: Likelihood) -> "Training":
        """Return the training on some rows only, with fewer active ones and other parameters."""
        wanted, n = min(wanted, len(rows)), len(rows)
        dtype = "float64" if n * wanted * self.n_functions <= SMALL_STUBS else self.dtype
        every = n == len(self.y)
        if every or dtype == self.dtype or self.given.X.shape[0] != len(self.y) or not self.kernel.numeric:
            X = self.X if dtype == self.dtype else self._exact_inputs
            X = X if every else X[rows]
        else:
            X = self.given.inside[rows]  # these alone in double precision
        return replace(
            self, X=X, y=self.y[rows], kernel=kernel, likelihood=likelihood.take(rows),
            wanted=wanted, initial=np.empty(0, dtype=np.intp), schedule=Schedule.choose(None, None, n, wanted),
            rule=IndexRule(), dtype=dtype, looked_at=n, selection="all", priority=self.priority[rows],
            group=None if self.group is None else self.group[rows], held_back=np.zeros(n, dtype=bool),
            feature_entries=n * wanted,
        ).in_precision()  # fmt: skip

    def only(self, rows: Rows) -> "Training":
        """Return the same on some rows, in order, as if no others had been given; the initial ones are among them."""
        return replace(
            self, X=self.X[rows], y=self.y[rows], likelihood=self.likelihood.take(rows), priority=self.priority[rows],
            held_back=self.held_back[rows], group=None if self.group is None else self.group[rows],
            initial=np.searchsorted(rows, self.initial), given=self.given.take(rows),
            wanted=min(self.wanted, int(np.sum(~self.held_back[rows]))), looked_at=min(self.looked_at, len(rows)),
        )  # fmt: skip

    def in_precision(self) -> "Training":
        """Return the same with inputs in the precision of the products."""
        return replace(self, X=self.X.astype(self.dtype, copy=False)) if self.kernel.numeric else self

    def select(self) -> Rows:
        """Return the active rows, without inference."""
        driver = self.driver()
        driver.run(self.wanted)
        return driver.active[: driver.size].copy()

    @property
    def start_from_sites(self) -> bool:
        """Whether the sites that selection finds are those of this likelihood."""
        return self.score_name != "variance"

    def projected_shard(self, left_out: Rows | None = None) -> ProjectedShard:
        """Return all rows, but those left out, for inference with all of them."""
        common: tuple[Any, ...] = (self.kernel, self.likelihood, self.dtype, self.blur, self.feature_entries)
        rows = np.arange(len(self.y))
        if left_out is None:
            return ProjectedShard(rows, self.X, self.y, *common)
        rows = np.setdiff1d(rows, left_out)
        return ProjectedShard(rows, self.X[rows], self.y[rows], *common)

    def infer(self, shard: Any, sites: Any, watch: Watch, deadline: Deadline = NEVER) -> Inference:
        """Run inference with all rows, from the sites that selection found; the watch ends it."""
        start = sites if self.start_from_sites else None
        return infer([shard], start, self.site_tolerance, watch=watch, rescue=True)

    def posterior(self, X: Inputs, basis: Basis, found: Inference) -> Posterior:
        """Return the posterior of new inputs; X holds the active ones."""
        return ProjectedPosterior(self.kernel, X, basis.L, *found.beliefs)

    def fitted_likelihood(self, shard: Any, found: Inference, left: float = np.inf) -> Likelihood:
        """Return the likelihood to predict with, by as many rows left out as there are seconds left for."""
        if not self.calibrate or not isinstance(self.likelihood, Discrete):
            return self.likelihood
        likelihood, y, known = shard.likelihood, shard.y, self.left_out(shard, found)
        if np.isfinite(left):
            few = np.arange(len(y))[:_TIMED]
            once = partial(likelihood.take(few).log_proba, *known[:, few])
            most = max(_CALIBRATED, int(left * len(few) / (_TRIALS * max(best_of_three(once), 1e-9))))
            some = np.sort(np.argsort(-self.priority[shard.rows], kind="stable")[:most])
            likelihood, y, known = likelihood.take(some), y[some], known[:, some]
        return self.likelihood.with_spread(best_spread(likelihood, y, known).share)

    def left_out(self, shard: Any, found: Inference) -> Floats:
        """Latent means and variances of the rows of a shard, each without those of the same inputs."""
        return left_out([shard], found.beliefs, self.groups_of(shard.rows))

    def groups_of(self, rows: Rows) -> Rows | None:
        """Return which of some rows have equal inputs."""
        return None if self.group is None else self.group[rows]

    def residuals(self, known: Floats, rows: Rows, left: float = np.inf) -> Floats:
        """Quantiles of the normal scores of targets under what is known of rows left out, latent means and variances.

        Rows that were held back are among the others. A likelihood without a cdf leaves the normal distribution. With
        little time left those first in line are enough.
        """
        if np.isfinite(left) and len(rows) > _CALIBRATED:
            some = self._in_time(known, rows, left)
            known, rows = known[:, some], rows[some]
        most = at_once(len(rows), _TOLD)
        if most < len(rows):
            at = np.sort(np.argpartition(-self.priority[rows], most)[:most])
            rows, known = rows[at], known[:, at]
        likelihood = self.likelihood.take(rows)
        once, weight = likelihood.for_new_rows(), likelihood.weight if isinstance(likelihood, Weighted) else None
        try:
            share: Floats = in_parts(cumulative, once, self.y[rows], known[0], known[1], each=_CUMULATIVE)
        except ParameterError:
            return score_quantiles(np.empty(0))
        scores = ndtri(np.clip(share, _CERTAIN, 1.0 - _CERTAIN))
        return score_quantiles(scores, self.learned, None if weight is None else np.broadcast_to(weight, len(rows)))

    def _in_time(self, known: Floats, rows: Rows, left: float) -> Rows:
        """Which of some rows there is time to find residuals of."""
        once = self.likelihood.for_new_rows()

        def residuals(size: int) -> Callable[[], object]:
            def find() -> None:
                with suppress(ParameterError):
                    cumulative(once, self.y[rows[:size]], *known[:, :size])

            return find

        most = max(_CALIBRATED, int(left / max(seconds_per_row(residuals, len(rows)), 1e-9)))
        return np.sort(np.argsort(-self.priority[rows], kind="stable")[:most])

    def refined(self, objective: Any, model: Model, watch: Callable[[Step], bool]) -> Model:
        """Return the model after what other learning there is: length scales of two classes by rows left out."""
        telling = spreads(self.likelihood) and len(self.y) >= _TELLING
        return refine_scales(objective, model, _SHORTER, watch) if telling else model

    def objective(self, rows: Rows, active: Rows, tolerance: float) -> ProjectedEvidence:
        """Return what learning maximises for these rows, whose numbers in the whole training set are given."""
        exact = self.exact_rows(rows)
        return ProjectedEvidence(rows, self.X, self.y, active, self.dtype, self.blur, tolerance, self.group, exact)

    def exact_rows(self, rows: Rows) -> Callable[[], Inputs]:
        """Return how to get the inputs of some of the given rows in double precision, should they be needed."""
        inside = self.given.inside
        return lambda: inside[rows].astype(np.float64) if self.kernel.numeric else inside[rows]

    def patience(self) -> Patience | None:
        """Return when to stop early, if rows are held back to tell."""
        return Patience() if self.held_back.any() else None

    def one_function(self) -> "Training":
        """Return the training of one of the functions, to time."""
        return self

    def model_seconds(self, d: int) -> float:
        """Seconds for a row in the selection of d active ones, and in inference if that is with all rows."""
        selection = self._selection_seconds(d)
        if self.approximation == "factorised":
            return selection
        return max(selection / SELECTION, selection + self.seconds_per_row(d))

    def _selection_seconds(self, d: int) -> float:
        """Seconds for a row in selection: a score and an entry of the kernel in every look, and products of stubs."""
        common = self.kernel, self.likelihood, self.score, 1, self.dtype
        X, y, priority, m = self.X[:_MEASURED], self.y[:_MEASURED], self.priority[:_MEASURED], len(self.y[:_MEASURED])

        def scores(size: int) -> Callable[[], object]:
            return LocalShard(np.arange(size), X[:size], y[:size], priority[:size], *common).keys

        def entries(size: int) -> Callable[[], object]:
            return partial(self.kernel.on(X[:size]), X[:1])

        a_look = seconds_per_row(scores, m) + seconds_per_row(entries, m)
        return self.schedule.looks(d) * a_look + self._product_seconds(d)

    def _product_seconds(self, d: int) -> float:
        """Seconds for d^2 multiplications and additions of a row."""
        solve = row_solver(np.eye(d), self.dtype)
        half = seconds_per_row(lambda size: partial(solve, np.ones((size, d), dtype=self.dtype)), len(self.y))
        return 2.0 * half  # of a triangular factor

    def prediction_seconds(self, d: int) -> float:
        """Seconds for the covariances of a row with d active ones, and its latent mean and variance."""
        return self._entries_seconds(d) + self._product_seconds(d)

    def _entries_seconds(self, d: int) -> float:
        X, kernel = self.X[:_MEASURED], self.kernel
        return seconds_per_row(lambda size: partial(kernel.on(X[:d]), X[:size]), min(len(self.y), _MEASURED))

    def seconds_per_row(self, d: int) -> float:
        """Seconds for a row in inference with all rows: to project it, and in the fewest sweeps that are of use."""
        X, y, m = self.X[:_MEASURED], self.y[:_MEASURED], len(self.y[:_MEASURED])
        var = np.asarray(self.kernel.diag(X), dtype=np.float64)

        def moments(size: int) -> Callable[[], object]:
            return partial(self.likelihood.take(np.arange(size)).tilted, y[:size], np.zeros(size), var[:size])

        product, sweeps = self._product_seconds(d), 1 if self.likelihood.conjugate else _FEWEST_SWEEPS
        a_sweep = seconds_per_row(moments, m) + 1.5 * product  # half a product for the variances, one for the sums
        return self._entries_seconds(d) + product + sweeps * a_sweep

    def plan(self) -> Plan:
        """Predict seconds and memory of selection and inference, after a short calibration."""
        with own_threads():
            return self._plan()

    def plan_memory(self, entries: int) -> int:
        """Bytes at the peak, with so many numbers in the stubs."""
        itemsize = np.dtype(self.dtype).itemsize
        needs = self.needs(self.sizes(self.wanted, itemsize), self.approximation, self.likelihood)
        return max(needs.selection.used(self.looked_at, entries), needs.inference.used(0, self.feature_entries))

    def _plan(self) -> Plan:
        n, d = len(self.y), self.wanted
        rates = calibrate(self.X, self.y, self.kernel, self.likelihood, self.score, self.schedule, self.dtype)
        rule = self.rule
        if self.selection == "refilled":
            rule = replace(rule, shrink_after=_FULL_UNTIL, decay=4.0)
        looked_at = self.looked_at
        seconds = predict_seconds(rates, looked_at, d, self.schedule, rule)
        memory = self.plan_memory(min(rule.peak(looked_at, d), rule.max_entries or looked_at * d))
        if self.approximation == "projected":
            sweeps = sweep_cost.calibrate(self.X, self.y, d, self.kernel, self.likelihood, self.dtype)
            seconds += sweep_cost.predict_seconds(sweeps, n, d, self.feature_entries / (n * d))
        index = min(looked_at, rule.limit(looked_at, d, d))
        return Plan(seconds, memory, n, d, index, self.schedule.block_size, self.schedule.pool_size, self.dtype)


def _almost_no_noise(kernel: Kernel, X: Inputs) -> Likelihood:
    return Gaussian(1e-6 * max(float(np.mean(kernel.diag(X[:1000]))), 1e-300))
