"""The unit of real targets: a fit works with numbers around zero of size one, whatever the user measures in."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self, TypeVar, cast

import numpy as np

from .._types import Floats
from ..errors import ParameterError
from ..kernels import Kernel
from ..likelihoods import Likelihood, Transformed
from ..numerics.monotone import Monotone
from ..posterior import FactorisedPosterior, Posterior, ProjectedPosterior

__all__ = ["Unit"]

T = TypeVar("T")

_GRID = 2.0**20  # steps in a spread: a millionth, far below the least noise that is learned
_SMALLEST, _LARGEST = 1e-140, 1e140  # whose squares are numbers with room on either side


@dataclass(frozen=True)
class Unit:
    r"""Targets are centre + scale times those that the fit works with; so is the latent function, but for the centre.

    .. math:: g(y) = c + s \, y', \qquad f = s f', \qquad k = s^2 k', \qquad
              \log p(y) = \log p(y') - n \log s + \sum_i w_i \log g'(y_i)

    where g leaves them as they are, unless targets have a transform.

    Parameters
    ----------
    centre, scale : float
    known : tuple of (inside, outside)
        Kernels and likelihoods as they were given, so that what did not change comes back as it was.
    transform : Log or YeoJohnson, optional
        g. Kernels and likelihoods of the user are in the unit of the transforms.
    log_slope : float
        Mean of the logarithm of its slope.
    """

    centre: float = 0.0
    scale: float = 1.0
    known: tuple[tuple[object, object], ...] = ()
    transform: Monotone | None = None
    log_slope: float = 0.0

    @property
    def plain(self) -> bool:
        """Whether the fit has everything as the user has it."""
        return self._natural and self.transform is None

    @property
    def _natural(self) -> bool:
        """Whether it is so but for a transform."""
        return self.scale == 1.0 and self.centre == 0.0

    @classmethod
    def of_transform(cls, transform: Monotone, y: Floats, weight: Floats | None) -> Self:
        """Return the unit of transformed targets, as they are."""
        slope = float(np.average(transform.log_slope(y), weights=weight))
        return cls(transform=transform, log_slope=slope)

    def of(self, y: Floats, centre: float, scale: float) -> Self:
        """Return the unit of targets, or transforms, with this centre and spread."""
        if not _SMALLEST < scale < _LARGEST or not np.max(np.abs(y), initial=0.0) < _LARGEST:
            raise ParameterError(
                f"the targets have a spread of {scale:.3g} and reach {np.max(np.abs(y)):.3g}, whose squares are no "
                "floating point numbers; give them in another unit"
            )
        return replace(self, centre=float(centre), scale=float(scale))

    def transformed(self, y: Floats) -> Floats:
        """Return the transforms of targets, if they have such."""
        return y if self.transform is None else self.transform.of(y)

    def inside(self, y: Floats, rounded: bool) -> Floats:
        """Targets as the fit has them; rounded, so that digits which come from the unit do not decide how it learns."""
        z = (self.transformed(y) - self.centre) / self.scale
        return np.round(z * _GRID) / _GRID if rounded and not self.plain else z

    def kernel(self, kernel: Kernel) -> tuple[Self, Kernel]:
        """Take a kernel in; return the unit that knows of it, and the kernel as the fit has it."""
        return self._knowing(kernel, kernel.times(self.scale**-2))

    def likelihood(self, likelihood: Likelihood) -> tuple[Self, Likelihood]:
        """Take a likelihood in; return the unit that knows of it, and the likelihood as the fit has it."""
        noise = likelihood.likelihood if isinstance(likelihood, Transformed) else likelihood
        return self._knowing(noise, noise.in_unit(self.centre, self.scale))

    def _knowing(self, given: T, inside: T | None) -> tuple[Self, T]:
        if self._natural:
            return self, given
        assert inside is not None
        return replace(self, known=(*self.known, (inside, given))), inside

    def kernel_outside(self, kernel: Kernel | list[Kernel]) -> Kernel | list[Kernel]:
        """Return a kernel of the fit as the user has it, or those of classes, which have no unit."""
        if isinstance(kernel, list):
            return kernel
        return self._outside(kernel, lambda: cast(Kernel, kernel.times(self.scale**2)))

    def likelihood_outside(self, likelihood: Likelihood) -> Likelihood:
        """Return a likelihood of the fit as the user has it: that of the targets themselves."""
        noise = self._outside(likelihood, lambda: self._likelihood_back(likelihood))
        return noise if self.transform is None else Transformed(noise, self.transform)

    def _likelihood_back(self, likelihood: Likelihood) -> Likelihood:
        return cast(Likelihood, likelihood.in_unit(-self.centre / self.scale, 1.0 / self.scale))

    def _outside(self, inside: T, made: Callable[[], T]) -> T:
        if self._natural:
            return inside
        return cast(T | None, next((given for known, given in self.known if known == inside), None)) or made()

    def posterior_outside(self, posterior: Posterior, kernel: Kernel) -> Posterior:
        """Return a posterior of the fit as the user has it, with this kernel."""
        assert isinstance(posterior, ProjectedPosterior | FactorisedPosterior)  # classes have no unit
        return posterior.in_unit(kernel, self.scale)

    def evidence_outside(self, log_evidence: float, observations: float) -> float:
        """Return log densities of so many targets as the user has them."""
        return log_evidence + observations * (self.log_slope - float(np.log(self.scale)))
