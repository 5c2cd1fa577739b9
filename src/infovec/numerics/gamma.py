"""The Gamma function, where differences of its logarithm would leave nothing."""

import numpy as np
from scipy.special import gammaln

from .._types import Floats

__all__ = ["stirling_rest"]

_LARGE = 10.0  # from where the series is exact to 1e-12
_SERIES = (1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0)


def stirling_rest(z: Floats) -> Floats:
    r"""What Stirling's formula leaves of the logarithm of the Gamma function, for positive numbers.

    .. math:: \delta(z) = \log \Gamma(z) - (z - \tfrac12) \log z + z - \tfrac12 \log 2 \pi
              = \frac{1}{12 z} - \frac{1}{360 z^3} + \frac{1}{1260 z^5} - \dots
    """
    z = np.asarray(z, dtype=np.float64)
    inverse = 1.0 / np.maximum(z, _LARGE)
    far = inverse * np.polyval(_SERIES[::-1], inverse**2)
    near = np.minimum(z, _LARGE)
    return np.where(z < _LARGE, gammaln(near) - (near - 0.5) * np.log(near) + near - 0.5 * np.log(2.0 * np.pi), far)
