"""Exchange moves: an active row for one that tells more, as long as there is such a pair (Thesis 4.4.1, C.3.2)."""

from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np

from .._types import Floats, Inputs, Mask, Rows
from ..kernels import Kernel
from ..likelihoods import Likelihood, Tilted
from ..posterior import FactorisedPosterior
from ..scores import entropy_reduction
from .inclusion import covariance, stack

__all__ = ["ActiveRows", "Exchanged", "Move", "PairPool", "exchange", "information"]

_LEAST = 1e-2  # nats that a move must gain: less is not worth a look at all rows
_USELESS, _POOL = 24, 96  # active rows that are the easiest to do without, and rows outside, of which pairs are made
_BLOCK, _ROUNDS = 32, 40  # moves between two looks at all rows, and such looks
_MIN_PRECISION = 1e-8  # of a site, in units of the prior precision of its row
_MIN_SHARE = 1e-12  # of the variance of an active row that its own site leaves
_ROWS = 4096  # whose marginals are made at once


class ActiveRows(NamedTuple):
    """Active rows with their sites, in any order."""

    rows: Rows
    X: Inputs  # in double precision
    y: Floats
    precision: Floats
    b: Floats  # precision times mean of the site

    def posterior(self, kernel: Kernel) -> FactorisedPosterior:
        """Return the posterior that these sites give, from nothing but them."""
        return FactorisedPosterior.given(kernel, self.X, self.precision, self.b / self.precision)

    def with_sites(self, precision: Floats, b: Floats) -> Self:
        """Return the same with other sites."""
        return self._replace(precision=precision, b=b)


class Move(NamedTuple):
    """One active row against another, and what it gained."""

    out: int
    into: int
    gain: float


class Exchanged(NamedTuple):
    """What came of exchange moves."""

    active: ActiveRows
    moves: list[Move]
    information: list[float]  # before and after every block of moves


def information(posterior: FactorisedPosterior) -> float:
    r"""What the active rows tell of the function, in nats: the fall in entropy from the prior to the posterior.

    .. math:: H[P] - H[Q] = \tfrac12 \log |B|
    """
    return 0.5 * posterior.log_det_B


class PairPool:
    r"""Active rows and others, whose joint posterior follows every move made among them.

    Without the site of row j, with :math:`s_j = 1 - \pi_j a_{jj}`, another row i has (Thesis C.3.2, corrected)

    .. math:: \lambda_i^{\setminus j} = a_{ii} + \frac{\pi_j a_{ij}^2}{s_j}, \qquad
              h_i^{\setminus j} = h_i + \frac{a_{ij} (\pi_j h_j - b_j)}{s_j},

    and to take it in instead gains

    .. math:: \Delta_{(j,i)} = -\tfrac12 \log(1 - \lambda_i^{\setminus j} \nu_i) + \tfrac12 \log s_j.

    Parameters
    ----------
    active : ActiveRows
    outside : ActiveRows
        Whose sites do not count.
    kernel : Kernel
    likelihood : Likelihood
        Of all training rows.
    """

    def __init__(self, active: ActiveRows, outside: ActiveRows, kernel: Kernel, likelihood: Likelihood) -> None:
        d, k = len(active.rows), len(outside.rows)
        self.rows, self.X = np.concatenate([active.rows, outside.rows]), stack([active.X, outside.X])
        self.y, self.likelihood = np.concatenate([active.y, outside.y]), likelihood.take(self.rows)
        self.precision = np.concatenate([active.precision, np.zeros(k)])
        self.b = np.concatenate([active.b, np.zeros(k)])
        self.active: Mask = np.arange(d + k) < d
        posterior = active.posterior(kernel)
        stubs = posterior.reduction @ _with_themselves(kernel, self.X, d)
        self.A, self.h = covariance(kernel, self.X, stubs), stubs.T @ posterior.beta
        self.prior_var = np.asarray(kernel.diag(self.X), dtype=np.float64)

    @property
    def shares(self) -> Floats:
        """Shares of the variance of active rows that their own sites leave, 1 - pi a."""
        return np.maximum(1.0 - self.precision * np.diagonal(self.A), _MIN_SHARE)

    def best(self) -> Move | None:
        """Return the best of all pairs of an active row that is easy to do without and one outside, by positions."""
        inside, outside = np.flatnonzero(self.active), np.flatnonzero(~self.active)
        share = self.shares
        easy = inside[np.argsort(-share[inside], kind="stable")[:_USELESS]]
        if not len(easy) or not len(outside):
            return None
        gain = self.gains(easy, outside)
        j, i = np.unravel_index(int(np.argmax(gain)), gain.shape)
        return Move(int(easy[j]), int(outside[i]), float(gain[j, i]))

    def gains(self, inside: Rows, outside: Rows) -> Floats:
        """What every pair would gain, shape (inside, outside); -inf where there is no site for the row outside."""
        cross, share = self.A[np.ix_(inside, outside)], self.shares[inside, None]
        pi, b = self.precision[inside, None], self.b[inside, None]
        var = np.diagonal(self.A)[outside] + pi * cross**2 / share
        mean = self.h[outside] + cross * (pi * self.h[inside, None] - b) / share
        which = np.broadcast_to(outside, var.shape).ravel()
        log_z, g, nu = self._tilted(which, mean.ravel(), var.ravel())
        gain = entropy_reduction(log_z, g, nu, mean.ravel(), var.ravel())
        precision = nu / np.maximum(1.0 - var.ravel() * nu, 1e-15)  # as in ``Likelihood.site``
        open_ = (precision * self.prior_var[which] > _MIN_PRECISION) & np.isfinite(gain)
        return np.where(open_, gain, -np.inf).reshape(var.shape) + 0.5 * np.log(share)

    def _tilted(self, at: Rows, mean: Floats, var: Floats) -> Tilted:
        return self.likelihood.take(at).tilted(self.y[at], mean, var)

    def move(self, j: int, i: int) -> None:
        """Take row j out, and row i in with the site that matches its moments."""
        self._add(j, -self.precision[j], -self.b[j])
        self.precision[j], self.b[j], self.active[j] = 0.0, 0.0, False
        at, mean, var = np.array([i]), self.h[i : i + 1].copy(), np.diagonal(self.A)[i : i + 1].copy()
        site = self.likelihood.take(at).site(self.y[at], mean, var, self._tilted(at, mean, var))
        self._add(i, float(site.precision[0]), float(site.b[0]))
        self.precision[i], self.b[i], self.active[i] = site.precision[0], site.b[0], True

    def _add(self, i: int, precision: float, b: float) -> None:
        """Multiply the posterior by a site on one row, or divide by it."""
        column = self.A[:, i].copy()
        length = 1.0 + precision * column[i]
        self.h += column * ((b - precision * self.h[i]) / length)
        self.A -= np.multiply.outer(column, (precision / length) * column)

    def run(self, most: int) -> list[Move]:
        """Make the best move again and again, as long as one gains something, so many at most; return them by rows."""
        made = list[Move]()
        while len(made) < most:
            best = self.best()
            if best is None or best.gain < _LEAST:
                break
            self.move(best.out, best.into)
            made.append(Move(int(self.rows[best.out]), int(self.rows[best.into]), best.gain))
        return made

    def taken(self, before: ActiveRows) -> ActiveRows:
        """Return the active rows; one that came in has the place of one that went out."""
        at, came = np.arange(len(before.rows)), np.flatnonzero(self.active & ~np.isin(self.rows, before.rows))
        at[~self.active[at]] = came
        return ActiveRows(self.rows[at], self.X[at], self.y[at], self.precision[at], self.b[at])


def exchange(
    active: ActiveRows,
    outside: ActiveRows,
    kernel: Kernel,
    likelihood: Likelihood,
    most: int,
    over: Callable[[], bool] = lambda: False,
) -> Exchanged:
    """Make exchange moves, in blocks, as long as they raise the information of the active rows.

    Within a block the posterior of a pool of rows is updated from move to move; then all is made anew from the sites
    alone, so that rounding does not add up. A block that did not raise the information is taken back.

    Parameters
    ----------
    active, outside : ActiveRows
        Rows with sites, and those that may take their place, whose sites do not count.
    kernel, likelihood
        The latter of all training rows.
    most : int
        Moves at most.
    over : callable
        Whether to end after the block under way.
    """
    posterior = active.posterior(kernel)
    moves, level = list[Move](), [information(posterior)]
    for _ in range(_ROUNDS):
        if len(moves) >= most or over() or not len(outside.rows):
            break
        at = _promising(posterior, outside, likelihood)
        pool = PairPool(active, _some(outside, at), kernel, likelihood)
        made = pool.run(min(_BLOCK, most - len(moves)))
        after = pool.taken(active)
        posterior = after.posterior(kernel)
        if not made or information(posterior) < level[-1]:
            break
        outside = _without(outside, active, after)
        active, moves, level = after, moves + made, [*level, information(posterior)]
    return Exchanged(active, moves, level)


def _promising(posterior: FactorisedPosterior, outside: ActiveRows, likelihood: Likelihood) -> Rows:
    """Rows outside that would tell most by themselves, by their positions."""
    score = np.empty(len(outside.rows))
    for start in range(0, len(score), _ROWS):
        part = slice(start, start + _ROWS)
        mean, var = posterior.predict(outside.X[part])
        tilted = likelihood.take(outside.rows[part]).tilted(outside.y[part], mean, var)
        score[part] = entropy_reduction(*tilted, mean, var)
    return np.argsort(-score, kind="stable")[:_POOL]


def _some(rows: ActiveRows, at: Rows) -> ActiveRows:
    return ActiveRows(*(part[at] for part in rows))


def _without(outside: ActiveRows, before: ActiveRows, after: ActiveRows) -> ActiveRows:
    """Return the rows outside after some of them went in and others came out."""
    stay = _some(outside, np.flatnonzero(~np.isin(outside.rows, after.rows)))
    left = _some(before, np.flatnonzero(~np.isin(before.rows, after.rows)))
    return ActiveRows(*(stack(parts) for parts in zip(stay, left, strict=True)))


def _with_themselves(kernel: Kernel, X: Inputs, d: int) -> Floats:
    """K of the first d rows with all of them; a row with itself is on the diagonal, with white noise."""
    K = np.array(kernel(X[:d], X), dtype=np.float64)
    K[np.arange(d), np.arange(d)] = kernel.diag(X[:d])
    return K
