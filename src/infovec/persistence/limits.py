"""How much a model file may be made of: kept when it is written, so that it can be read, and checked when it is."""

__all__ = ["DEEPEST", "meant_too_often"]

DEEPEST = 250
"""Things within things, such as kernels in kernels: Python itself goes not much deeper."""

_REPEATS, _ANYWAY = 8, 16 * 2**20


def meant_too_often(meant: int, size: int) -> bool:
    """Whether arrays, in bytes and as often as they are meant, exceed a file by far: kernels copy what they have."""
    return meant > _REPEATS * size + _ANYWAY
