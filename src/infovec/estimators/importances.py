"""How much predictions depend on each column: what selects columns in scikit-learn."""

from collections.abc import Callable

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .._types import Floats, Foreign, Inputs
from ..errors import ParameterError
from ..likelihoods import Discrete, Likelihood, untransformed
from ..likelihoods.classes import ClassLikelihood
from ..likelihoods.mixtures import quantile
from .latent import Latent

__all__ = ["Importances", "column_importances"]

_ROWS, _FEWEST = 256, 16  # active rows that are looked at
_WORK = 2e10  # products of predictions, for which rows are left out
_MOST_COLUMNS = 2000
_LEVELS = (np.arange(16) + 0.5) / 16  # of a predicted target


class Importances(Latent):
    """Has ``feature_importances_``."""

    @property
    def feature_importances_(self) -> Floats:
        """How much log density is expected to be lost when a column is shuffled, in nats; shape (n_features,).

        It is the relative entropy from what is predicted for active rows to what is predicted for them with the values
        that the column has in other active rows, averaged over some of these: what ``permutation_importance`` of the
        log density would find if the model were right. It needs neither targets nor training rows, so that loaded
        models have it, and the units of columns and targets do not matter. Computed when it is first asked for.
        """
        check_is_fitted(self)
        posterior, found = self.posterior_, vars(self).get("_importances")
        if found is None or found[0] is not posterior:
            try:
                found = posterior, column_importances(self)
            except ParameterError as error:
                raise AttributeError(str(error)) from error
            self._importances = found
        return found[1]


def column_importances(model: Foreign) -> Floats:
    r"""Mean relative entropy between predictions for active rows as they are, and with one column from other rows.

    .. math:: I_j = \frac{1}{n} \sum_i D\bigl[p(y \mid x_i) \,\|\, p(y \mid x_{i \leftarrow \pi(i), j})\bigr]

    Rows are in order of inclusion, and :math:`\pi` takes the value of the row half of them further on, then a third.
    """
    p = getattr(model, "n_features_in_", None)
    if p is None:
        raise ParameterError("the kernel is one of objects, which have no columns, so there are no importances")
    if p > _MOST_COLUMNS:
        raise ParameterError(
            f"feature_importances_ is for at most {_MOST_COLUMNS} columns, there are {p}: see relevances(), or "
            "sklearn.inspection.permutation_importance"
        )
    vectors = model.active_vectors_[0] if isinstance(model.active_vectors_, list) else model.active_vectors_
    d = vectors.shape[0]
    rows = int(np.clip(_WORK / (2.0 * p * float(d) ** 2 * max(1, getattr(model, "n_classes_", 1))), _FEWEST, _ROWS))
    some = np.unique(np.linspace(0, d - 1, min(rows, d)).astype(np.intp))
    X = np.asarray(vectors[some].toarray() if sparse.issparse(vectors) else vectors[some], dtype=np.float64)
    n, found = len(X), np.zeros(p)
    if n < 2:
        return found
    divergence = _divergence_from(untransformed(model.likelihood_.for_new_rows()), *_predicted(model, X))
    shifts = sorted({n // 2, max(1, n // 3)})
    for j in range(p):
        if np.ptp(X[:, j]) == 0.0:
            continue
        own = X[:, j].copy()
        for shift in shifts:
            X[:, j] = np.roll(own, shift)
            found[j] += float(np.mean(divergence(*_predicted(model, X)))) / len(shifts)
        X[:, j] = own
    return np.maximum(found, 0.0)


def _predicted(model: Foreign, X: Inputs) -> tuple[Floats, Floats]:
    mean, var = model.posterior_.predict(X)
    return mean, var


def _divergence_from(
    likelihood: Likelihood | ClassLikelihood, mean: Floats, var: Floats
) -> Callable[[Floats, Floats], Floats]:
    r"""Return the relative entropy from what these latent means and variances predict, as a function of others.

    .. math:: D[p \| q] = \int_0^1 \log \frac{p(F_p^{-1}(u))}{q(F_p^{-1}(u))} \, du
    """
    if isinstance(likelihood, Discrete | ClassLikelihood):
        log_p = likelihood.log_proba(mean, var)
        p = np.exp(log_p)
        return lambda m, v: np.sum(p * (log_p - np.maximum(likelihood.log_proba(m, v), -1e300)), axis=1)
    if likelihood.conjugate:
        here, own = likelihood.predict(mean, var)

        def gaussian(m: Floats, v: Floats) -> Floats:
            there, other = likelihood.predict(m, v)
            return np.asarray(0.5 * (own / other - 1.0 - np.log(own / other) + (here - there) ** 2 / other))

        return gaussian
    y = np.concatenate([quantile(likelihood, np.full(len(mean), level), mean, var) for level in _LEVELS])
    y = np.maximum(np.rint(y), 0.0) if likelihood.counts else y

    def log_p_of(m: Floats, v: Floats) -> Floats:
        return likelihood.log_predictive(y, np.tile(m, len(_LEVELS)), np.tile(v, len(_LEVELS)))

    told = log_p_of(mean, var)
    return lambda m, v: (told - log_p_of(m, v)).reshape(len(_LEVELS), -1).mean(axis=0)
