"""When to stop an optimisation that oscillates in the end."""

from ..errors import ParameterError

__all__ = ["LagRule"]


class LagRule:
    r"""The stopping rule of Thesis 4.5.3, for criteria of which larger is better.

    .. math:: \Delta^{(t)} = \frac{M^{(T_1, t)} - M^{(T_1, t - T_2)}}{|M^{(T_1, t - T_2)}|}, \qquad
              M^{(T, t)} = \max(f^{(t - T + 1)}, \dots, f^{(t)})

    It is time to stop when the best of the last T1 values is better than the best of those T2 steps earlier by less
    than the share ``tolerance``.

    Parameters
    ----------
    width : int
        T1.
    lag : int
        T2.
    tolerance : float
    """

    def __init__(self, width: int, lag: int, tolerance: float) -> None:
        if width < 1 or lag < 1:
            raise ParameterError(f"lags must be whole numbers from 1, got {width} and {lag}")
        self.width, self.lag, self.tolerance = width, lag, tolerance
        self.values: list[float] = []

    def ends(self, value: float) -> bool:
        """Take note of a value and say whether it is time to stop."""
        self.values.append(value)
        if len(self.values) < self.width + self.lag:
            return False
        now, before = max(self.values[-self.width :]), max(self.values[: -self.lag][-self.width :])
        return now - before < self.tolerance * abs(before)
