"""A monotone transform of real targets, by the evidence and the rows left out of a small dense model."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._types import Floats, Inputs, Rows
from ..kernels import Kernel
from ..likelihoods import Gaussian, Log, Transformed, YeoJohnson
from ..numerics.monotone import Monotone
from .defaults import centre_and_spread

__all__ = ["LEAST", "Trial", "power_of", "some_rows", "transform_for"]

_MOST, _FEWEST = 400, 30  # rows that are looked at, and that are needed
_GOLDEN = 0.6180339887498949  # of the rows from one to the next: all parts of them, and no period
_FACTORS = (0.25, 0.4, 0.63, 1.0, 1.6, 2.5)  # times which columns are taken as long
_RATIOS = 10.0 ** np.linspace(-4.0, 1.0, 26)  # of the noise to the variance of the function
_BIAS = 10.0  # variance of a constant beside that of the function
_GRID, _STEPS = np.linspace(0.0, 2.0, 9), (0.125, 0.0625, 0.03125)  # of the power, and halving around the best
_SURE, _WORSE = 2.0, 1.1  # standard errors of what rows left out gain, and their squared error beside the least
LEAST = 0.25
"""Power of Yeo and Johnson's transform, and what two is more than it: targets then grow with the fourth power of their
transforms at most, and the mean of a row of which nothing is known is no exponential of its variance."""
_IDENTITY, _LITTLE = YeoJohnson(), 1e-200


class _Level(NamedTuple):
    evidence: float
    factor: int
    ratio: float


class _Tried(NamedTuple):
    evidence: float
    log_density: Floats  # of rows left out
    error: float  # their mean squared error


@dataclass(frozen=True)
class Trial:
    r"""Dense models with Gaussian noise of some rows, whose variance and noise suit each transform of the targets.

    .. math:: \log p(y) = \max_{\rho, c} \; -\tfrac12 \sum_k \log(d_k + \rho) - \tfrac12 \sum_i (w_i - 1) \log \rho
              - \tfrac{N}{2} \Bigl(\log \frac{2 \pi q}{N} + 1\Bigr) + \sum_i w_i \log g'(y_i), \qquad
              q = \sum_k \frac{u_k^2}{d_k + \rho}, \qquad N = \sum_i w_i

    with d and U the eigenvalues and vectors of :math:`W^{1/2} K_c W^{1/2}`, columns being c times as long, and u the
    centred transforms :math:`U^T W^{1/2} (z - \bar z)`; up to what the weights alone say.

    Parameters
    ----------
    y, weight : array of shape (n,)
    models : tuple of (eigenvalues, eigenvectors)
        One for each factor.
    folds : array of int, optional
        The same number for rows that are left out together.
    """

    y: Floats
    weight: Floats
    models: tuple[tuple[Floats, Floats], ...]
    folds: Rows | None = None

    @classmethod
    def of(
        cls, X: Inputs, y: Floats, weight: Floats | None, kernel: Kernel, scaled: bool, folds: Rows | None = None
    ) -> "Trial":
        """Return the trial of some rows.

        Parameters
        ----------
        X, y, weight
        kernel : Kernel
            Its variance does not count.
        scaled : bool
            Whether the inputs may be made longer and shorter; else the kernel stays as it is.
        folds : array of int, optional
            The same number for rows that are left out together.
        """
        w = np.ones(len(y)) if weight is None else weight
        X, root = kernel.in_double(X) if kernel.numeric else X, np.sqrt(w)
        models = list[tuple[Floats, Floats]]()
        for factor in _FACTORS if scaled else (1.0,):
            inside = X * (1.0 / factor) if factor != 1.0 else X
            K = np.asarray(kernel(inside, inside), dtype=np.float64)
            K = K / max(float(np.mean(np.diagonal(K))), 1e-300) + _BIAS
            d, U = np.linalg.eigh(root[:, None] * K * root)
            models.append((d, U))
        return cls(y, w, tuple(models), folds)

    def _centred(self, transform: Monotone) -> tuple[Floats, float]:
        z = transform.of(self.y)
        middle = float(np.average(z, weights=self.weight))
        return z - middle, middle

    def level(self, transform: Monotone) -> _Level:
        """Return the log evidence of the targets, Jacobian included, and where it is."""
        (z, _), total, best = self._centred(transform), float(self.weight.sum()), _Level(-np.inf, 0, 1.0)
        slope = float(self.weight @ transform.log_slope(self.y))
        for number, (d, U) in enumerate(self.models):
            D = np.maximum(d, 0.0)[:, None] + _RATIOS
            q = np.sum(((U.T @ (np.sqrt(self.weight) * z)) ** 2)[:, None] / D, axis=0)
            value = -0.5 * (np.log(D).sum(axis=0) + total * (np.log(2.0 * np.pi * np.maximum(q, 1e-300) / total) + 1.0))
            value -= 0.5 * np.sum(self.weight - 1.0) * np.log(_RATIOS)
            at = int(np.argmax(value))
            best = max(best, _Level(float(value[at]) + slope, number, float(_RATIOS[at])))
        return best

    def left_out(self, transform: Monotone) -> tuple[Floats, Floats]:
        r"""Return, for each row without itself, the log density of its target and the squared error of the mean.

        .. math:: z_i - \frac{[\Sigma^{-1} z]_i}{[\Sigma^{-1}]_{ii}}, \qquad
                  \frac{s^2}{[\Sigma^{-1}]_{ii}} + s^2 \rho \Bigl(1 - \frac{1}{w_i}\Bigr), \qquad
                  \Sigma = K_c + \rho W^{-1}

        and of rows left out together :math:`z_G - [\Sigma^{-1}]_{GG}^{-1} [\Sigma^{-1} z]_G`, with variances on
        the diagonal of :math:`[\Sigma^{-1}]_{GG}^{-1}`.
        """
        level, root = self.level(transform), np.sqrt(self.weight)
        (d, U), (z, middle) = self.models[level.factor], self._centred(transform)
        D, u = np.maximum(d, 0.0) + level.ratio, U.T @ (root * z)
        scale, said = float(np.sum(u**2 / D) / self.weight.sum()), root * (U @ (u / D))
        off, own = self._without(self.weight * np.sum(U**2 / D, axis=1), said, root[:, None] * U, D)
        mean = middle + z - off
        var = scale * (own + level.ratio * (1.0 - 1.0 / self.weight))
        predicted = Transformed(Gaussian(_LITTLE), transform)  # noise is part of the variances
        error = self.y - predicted.predict(mean, np.maximum(var, _LITTLE))[0]
        return predicted.log_predictive(self.y, mean, np.maximum(var, _LITTLE)), error**2

    def _without(self, own: Floats, said: Floats, U: Floats, D: Floats) -> tuple[Floats, Floats]:
        """Return how far targets lie from their means without their folds, and the variances, beside the scale."""
        if self.folds is None:
            return said / own, 1.0 / own
        off, var = np.empty((2, len(said)))
        for fold in np.unique(self.folds):
            at = np.flatnonzero(self.folds == fold)
            inverse = np.linalg.inv((U[at] / D) @ U[at].T)
            off[at], var[at] = inverse @ said[at], np.diagonal(inverse)
        return off, var

    def power(self, centre: float, scale: float, least: float = 0.0) -> YeoJohnson:
        """Return the transform of Yeo and Johnson with the highest evidence."""

        def best(powers: Iterable[float]) -> float:
            return max(powers, key=lambda power: self.level(YeoJohnson(float(power), centre, scale)).evidence)

        found = best(p for p in _GRID if least <= p <= 2.0 - least)
        for step in _STEPS:
            found = best(p for p in (found, found - step, found + step) if least <= p <= 2.0 - least)
        return YeoJohnson(float(found), centre, scale)

    def better(self, candidates: Sequence[Monotone]) -> Monotone | None:
        """Return the last candidate that is better than what was best before it, no transform to begin with.

        It is where its evidence is higher, rows left out are more probable by more than chance, and the squared error
        of their means is not much larger than the least so far.
        """
        best, found = self._tried(_IDENTITY), None
        least = best.error
        for candidate in candidates:
            one = self._tried(candidate)
            gain = one.log_density - best.log_density
            mean, least = self._mean(gain), min(least, one.error)
            chance = np.sqrt(self._mean((gain - mean) ** 2) / self.weight.sum())
            if one.evidence > best.evidence and mean > _SURE * chance and one.error <= _WORSE * least:
                best, found = one, candidate
        return found

    def _tried(self, transform: Monotone) -> _Tried:
        log_density, squares = self.left_out(transform)
        return _Tried(self.level(transform).evidence, log_density, self._mean(squares))

    def _mean(self, values: Floats) -> float:
        return float(np.average(values, weights=self.weight))


def some_rows(n: int) -> Rows:
    """Return the rows that are looked at, ascending: all, or some that are evenly spread without a period."""
    if n <= _MOST:
        return np.arange(n)
    return np.unique((np.arange(_MOST) * _GOLDEN % 1.0 * n).astype(np.intp))


def power_of(trial: Trial, least: float) -> YeoJohnson:
    """Return the power transform that suits the targets; the power is at least so much, and at most two less it."""
    return trial.power(*_unit(trial), least=least)


def transform_for(trial: Trial, positive: bool) -> Monotone | None:
    """Return the transform that targets ask for, if they do; a logarithm where all of them are positive."""
    if len(trial.y) < _FEWEST or np.ptp(trial.y) == 0.0:
        return None
    candidates: list[Monotone] = [power_of(trial, LEAST)]
    return trial.better([*candidates, Log()] if positive else candidates)


def _unit(trial: Trial) -> tuple[float, float]:
    """The median of the targets, and their standard deviation."""
    centre = centre_and_spread(True, trial.y, trial.weight)[0]
    return centre, centre_and_spread(False, trial.y, trial.weight)[1]
