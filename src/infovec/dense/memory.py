"""Memory of dense models: matrices of all rows by all rows, counted before they are made."""

from collections.abc import Callable
from typing import TypeAlias

__all__ = ["Need", "ep_need", "gibbs_need", "laplace_need", "leaps_need", "more_kernels", "unit_noise_need"]

Need: TypeAlias = Callable[[int, int, bool], int]
"""Bytes at the peak, from the numbers of rows and classes, and whether the likelihood is the probit."""

_NUMBER = 8
_KERNEL = 4  # matrices while a kernel matrix, or its gradient, is made
_DRAWS = 2**29  # bytes of draws, and of what is made of them


def unit_noise_need(n: int, n_classes: int, probit: bool) -> int:
    """Factors of K and I + K, the projections between them, and what the gradient makes of these."""
    return _NUMBER * (5 + _KERNEL) * n * n


def more_kernels(n: int, n_classes: int) -> int:
    """What factors, eigenvectors and gradients take in addition where each class has a kernel of its own."""
    return _NUMBER * (5 + _KERNEL) * (n_classes - 1) * n * n


def ep_need(n: int, n_classes: int, probit: bool) -> int:
    """The same, with factors of every class."""
    functions = n_classes if n_classes > 2 else 1
    return _NUMBER * (4 + 3 * functions + _KERNEL) * n * n


def laplace_need(n: int, n_classes: int, probit: bool) -> int:
    """Blocks of the covariance: two of every class for the logit, (C - 1)^2 of them three times for the probit."""
    blocks = 3 * (n_classes - 1) ** 2 + 2 * n_classes * (n_classes - 1) if probit else 3 * n_classes + 3
    return _NUMBER * (blocks + _KERNEL) * n * n


def leaps_need(n: int, n_classes: int) -> int:
    """Kernel matrices and two more of every class, with the room to find them; without it there are no leaps."""
    return _NUMBER * (5 * n_classes + _KERNEL) * n * n


def gibbs_need(n: int, n_classes: int, probit: bool) -> int:
    """Eigenvectors with the room to find them, and draws."""
    return _NUMBER * (5 + _KERNEL) * n * n + _DRAWS
