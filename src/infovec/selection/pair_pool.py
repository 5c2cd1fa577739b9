"""What it would gain to exchange an active row for another one, for many pairs at once."""

from collections.abc import Sequence

import numpy as np

from .._types import Floats, Inputs, Mask, Rows
from ..likelihoods import Likelihood, Tilted
from ..likelihoods.parts import in_parts
from ..posterior import FactorisedPosterior
from ..scores import Score, entropy_reduction

__all__ = ["PairPool"]

_MIN_PRECISION = 1e-8  # of a site, in units of the prior precision of its row
_MIN_SHARE = 1e-12  # of the variance of a row that its own site leaves
_AT_ONCE = 2_000_000  # numbers


class PairPool:
    r"""Rows whose posterior follows the exchange moves made among some of them.

    Without the site of row j, with :math:`s_j = 1 - \pi_j a_{jj}`, any row i has (Thesis C.3.2, corrected)

    .. math:: \lambda_i^{\setminus j} = a_{ii} + \frac{\pi_j a_{ij}^2}{s_j}, \qquad
              h_i^{\setminus j} = h_i + \frac{a_{ij} (\pi_j h_j - b_j)}{s_j}.

    To take it in instead raises the information of the active rows by

    .. math:: \Delta_{(j,i)} = -\tfrac12 \log(1 - \lambda_i^{\setminus j} \nu_i) + \tfrac12 \log s_j.

    By how much it raises the log evidence depends on the marginals of all rows, which move by two such steps.

    Parameters
    ----------
    rows, X, y
        The active rows, in the order of the posterior, then all others.
    posterior : FactorisedPosterior
    likelihood : Likelihood
        Of these rows.
    """

    def __init__(
        self,
        rows: Rows,
        X: Inputs,
        y: Floats,
        posterior: FactorisedPosterior,
        likelihood: Likelihood,
    ) -> None:
        self.rows, self.X, self.y, self.kernel, self.likelihood = (
            rows,
            X,
            y,
            posterior.kernel,
            likelihood,
        )
        n, d = len(rows), len(posterior.beta)
        self.active: Mask = np.arange(n) < d
        self.prior_var = np.array(self.kernel.diag(X), dtype=np.float64)
        self._stubs = posterior.reduction @ self._covariance(np.arange(d)).T
        self.precision, self.b = np.zeros(n), np.zeros(n)
        self.precision[:d], self.b[:d] = (
            posterior.precision,
            posterior.precision * posterior.site_mean,
        )
        self.mean, self.log_det = self._stubs.T @ posterior.beta, posterior.log_det_B
        self.var = self.prior_var - np.einsum("ij,ij->j", self._stubs, self._stubs)
        exact = posterior.active_marginals()
        self.mean[:d], self.var[:d] = exact.mean, exact.var
        self.look_at(np.empty(0, dtype=np.intp))

    def _covariance(self, at: Rows) -> Floats:
        """Prior covariances of all rows with some; a row with itself is on the diagonal, with white noise."""
        K = np.array(self.kernel(self.X, self.X[at]), dtype=np.float64)
        K[at, np.arange(len(at))] = self.prior_var[at]
        return K

    def look_at(self, at: Rows) -> None:
        """Make moves of these rows possible: their posterior covariances with all rows."""
        self.columns, self.A = at, self._columns_of(at)
        near = self.active.copy()
        near[at] = True
        self._near, self._far, self._known = (
            np.flatnonzero(near),
            np.flatnonzero(~near),
            self._tilted(slice(None)),
        )
        self._known_mean, self._known_var, self._levels = self.mean.copy(), self.var.copy(), dict[bool, float]()

    def _tilted(self, at: Rows | slice) -> Tilted:
        """Moments of some rows without a site."""
        var = np.maximum(self.var[at], _MIN_SHARE * self.prior_var[at])
        some = self.likelihood if isinstance(at, slice) else self.likelihood.take(at)
        return some.tilted(self.y[at], self.mean[at], var)

    def _columns_of(self, at: Rows) -> Floats:
        return self._covariance(at) - self._stubs.T @ self._stubs[:, at]

    def _places(self, at: Rows) -> Rows:
        """Where rows are among the columns."""
        order = np.argsort(self.columns, kind="stable")
        return order[np.searchsorted(self.columns, at, sorter=order)]

    def scores(self, score: Score) -> Floats:
        """Scores of all rows, as if they were to be included."""
        return score(*self._tilted(slice(None)), self.mean, self.var)

    def level(self, by_evidence: bool, exact: bool = True) -> float:
        """Return the criterion: log evidence of all rows, or half of log |B|."""
        if not by_evidence:
            return 0.5 * self.log_det
        if exact not in self._levels:
            mean, var, precision, b = (part[:, None] for part in (self.mean, self.var, self.precision, self.b))
            self._levels[exact] = float(self._evidence(mean, var, precision, b, np.array([self.log_det]), exact)[0])
        return self._levels[exact]

    def _evidence(
        self,
        mean: Floats,
        var: Floats,
        precision: Floats,
        b: Floats,
        log_det: Floats,
        exact: bool,
    ) -> Floats:
        r"""Log evidence (SLH eq. 11) from the marginals of all rows, for several posteriors; all of shape (n, k).

        Unless exact, rows that have no site before or after count by an expansion around their marginals now,

        .. math:: \log Z_i(h + \delta, a + \epsilon) \approx
                  \log Z_i + g_i \delta - \tfrac12 \nu_i \delta^2 + \tfrac12 (g_i^2 - \nu_i) \epsilon.
        """
        at = np.arange(len(mean)) if exact else self._near
        total = self._terms(at, mean[at], var[at], precision[at], b[at]) - 0.5 * log_det
        return total if exact else total + self._expanded(mean[self._far], var[self._far])

    def _terms(self, at: Rows, mean: Floats, var: Floats, precision: Floats, b: Floats) -> Floats:
        """Terms of some rows of the evidence."""
        share = np.maximum(1.0 - precision * var, _MIN_SHARE)
        cavity_mean = (mean - var * b) / share
        cavity_var = np.maximum(var, _MIN_SHARE * self.prior_var[at, None]) / share
        every = np.repeat(at, mean.shape[1])
        log_z: Floats = in_parts(
            _log_z,
            self.likelihood.take(every),
            self.y[every],
            cavity_mean.ravel(),
            cavity_var.ravel(),
        )
        quadratic = (precision * mean**2 - 2.0 * mean * b + var * b**2) / share
        log_z_site = 0.5 * (np.log(share) - quadratic)
        return np.sum(log_z.reshape(mean.shape) - log_z_site + 0.5 * mean * b, axis=0)

    def _expanded(self, mean: Floats, var: Floats) -> Floats:
        """Terms of rows that have no site, from what is known of them now."""
        log_z, g, nu = (part[self._far, None] for part in self._known)
        delta, epsilon = (
            mean - self._known_mean[self._far, None],
            var - self._known_var[self._far, None],
        )
        return np.sum(
            log_z + g * delta - 0.5 * nu * delta**2 + 0.5 * (g**2 - nu) * epsilon,
            axis=0,
        )

    def without(self, at: Rows, by_evidence: bool, exact: bool = True) -> Floats:
        """By how much the criterion changes when the sites of some rows are taken out, one at a time."""
        share = np.maximum(1.0 - self.precision[at] * self.var[at], _MIN_SHARE)
        if not by_evidence:
            return 0.5 * np.log(share)
        found, step = np.empty(len(at)), max(1, _AT_ONCE // len(self.rows))
        for start in range(0, len(at), step):
            some = at[start : start + step]
            found[start : start + step] = self._evidence(*self._taken_out(some), exact)
        return found - self.level(True, exact)

    def _taken_out(self, at: Rows) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Posteriors without the site of one row, for each of some: mean, var, precision, b and log |B|."""
        C, k = self._columns_of(at), np.arange(len(at))
        pi, b, share = (
            self.precision[at],
            self.b[at],
            np.maximum(1.0 - self.precision[at] * self.var[at], _MIN_SHARE),
        )
        mean = self.mean[:, None] + C * ((pi * self.mean[at] - b) / share)
        var = self.var[:, None] + C**2 * (pi / share)
        precision, shift = (np.repeat(part[:, None], len(at), axis=1) for part in (self.precision, self.b))
        precision[at, k] = shift[at, k] = 0.0
        return mean, var, precision, shift, self.log_det + np.log(share)

    def gains(self, inside: Rows, outside: Rows, by_evidence: bool, exact: bool = True) -> Floats:
        """What every pair would gain, shape (inside, outside); -inf where there is no site for the row outside."""
        return self._gains([int(j) for j in inside], outside, by_evidence, exact)

    def with_one_more(self, outside: Rows, by_evidence: bool, exact: bool = True) -> Floats:
        """What each of some rows would gain if it came in and none went out."""
        return self._gains([None], outside, by_evidence, exact)[0]

    def _gains(self, inside: Sequence[int | None], outside: Rows, by_evidence: bool, exact: bool) -> Floats:
        moved = [self._instead_of(j, outside) for j in inside]
        fits, gain = (np.stack([part[k] for part in moved]) for k in (0, 1))
        if by_evidence:
            mean, var, precision, b = (np.hstack([part[k] for part in moved]) for k in (2, 3, 4, 5))
            evidence = self._evidence(mean, var, precision, b, self.log_det + 2.0 * gain.ravel(), exact)
            gain = evidence.reshape(gain.shape) - self.level(True, exact)
        return np.where(fits & np.isfinite(gain), gain, -np.inf)

    def _instead_of(self, j: int | None, outside: Rows) -> tuple[Floats, ...]:
        """The posteriors if row j, if any, is taken out and one of others in.

        Returns whether there is one, what it gains in information, and means, variances, precisions and shifts of
        all rows, shape (n, others).
        """
        into = self._places(outside)
        mean, var, C, share = self.mean, self.var, self.A[:, into], 1.0
        if j is not None:
            column, pi = self.A[:, self._places(np.array([j]))[0]], self.precision[j]
            share = max(1.0 - pi * var[j], _MIN_SHARE)
            mean = mean + column * ((pi * mean[j] - self.b[j]) / share)
            C = C + np.multiply.outer(column, (pi / share) * self.A[j, into])
            var = var + column**2 * (pi / share)
        likelihood, y, h, a = self.likelihood.take(outside), self.y[outside], mean[outside], var[outside]
        tilted = likelihood.tilted(y, h, a)
        site = likelihood.site(y, h, a, tilted)
        fits = (site.precision * self.prior_var[outside] > _MIN_PRECISION) & (a > _MIN_SHARE * self.prior_var[outside])
        gain = np.where(fits, entropy_reduction(*tilted, h, a), 0.0) + 0.5 * np.log(share)
        new, shift = np.where(fits, site.precision, 0.0), np.where(fits, site.b, 0.0)
        length = 1.0 + new * a
        moved = mean[:, None] + C * ((shift - new * h) / length), var[:, None] - C**2 * (new / length)
        return fits, gain, *moved, *self._sites_with(j, outside, new, shift)

    def _sites_with(self, j: int | None, outside: Rows, new: Floats, shift: Floats) -> tuple[Floats, Floats]:
        """Precisions and shifts of all rows when row j is taken out and one of others in, shape (n, others)."""
        k = np.arange(len(outside))
        precision, b = (np.repeat(part[:, None], len(k), axis=1) for part in (self.precision, self.b))
        if j is not None:
            precision[j], b[j] = 0.0, 0.0
        precision[outside, k], b[outside, k] = new, shift
        return precision, b

    def move(self, j: int, i: int) -> None:
        """Take row j out, and row i in with the site that matches its moments."""
        self._multiply(j, -self.precision[j], -self.b[j])
        self.precision[j], self.b[j], self.active[j] = 0.0, 0.0, False
        at = np.array([i])
        site = self.likelihood.take(at).site(self.y[at], self.mean[at], self.var[at], self._tilted(at))
        self._multiply(i, float(site.precision[0]), float(site.b[0]))
        self.precision[i], self.b[i], self.active[i] = (
            site.precision[0],
            site.b[0],
            True,
        )

    def _multiply(self, i: int, precision: float, b: float) -> None:
        """Multiply the posterior by a site on one row, or divide by it."""
        column, across = (
            self.A[:, self._places(np.array([i]))[0]].copy(),
            self.A[i].copy(),
        )
        length = 1.0 + precision * self.var[i]
        self.mean += column * ((b - precision * self.mean[i]) / length)
        self.var -= column**2 * (precision / length)
        self.A -= np.multiply.outer(column, (precision / length) * across)
        self.log_det, self._levels = self.log_det + float(np.log(length)), {}


def _log_z(likelihood: Likelihood, y: Floats, mean: Floats, var: Floats) -> Floats:
    return likelihood.tilted(y, mean, var).log_z
