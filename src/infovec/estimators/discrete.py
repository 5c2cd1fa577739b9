"""What the classifiers share: labels and their probabilities."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_softmax
from sklearn.base import ClassifierMixin

from .._types import Array, Floats, Inputs
from ..errors import ParameterError
from ..likelihoods import Discrete, Likelihood
from ..machines.sample import Sample
from .base import InformativeVectorMachine
from .class_weight import ClassWeight, rows_told
from .inputs import read_weight
from .kinds import APPROXIMATIONS
from .lazy import for_far_rows
from .score_method import MethodBesideParameter
from .tasks import kernel_on, with_groups

__all__ = ["DiscreteMachine", "discrete"]


class DiscreteMachine(ClassifierMixin, InformativeVectorMachine):  # type: ignore[misc]
    """Predictions of labels and their probabilities, for likelihoods of discrete targets."""

    classes_: Array
    likelihood_: Discrete
    score = MethodBesideParameter(with_groups(ClassifierMixin.score))
    class_weight: ClassWeight
    class_shift_: Floats
    _fitted = (*InformativeVectorMachine._fitted, "classes_", "class_shift_")

    def _sample(self, X: Inputs, y: Array, sample_weight: ArrayLike | None) -> Sample:
        """Return the rows that count, and whose class does; where parameters are learned, each for one observation."""
        self._rows = X, y, read_weight(sample_weight, X.shape[0])
        sample = Sample.of(*self._rows)
        sample = sample.told(rows_told(self.class_weight, sample.y))
        if APPROXIMATIONS[self.approximation].all_rows or len(np.unique(sample.y)) > 2:
            sample = sample.merged(kernel_on(self, X), self.likelihood)
        return sample if self.learn is None else sample.counted()

    @for_far_rows
    def predict_log_proba(self, X: object) -> Floats:
        """Predict the log probability of every class.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        log_proba : array of shape (n_samples, n_classes)
            Columns in the order of ``classes_``, shifted by ``class_weight``. Accurate far into the tails.
        """
        mean, var = self._latent(X)
        log_proba = self.likelihood_.log_proba(mean, var)
        if not self.class_shift_.any():
            return log_proba
        shifted: Floats = log_softmax(log_proba + self.class_shift_, axis=1)
        return shifted

    @for_far_rows
    def predict_proba(self, X: object) -> Floats:
        """Predict the probability of every class, the uncertainty about the function averaged over.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        proba : array of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return np.exp(self.predict_log_proba(X))

    @for_far_rows
    def predict(self, X: object) -> Array:
        """Predict the most probable class.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        y : array of shape (n_samples,)
        """
        best = np.argmax(self.predict_log_proba(X), axis=1)
        labels: Array = self.classes_[best]
        return labels

    def _testimony(self, X: Inputs) -> dict[str, Array]:
        log_proba = self.predict_log_proba(X)
        return {**super()._testimony(X), "log_proba": log_proba, "label": self.classes_[np.argmax(log_proba, axis=1)]}


def discrete(likelihood: Likelihood) -> Discrete:
    """Return the likelihood if its targets are discrete."""
    if not isinstance(likelihood, Discrete):
        raise ParameterError(
            f"{type(likelihood).__name__} is a likelihood for numbers; use IVMRegressor for numbers, a named "
            "likelihood for classes, or derive your own from infovec.likelihoods.Discrete and name its labels"
        )
    return likelihood
