"""Classification into ordered categories."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets

from .._types import Array, Floats, Rows
from ..errors import ParameterError
from ..kernels import Kernel
from ..learning import Learning
from ..likelihoods import Likelihood
from ..likelihoods.ranks import by_class
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
        The labels from lowest to highest. None takes the order of an ordered pandas Categorical
        or a polars Enum, else sorts the labels that occur in y, with a warning if they are three words or more.
    approximation, n_active, score, learn, class_weight, block_size, pool_size, initial, selection, blur, refine, \
max_memory, max_time, dtype, n_jobs, warm_start, callback, random_state, verbose, invariances, rounds, move
        As for IVMClassifier.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted as everywhere in scikit-learn; columns of probabilities are in this order.
    categories_ : array of shape (n_classes,)
        The same from lowest to highest. Between them are the cut points ``likelihood_.thresholds``.
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
    >>> model.classes_.tolist(), model.categories_.tolist()
    (['high', 'low', 'middle'], ['low', 'middle', 'high'])
    """

    categories_: Array
    _fitted = (*Certifying._fitted, "categories_")

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
        ranks = self._encode(sample.y, categories)
        targets, n = ranks.astype(np.float64), len(self.categories_)
        self.classes_ = np.sort(self.categories_)
        shift = class_shift(self.class_weight, self.categories_, ranks, sample.weight)
        self.class_shift_ = by_class(self, shift)
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
        return self._named(own.astype(np.float64), len(self.categories_), None)

    def _encode(self, y: Array, categories: object) -> Rows:
        found, index = np.unique(y, return_inverse=True)
        if categories is None:
            _check_no_gaps(found)
            _warn_of_words(found)
            self.categories_ = found
        else:
            self.categories_ = np.asarray(categories)
            if self.categories_.ndim != 1 or len(np.unique(self.categories_)) != len(self.categories_):
                raise ParameterError(f"categories must be a list of distinct labels, lowest first, got {categories!r}")
            place = {label: k for k, label in enumerate(self.categories_.tolist())}
            unknown = [label for label in found.tolist() if label not in place]
            if unknown:
                raise ParameterError(
                    f"categories must name every label of y, with the same type; missing: {unknown[:5]}"
                    f"{_numbered_by_another(found, self.categories_)}"
                )
            index = np.array([place[label] for label in found.tolist()], dtype=np.intp)[index]
        if len(self.categories_) < 2:
            raise ParameterError(f"y has one class only, {found[0]}; rows of two categories or more are needed")
        return index

    def __setstate__(self, state: dict[str, object]) -> None:
        super().__setstate__(self._of_today(state))

    @classmethod
    def _of_today(cls, fitted: Mapping[str, object]) -> dict[str, object]:
        """Return attributes that earlier versions left, whose ``classes_`` went by rank, as they are now."""
        labels, shift = fitted.get("classes_"), fitted.get("class_shift_")
        if "categories_" in fitted or not isinstance(labels, np.ndarray) or labels.ndim != 1:
            return dict(fitted)
        order = np.argsort(labels, kind="stable")
        found = {**fitted, "categories_": labels, "classes_": labels[order]}
        if isinstance(shift, np.ndarray) and shift.shape == labels.shape:
            found["class_shift_"] = shift[order]
        return found


def _ordered_categories(y: object) -> list[object] | None:
    """Return the categories of an ordered Categorical of pandas, or of an Enum of polars, or None."""
    dtype: Any = getattr(y, "dtype", None)
    ordered = getattr(dtype, "ordered", False) or (type(dtype).__name__ == "Enum" and hasattr(dtype, "categories"))
    return list(dtype.categories) if ordered else None


def _numbered_by_another(found: Array, categories: Array) -> str:
    """Return what to say where labels are the numbers that a meta-estimator gives to the words that are named."""
    numbers, words = found.dtype.kind in "iu", all(isinstance(label, str) for label in categories.tolist())
    if not (numbers and words and found[0] >= 0 and found[-1] < len(categories)):
        return ""
    codes = np.searchsorted(np.sort(categories), categories).tolist()
    return (
        ". y has numbers where categories are words: a meta-estimator, such as VotingClassifier or StackingClassifier, "
        f"has encoded the labels by their places in sorted order. Name these, categories={codes} if y has all of "
        "them; or give the meta-estimator a y of ranks, 0 for the lowest, and leave categories out"
    )


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
