"""Classification into ordered categories."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets

from .._types import Array, Floats, Rows
from ..errors import ParameterError
from ..kernels import Kernel
from ..learning import Learning
from ..likelihoods import Likelihood
from ..machines.defaults import ORDINAL_VARIANCE, named, ordinal
from ..runtime import Callback, outside
from ..scores import Score
from .base import Read
from .certifying import Certifying
from .class_weight import ClassWeight, class_shift
from .discrete import discrete
from .images import Invariances
from .inputs import read
from .records import in_files
from .values import given_kernel

__all__ = ["IVMOrdinalClassifier"]


@in_files
class IVMOrdinalClassifier(Certifying):
    """Informative vector machine for ordered categories, such as grades.

    Parameters
    ----------
    kernel : Kernel, optional
        Covariance of the latent function. None scales an RBF kernel and a bias to the columns of X.
    likelihood : "ordinal" or Ordinal
        By name the cut points are set from the category frequencies, and the share of wrong labels is learned if
        evidence and rows left out agree that there are some (``likelihood_.lapse``).
    categories : sequence, optional
        The categories from lowest to highest. None takes the order of an ordered pandas Categorical
        or a polars Enum, else sorts the labels that occur in y, with a warning if they are three words or more.
    approximation, n_active, score, learn, class_weight, block_size, pool_size, initial, selection, blur, refine, \
max_memory, max_time, dtype, n_jobs, warm_start, callback, random_state, verbose, invariances, rounds, move
        As for IVMClassifier.

    Attributes
    ----------
    classes_ : array
        The categories, lowest first.
    class_shift_, active_, active_vectors_, site_precision_, site_mean_, kernel_, likelihood_, posterior_, \
log_evidence_, history_, stop_reason_, moved_, n_features_in_, feature_names_in_
        As for IVMClassifier.

    Examples
    --------
    >>> import numpy as np
    >>> from infovec import IVMOrdinalClassifier
    >>> x = np.linspace(-1, 1, 90)[:, None]
    >>> grade = np.array(["low", "middle", "high"])[np.digitize(x[:, 0], [-0.3, 0.4])]
    >>> model = IVMOrdinalClassifier(categories=["low", "middle", "high"], n_active=30, random_state=0)
    >>> [str(v) for v in model.fit(x, grade).predict([[-0.9], [0.0], [0.9]])]
    ['low', 'middle', 'high']
    """

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        likelihood: str | Likelihood = "ordinal",
        categories: Sequence[object] | Array | None = None,
        approximation: str = "projected",
        n_active: int | float | str = 500,
        score: str | Score = "entropy",
        learn: str | Learning | None = "ep",
        class_weight: ClassWeight = None,
        block_size: int | str = "auto",
        pool_size: int | str | None = "auto",
        initial: ArrayLike | None = None,
        selection: str = "auto",
        blur: bool | str = "auto",
        refine: str | None = "auto",
        max_memory: float | str | None = None,
        max_time: float | None = None,
        dtype: str = "float32",
        n_jobs: int | None = None,
        warm_start: bool = False,
        callback: Callback | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        invariances: Invariances = None,
        rounds: int = 1,
        move: str | bool = False,
    ) -> None:
        super().__init__(
            kernel=kernel, likelihood=likelihood, approximation=approximation, n_active=n_active, score=score,
            learn=learn, block_size=block_size, pool_size=pool_size, initial=initial,
            selection=selection, blur=blur, refine=refine, max_memory=max_memory, max_time=max_time, dtype=dtype,
            n_jobs=n_jobs, warm_start=warm_start, callback=callback, random_state=random_state, verbose=verbose,
            invariances=invariances, rounds=rounds, move=move,
        )  # fmt: skip
        self.categories, self.class_weight = categories, class_weight

    def _read_targets(self, X: object, y: object, sample_weight: ArrayLike | None) -> Read:
        categories = _ordered_categories(y) if self.categories is None else self.categories
        inputs, labels = read(self, given_kernel(self.kernel), X, y)
        check_classification_targets(labels)
        sample = self._sample(inputs, labels, sample_weight)
        targets = self._encode(sample.y, categories).astype(np.float64)
        n = len(self.classes_)
        self.class_shift_ = class_shift(self.class_weight, self.classes_, targets.astype(np.intp), sample.weight)
        likelihood = discrete(self._named(targets, n, sample.weight))
        if len(likelihood.labels) != n:
            raise ParameterError(
                f"the likelihood has {len(likelihood.labels)} categories, y has {n}; give {n - 1} thresholds"
            )
        return Read(sample, targets, likelihood, ORDINAL_VARIANCE, vars(self)["score"])

    def _named(self, targets: Floats, n: int, weight: Floats | None) -> Likelihood:
        makers = {"ordinal": lambda y, weight: ordinal(y, n, ORDINAL_VARIANCE, weight)}
        return named(makers, self.likelihood, targets, weight)

    def _likelihood_of(self, own: Rows) -> Likelihood:
        return self._named(own.astype(np.float64), len(self.classes_), None)

    def _encode(self, y: Array, categories: object) -> Rows:
        found, index = np.unique(y, return_inverse=True)
        if categories is None:
            _check_no_gaps(found)
            _warn_of_words(found)
            self.classes_ = found
        else:
            self.classes_ = np.asarray(categories)
            if self.classes_.ndim != 1 or len(np.unique(self.classes_)) != len(self.classes_):
                raise ParameterError(f"categories must be a list of distinct labels, lowest first, got {categories!r}")
            place = {label: k for k, label in enumerate(self.classes_.tolist())}
            unknown = [label for label in found.tolist() if label not in place]
            if unknown:
                raise ParameterError(
                    f"categories must name every label of y, with the same type; missing: {unknown[:5]}"
                )
            index = np.array([place[label] for label in found.tolist()], dtype=np.intp)[index]
        if len(self.classes_) < 2:
            raise ParameterError(f"y has one class only, {found[0]}; rows of two categories or more are needed")
        return index


def _ordered_categories(y: object) -> list[object] | None:
    """Return the categories of an ordered Categorical of pandas, or of an Enum of polars, or None."""
    dtype: Any = getattr(y, "dtype", None)
    ordered = getattr(dtype, "ordered", False) or (type(dtype).__name__ == "Enum" and hasattr(dtype, "categories"))
    return list(dtype.categories) if ordered else None


def _warn_of_words(found: Array) -> None:
    if len(found) > 2 and not np.issubdtype(found.dtype, np.number):
        warnings.warn(
            f"IVMOrdinalClassifier orders the categories alphabetically: {', '.join(map(str, found[:6]))}. "
            "Name them from lowest to highest: categories=[...]",
            stacklevel=outside(),
        )


def _check_no_gaps(found: Array) -> None:
    """Raise when whole-number labels of three categories or more leave out a number between them."""
    whole = np.issubdtype(found.dtype, np.number) and np.all(found == np.round(found))
    if not whole or len(found) < 3 or found[-1] - found[0] + 1 == len(found):
        return
    gap = next(v for v in range(int(found[0]), int(found[-1])) if v not in found)
    raise ParameterError(
        f"ordinal labels run from {found[0]} to {found[-1]} but {gap} does not occur. Number the categories "
        "without gaps, or name them all, lowest first: categories=[...]"
    )
