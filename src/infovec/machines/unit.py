"""The unit of real targets: a fit works with numbers around zero of size one, whatever the user measures in."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from .._types import Floats
from ..errors import ParameterError
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..posterior import FactorisedPosterior, ProjectedPosterior

__all__ = ["Unit"]

_GRID = 2.0**20  # steps in a spread: a millionth, far below the least noise that is learned
_SMALLEST, _LARGEST = 1e-140, 1e140  # whose squares are numbers with room on either side


@dataclass(frozen=True)
class Unit:
    r"""Targets are centre + scale times those that the fit works with; so is the latent function, but for the centre.

    .. math:: y = c + s \, y', \qquad f = s f', \qquad k = s^2 k', \qquad \log p(y) = \log p(y') - n \log s

    Parameters
    ----------
    centre, scale : float
    known : tuple of (inside, outside)
        Kernels and likelihoods as they were given, so that what did not change comes back as it was.
    """

    centre: float = 0.0
    scale: float = 1.0
    known: tuple[tuple[Any, Any], ...] = ()

    @property
    def plain(self) -> bool:
        """Whether the fit has everything as the user has it."""
        return self.scale == 1.0 and self.centre == 0.0

    @classmethod
    def of(cls, y: Floats, centre: float, scale: float) -> Self:
        """Return the unit of targets with this centre and spread."""
        if not _SMALLEST < scale < _LARGEST or not np.max(np.abs(y), initial=0.0) < _LARGEST:
            raise ParameterError(
                f"the targets have a spread of {scale:.3g} and reach {np.max(np.abs(y)):.3g}, whose squares are no "
                "floating point numbers; give them in another unit"
            )
        return cls(float(centre), float(scale))

    def inside(self, y: Floats, rounded: bool) -> Floats:
        """Targets as the fit has them; rounded, so that digits which come from the unit do not decide how it learns."""
        z = (y - self.centre) / self.scale
        return np.round(z * _GRID) / _GRID if rounded and not self.plain else z

    def kernel(self, kernel: Kernel) -> tuple[Self, Kernel]:
        """Take a kernel in; return the unit that knows of it, and the kernel as the fit has it."""
        return self._knowing(kernel, kernel.times(self.scale**-2))

    def likelihood(self, likelihood: Likelihood) -> tuple[Self, Likelihood]:
        """Take a likelihood in; return the unit that knows of it, and the likelihood as the fit has it."""
        return self._knowing(likelihood, likelihood.in_unit(self.centre, self.scale))

    def _knowing(self, given: Any, inside: Any) -> tuple[Self, Any]:
        if self.plain:
            return self, given
        assert inside is not None
        return replace(self, known=(*self.known, (inside, given))), inside

    def kernel_outside(self, kernel: Any) -> Any:
        """Return a kernel of the fit as the user has it."""
        return self._outside(kernel, lambda: kernel.times(self.scale**2))

    def likelihood_outside(self, likelihood: Likelihood) -> Likelihood:
        """Return a likelihood of the fit as the user has it."""
        return self._outside(likelihood, lambda: likelihood.in_unit(-self.centre / self.scale, 1.0 / self.scale))

    def _outside(self, inside: Any, made: Any) -> Any:
        if self.plain:
            return inside
        return next((given for known, given in self.known if known == inside), None) or made()

    def posterior_outside(self, posterior: Any, kernel: Kernel) -> Any:
        """Return a posterior of the fit as the user has it, with this kernel."""
        assert isinstance(posterior, ProjectedPosterior | FactorisedPosterior)  # classes have no unit
        return posterior.in_unit(kernel, self.scale)

    def evidence_outside(self, log_evidence: Any, observations: float) -> Any:
        """Return log densities of so many targets as the user has them."""
        return log_evidence - observations * np.log(self.scale)
