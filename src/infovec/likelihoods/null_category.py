"""Two classes and rows whose class is not known."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import log_softmax

from .._types import Floats, Mask
from ..errors import ParameterError
from ..numerics.normal import hazard, hazard_excess, log_ndtr
from ..numerics.powers import LARGEST_POWER, ndtr_power_moments
from ..numerics.roles import Role
from ..numerics.transforms import IDENTITY, LOG, SHARE, Transform
from ..numerics.two_modes import two_mode_moments
from .base import Discrete, Tilted

__all__ = ["NullCategory"]


class _Side(NamedTuple):
    """One of the two classes under a Gaussian: log probability, slope, curvature, and what these are made of."""

    log_z: Floats
    g: Floats
    nu: Floats
    u: Floats
    hazard: Floats


@dataclass(frozen=True, eq=False, repr=False)
class NullCategory(Discrete):
    r"""Two classes, y = -1 or +1, with a category between them that no row without label is in (Lawrence and Jordan).

    .. math:: P(\pm 1 \mid f) = \Phi\bigl(\pm\lambda (f + b) - \tfrac{w}{2}\bigr)

    and the rest is the null category. The label of a row of class -1 or +1 is missing with probability
    :math:`\gamma_\pm`, that of a row of the null category never, so what is seen of a row, y = 0 without label, has

    .. math:: p(\pm 1 \mid f) = (1 - \gamma_\pm) P(\pm 1 \mid f), \qquad
              p(0 \mid f) = \gamma_- P(-1 \mid f) + \gamma_+ P(+1 \mid f).

    The latter has two modes: a row without label keeps the boundary away. Between the modes its site has a negative
    precision. Many such sites leave no posterior, so with the projected one these rows wait without a site until their
    neighbours have drawn them to one side: certainty spreads from the labels. New rows are predicted given that they
    are not in the null category.

    Parameters
    ----------
    bias : float
        b.
    width : float
        w, of the null category, in standard deviations of the noise.
    missing_negative, missing_positive : float
        Probabilities that a label is missing.
    slope : float
        lambda.
    expecting : bool
        For selection: a row without label has the precision that its label would bring on average, and does not move
        the mean. So rows are active where labels would tell most, whether or not these are known.
    """

    log_concave: ClassVar[bool] = False
    waits: ClassVar[bool] = True

    bias: float = 0.0
    width: float = 1.0
    missing_negative: float = 0.5
    missing_positive: float = 0.5
    slope: float = 1.0
    expecting: bool = field(default=False, kw_only=True)

    transforms: ClassVar[Mapping[str, Transform]] = {
        "bias": IDENTITY, "width": LOG, "missing_negative": SHARE, "missing_positive": SHARE, "slope": LOG,
    }  # fmt: skip
    roles: ClassVar[Mapping[str, Role]] = {
        "bias": Role.BIAS, "width": Role.FREE, "missing_negative": Role.FREE, "missing_positive": Role.FREE,
        "slope": Role.REDUNDANT,
    }  # fmt: skip

    @property
    def labels(self) -> Floats:
        return np.array([-1.0, 1.0])

    def told(self, y: Floats) -> Mask:
        return np.asarray(y) != 0.0

    def check_targets(self, y: Floats) -> None:
        if not np.any(self.told(y)):
            raise ParameterError("NullCategory: no row has a label; give -1 or +1 for some, 0 is a row without")
        super().check_targets(np.where(self.told(y), y, 1.0))

    def log_prob(self, y: Floats, f: Floats) -> Floats:
        z = self.slope * (f + self.bias)
        below, above = log_ndtr(-z - 0.5 * self.width), log_ndtr(z - 0.5 * self.width)
        return np.where(
            y == 0.0,
            np.logaddexp(np.log(self.missing_negative) + below, np.log(self.missing_positive) + above),
            np.where(y < 0.0, np.log1p(-self.missing_negative) + below, np.log1p(-self.missing_positive) + above),
        )

    def _side(self, sign: Floats | float, mean: Floats, var: Floats) -> _Side:
        r"""One class under N(mean, var): a probit whose boundary is half a width away.

        .. math:: u = \frac{\pm(\mu + b) - w / 2\lambda}{\sqrt{\lambda^{-2} + \sigma^2}}
        """
        s = 1.0 / np.sqrt(self.slope**-2 + np.asarray(var))
        u = s * (sign * (mean + self.bias) - 0.5 * self.width / self.slope)
        h = hazard(u)
        return _Side(log_ndtr(u), sign * s * h, s**2 * h * hazard_excess(u, h), u, h)

    def _sides(self, mean: Floats, var: Floats) -> tuple[Floats, Floats, _Side, _Side]:
        """Log normaliser of rows without label, the share of the class +1 in it, and both classes."""
        below, above = self._side(-1.0, mean, var), self._side(1.0, mean, var)
        log_z = np.logaddexp(np.log(self.missing_negative) + below.log_z, np.log(self.missing_positive) + above.log_z)
        return log_z, np.exp(np.log(self.missing_positive) + above.log_z - log_z), below, above

    def tilted(self, y: Floats, mean: Floats, var: Floats) -> Tilted:
        r"""Log normaliser and its derivatives; without label they are those of a mixture with shares r of the classes.

        .. math:: g = r_- g_- + r_+ g_+, \qquad \nu = r_- \nu_- + r_+ \nu_+ - r_- r_+ (g_+ - g_-)^2
        """
        log_z, share, below, above = self._sides(mean, var)
        rest = np.exp(np.log(self.missing_negative) + below.log_z - log_z)
        g = rest * below.g + share * above.g
        nu = rest * below.nu + share * above.nu - rest * share * (above.g - below.g) ** 2
        if self.expecting:
            g, nu = np.zeros_like(g), rest * below.nu + share * above.nu
        found = [log_z, g, nu]
        for sign, side, missing in ((-1.0, below, self.missing_negative), (1.0, above, self.missing_positive)):
            own = np.log1p(-missing) + side.log_z, side.g, side.nu
            found = [np.where(y == sign, part, other) for part, other in zip(own, found, strict=True)]
        return Tilted(*found)

    def tilted_power(self, y: Floats, mean: Floats, var: Floats, weight: Floats) -> Tilted:
        found, told = np.empty((3, len(mean))), self.told(y)
        at, rest = np.flatnonzero(told & (weight <= LARGEST_POWER)), np.flatnonzero(~told)
        steep = np.flatnonzero(told & (weight > LARGEST_POWER))
        if steep.size:
            found[:, steep] = super().tilted_power(y[steep], mean[steep], var[steep], weight[steep])
        if at.size:
            c, w = self.slope * y[at], weight[at]
            centre = c * (mean[at] + self.bias) - 0.5 * self.width
            log_z, g, nu = ndtr_power_moments(centre, c**2 * var[at], w)
            given = np.log1p(-np.where(y[at] < 0.0, self.missing_negative, self.missing_positive))
            found[:, at] = log_z + w * given, c * g, c**2 * np.maximum(nu, 0.0)
        if rest.size:
            z, variance = self.slope * (mean[rest] + self.bias), self.slope**2 * var[rest]
            plain = NullCategory(0.0, self.width, self.missing_negative, self.missing_positive)
            log_z, g, nu = two_mode_moments(plain.log_prob, y[rest], z, variance, weight[rest], self.width)
            found[:, rest] = log_z, self.slope * g, self.slope**2 * nu
        return Tilted(*found)

    def d_log_z(self, y: Floats, mean: Floats, var: Floats) -> Floats:
        _, share, below, above = self._sides(mean, var)
        known, positive = self.told(y), np.asarray(y) > 0.0
        share = np.where(known, positive, share)
        s = 1.0 / np.sqrt(self.slope**-2 + var)
        slopes: dict[str, Any] = {"bias": 0.0, "width": 0.0, "slope": 0.0}
        for part, side in ((1.0 - share, below), (share, above)):
            slopes["bias"] = slopes["bias"] + part * side.g
            slopes["width"] = slopes["width"] - 0.5 * part * side.hazard * s / self.slope
            by_slope = side.u * s**2 * self.slope**-3 + 0.5 * s * self.width * self.slope**-2
            slopes["slope"] = slopes["slope"] + part * side.hazard * by_slope
        for name, part in (("missing_negative", 1.0 - share), ("missing_positive", share)):
            missing = getattr(self, name)
            slopes[name] = part * np.where(known, -1.0 / (1.0 - missing), 1.0 / missing)
        return self._gradient(slopes)

    def log_proba(self, mean: Floats, var: Floats) -> Floats:
        r"""Log probability of both classes, the null category conditioned away.

        .. math:: P(\pm 1) = \frac{\Phi(u_\pm)}{\Phi(u_-) + \Phi(u_+)}
        """
        mean, var = np.asarray(mean), self.spread * np.asarray(var)
        sides = [self._side(sign, mean, var).log_z for sign in (-1.0, 1.0)]
        return np.asarray(log_softmax(np.stack(sides, axis=-1), axis=-1))

    def log_predictive(self, y: Floats, mean: Floats, var: Floats) -> Floats:
        """Log probability of labels; a row without has none that could be wrong."""
        both = self.log_proba(mean, var)
        return np.where(y == 0.0, 0.0, np.where(y < 0.0, both[..., 0], both[..., 1]))

    def for_selection(self) -> Self:
        return replace(self, expecting=True)
