"""A query strategy for scikit-activeml, which must be installed."""

from typing import Any

import numpy as np
from sklearn.base import clone

from ._types import Array, Floats, Foreign
from .active_learning import CANDIDATE_SCORES, PREDICTION, best_batch, some_to_predict
from .errors import ParameterError

try:
    from skactiveml.base import SingleAnnotatorPoolQueryStrategy
    from skactiveml.utils import MISSING_LABEL, is_labeled
except ImportError as error:
    raise ImportError("infovec.activeml needs scikit-activeml: pip install 'infovec[activeml]'") from error

__all__ = ["InformationSampling"]


class InformationSampling(SingleAnnotatorPoolQueryStrategy):  # type: ignore[misc]
    """Asks for the rows whose labels an estimator of infovec is expected to learn most from.

    Batches are chosen as by ``suggest``: no row tells what another one does.

    Parameters
    ----------
    score : {"information", "prediction", "entropy", "variance", "margin"}
        As for ``suggest``; with "prediction" the candidates stand for the rows that are to be predicted.
    missing_label : scalar
        What stands for a label that is not known.
    random_state : int, RandomState or None
        Draws some of the candidates for "prediction".
    """

    def __init__(
        self, score: str = "information", missing_label: Foreign = MISSING_LABEL, random_state: Foreign = None
    ) -> None:
        super().__init__(missing_label=missing_label, random_state=random_state)
        self.score = score

    def query(
        self,
        X: Array,
        y: Array,
        estimator: Any,
        fit_estimator: bool = True,
        candidates: Array | None = None,
        batch_size: int = 1,
        return_utilities: bool = False,
    ) -> Any:
        """Choose rows to ask for.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All rows.
        y : array-like of shape (n_samples,)
            Their labels, ``missing_label`` where they are not known.
        estimator : IVMClassifier, IVMRegressor or IVMOrdinalClassifier
        fit_estimator : bool
            Whether a copy of it is fitted to the rows with labels; else it must be fitted.
        candidates : array-like of int, or of shape (n_candidates, n_features), optional
            Rows that may be chosen, by their numbers or as they are; all without labels if None.
        batch_size : int
        return_utilities : bool
            Whether to return the scores of all rows before each choice as well.

        Returns
        -------
        query_indices : array of int, shape (batch_size,)
        utilities : array of shape (batch_size, n_samples) or (batch_size, n_candidates)
            NaN where a row cannot be chosen.
        """
        X, y, candidates, n, return_utilities = self._validate_data(
            X, y, candidates, batch_size, return_utilities, reset=True
        )
        if not isinstance(self.score, str) or self.score not in (*CANDIDATE_SCORES, PREDICTION):
            raise ParameterError(f"score must be one of {[*CANDIDATE_SCORES, PREDICTION]}, got {self.score!r}")
        inputs, mapping = self._transform_candidates(candidates, X, y)
        model = estimator
        if fit_estimator:
            known = is_labeled(y, missing_label=self.missing_label_)
            model = clone(estimator).fit(X[known], y[known])
        pool = model._read(inputs)
        others = some_to_predict(pool, self.random_state_)
        told = model.posterior_, model.likelihood_.for_new_rows(), pool, n, self.score, others
        batch = best_batch(*told, thorough=return_utilities)
        rows = batch.rows if mapping is None else mapping[batch.rows]
        if not return_utilities:
            return rows
        assert batch.table is not None
        found: Floats = np.where(np.isneginf(batch.table), np.nan, batch.table)
        if mapping is None:
            return rows, found
        utilities = np.full((n, len(X)), np.nan)
        utilities[:, mapping] = found
        return rows, utilities
