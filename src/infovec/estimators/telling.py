"""Estimators that are told more rows after they were fitted."""

import time
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.utils.validation import assert_all_finite, check_is_fitted, column_or_1d

from .._types import Array, Foreign, Inputs, Rows
from ..errors import ParameterError
from ..runtime import work_within
from .asking import Asking
from .inputs import check_labels, read_weight
from .limits import memory_limit, threads
from .told import Remembered, add, changed, forget, refit
from .warm import kept

__all__ = ["Telling"]


class Telling(Asking):
    """Has ``tell`` and ``partial_fit``."""

    n_active: int | float | str
    _rows: Foreign

    def tell(self, X: object, y: object, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from more rows, without starting over: the parameters of kernel and likelihood stay as they are.

        The model becomes what a fit to all rows with these parameters, and the active rows that it has then, would be.
        Active rows stay, and others join them while there is room, up to ``n_active``. To learn the parameters anew,
        ``fit`` to all rows.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            A class that the model does not know makes it fit to all rows again.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self

        Notes
        -----
        Rows are remembered for this, up to 4 million numbers of inputs, but neither pickled nor saved. What the model
        knows of earlier rows that it does not remember is the sum of their sites, which stays as it is: exact for
        Gaussian noise, and close to a fit otherwise. So it is with models from a file or a pickle, with rows that never
        were in memory, and when rows become too many; certainty of predictions (``likelihood_.spread``, ``power``) is
        then not chosen anew. With "factorised" rows become active one after the other, in the order told, while there
        is room, and later ones are refused; the active pairs of several coupled classes are selected anew.
        ``active_`` numbers the rows as if they had been appended to those of ``fit``.
        """
        check_is_fitted(self)
        if hasattr(self, "unlabelled_") or len(getattr(self, "virtual_", ())):
            raise ParameterError(
                "rows cannot be told to a model that has learned from rows without label, or from images of its rows; "
                "fit it to all rows again"
            )
        inputs, targets = self._told(X, y)
        weight = read_weight(sample_weight, len(targets))
        with kept(self):
            start, seconds = time.perf_counter(), self.fit_seconds_
            known: Remembered | None = getattr(self, "_rows", None)
            if known is None or known.too_many:
                known = forget(self, inputs, targets)
            rows = known.with_more(inputs, targets, weight)
            with threads(self.n_jobs), work_within(memory_limit(self.max_memory)):
                self._learn_of(rows, targets)
            self._rows, self.fit_seconds_ = rows, seconds + time.perf_counter() - start
        return self

    def partial_fit(self, X: object, y: object, classes: ArrayLike | None = None) -> Self:
        """Fit to a first batch of rows, or ``tell`` another one; memory stays bounded.

        Parameters
        ----------
        X, y
            As for ``tell``. The first batch is fitted, parameters are learned from it: it should be a fair sample.
        classes : array-like, optional
            All classes, in the first call; a class that does not occur in the first batch must be named.

        Returns
        -------
        self
        """
        if hasattr(self, "posterior_"):
            return self.tell(X, y)
        if classes is None or not is_classifier(self):
            return self.fit(X, y)
        with changed(self, _known_classes=np.unique(np.asarray(classes))):
            return self.fit(X, y)

    def _encoded(self, y: Array) -> tuple[Array, Rows]:
        """Return the classes, those known before or those of the labels, and the number of each label among them."""
        known = vars(self).get("_known_classes")
        if known is None:
            return np.unique(y, return_inverse=True)
        strange = ~np.isin(y, known)
        if strange.any():
            raise ParameterError(f"y has the label {y[np.argmax(strange)]}, which is not among classes")
        if len(np.unique(y)) == 1 and len(known) == 2:
            raise ParameterError(f"y has one class only, {y[0]}; the first rows must be of two classes at least")
        return known, np.searchsorted(known, y)

    def _told(self, X: object, y: object) -> tuple[Inputs, Array]:
        """Read rows, which have the columns that the model knows."""
        if is_classifier(self):
            check_labels(y)
        inputs, targets = self._read(X), column_or_1d(np.asarray(y))
        if not is_classifier(self):
            targets = targets.astype(np.float64)
        if targets.dtype.kind == "f":
            assert_all_finite(targets, input_name="y")
        if inputs.shape[0] != len(targets):
            raise ParameterError(f"X has {inputs.shape[0]} rows, y has {len(targets)}; give one target for each row")
        return inputs, targets

    def _learn_of(self, rows: Remembered, told: Array) -> None:
        new = np.setdiff1d(told, self.classes_) if is_classifier(self) else np.empty(0)
        if new.size and rows.before is not None:
            raise ParameterError(
                f"the model does not know class {new[0]}, nor does it remember the rows that it was fitted to: "
                "fit it to all rows"
            )
        if new.size:
            self.fit(rows.X, rows.y, rows.weight, groups=rows.folds)
        elif rows.before is None:
            refit(self, rows)
        else:
            add(self, rows)
