"""Kernels whose length scales and relevances are shared by groups of columns."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from .._types import Floats, Inputs, Rows
from ..errors import ParameterError
from ..numerics.parameters import Parametrised
from .algebra import Block, Kernel
from .columns import On, parts_of
from .stationary import RBF

__all__ = ["Grouped", "image_blocks"]


@dataclass(frozen=True, eq=False, repr=False)
class Grouped(Kernel):
    r"""A kernel that has one number for each group of columns where it would have one for each column.

    .. math:: \ell_j = \ell'_{g(j)}, \qquad r_j = r'_{g(j)}

    Parameters
    ----------
    kernel : Kernel
        What it has for each column, such as length scales, it has for each group.
    groups : array of int, shape (n_features,)
        g: the group of every column, from zero on; ``image_blocks`` has those of the pixels of an image.
    """

    _parts: ClassVar[tuple[str, ...]] = ("kernel",)

    kernel: Kernel = field(default_factory=lambda: RBF(np.ones(1)))
    groups: Rows = field(default_factory=lambda: np.zeros(1, dtype=np.intp))

    def __post_init__(self) -> None:
        super().__post_init__()
        given = np.array(self.groups)
        whole = given.ndim == 1 and given.size > 0 and given.dtype.kind in "iu"
        if not whole or not np.array_equal(np.unique(given), np.arange(given.max() + 1)):
            raise ParameterError(
                "Grouped: groups must be the number of the group of every column, all numbers from zero on; "
                f"got {self.groups!r}"
            )
        if any(isinstance(part, On | Grouped) for part in parts_of(self.kernel)):
            raise ParameterError(
                "Grouped: kernels of some of the columns have groups inside: On(Grouped(...), columns)"
            )
        n_groups = int(given.max()) + 1
        for name, size in _sizes(self.kernel).items():
            if size not in (1, n_groups):
                raise ParameterError(f"Grouped: {name} has {size} entries, but there are {n_groups} groups")
        given = given.astype(np.intp)
        given.setflags(write=False)
        object.__setattr__(self, "groups", given)

    @property
    def whole(self) -> Kernel:
        """The kernel with a number for each column."""
        return _spread(self.kernel, self.groups)

    def on(self, Z: Inputs) -> Block:
        return self.whole.on(Z)

    def part_by_part(self, Z: Inputs) -> Block:
        return self.whole.part_by_part(Z)

    def diag(self, X: Inputs) -> Floats:
        return self.whole.diag(X)

    def times(self, factor: float) -> Kernel | None:
        inside = self.kernel.times(factor)
        return None if inside is None else replace(self, kernel=inside)

    def vjp(self, X: Inputs, Z: Inputs | None, G: Floats) -> Floats:
        return self._pull(self.whole.vjp(X, Z, G))

    def diag_vjp(self, X: Inputs, w: Floats) -> Floats:
        return self._pull(self.whole.diag_vjp(X, w))

    def vjp_with_inputs(self, X: Inputs, Z: Inputs, G: Floats) -> tuple[Floats, Floats]:
        by_theta, by_inputs = self.whole.vjp_with_inputs(X, Z, G)
        return self._pull(by_theta), by_inputs

    def input_vjp(self, X: Inputs, Z: Inputs, G: Floats) -> tuple[Floats, Floats]:
        return self.whole.input_vjp(X, Z, G)

    def diag_input_vjp(self, X: Inputs, w: Floats) -> Floats:
        return self.whole.diag_input_vjp(X, w)

    def _pull(self, gradient: Floats) -> Floats:
        """Gradient in theta from that of the kernel with a number for each column: a sum over each group."""
        come = np.array(_origins(self.kernel, self.groups, 0))
        return np.bincount(come, weights=gradient, minlength=self.kernel.theta.size)


def image_blocks(shape: tuple[int, int], blocks: int | tuple[int, int]) -> Rows:
    """Return the group of every pixel of an image that is cut into blocks, row by row, for ``Grouped``.

    Parameters
    ----------
    shape : (int, int)
        Height and width of the image, whose pixels are columns row by row.
    blocks : int or (int, int)
        Blocks along either side.

    Examples
    --------
    >>> image_blocks((4, 4), 2).reshape(4, 4)
    array([[0, 0, 1, 1],
           [0, 0, 1, 1],
           [2, 2, 3, 3],
           [2, 2, 3, 3]])
    """
    along: Sequence[int] = (blocks, blocks) if isinstance(blocks, int | np.integer) else tuple(blocks)
    if len(shape) != 2 or len(along) != 2 or not all(1 <= b <= s for b, s in zip(along, shape, strict=True)):
        raise ParameterError(f"image_blocks: an image of {shape!r} pixels cannot be cut into {blocks!r} blocks")
    rows, columns = (np.arange(s) * b // s for s, b in zip(shape, along, strict=True))
    return np.asarray((along[1] * rows[:, None] + columns).ravel())


def _sizes(kernel: Parametrised) -> dict[str, int]:
    """How many entries each parameter has that may have one for each group."""
    inside = [_sizes(part) for _, part in kernel._children()]
    own = {name: np.size(getattr(kernel, name)) for name in kernel.transforms}
    return {name: size for found in (own, *inside) for name, size in found.items()}


def _spread(kernel: Kernel, groups: Rows) -> Kernel:
    """Return the kernel with a number for each column where it has one for each group."""
    arrays = {name: getattr(kernel, name) for name in kernel.transforms if np.ndim(getattr(kernel, name))}
    parts = {name: _spread(getattr(kernel, name), groups) for name in kernel._parts}
    return replace(kernel, **{name: value[groups] for name, value in arrays.items()}, **parts)


def _origins(kernel: Parametrised, groups: Rows, start: int) -> list[int]:
    """From which entry of theta each comes that the kernel has with a number for each column."""
    found = list[int]()
    for name in kernel.transforms:
        value = getattr(kernel, name)
        found += (start + groups).tolist() if np.ndim(value) else [start]
        start += np.size(value)
    for _, part in kernel._children():
        found += _origins(part, groups, start)
        start += part.theta.size
    return found
