"""How much a kernel looks at each column."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from .._types import Floats, Rows
from ..numerics.parameters import Parametrised
from .algebra import Kernel, Product, Scaled, Sum
from .categorical import Categorical
from .columns import On
from .constant import Bias, White
from .dot_product import DotProduct
from .embedding import Embedding, Relevance, Standardised
from .grouped import Grouped
from .stationary import Stationary
from .tasks import ByTask

__all__ = [
    "column_weights",
    "has_categories",
    "kinds_of_scales",
    "of_distances",
    "on_columns",
    "scales_of",
    "separate_scales",
    "with_scales",
]


def column_weights(kernel: Kernel, p: int) -> Floats | None:
    r"""Weight of every column in the distances and products that the kernel is made of, or None if it has no such.

    .. math:: w_j = \max_{\text{parts}} \, r_j / \ell_j^2

    with the length scales of a stationary part and the relevances that act on it, its own or those of a ``Relevance``
    around it; the part that looks closest counts. Categories have their relevance, and so the weight that zeros and
    ones in their place would have; columns that ``On`` leaves out have none. A dot product without relevances says
    nothing, nor does a kernel of other things than the columns themselves, such as the circles of ``Periodic``.

    Parameters
    ----------
    kernel : Kernel
    p : int
        Columns.
    """
    found = [np.broadcast_to(weight, (p,)) for weight in _weights(kernel, None, p)]
    return np.max(found, axis=0) if found else None


def _weights(kernel: Kernel, around: Floats | None, p: int) -> Iterator[Floats]:
    """Weights in all parts that have some; ``around`` are the relevances that act on the kernel's inputs."""
    if isinstance(kernel, Relevance):
        own = np.asarray(kernel.relevance)
        yield from _weights(kernel.kernel, own if around is None else own * around, p)
    elif isinstance(kernel, Stationary):
        yield (1.0 if around is None else around) / np.asarray(kernel.length_scale) ** 2
    elif isinstance(kernel, DotProduct):
        inside = getattr(kernel, "relevance", None)
        if inside is not None or around is not None:
            yield np.asarray(1.0 if inside is None else inside) * (1.0 if around is None else around)
    elif isinstance(kernel, Categorical):
        yield np.asarray(kernel.relevance)
    elif isinstance(kernel, Grouped):
        yield from _weights(kernel.whole, around, p)
    elif isinstance(kernel, On):
        at = [int(c) for c in kernel.columns]
        for weight in _weights(
            kernel.kernel, around if around is None or np.ndim(around) == 0 else around[at], len(at)
        ):
            whole = np.zeros(p)
            whole[at] = weight
            yield whole
    elif isinstance(kernel, ByTask):
        yield from _beside_tasks(kernel, around, p)
    elif isinstance(kernel, Standardised):
        yield from (weight / np.asarray(kernel.scale) ** 2 for weight in _weights(kernel.kernel, around, p))
    elif not isinstance(kernel, Embedding):
        for _, part in kernel._children():
            if isinstance(part, Kernel):
                yield from _weights(part, around, p)


def _beside_tasks(kernel: ByTask, around: Floats | None, p: int) -> Iterator[Floats]:
    """Weights of the columns beside that of the tasks, which has none; tasks given as groups are no column of X."""
    at = p if isinstance(kernel.column, str) else int(kernel.column)
    if at >= p:
        yield from _weights(kernel.kernel, around, p)
        return
    outside = around if around is None or np.ndim(around) == 0 else np.delete(around, at)
    for weight in _weights(kernel.kernel, outside, p - 1):
        yield np.insert(np.broadcast_to(weight, (p - 1,)), at % p, 0.0)


def separate_scales(kernel: Kernel, p: int) -> Kernel:
    """Return the same kernel with a length scale for each of p columns where it had one for all, or more."""
    if isinstance(kernel, Stationary):
        return replace(kernel, length_scale=np.resize(kernel.length_scale, p))
    if isinstance(kernel, Categorical):
        return replace(kernel, relevance=np.resize(kernel.relevance, p))
    if isinstance(kernel, On):
        return replace(kernel, kernel=separate_scales(kernel.kernel, len(kernel.columns)))
    return replace(kernel, **{name: separate_scales(getattr(kernel, name), p) for name in kernel._parts})


def kinds_of_scales(kernel: Parametrised, columns: tuple[int | str, ...] = ()) -> list[tuple[int | str, ...]]:
    """Return for each free number the columns whose categories it is about; none for all else."""
    columns = kernel.columns if isinstance(kernel, On) else columns
    inside = [kind for _, part in kernel._children() for kind in kinds_of_scales(part, columns)]
    own = columns if isinstance(kernel, Categorical) else ()
    return [own] * (kernel.theta.size - len(inside)) + inside


def has_categories(kernel: Parametrised) -> bool:
    """Whether some part of a kernel is about categories."""
    return isinstance(kernel, Categorical) or any(has_categories(part) for _, part in kernel._children())


def of_distances(kernel: Kernel) -> bool:
    """Whether a kernel is made of kernels of the distance in all columns, and constants."""
    if isinstance(kernel, Sum | Product | Scaled):
        return all(of_distances(part) for _, part in kernel._children() if isinstance(part, Kernel))
    return isinstance(kernel, Stationary | Bias | White)


def scales_of(kernel: Kernel, p: int) -> list[Floats]:
    """Return the length scales of p columns in every part of a kernel that ``of_distances`` has them, in order."""
    if isinstance(kernel, Stationary):
        return [np.broadcast_to(kernel.length_scale, (p,)).astype(np.float64)]
    return [scale for _, part in kernel._children() if isinstance(part, Kernel) for scale in scales_of(part, p)]


def with_scales(kernel: Kernel, scales: Sequence[Floats]) -> Kernel:
    """Return the kernel with other length scales, those of ``scales_of``, perhaps for another number of columns."""
    left = iter(scales)

    def changed(kernel: Kernel) -> Kernel:
        if isinstance(kernel, Stationary):
            return replace(kernel, length_scale=next(left))
        return replace(kernel, **{name: changed(getattr(kernel, name)) for name in kernel._parts})

    return changed(kernel)


def on_columns(kernel: Kernel, columns: Rows) -> Kernel:
    """Return a kernel of inputs with more columns, of which it looks at these, in their order."""
    if isinstance(kernel, Stationary):
        return On(kernel, tuple(int(j) for j in columns))
    return replace(kernel, **{name: on_columns(getattr(kernel, name), columns) for name in kernel._parts})
