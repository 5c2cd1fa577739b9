"""What a criterion of the factorised posterior holds fixed while the parameters move."""

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from .._types import Floats, Inputs, Rows
from ..likelihoods import Likelihood

__all__ = ["Criterion", "Given"]


class Criterion(NamedTuple):
    """A criterion, larger is better, and its gradients in theta of the kernel and of the likelihood."""

    value: float
    by_kernel: Floats
    by_likelihood: Floats


@dataclass(frozen=True)
class Given:
    """The active set I with its sites, and the rows J outside it that the criterion is summed over.

    Parameters
    ----------
    active : array of int
        Numbers of the active rows in the training set, in order of inclusion.
    X_active, y_active : their inputs and targets
    precision, site_mean : array
        Their sites.
    rows : array of int
        Numbers of the rows of J, none of them active.
    X, y : their inputs and targets
    """

    active: Rows
    X_active: Inputs
    y_active: Floats
    precision: Floats
    site_mean: Floats
    rows: Rows
    X: Inputs
    y: Floats

    def following(self, likelihood: Likelihood) -> Self:
        """Return the same with the sites of this likelihood if it is Gaussian itself: they are no approximation."""
        if not likelihood.conjugate:
            return self
        own, nothing = likelihood.take(self.active), np.zeros(len(self.active))
        site = own.site(self.y_active, nothing, nothing + 1.0, own.tilted(self.y_active, nothing, nothing + 1.0))
        return self.with_sites(site.precision, site.b / site.precision)

    def with_sites(self, precision: Floats, site_mean: Floats) -> Self:
        """Return the same with other sites."""
        return replace(self, precision=precision, site_mean=site_mean)
