"""What the classifiers share: labels and their probabilities."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_softmax
from sklearn.base import ClassifierMixin

from .._types import Array, Floats, Inputs
from ..active_learning import Uncertainty, label_uncertainty
from ..errors import ParameterError
from ..likelihoods import Discrete, Likelihood
from ..likelihoods.ranks import by_class, by_rank, ranked
from ..machines.sample import Sample
from .base import InformativeVectorMachine
from .class_weight import ClassWeight, rows_told
from .doubts import best_labels
from .inputs import read_weight
from .joint import labels_together
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
        self._rows = X, y, read_weight(sample_weight, X.shape[0]), self.__dict__.pop("_folds", None)
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
        log_proba: Floats = by_class(self, self.likelihood_.log_proba(mean, var))
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
    def predict(self, X: object, reject: float | None = None) -> Array:
        """Predict the most probable class.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        reject : float, optional
            What it costs to give no label, where a wrong label costs one: between 0 and 1. Rows whose most probable
            label is wrong with a larger probability get None, and the labels are then an array of objects (Chow 1970).

        Returns
        -------
        y : array of shape (n_samples,)
        """
        log_proba = self.predict_log_proba(X)
        return best_labels(self.classes_, log_proba, reject)

    @for_far_rows
    def predict_uncertainty(self, X: object) -> Uncertainty:
        """Say how uncertain labels are, in nats, and what of that is noise and what is not known.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        uncertainty : Uncertainty
            A named tuple of arrays of shape (n_samples,). ``total``: entropy of the predicted label. ``aleatoric``:
            what would be left of it if the function were known, which no data reduces. ``epistemic``: mutual
            information between label and function, which more data reduces. The first is the sum of the others. Class
            weights do not count. For two and for ordered classes they are exact; for more the share of the second is
            found with 256 points of the functions, to about a hundredth.
        """
        mean, var = self._latent(X)
        return label_uncertainty(self.likelihood_.for_new_rows(), mean, var)

    def _targets(self, X: Inputs, S: int, random: np.random.RandomState) -> Array:
        if not isinstance(self.likelihood_, Discrete):  # classes without an order
            proba = np.cumsum(self.predict_proba(X), axis=1)
            u = random.uniform(size=(len(proba), S)) * proba[:, -1:]
            return np.asarray(self.classes_[np.sum(u[:, :, None] > proba[:, None, :-1], axis=2)])
        f = self._functions(X, S, random, self.likelihood_.for_new_rows().spread)
        return np.asarray(ranked(self)[labels_together(self, f, X, random)])

    def _testimony(self, X: Inputs) -> dict[str, Array]:
        log_proba = by_rank(self, self.predict_log_proba(X))  # as files have it since before there was ``categories_``
        return {**super()._testimony(X), "log_proba": log_proba, "label": ranked(self)[np.argmax(log_proba, axis=1)]}


def discrete(likelihood: Likelihood) -> Discrete:
    """Return the likelihood if its targets are discrete."""
    if not isinstance(likelihood, Discrete):
        raise ParameterError(
            f"{type(likelihood).__name__} is a likelihood for numbers; use IVMRegressor for numbers, a named "
            "likelihood for classes, or derive your own from infovec.likelihoods.Discrete and name its labels"
        )
    return likelihood
