"""What every estimator has once it is fitted, for those who only look at it."""

from collections.abc import Mapping
from typing import ClassVar

from .._types import Inputs, Rows
from ..kernels import Kernel
from ..learning import Learning
from ..likelihoods import Likelihood
from ..posterior import Posterior
from ..tables import Encoded, TableSchema
from .values import HasValues

__all__ = ["Fitted", "as_given"]


class Fitted(HasValues):
    """Attributes of a fitted estimator, and the settings that say how they are to be read."""

    _fitted: ClassVar[tuple[str, ...]]
    kernel: Kernel | str | None
    approximation: str
    learn: str | Learning | None
    kernel_: Kernel | list[Kernel]
    likelihood_: Likelihood
    posterior_: Posterior
    active_: Rows
    active_vectors_: Inputs
    n_samples_fit_: int
    fit_seconds_: float

    @classmethod
    def _of_today(cls, fitted: Mapping[str, object]) -> dict[str, object]:
        """Return fitted attributes, which an earlier version may have left, as this version has them."""
        return dict(fitted)


def as_given(model: object, X: Inputs) -> object:
    """Return rows as a fitted model has them in a form in which it does not encode them again."""
    table: TableSchema | None = getattr(model, "table_", None)
    return X if table is None else Encoded(X, table)
