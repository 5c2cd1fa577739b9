"""What a fit needs: from checked settings and data to selection, inference, learning and their cost."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

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
from ..numerics.residuals import score_quantiles
from ..posterior import Posterior, ProjectedPosterior
from ..runtime import NEVER, Deadline, best_of_three, own_threads
from ..scores import Score
from ..selection import Driver, GainDriver, Patience, Schedule
from ..selection.cost import calibrate, predict_bytes, predict_seconds
from ..selection.precision import sufficient_precision
from ..shards import Basis, IndexRule, LocalShard, ProjectedShard, RefilledShard, cut, share
from .budget import feature_entries, shown_bytes, stub_entries
from .sample import Sample
from .settings import PROJECTED_GAIN

__all__ = ["SMALL_STUBS", "Plan", "Training"]

SMALL_STUBS = 1_000_000  # numbers in a stub matrix that is kept in double precision whatever dtype says
_FULL_UNTIL = 200  # NIPS03: full greedy selection until then
_INDEX_SIZE = 500  # NIPS03: rows in an index that is refilled
_SHORTER = 1.2  # factor between length scales that are tried by rows left out
_TELLING = 1000  # rows that are enough for that
_TIMED, _CALIBRATED = 50, 200  # rows to time a prediction on, and those that calibration has whatever the time
_TRIALS = 150  # predictions of all rows that it takes, at most
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
    limit: int  # bytes that training may take
    group: Rows | None = None  # the same number for rows of equal inputs
    learned: int = 0  # numbers that were learned from these rows
    n_shards: int = 1  # that the rows are cut into

    site_tolerance: ClassVar[float] = 1e-4
    """Largest change of a site at the end of inference, in units of the posterior."""
    learning_tolerance: ClassVar[float] = 1e-4
    """Of the criterion and its gradient, as optimisation has it."""

    @property
    def n_functions(self) -> int:
        """Latent functions of the model."""
        return 1

    def driver(self) -> "Driver | GainDriver":
        """Return what selects rows."""
        if self.score_name == PROJECTED_GAIN:
            shards, told = self.projected_shards(np.arange(len(self.y))), (self.priority, self.held_back)
            return GainDriver(shards, self.kernel, self.likelihood, self.wanted, self.schedule, *told)
        likelihood, score = self.likelihood, self.score
        if self.score_name == "variance" and self.approximation == "projected":
            likelihood = _almost_no_noise(self.kernel, self.X)  # then what is left is that of a pivoted Cholesky factor
        parts = cut(len(self.y), self.n_shards)
        shards = [self._shard(number, part, likelihood, score) for number, part in enumerate(parts)]
        return Driver(shards, self.kernel, likelihood, score, self.wanted, self.schedule)

    def _shard(self, number: int, part: slice, likelihood: Likelihood, score: Score) -> LocalShard:
        """Return some rows to select from, with their share of what all of them may have."""
        n, here = len(self.y), len(self.y[part])
        entries, d = self.rule.max_entries, self.wanted
        rule = replace(self.rule, max_entries=None if entries is None else share(entries, here, n, d))
        common: tuple[Any, ...] = (
            np.arange(n)[part], self.X if here == n else self.X[part], self.y[part], self.priority[part], self.kernel,
            likelihood, score, d, self.dtype, rule, self.held_back[part],
        )  # fmt: skip
        if self.selection != "refilled":
            return LocalShard(*common)
        seed = int(1e9 * self.priority[0])
        return RefilledShard(
            *common, index_size=share(max(_INDEX_SIZE, 2 * self.schedule.pool_size), here, n, 1), retained=_RETAINED,
            full_until=_FULL_UNTIL, rng=np.random.default_rng([seed, number] if number else seed),
        )  # fmt: skip

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
        n, p, d = len(self.y), self.X.shape[1] if self.X.ndim == 2 else 1, self.wanted
        try:
            entries = stub_entries(self.limit, n, p, d, self.schedule, 8)
            kept = feature_entries(self.limit, n, p, d, 8) if self.approximation == "projected" else 0
        except ParameterError as error:
            warnings.warn(
                "single precision is not enough for noise so low, or a kernel so large and smooth, but double does not "
                f"fit: {error}. Predictions may be wrong",
                stacklevel=outside(),
            )
            return self
        rule = replace(self.rule, max_entries=entries if entries < n * d else None)
        return replace(self, X=self._exact_inputs, dtype="float64", rule=rule, feature_entries=kept).in_precision()

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
        X = self.X if dtype == self.dtype else self._exact_inputs
        return replace(
            self, X=X if every else X[rows], y=self.y[rows], kernel=kernel, likelihood=likelihood.take(rows),
            wanted=wanted, initial=np.empty(0, dtype=np.intp), schedule=Schedule.choose(None, None, n, wanted),
            rule=IndexRule(), dtype=dtype, selection="all", priority=self.priority[rows],
            group=None if self.group is None else self.group[rows], held_back=np.zeros(n, dtype=bool),
            feature_entries=n * wanted,
        ).in_precision()  # fmt: skip

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

    def projected_shards(self, rows: Rows) -> list[Any]:
        """Return some rows, ascending, for inference with all of them."""
        return [
            ProjectedShard(at, X, self.y[at], self.kernel, self.likelihood, self.dtype, self.blur, entries)
            for at, X, entries in self._cut(rows)
        ]

    def _cut(self, rows: Rows) -> Iterator[tuple[Rows, Inputs, int]]:
        """Rows of each shard, their inputs, and how many numbers of V it may keep."""
        n = len(rows)
        for part in cut(n, self.n_shards):
            at = rows[part]
            entries = share(self.feature_entries, len(at), n)
            yield at, self.X if len(at) == len(self.y) else self.X[at], entries

    def infer(self, shards: Any, sites: Any, watch: Watch, deadline: Deadline = NEVER) -> Inference:
        """Run inference with all rows, from the sites that selection found; the watch ends it."""
        start = sites if self.start_from_sites else None
        return infer(shards, start, self.site_tolerance, watch=watch, rescue=True)

    def posterior(self, X: Inputs, basis: Basis, found: Inference) -> Posterior:
        """Return the posterior of new inputs; X holds the active ones."""
        return ProjectedPosterior(self.kernel, X, basis.L, *found.beliefs)

    def fitted_likelihood(self, shards: Any, rows: Rows, found: Inference, left: float = np.inf) -> Likelihood:
        """Return the likelihood to predict with, by as many rows left out as there are seconds left for."""
        if not self.calibrate or not isinstance(self.likelihood, Discrete):
            return self.likelihood
        likelihood, y, known = self.likelihood.take(rows), self.y[rows], self.left_out(shards, rows, found)
        if np.isfinite(left):
            few = np.arange(len(y))[:_TIMED]
            once = partial(likelihood.take(few).log_proba, *known[:, few])
            most = max(_CALIBRATED, int(left * len(few) / (_TRIALS * max(best_of_three(once), 1e-9))))
            some = np.sort(np.argsort(-self.priority[rows], kind="stable")[:most])
            likelihood, y, known = likelihood.take(some), y[some], known[:, some]
        return self.likelihood.with_spread(best_spread(likelihood, y, known).share)

    def left_out(self, shards: Any, rows: Rows, found: Inference) -> Floats:
        """Latent means and variances of the rows of all shards, each without those of the same inputs."""
        return left_out(shards, found.beliefs, self.groups_of(rows))

    def groups_of(self, rows: Rows) -> Rows | None:
        """Return which of some rows have equal inputs."""
        return None if self.group is None else self.group[rows]

    def residuals(self, known: Floats, rows: Rows) -> Floats:
        """Quantiles of the normal scores of targets under what is known of rows left out, latent means and variances.

        Rows that were held back are among the others. A likelihood without a cdf leaves the normal distribution.
        """
        likelihood = self.likelihood.take(rows)
        once, weight = likelihood.for_new_rows(), likelihood.weight if isinstance(likelihood, Weighted) else None
        try:
            share = cumulative(once, self.y[rows], *known)
        except ParameterError:
            return score_quantiles(np.empty(0))
        scores = ndtri(np.clip(share, _CERTAIN, 1.0 - _CERTAIN))
        return score_quantiles(scores, self.learned, None if weight is None else np.broadcast_to(weight, len(rows)))

    def refined(self, objective: Any, model: Model, watch: Callable[[Step], bool]) -> Model:
        """Return the model after what other learning there is: length scales of two classes by rows left out."""
        telling = spreads(self.likelihood) and len(self.y) >= _TELLING
        return refine_scales(objective, model, _SHORTER, watch) if telling else model

    def objective(self, rows: Rows, active: Rows, tolerance: float) -> ProjectedEvidence:
        """Return what learning maximises for these rows, whose numbers in the whole training set are given."""
        exact = self.exact_rows(rows)
        return ProjectedEvidence(
            rows, self.X, self.y, active, self.dtype, self.blur, tolerance, self.group, exact, self.n_shards
        )

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

    def seconds_per_row(self, d: int) -> float:
        """Seconds for a row in inference with all rows, where these may be too many: not with one function."""
        return 0.0

    @staticmethod
    def more_bytes(n: int, d: int, n_functions: int) -> int:
        """Memory that several functions need beyond one."""
        return 0

    def plan(self) -> Plan:
        """Predict seconds and memory of selection and inference, after a short calibration."""
        with own_threads():
            return self._plan()

    def _plan(self) -> Plan:
        n, p, d = len(self.y), self.X.shape[1] if self.X.ndim == 2 else 1, self.wanted
        rates = calibrate(self.X, self.y, self.kernel, self.likelihood, self.score, self.schedule, self.dtype)
        rule = self.rule
        if self.selection == "refilled":
            rule = replace(rule, shrink_after=_FULL_UNTIL, decay=4.0)
        seconds = predict_seconds(rates, n, d, self.schedule, rule)
        entries = min(rule.peak(n, d), rule.max_entries or n * d)
        itemsize = np.dtype(self.dtype).itemsize
        memory = predict_bytes(n, p, d, self.schedule, itemsize, entries)
        if self.approximation == "projected":
            sweeps = sweep_cost.calibrate(self.X, self.y, d, self.kernel, self.likelihood, self.dtype)
            kept = self.feature_entries
            seconds += sweep_cost.predict_seconds(sweeps, n, d, kept / (n * d))
            memory = max(memory, sweep_cost.predict_bytes(n, p, d, itemsize, kept))
        index = min(n, rule.limit(n, d, d))
        return Plan(seconds, memory, n, d, index, self.schedule.block_size, self.schedule.pool_size, self.dtype)


def _almost_no_noise(kernel: Kernel, X: Inputs) -> Likelihood:
    return Gaussian(1e-6 * max(float(np.mean(kernel.diag(X[:1000]))), 1e-300))
