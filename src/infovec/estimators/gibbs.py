"""The classifier that PAC-Bayesian bounds are about: it draws the latent functions anew for every row."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._types import Array, Floats, Inputs
from ..errors import ParameterError
from ..likelihoods import Logit, Ordinal, Probit
from ..likelihoods.classes import ClassLikelihood
from ..likelihoods.ranks import by_class, ranked
from ..pac_bayes import Votes, latent, votes_of_classes, votes_of_ordered, votes_of_two
from .discrete import DiscreteMachine
from .latent import known

__all__ = ["GibbsClassifier", "votes"]


@dataclass(frozen=True)
class GibbsClassifier:
    """A fitted classifier, but every row is decided by one draw of the posterior (Thesis 3.1.2).

    It is worse than the classifier itself on most data, and what ``certify`` can say most about. What is beyond prior
    and posterior has no part in it: noise, class weights, and how certain predictions are made to be.

    Parameters
    ----------
    model : IVMClassifier or IVMOrdinalClassifier
        Fitted.
    random_state : int, RandomState or None
        Of the draws.
    """

    model: DiscreteMachine
    random_state: int | np.random.RandomState | None = None

    @property
    def classes_(self) -> Array:
        """Labels."""
        return self.model.classes_

    def predict(self, X: object) -> Array:
        """Predict by one draw of the functions for every row.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        """
        mean, var = _latent(self.model, self.model._read(X))
        draw = mean + np.sqrt(var) * check_random_state(self.random_state).standard_normal(mean.shape)
        labels: Array = ranked(self.model)[_decided(self.model, draw)]
        return labels

    def predict_proba(self, X: object) -> Floats:
        """Return the probability of every class to be drawn, shape (n_samples, n_classes), as ``classes_`` are."""
        found: Floats = by_class(self.model, votes(self.model, self.model._read(X)).probability)
        return found

    def vote(self, X: object) -> Array:
        """Predict the class that is drawn most often: the rule that ``bayes_bound`` is about."""
        labels: Array = self.classes_[np.argmax(self.predict_proba(X), axis=1)]
        return labels

    def score(self, X: object, y: Array) -> float:
        """Share of rows that are right, by one draw for each."""
        return float(np.mean(self.predict(X) == np.asarray(y)))


def votes(model: DiscreteMachine, X: Inputs) -> Votes:
    """Return the probability of every class to be drawn, by rank, for inputs that were read."""
    mean, var = _latent(model, X)
    likelihood = model.likelihood_
    if isinstance(likelihood, ClassLikelihood):
        return votes_of_classes(mean + likelihood.bias, var)
    if isinstance(likelihood, Ordinal):
        return votes_of_ordered(mean[:, 0], var[:, 0], likelihood.thresholds)
    return votes_of_two(mean[:, 0] + _bias(model), var[:, 0])


def _latent(model: DiscreteMachine, X: Inputs) -> tuple[Floats, Floats]:
    check_is_fitted(model)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused
        mean, var = known(*latent(model.posterior_, X))
    return mean, var


def _decided(model: DiscreteMachine, draw: Floats) -> Array:
    likelihood = model.likelihood_
    if isinstance(likelihood, ClassLikelihood):
        return np.asarray(np.argmax(draw + likelihood.bias, axis=1))
    if isinstance(likelihood, Ordinal):
        return np.asarray(np.searchsorted(likelihood.thresholds, draw[:, 0]))
    return np.asarray((draw[:, 0] + _bias(model) > 0.0).astype(np.intp))


def _bias(model: DiscreteMachine) -> float:
    likelihood = model.likelihood_
    if not isinstance(likelihood, Probit | Logit):
        raise ParameterError(
            f"a draw of the function decides between two classes where the likelihood is the same for both when signs "
            f"change, as Probit and Logit are; {type(likelihood).__name__} is not known to be"
        )
    return likelihood.bias
