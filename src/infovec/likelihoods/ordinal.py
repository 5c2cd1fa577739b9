"""Ordered categories."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._types import Floats
from ..numerics.normal import log_interval, truncated
from ..numerics.powers import LARGEST_POWER, bell_power_moments, ndtr_power_moments
from ..numerics.roles import Role
from ..numerics.transforms import INCREASING, LOG, Transform
from .base import Tilted
from .lapse import Lapsing

__all__ = ["Ordinal"]


@dataclass(frozen=True, eq=False, repr=False)
class Ordinal(Lapsing):
    r"""Ordered categories y = 0, ..., C - 1 by cut points on the latent scale (LSH05 2.4, corrected).

    .. math:: p_0(y \mid f) = \Phi\bigl(\lambda (c_{y+1} - f)\bigr) - \Phi\bigl(\lambda (c_y - f)\bigr),
              \qquad c_0 = -\infty, \quad c_C = \infty,
    .. math:: p(y \mid f) = \frac{\epsilon}{C - 1} + \Bigl(1 - \frac{C \epsilon}{C - 1}\Bigr) p_0(y \mid f)

    Parameters
    ----------
    thresholds : array of shape (C - 1,)
        The finite cut points, strictly increasing.
    slope : float
        lambda.
    lapse : float
        epsilon, the probability that a label is wrong, and then any of the others. Zero stays zero, any other is
        learned too.
    """

    thresholds: Floats = field(default_factory=lambda: np.array([-1.0, 1.0]))
    slope: float = 1.0

    _clean: ClassVar[Mapping[str, Transform]] = {"thresholds": INCREASING, "slope": LOG}
    roles: ClassVar[Mapping[str, Role]] = {"thresholds": Role.BIAS, "slope": Role.REDUNDANT, "lapse": Role.FREE}

    def __post_init__(self) -> None:
        object.__setattr__(self, "thresholds", np.atleast_1d(self.thresholds))
        super().__post_init__()

    @property
    def labels(self) -> Floats:
        return np.arange(len(self.thresholds) + 1.0)

    def _ends(self, y: Floats) -> tuple[Floats, Floats]:
        """Lower and upper cut point of the category of each target."""
        cuts = np.concatenate([[-np.inf], self.thresholds, [np.inf]])
        category = np.asarray(y).astype(np.intp)
        return cuts[category], cuts[category + 1]

    def clean_log_prob(self, y: Floats, f: Floats) -> Floats:
        lower, upper = self._ends(y)
        return log_interval(self.slope * (lower - f), self.slope * (upper - f))

    def clean_tilted(self, y: Floats, mean: Floats, var: Floats) -> Tilted:
        lower, upper = self._ends(y)
        c = 1.0 / np.sqrt(self.slope**-2 + var)
        log_z, first, shrinkage = truncated(c * (lower - mean), c * (upper - mean))
        return Tilted(log_z, c * first, c**2 * shrinkage)

    def clean_power(self, y: Floats, mean: Floats, var: Floats, weight: Floats) -> Tilted:
        """Return the moments; the lowest and the highest category are those of a probit."""
        lower, upper = self._ends(y)
        side = np.where(np.isneginf(lower), -1.0, np.where(np.isposinf(upper), 1.0, 0.0))
        side = np.where(weight > LARGEST_POWER, 0.0, side)
        found = np.empty((3, len(mean)))
        end, inner = np.flatnonzero(side), np.flatnonzero(side == 0.0)
        if end.size:
            c, cut = self.slope * side[end], np.where(side > 0.0, lower, upper)[end]
            log_z, g, nu = ndtr_power_moments(c * (mean[end] - cut), c**2 * var[end], weight[end])
            found[:, end] = log_z, c * g, c**2 * np.maximum(nu, 0.0)
        if inner.size:
            found[:, inner] = self._inner_power(y[inner], mean[inner], var[inner], weight[inner])
        return Tilted(*found)

    def _inner_power(self, y: Floats, mean: Floats, var: Floats, weight: Floats) -> Tilted:
        def curve(f: Floats) -> Tilted:
            if f.ndim == 2:
                return Tilted(self.clean_log_prob(y[:, None], f), f, f)  # nodes ask for nothing else
            return self.clean_tilted(y, f, np.zeros(len(f)))

        found, agree = bell_power_moments(curve, mean, var, weight)
        hard = np.flatnonzero(~agree)
        if hard.size:
            again = super().clean_power(y[hard], mean[hard], var[hard], weight[hard])
            for part, new in zip(found, again, strict=True):
                part[hard] = new
        return Tilted(found.log_z, found.g, np.maximum(found.nu, 0.0))

    def clean_slopes(self, y: Floats, mean: Floats, var: Floats) -> dict[str, Any]:
        lower, upper = self._ends(y)
        c = 1.0 / np.sqrt(self.slope**-2 + var)
        u, v = c * (lower - mean), c * (upper - mean)
        log_z, first, shrinkage = truncated(u, v)
        by_cut = np.zeros((len(self.thresholds), len(log_z)))
        rows = np.arange(len(log_z))
        category = np.asarray(y).astype(np.intp)
        for end, z, sign in ((category - 1, u, -1.0), (category, v, 1.0)):
            inner = (end >= 0) & (end < len(self.thresholds))
            density = np.exp(-0.5 * z[inner] ** 2 - 0.5 * np.log(2 * np.pi) - log_z[inner])
            by_cut[end[inner], rows[inner]] = sign * c[inner] * density
        by_slope = (shrinkage - first**2) * self.slope**-3 * c**2
        return {"thresholds": by_cut, "slope": by_slope}

    def in_noise(self) -> tuple["Ordinal", float, float, float]:
        lowest, highest = self.thresholds[[0, -1]]
        centre = 0.5 * (lowest + highest)
        plain = Ordinal(self.slope * (self.thresholds - centre), lapse=self.lapse)
        return plain, self.slope, float(centre), float(self.slope * (highest - lowest))
