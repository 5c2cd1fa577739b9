"""Estimators that predict rows together: covariances and samples."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from .._types import Array, Floats, Foreign, Inputs
from ..errors import ParameterError
from ..likelihoods import Discrete
from ..likelihoods.ranks import by_rank
from ..posterior import draw_normal
from .latent import Latent
from .tasks import grouped

__all__ = ["Sampling", "labels_together"]


class Sampling(Latent):
    """Has ``sample_y``."""

    def sample_y(
        self,
        X: object,
        n_samples: int = 1,
        random_state: int | np.random.RandomState | None = 0,
        latent: bool = False,
        groups: ArrayLike | None = None,
    ) -> Array:
        """Draw targets of some rows together, as the model thinks possible.

        Every draw is of one function: what is not known about it is the same for neighbouring rows, the noise is each
        row's own. Rows given twice are two targets.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples_X, n_features)
        n_samples : int
            How many draws.
        random_state : int, RandomState or None
        latent : bool
            Draw the function alone, from the posterior, without noise and without the bias of the likelihood.
        groups : array-like of shape (n_samples_X,), optional
            Tasks of the rows, for a model that was fitted with such.

        Returns
        -------
        y : array of shape (n_samples_X, n_samples)
            Numbers or labels, distributed in each row as ``predict`` or ``predict_proba`` say. Labels of more than two
            classes without an order are drawn row by row, each by itself. Functions of classes have shape
            (n_samples_X, n_classes, n_samples).
        """
        if not isinstance(n_samples, int | np.integer) or isinstance(n_samples, bool) or n_samples < 1:
            raise ParameterError(f"n_samples must be a whole number from 1, got {n_samples!r}")
        inputs, random = self._read(grouped(X, groups)), check_random_state(random_state)
        if latent:
            return self._functions(inputs, int(n_samples), random, 1.0)
        return self._targets(inputs, int(n_samples), random)

    def _functions(self, X: Inputs, S: int, random: np.random.RandomState, spread: float) -> Floats:
        """Draws of the latent function whose variance is ``spread`` times that of the posterior."""
        mean, cov = self._latent_together(X)
        if mean.ndim == 1:
            return draw_normal(mean, spread * cov, random.standard_normal((len(mean), S)))
        standard = random.standard_normal((len(cov), len(mean), S))
        draws = [draw_normal(*of_class) for of_class in zip(mean.T, spread * cov, standard, strict=True)]
        return np.stack(draws, axis=1)

    def _targets(self, X: Inputs, S: int, random: np.random.RandomState) -> Array:
        likelihood: Foreign = self.likelihood_.for_new_rows()
        return np.asarray(likelihood.sample(self._functions(X, S, random, 1.0), random))


def labels_together(model: Foreign, f: Floats, X: Inputs, random: np.random.RandomState) -> Array:
    r"""Ranks of labels drawn given latent functions, so that each row has the probabilities of ``predict_proba``.

    Labels are drawn given f; where classes have weights, the place that each has in the distribution of its row is
    kept, and the label at that place is taken from the distribution with weights:

    .. math:: u = F(y - 1) + v \, p(y), \qquad y' = F'^{-1}(u), \qquad v \sim U(0, 1)

    Parameters
    ----------
    model : classifier with one latent function
    f : array of shape (n, S)
    X : inputs of the n rows
    random : RandomState
    """
    likelihood: Discrete = model.likelihood_.for_new_rows()
    at = np.searchsorted(likelihood.labels, likelihood.sample(f, random))
    if not model.class_shift_.any():
        return at
    mean, var = model.posterior_.predict(X)
    plain = np.exp(likelihood.log_proba(mean, var))
    weighted = plain * np.exp(by_rank(model, model.class_shift_))
    below = np.cumsum(plain, axis=1) - plain
    rows = np.arange(len(f))[:, None]
    u = below[rows, at] + random.uniform(size=at.shape) * plain[rows, at]
    ends = np.cumsum(weighted / weighted.sum(axis=1, keepdims=True), axis=1)
    return np.asarray(np.sum(u[:, :, None] > ends[:, None, :-1], axis=2))
