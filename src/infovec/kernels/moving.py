"""Which columns of inputs may move: those that a kernel has a gradient in, and takes for numbers."""

import numpy as np

from .._types import Mask
from .algebra import Kernel
from .categorical import Categorical
from .columns import On
from .tasks import ByTask

__all__ = ["movable"]


def movable(kernel: Kernel, p: int) -> Mask:
    """Which of p columns of inputs may move by the gradient of a kernel.

    None where the kernel is of objects, of tasks, or has no gradient in its inputs; never categories.
    """
    if not kernel.numeric or isinstance(kernel, ByTask | Categorical) or not _has_gradient(kernel):
        return np.zeros(p, dtype=bool)
    found = np.ones(p, dtype=bool)
    for _, part in kernel._children():
        if isinstance(part, Kernel):
            found &= _around(kernel, part, p)
    return found


def _around(kernel: Kernel, part: Kernel, p: int) -> Mask:
    """Which columns may move by one part of a kernel; those that it does not see may."""
    found = np.ones(p, dtype=bool)
    if isinstance(kernel, On):
        at = [int(c) % p for c in kernel.columns]
        found[at] = movable(part, len(at))
        return found
    return movable(part, p)


def _has_gradient(kernel: Kernel) -> bool:
    """Whether a class of kernels says how values change with inputs."""
    return type(kernel).input_vjp is not Kernel.input_vjp
