"""A run: selection, then inference, to what is kept of a fit."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._types import Floats, Inputs, Rows
from ..criteria import log_evidence
from ..inference import LOST, Sweep, some_rows, without_own_site
from ..likelihoods import Discrete, Likelihood, total_weight
from ..posterior import FactorisedPosterior, Posterior
from ..runtime import Deadline, Interruption, give_back
from ..selection import Driver, GainDriver, Patience, Progress, StopReason
from .all_rows import infer_all_rows
from .class_by_class import SeparateDriver
from .one_function import SELECTION, Training
from .unit import Unit

__all__ = ["Result", "Run", "not_converged"]

_LAST = 0.1  # seconds for calibration, if there are none left
_NEXT = 2.0  # times a sweep: the next one, and what follows the last
_FEWEST_ROWS = 200  # to infer with, whatever the time
_FIRST_STAGE = 50  # active rows at the first look at the rows held back


class Result(NamedTuple):
    """What a fit leaves behind."""

    posterior: Posterior
    likelihood: Likelihood
    active: Rows
    site_precision: Floats
    site_mean: Floats
    log_evidence: float
    converged: bool
    sweeps: list[Sweep]
    observations: float = 0.0  # that the evidence is the density of
    dtype: str = "float64"  # of the products that it was found with
    residuals: Floats | None = None  # quantiles of the normal scores of real targets under predictions of rows left out

    def in_unit(self, unit: Unit, kernel: Any) -> "Result":
        """Return the same as the user has it, with the kernel that is the user's."""
        if unit.plain:
            return self
        sweeps = [
            s._replace(log_evidence=unit.evidence_outside(s.log_evidence, self.observations)) for s in self.sweeps
        ]
        return self._replace(
            posterior=unit.posterior_outside(self.posterior, kernel),
            likelihood=unit.likelihood_outside(self.likelihood),
            site_precision=self.site_precision / unit.scale**2,
            site_mean=self.site_mean * unit.scale,
            log_evidence=unit.evidence_outside(self.log_evidence, self.observations),
            sweeps=sweeps,
        )

    def history(self) -> dict[str, Any]:
        """Return the columns of the history of sweeps, if there were any."""
        names = Sweep._fields if self.sweeps else ()
        return {f"sweep_{name}": np.array([getattr(sweep, name) for sweep in self.sweeps]) for name in names}


def not_converged(result: Result) -> str:
    """Say what is known of a result that did not settle, what was done about it, and what would help."""
    change = result.sweeps[-1].change
    moved = f"{change:.2g} posterior standard deviations" if np.isfinite(change) else "more than can be told"
    log_concave = getattr(result.likelihood, "log_concave", True)  # those of coupled classes are
    noise = "" if log_concave else ", or noise of larger scale,"
    text = (
        f"the sites still moved by {moved} in sweep {len(result.sweeps)}: the model is usable, but not exactly what "
        f"was asked for. A kernel of smaller variance or longer length scale{noise} settles sooner"
    )
    if change <= LOST or log_concave:
        return text
    return f"{text}. Rows that contradict their neighbours were allowed to move the mean only"


class Run:
    """Selection by a driver and the inference that follows it, within one budget of time.

    Parameters
    ----------
    driver : Driver
    X : inputs of all training rows, in double precision or as given
    training : Training
    tell : callable, optional
        Told of every block and every sweep; a true answer ends the run.
    max_seconds : float
    soon : float
        Seconds that an interruption leaves for what is still to be done.
    """

    def __init__(
        self,
        driver: Driver | GainDriver,
        X: Inputs,
        training: Training,
        tell: Callable[[Progress], bool] | None,
        max_seconds: float,
        soon: float = np.inf,
    ) -> None:
        self.driver, self.X, self.training, self.tell, self.soon = driver, X, training, tell, soon
        self.end, self.late = time.perf_counter() + max_seconds, False  # late: whether sweeps ended for want of time

    @property
    def _left(self) -> float:
        return max(self.end - time.perf_counter(), 0.0)

    def hurry(self) -> None:
        """End soon."""
        self.end = min(self.end, time.perf_counter() + self.soon)

    def to(self, wanted: int, patience: Patience | None) -> tuple[StopReason, Result]:
        """Run until the active set has ``wanted`` rows, or patience ends, or something else ends it."""
        with Interruption() as interruption:
            return self._to(wanted, patience, interruption)

    def _to(self, wanted: int, patience: Patience | None, interruption: Interruption) -> tuple[StopReason, Result]:
        if isinstance(self.driver, SeparateDriver):
            return self._select(wanted, patience), self.driver.result(self.X)
        if self.training.approximation == "factorised":
            return self._select(wanted, patience), self._factorised()
        stop = self._select(wanted, None) if patience is None else self._staged(wanted, patience)
        if interruption.answer():  # the rows so far need sites, for which there is a little time
            stop = StopReason.INTERRUPTED
            self.hurry()
        beyond = self._beyond_time()
        self._free()
        interrupted, result = self._projected(beyond, wanted)
        late = not result.converged and (self.late or self._left == 0.0)
        if stop is StopReason.COMPLETE and (beyond is not None or late):
            stop = StopReason.TIME
        return StopReason.INTERRUPTED if interrupted else stop, result

    def _select(self, wanted: int, patience: Patience | None) -> StopReason:
        alone = self.training.approximation == "factorised" or isinstance(self.driver, SeparateDriver)
        stop = self.driver.run(wanted, self.tell, self._left if alone else SELECTION * self._left, patience)
        if stop is StopReason.INTERRUPTED and not self.driver.size:
            raise KeyboardInterrupt
        return stop

    def _staged(self, wanted: int, patience: Patience) -> StopReason:
        """Grow by half as long as rows held back are predicted better, then go back to where they were best."""
        size = _FIRST_STAGE
        held = np.flatnonzero(self.training.held_back)
        while True:
            stop = self._select(min(size, wanted), None)
            if stop is not StopReason.COMPLETE:
                return stop
            interrupted, result = self._projected(held, wanted)
            if interrupted:
                return StopReason.INTERRUPTED
            if patience.ends(self.driver.size, self._held_back(result, held)):
                self.driver.rewind(patience.best_size)
                return StopReason.SETTLED
            if self.driver.size == wanted:
                return stop
            size += size // 2

    def _held_back(self, result: Result, held: Rows) -> float:
        X = self.X[held]
        mean, var = result.posterior.predict(X if X.dtype == object else X.astype(np.float64))
        return float(np.mean(result.likelihood.take(held).log_predictive(self.training.y[held], mean, var)))

    def _factorised(self) -> Result:
        """Sites on the active rows only, as selection left them."""
        assert isinstance(self.driver, Driver)
        driver, likelihood, d = self.driver, self.training.likelihood, self.driver.size
        posterior, outside, active = driver.posterior(self.X), driver.log_likelihood_outside(), driver.active[:d].copy()
        known = np.concatenate([active, *(shard.rows[~shard.taken] for shard in driver.shards)])
        self._free()
        evidence = log_evidence(posterior, driver.y[:d], likelihood.take(active), outside)
        return Result(
            posterior, likelihood, active, posterior.precision, posterior.site_mean, evidence, True, [],
            total_weight(likelihood.take(known), len(known)), self.training.dtype, self._residuals(posterior, active),
        )  # fmt: skip

    def _residuals(self, posterior: FactorisedPosterior, active: Rows) -> Floats | None:
        if isinstance(self.training.likelihood, Discrete):
            return None
        rows = some_rows(self.training.priority)
        known = without_own_site(posterior, active, self.X, rows, self.training.group)
        return self.training.residuals(known, rows, max(self._left, _LAST))

    def _free(self) -> None:
        if not self.training.keep:
            self.driver.shards = []  # their memory is needed now
            give_back()

    def _beyond_time(self) -> Rows | None:
        """Rows for which not even a few sweeps would end in time, the last in line; None if there are none."""
        n, active = len(self.training.y), self.driver.active[: self.driver.size]
        a_row = self.training.seconds_per_row(len(active)) if np.isfinite(self.end) else 0.0
        most = max(self._left / a_row, len(active), _FEWEST_ROWS) if a_row else n
        if most >= n:
            return None
        order = np.argsort(-self.training.priority, kind="stable")
        return np.setdiff1d(order[int(most) :], active)

    def _projected(self, left_out: Rows | None, wanted: int) -> tuple[bool, Result]:
        """Sites on all rows but those left out; say whether it was interrupted."""
        training, driver = self.training, self.driver
        active = driver.active[: driver.size].copy()
        start, times = time.perf_counter(), [time.perf_counter()]

        def watch(sweep: Sweep) -> bool:
            times.append(time.perf_counter())
            selecting = driver.seconds[driver.size - 1] if driver.size else 0.0  # it may be that no row says anything
            seconds = selecting + times[-1] - start
            told = self.tell and self.tell(
                Progress(driver.size, wanted, sweep.change, seconds, None, sweep.log_evidence)
            )
            known = driver.sites is not None or len(times) > 2  # the posterior has the sites before the last sweep
            self.late = known and self._left < _NEXT * (times[-1] - times[-2])  # the next one would end too late
            return bool(told) or (known and interruption.asked) or self.late

        with Interruption() as interruption:
            deadline = Deadline(self.end, lambda: interruption.asked)
            projected = infer_all_rows(training, active, self.X, driver.sites, watch, left_out, deadline)
        interrupted, (posterior, shard, found) = interruption.asked, projected
        if interrupted:
            self.end = time.perf_counter()
        give_back()  # what the sweeps took
        likelihood = training.fitted_likelihood(shard, found, max(self._left, _LAST))
        sites = projected.sites(active)
        real = training.n_functions == 1 and not isinstance(likelihood, Discrete)
        left = max(self._left, _LAST)
        residuals = training.residuals(training.left_out(shard, found), shard.rows, left) if real else None
        return interrupted, Result(
            posterior, likelihood, active, *sites, found.log_evidence, found.converged, found.sweeps,
            total_weight(shard.likelihood, len(shard.rows)), str(shard.dtype), residuals,
        )  # fmt: skip
