"""The encoding of tables as a transformer for scikit-learn."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from .._types import Array, Floats, Foreign, Rows
from ..errors import ParameterError
from .frames import check_names, is_frame, raw_columns
from .raw import Raw
from .schema import TableSchema

__all__ = ["TableEncoder", "columns_of", "out_of_place"]


class TableEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Tables as numbers: categories, truth values, dates and missing values of pandas and polars frames.

    The estimators of infovec do this by themselves; it is for kernels on chosen columns, for a look at what a model
    sees, and for pipelines. There is one column for each of the table, in its order: numbers; days since 1970 for
    dates, days for durations and times of day; the place of ordered categories (a pandas Categorical with
    ``ordered=True``); and the number of any other category, in the order of their names. A missing number is replaced
    by the median and a missing category by the commonest, and a further column, after all others, says where that was.
    A category that is new is -1, and far below zero if categories are ordered.

    Attributes
    ----------
    schema_ : TableSchema
    categorical_ : array of int
        Columns of the result in which rows are the same or not, nothing between: those for the kernel ``Categorical``.
    n_features_in_ : int
    feature_names_in_ : array of str

    Examples
    --------
    >>> import pandas as pd
    >>> from infovec import TableEncoder
    >>> table = pd.DataFrame({"age": [31.0, None, 54.0], "colour": ["red", "blue", None]})
    >>> encoder = TableEncoder().fit(table)
    >>> encoder.transform(table).tolist()
    [[31.0, 1.0, 0.0, 0.0], [42.5, 0.0, 1.0, 0.0], [54.0, 0.0, 0.0, 1.0]]
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'colour', 'age is missing', 'colour is missing']
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def fit(self, X: object, y: object = None) -> Self:
        """Learn the categories, and which columns have missing values.

        Parameters
        ----------
        X : DataFrame of pandas or polars, or array of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        self.schema_ = TableSchema.learned(columns_of(self, X, training=True))
        return self

    @classmethod
    def from_model(cls, model: object) -> Self:
        """Return the encoder of a fitted model: with the categories, medians and columns that it knows.

        Parameters
        ----------
        model : fitted estimator
            Of a table with more than numbers, or with missing values; it may come from a file.

        Returns
        -------
        encoder : TableEncoder
            Fitted. What it makes of a table is what the model's ONNX graph takes.
        """
        check_is_fitted(model)
        known = vars(model)
        if "table_" not in known:
            raise ParameterError(
                "the model was fitted to numbers without gaps, which it takes as they are: there is nothing to encode"
            )
        encoder = cls()
        encoder.schema_ = known["table_"]
        for name in ("n_features_in_", "feature_names_in_"):
            if name in known:
                setattr(encoder, name, known[name])
        return encoder

    def transform(self, X: object) -> Floats:
        """Return rows as numbers.

        Parameters
        ----------
        X : DataFrame of pandas or polars, or array of shape (n_samples, n_features)

        Returns
        -------
        encoded : array of shape (n_samples, n_features_out)
        """
        check_is_fitted(self)
        return self.schema_.encode(columns_of(self, X, training=False))

    @property
    def categorical_(self) -> Rows:
        """Columns of the result for the kernel ``Categorical``."""
        return self.schema_.codes

    def get_feature_names_out(self, input_features: object = None) -> Array:
        """Return the names of the columns of the result.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        names : array of str
        """
        check_is_fitted(self)
        return np.asarray(self.schema_.names, dtype=object)


def out_of_place(error: ValueError, estimator: object, X: Foreign) -> ValueError:
    """Return an error of names of columns with the first that is out of place, if they are all there."""
    if "must be in the same order" not in str(error):
        return error
    known: list[str] = vars(estimator)["feature_names_in_"].tolist()
    at = next(j for j, (name, here) in enumerate(zip(known, X.columns, strict=True)) if name != here)
    return ParameterError(
        f"{str(error).rstrip()}\nColumn {at} of X is {X.columns[at]!r}, and was {known[at]!r} then: give "
        "X[model.feature_names_in_], which puts them in order"
    )


def columns_of(estimator: object, X: object, training: bool) -> list[Raw]:
    """Return the columns of a table; the estimator learns their number and names, or compares them."""
    if is_frame(X):
        check_names(X)
    else:
        X = check_array(X, dtype=np.float64, ensure_all_finite=False, estimator=estimator, input_name="X")
    try:
        validate_data(estimator, X, reset=training, skip_check_array=True)
    except ValueError as error:
        raise out_of_place(error, estimator, X) from error
    raws = raw_columns(X)
    if not raws or not len(raws[0].values):
        raise ParameterError(f"X has shape ({len(raws[0].values) if raws else 0}, {len(raws)}): no rows or no columns")
    return raws
