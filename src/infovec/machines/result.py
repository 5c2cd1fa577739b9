"""What a fit leaves behind."""

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np

from .._types import Array, Floats, Rows
from ..inference import LOST, Sweep
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..likelihoods.classes import ClassLikelihood
from ..posterior import Posterior
from ..selection import Move
from .run import Moved
from .unit import Unit

__all__ = ["Result", "not_converged"]


class Result(NamedTuple):
    """A posterior, the likelihood to predict with, and how they were found."""

    posterior: Posterior
    likelihood: Likelihood | ClassLikelihood
    active: Rows
    site_precision: Floats
    site_mean: Floats
    log_evidence: float
    converged: bool
    sweeps: list[Sweep]
    observations: float = 0.0  # that the evidence is the density of
    dtype: str = "float64"  # of the products that it was found with
    residuals: Floats | None = None  # quantiles of the normal scores of real targets under predictions of rows left out
    left_out: Floats | None = None  # latent means and variances of rows that were asked for, without their own sites
    moves: Sequence[Move] = ()  # exchanges of active rows
    moved: Moved | None = None  # what moving the active inputs has come to

    @property
    def has_moved(self) -> bool:
        """Whether the active inputs are no longer those of the active rows."""
        return self.moved is not None and self.moved.inputs is not None

    def in_unit(self, unit: Unit, kernel: Kernel | list[Kernel]) -> "Result":
        """Return the same as the user has it, with the kernel that is the user's; only numbers have units."""
        if unit.plain:
            return self
        sweeps = [
            s._replace(log_evidence=unit.evidence_outside(s.log_evidence, self.observations)) for s in self.sweeps
        ]
        return self._replace(
            posterior=unit.posterior_outside(self.posterior, cast(Kernel, kernel)),
            likelihood=unit.likelihood_outside(cast(Likelihood, self.likelihood)),
            site_precision=self.site_precision / unit.scale**2,
            site_mean=self.site_mean * unit.scale,
            log_evidence=unit.evidence_outside(self.log_evidence, self.observations),
            sweeps=sweeps,
            moved=None if self.moved is None else self.moved.outside(unit.evidence_outside, self.observations),
        )

    def history(self) -> dict[str, Array]:
        """Return the columns of the history of sweeps, if there were any."""
        names = Sweep._fields if self.sweeps else ()
        return {f"sweep_{name}": np.array([getattr(sweep, name) for sweep in self.sweeps]) for name in names}


def not_converged(result: Result) -> str:
    """Say what is known of a result that did not settle, what was done about it, and what would help."""
    change = result.sweeps[-1].change
    moved = f"{change:.2g} posterior standard deviations" if np.isfinite(change) else "more than can be told"
    log_concave = not isinstance(result.likelihood, Likelihood) or result.likelihood.log_concave
    noise = "" if log_concave else ", or noise of larger scale,"
    text = (
        f"the sites still moved by {moved} in sweep {len(result.sweeps)}: the model is usable, but not exactly what "
        f"was asked for. A kernel of smaller variance or longer length scale{noise} settles sooner"
    )
    if change <= LOST or log_concave:
        return text
    return f"{text}. Rows that contradict their neighbours were allowed to move the mean only"
