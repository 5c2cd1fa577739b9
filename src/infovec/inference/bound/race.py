"""Likelihoods whose auxiliary variables have unit noise: what the variational bound is about."""

from dataclasses import dataclass
from typing import TypeAlias

from ..._types import Floats, Rows
from ...errors import ParameterError
from ...likelihoods import Likelihood, Probit
from ...likelihoods.classes import ClassMoments, MultivariateProbit

__all__ = ["AgainstZero", "Race", "as_race"]


@dataclass(frozen=True)
class AgainstZero:
    r"""Two classes by one function, whose auxiliary variable is positive for the second class (GR06 4.4.1).

    .. math:: \log Z = \log \Phi(t m), \qquad g = t \, \frac{N(m)}{\Phi(t m)}, \qquad t = \pm 1

    It is the K - 1 form of a race of two: with functions of the same kernel their difference over the root of two is
    this function. The posterior is the same, and the bound is higher by :math:`\tfrac12 \log |I + K|`: what the
    independence of the sum and its auxiliary variable costs there.

    Parameters
    ----------
    probit : Probit
        Of slope one.
    weight : array of shape (n_rows,), optional
        How many times each training row counts.
    """

    probit: Probit
    weight: Floats | None = None
    n_classes = 1

    def tilted(self, labels: Rows, mean: Floats, var: Floats) -> ClassMoments:
        """Log normaliser, with derivatives, of means and variances of shape (n, 1); labels are 0 and 1."""
        log_z, g, nu = self.probit.tilted(2.0 * labels - 1.0, mean[:, 0], var[:, 0])
        return ClassMoments(log_z, g[:, None], nu[:, None])

    def for_new_rows(self) -> "AgainstZero":
        """Return the likelihood of rows that are not training rows."""
        return AgainstZero(self.probit)

    def take(self, rows: Rows) -> "AgainstZero":
        """Return the likelihood of some training rows."""
        return self if self.weight is None else AgainstZero(self.probit, self.weight[rows])


Race: TypeAlias = MultivariateProbit | AgainstZero


def as_race(likelihood: Likelihood | MultivariateProbit) -> Race:
    """Return a likelihood as the bound takes it."""
    if isinstance(likelihood, MultivariateProbit) and not likelihood.lapse:
        return likelihood
    if not isinstance(likelihood, Probit) or likelihood.slope != 1.0 or likelihood.lapse:
        raise ParameterError(f"the variational bound is about probits of slope one without a lapse, not {likelihood!r}")
    return AgainstZero(likelihood)
