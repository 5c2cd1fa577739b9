"""What a parameter means to whoever learns it, whatever its name."""

from enum import Enum

__all__ = ["Role"]


class Role(Enum):
    """The part that a parameter plays in its kernel or likelihood."""

    SCALE = "scale"
    """A length scale, or a weight of squares that is learned as one: a common factor of all of them is a change of the
    unit of distances."""
    VARIANCE = "variance"
    """All values of the kernel are proportional to it."""
    NOISE_VARIANCE = "noise variance"
    """The noise variance is proportional to it."""
    NOISE_SCALE = "noise scale"
    """The noise variance is proportional to its square."""
    BIAS = "bias"
    """A place on the axis of the latent function: a shift of the function is a shift of it."""
    REDUNDANT = "redundant"
    """A factor of the latent function: the variance of the kernel says the same, so it is not learned."""
    FREE = "free"
    """None of these."""

    @property
    def noise(self) -> float:
        """By how much its logarithm moves when that of the noise variance moves by one."""
        return {Role.NOISE_VARIANCE: 1.0, Role.NOISE_SCALE: 0.5}.get(self, 0.0)
