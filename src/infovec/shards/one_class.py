"""One class of a shard of many, against the rest."""

from typing import TYPE_CHECKING

from .._types import Floats, Rows
from ..likelihoods.classes import OneAgainstRest
from ..likelihoods.weighted import WeightedDiscrete
from .projected import Cavity, ProjectedShard

if TYPE_CHECKING:
    from .coupled import CoupledShard

__all__ = ["OneClass"]


class OneClass(ProjectedShard):
    """One class against the rest, with the projections and the sites that a shard of all classes has."""

    def __init__(self, shard: "CoupledShard", c: int) -> None:
        assert isinstance(shard.likelihood, OneAgainstRest)
        self.all, self.c = shard, c
        probit, signs = shard.likelihood.against_rest(c, shard.labels)
        super().__init__(shard.rows, shard.X, signs, shard.kernel, probit, shard.dtype, shard.blur)
        if shard.likelihood.weight is not None:
            self.likelihood = WeightedDiscrete(probit, shard.likelihood.weight)
        self.adopt(shard)
        self.precision[:], self.b[:] = shard.precision[:, c], shard.b[:, c]

    def cavity(self, at: Rows, C: Floats, beta: Floats) -> Cavity:
        """Marginals and cavities of some rows, remembered as what is known of rows left out."""
        cavity = super().cavity(at, C, beta)
        self.all.seen[:, at, self.c] = cavity.mean, cavity.var, self.precision[at], self.b[at]
        return cavity

    def tell(self) -> None:
        """Give the sites to the shard of all classes."""
        self.all.precision[:, self.c], self.all.b[:, self.c] = self.precision, self.b
        self.all.log_site += self.log_site
