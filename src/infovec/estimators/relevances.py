"""Which columns a fitted model looks at."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._types import Floats, Rows
from ..errors import ParameterError
from ..kernels import Kernel, On
from ..kernels.columns import parts_of
from ..kernels.relevances import column_weights
from ..learning import Learning, further_terms
from ..learning.model import Model
from ..machines.defaults import column_spreads
from ..plain import bars, frame, printable, words
from ..tables import TableSchema
from .fitted import Fitted
from .tasks import codes_of, gaps_of, mixed_by_name
from .values import is_open

__all__ = ["NOT_IMPORTANCE", "Relevances", "has_separate", "model_relevances", "one_for", "seen_columns"]

NOT_IMPORTANCE = (
    "Relevance is how fast the function can change along a column, not how much predictions depend on it, which "
    "feature_importances_ says."
)
"""What is said beside relevances to those who have not read of them."""

_SHOWN = 20  # columns in the text
_ROUNDING = 1e-6
_NOTHING = 1e-6  # relevance of a column that is switched off


@dataclass(frozen=True)
class Relevances:
    """How much every column counts, the most relevant first; ``print`` shows them.

    Parameters
    ----------
    columns : tuple of str
        Empty where the kernel says nothing about columns, or where what it says was not learned.
    relevance : array
        (spread / length scale)^2 of the column, as a share of the largest one.
    length_scale : array
        In the unit of the column; infinite where the model does not look at it.
        Of categories the root of 1 / relevance of the kernel ``Categorical``.
    note : str
        What to bear in mind when reading them; empty if nothing.
    low, high : array, optional
        Between which each length scale is with a probability of 95 %, where that is known.
    number : array of int, optional
        Of each column in X, from zero on.
    categories : tuple of str
        Columns of categories, whose length scales have no unit.
    """

    columns: tuple[str, ...]
    relevance: Floats
    length_scale: Floats
    note: str
    low: Floats | None = None
    high: Floats | None = None
    number: Rows | None = None
    categories: tuple[str, ...] = ()

    @property
    def n_seen(self) -> int:
        """How many columns the model looks at; the others come last, and have next to no relevance."""
        return int(np.sum(self.relevance > _NOTHING))

    def picture(self, shape: tuple[int, int]) -> Floats:
        """Return the relevances as an image whose pixels are the columns, row by row.

        Parameters
        ----------
        shape : (int, int)
            Height and width.
        """
        if self.number is None or shape[0] * shape[1] != len(self):
            raise ParameterError(f"relevances of {len(self)} columns are no picture of {shape[0]} x {shape[1]} pixels")
        found = np.zeros(len(self))
        found[self.number] = self.relevance
        return found.reshape(shape)

    @property
    def more(self) -> str:
        """What is said of the columns that are not shown, beyond the first ones."""
        beyond, off = min(len(self), max(self.n_seen, 1)) - self._shown, len(self) - max(self.n_seen, 1)
        said = [f"{beyond} more"] if beyond > 0 else []
        if off > 0:
            said.append(f"{off} that say nothing: switched off, or constant")
        return ", and ".join(said)

    @property
    def _shown(self) -> int:
        return min(_SHOWN, max(self.n_seen, 1), len(self))

    def __len__(self) -> int:
        return len(self.columns)

    def _span(self, k: int) -> str:
        if self.low is None or self.high is None:
            return ""
        return f"  {f'{self.low[k]:.4g} to {self.high[k]:.4g}':22s}"

    def _kind(self, name: str) -> str:
        return " (categories, without unit)" if name in self.categories else ""

    def _repr_html_(self) -> str:
        rows = [
            (
                name + self._kind(name),
                float(share),
                f"{share:.3g}" + (f"; length scale {scale:.4g}" if np.isfinite(scale) else ""),
            )
            for name, share, scale in list(zip(self.columns, self.relevance, self.length_scale, strict=True))[
                : self._shown
            ]
        ]
        if self.more:
            rows.append((f"and {self.more}", 0.0, ""))
        return frame("Relevances", bars(rows), f"<div>{words(self.note)}</div>" if self.note else "")

    def __str__(self) -> str:
        units = "" if set(self.columns) <= set(self.categories) else " in the unit of the column"
        lines = [f"relevances: share of the largest, and length scale{units}"] if self.columns else []
        for k, name in enumerate(self.columns[: self._shown]):
            scale = f"{self.length_scale[k]:.4g}" if np.isfinite(self.length_scale[k]) else "-"
            lines.append(f"  {self.relevance[k]:8.4f}  {scale:10s}{self._span(k)}  {printable(name)}{self._kind(name)}")
        if self.more:
            lines.append(f"  and {self.more}")
        return "\n".join([*lines, *([f"  ({self.note})"] if self.note else [])])


def model_relevances(model: Fitted, names: Sequence[str] | None = None, units: Floats | None = None) -> Relevances:
    r"""Return how much every column counts.

    .. math:: \mathrm{relevance}_j \propto w_j \, s_j^2

    with the weight w of ``column_weights`` and the standard deviation s of the column over the active rows, so that
    the unit of a column does not matter; of categories s^2 is how often two rows are in different ones. What it counts
    that a value is missing is added.

    Parameters
    ----------
    model : fitted estimator
        With several kernels, one for each class, a column counts as much as in the kernel that looks at it most.
    names : sequence of str, optional
        Of the columns; ``feature_names_in_`` if None, or their numbers.
    units : array, optional
        What length scales are multiplied by: what each column was divided by before the fit.
    """
    p, table = getattr(model, "n_features_in_", None), getattr(model, "table_", None)
    kernels: list[Kernel] = model.kernel_ if isinstance(model.kernel_, list) else [model.kernel_]
    inside = p if table is None else table.width
    weights = [] if inside is None else [column_weights(kernel, inside) for kernel in kernels]
    found = [weight for weight in weights if weight is not None]
    if p is None or not found:
        return Relevances((), np.empty(0), np.empty(0), _nothing(kernels[0], p))
    weight = np.max(found, axis=0)
    note = _not_learned(model, weight)
    if note:
        return Relevances((), np.empty(0), np.empty(0), note)
    if names is None:
        names = [str(name) for name in getattr(model, "feature_names_in_", [f"column {j}" for j in range(p)])]
    if len(names) != p:
        raise ParameterError(f"the model has {p} columns, but there are {len(names)} names")
    vectors = model.active_vectors_[0] if isinstance(model.active_vectors_, list) else model.active_vectors_
    spread = column_spreads(vectors)[0][: len(weight)]  # without that of groups
    if table is not None:
        spread[table.codes] = [differing(vectors[:, j]) for j in table.codes]
    reach = weight * np.where(spread.any(), spread, 1.0) ** 2
    if table is not None:
        reach = np.bincount(table.sources, weights=reach, minlength=p)
        weight = weight[:p]
    order = np.argsort(-reach, kind="stable")
    with np.errstate(divide="ignore"):
        scale = (1.0 if units is None else units) / np.sqrt(weight)
    largest = reach.max() if reach.any() else 1.0
    note = _of_categories(model, found[0])
    codes = () if table is None else tuple(names[j] for j in table.codes if j < p)
    shares = reach[order] / largest
    return Relevances(tuple(names[j] for j in order), shares, scale[order], note, number=order, categories=codes)


def differing(codes: Floats) -> float:
    """Return what stands for the spread of categories: the root of how often two rows are in different ones."""
    share = np.unique(codes, return_counts=True)[1] / max(1, len(codes))
    return float(np.sqrt(1.0 - np.sum(share**2)))


def _nothing(kernel: Kernel, p: int | None) -> str:
    if p is None or not kernel.numeric:
        return f"{kernel!r} is not a kernel of columns, so there are no relevances"
    return f"{kernel!r} does not tell columns apart. {_remedy(p)}"


def _not_learned(model: Fitted, weight: Floats) -> str:
    """Say why the length scales of columns tell nothing of their relevance; nothing where they do."""
    if len(weight) < 2:
        return ""
    if isinstance(model.kernel, Kernel):
        numbers, codes = seen_columns(model, weight)
        shared = not np.ptp(weight) or one_for(weight, numbers) or (len(numbers) < 2 and one_for(weight, codes))
        of = "" if len(numbers) == len(weight) else " of a kind"
        if shared and has_separate(model.kernel, len(numbers) > 1 and len(codes) > 0):
            return f"the kernel has a length scale for each column, and all of them{of} are equal. {_not_moved(model)}"
        return (
            f"the kernel has one length scale for all columns{of}. {_remedy_for(model, len(weight))}" if shared else ""
        )
    if _apart(model):
        return ""
    kind = "of a kind (numbers, categories, gaps) " if np.any(_kinds(model)) else ""
    return (
        f"all columns {kind}share one length scale, in units of their spreads, so there are no relevances. "
        f"{_remedy_for(model, len(weight))}"
    )


def has_separate(kernel: Kernel, mixed: bool) -> bool:
    """Whether a kernel has a length scale, or a relevance, for each of several columns; of a mixed table of numbers."""
    second = ("length_scale[1]",) if mixed else ("length_scale[1]", "relevance[1]")
    return any(name.endswith(second) for name in kernel.parameter_names)


def _not_moved(model: Fitted) -> str:
    """Why length scales that could differ do not."""
    if model.learn is None:
        return "With learn=None they stay as they are given; to learn how relevant each column is: learn='ep'"
    if isinstance(model.learn, Learning) and model.learn.fixed:
        return (
            f"Learning leaves {', '.join(model.learn.fixed)} as they are; to learn how relevant each column is, do not"
        )
    return "Learning found no reason to tell them apart"


def seen_columns(model: Fitted, weight: Floats) -> tuple[Rows, Rows]:
    """Columns that the kernel looks at: of numbers, and of codes of categories."""
    seen, codes = weight > 0.0, _kinds(model) > 0
    return np.flatnonzero(seen & ~codes), np.flatnonzero(seen & codes)


def one_for(weight: Floats, columns: Rows) -> bool:
    """Whether several columns share one weight."""
    return len(columns) > 1 and bool(np.ptp(weight[columns]) <= _ROUNDING * weight[columns].max())


def _of_categories(model: Fitted, weight: Floats) -> str:
    """Say that categories share a relevance, where numbers do not share theirs."""
    shared = isinstance(model.kernel, Kernel) and one_for(weight, seen_columns(model, weight)[1])
    return "columns of categories share one relevance, which says nothing of each" if shared else ""


def _width(model: Fitted) -> int:
    """Columns of the rows that the kernel sees."""
    table: TableSchema | None = getattr(model, "table_", None)
    if table is not None:
        return int(table.width)
    vectors = model.active_vectors_[0] if isinstance(model.active_vectors_, list) else model.active_vectors_
    return int(getattr(model, "n_features_in_", vectors.shape[1]))


def _apart(model: Fitted) -> bool:
    """Whether learning gave columns length scales of their own, where none were given: more parameters moved.

    ``history_["theta"]`` is in terms of the length scales that were kept, not of all that were tried.
    """
    known = vars(model)
    if "theta" in known.get("diagnostics_", {}):
        return True
    kernels = model.kernel_ if isinstance(model.kernel_, list) else [model.kernel_]
    if known.get("table_") is None and any(isinstance(part, On) for kernel in kernels for part in parts_of(kernel)):
        return True  # the others are switched off
    if len(kernels) > 1:  # those of classes have the same proportions unless some were learned
        weights = [column_weights(kernel, _width(model)) for kernel in kernels]
        kinds = _kinds(model)
        shares = np.array([_proportions(weight, kinds) for weight in weights if weight is not None])
        return bool(np.ptp(shares, axis=0).max() > _ROUNDING)
    history = known.get("history_", {})
    thetas = (history[0] if isinstance(history, list) else history).get("theta", np.empty((0, 0)))
    learning = model.learn if isinstance(model.learn, Learning) else getattr(model, "_moving", None)
    together = Model.begin(kernels[0], model.likelihood_, tied=True, learning=learning)
    spare = getattr(model.likelihood_, "spare", "")
    found = spare in model.likelihood_.parameter_names and not getattr(vars(model).get("likelihood"), spare, 0.0)
    terms = len(further_terms(kernels[0])) if is_open(vars(model).get("kernel")) else 0
    return bool(len(thetas)) and np.shape(thetas)[-1] > together.size - int(found) - terms  # these are in no step


def _kinds(model: Fitted) -> Rows:
    """For each column that the kernel sees, whether it is a number, a category, or says where values are missing."""
    kinds, codes, gaps = np.zeros(_width(model), dtype=np.intp), codes_of(model), gaps_of(model)
    kinds[codes], kinds[gaps] = 1, 2
    return kinds


def _proportions(weight: Floats, kinds: Rows) -> Floats:
    """Weights as shares of the largest of their kind: each kind has a unit of its own."""
    largest = np.zeros(3)
    np.maximum.at(largest, kinds, weight)
    return weight / largest[kinds]


def _remedy(p: int) -> str:
    return f"To learn how relevant each one is: kernel=RBF(np.ones({p})) + Bias(), or --ard on the command line"


def _remedy_for(model: Fitted, p: int) -> str:
    table: TableSchema | None = getattr(model, "table_", None)
    if table is None:
        return _remedy(p)
    return f"To learn how relevant each one is: kernel={mixed_by_name(table)}, or --ard on the command line"
