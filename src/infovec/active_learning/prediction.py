"""What a label would tell of the labels of other rows, which are to be predicted."""

from dataclasses import replace

import numpy as np

from .._types import Floats, Inputs
from ..likelihoods import Discrete
from ..likelihoods.classes import ClassLikelihood
from ..posterior import Posterior
from .expected import AnyLikelihood, expected_precision, in_blocks
from .functions import Covariances, functions

__all__ = ["MOST_PREDICTED", "PREDICTION", "Precisions", "Predicted", "predicted_information", "some_to_predict"]

PREDICTION = "prediction"
"""The name of this score."""

MOST_PREDICTED = 256
"""Rows of a pool that stand for all of them."""

_KNOWN = 1e-12  # share of what is known of one label by another that is left open
_CHANGED = 0.01  # share of a variance by which it falls before what depends on it smoothly is found anew
_BLOCK = 1 << 21  # numbers of a table of covariances


def some_to_predict(X: Inputs, random: np.random.RandomState) -> Inputs:
    """Return some rows that stand for all, at random."""
    n = X.shape[0]
    return X if n <= MOST_PREDICTED else X[np.sort(random.permutation(n)[:MOST_PREDICTED])]


def predicted_information(covariance: Floats, precision: Floats, predicted: Floats) -> Floats:
    r"""Mutual information between a label and that of another row, in nats, of one function, averaged over others.

    .. math:: I(y; y_*) \approx -\tfrac12 \log\bigl(1 - c(x, x_*)^2 \, E_y \nu_y(x) \, E_y \nu_y(x_*)\bigr)

    is exact for Gaussian noise, where :math:`\nu = 1 / (a + \sigma^2)`, and for every likelihood in the limit of small
    covariances, where :math:`P(y, y_*) = P(y) P(y_*) (1 + c \, g_y g_{y_*} + \dots)` and :math:`E_y g_y^2 = E_y \nu_y`.

    Parameters
    ----------
    covariance : array of shape (n, m)
        Of the function between rows and those that are predicted.
    precision, predicted : arrays of shape (n,) and (m,)
        Expected curvatures, of the rows and of those that are predicted.
    """
    known = np.square(covariance) * precision[:, None]
    known *= predicted
    return -0.5 * np.log1p(-np.minimum(known, 1.0 - _KNOWN)).mean(axis=1)


class Predicted:
    """Rows whose labels will be predicted, such as a sample of the pool.

    Parameters
    ----------
    posterior : Posterior
    likelihood : likelihood
    X : inputs
    """

    def __init__(self, posterior: Posterior, likelihood: AnyLikelihood, X: Inputs) -> None:
        self.posterior, self.X = posterior, X
        self.spread = float(getattr(likelihood, "spread", 1.0))
        self.likelihood = _without_spread(likelihood)
        self._covariances = [Covariances(part, X) for part in functions(posterior)]
        mean, var = self.moments(*posterior.predict(X))
        self.mean, self.var = mean, var

    def moments(self, mean: Floats, var: Floats) -> tuple[Floats, Floats]:
        """Means and variances of every function, shape (n, C), the latter as predictions have them."""
        mean, var = (np.array(v, dtype=np.float64).reshape(len(v), -1) for v in (mean, var))
        return mean, self.spread * var

    def precision(self, mean: Floats, var: Floats) -> Floats:
        """Return what a label is expected to add, shape (n, C)."""
        if isinstance(self.likelihood, ClassLikelihood):
            return in_blocks(expected_precision, self.likelihood, mean, var)
        return in_blocks(expected_precision, self.likelihood, mean[:, 0], var[:, 0])[:, None]

    def covariance(self, X: Inputs) -> Floats:
        """Covariances of every function between rows and these, shape (C, n, m)."""
        return self.spread * np.stack([one.with_rows(X) for one in self._covariances])

    def scores(self, X: Inputs) -> Floats:
        """Return what the label of each row tells of those of these, on average."""
        mean, var = self.moments(*self.posterior.predict(X))
        precision, predicted = self.precision(mean, var), self.precision(self.mean, self.var)
        step, total = max(1, _BLOCK // (len(self.mean) * mean.shape[1])), np.zeros(len(mean))
        for start in range(0, len(mean), step):
            at = slice(start, start + step)
            for c, table in enumerate(self.covariance(X[at])):
                total[at] += predicted_information(table, precision[at, c], predicted[:, c])
        return total


class Precisions:
    """What labels of rows are expected to add while variances fall, looked at again where these have changed.

    Parameters
    ----------
    predicted : Predicted
    mean, var : arrays of shape (n, C)
    """

    def __init__(self, predicted: Predicted, mean: Floats, var: Floats) -> None:
        self._predicted, self._mean, self._at = predicted, mean, var.copy()
        self._found = predicted.precision(mean, var)

    def with_variances(self, var: Floats) -> Floats:
        """Return them, shape (n, C), with variances that are less than before."""
        moved = np.flatnonzero(np.any(self._at - var > _CHANGED * self._at, axis=1))
        if len(moved):
            self._found[moved] = self._predicted.precision(self._mean[moved], var[moved])
            self._at[moved] = var[moved]
        return self._found


def _without_spread(likelihood: AnyLikelihood) -> AnyLikelihood:
    if isinstance(likelihood, ClassLikelihood):
        return replace(likelihood, spread=1.0)
    return likelihood.with_spread(1.0) if isinstance(likelihood, Discrete) else likelihood
