"""Expectation propagation for classes that are independent of each other: class after class, on common projections."""

from collections.abc import Sequence

import numpy as np

from .._types import Floats, Rows
from ..likelihoods.classes import OneAgainstRest
from ..likelihoods.weighted import WeightedDiscrete
from ..shards import Beliefs, Cavity, CoupledShard, ProjectedShard
from .ep import Inference, Sweep, Watch, infer

__all__ = ["infer_apart"]

_LEAST = 4  # sweeps for a class whose turn comes when an end was asked for: without any it would know nothing


class OneClass(ProjectedShard):
    """One class against the rest, with the projections and the sites that a shard of all classes has."""

    def __init__(self, shard: CoupledShard, c: int) -> None:
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


def infer_apart(
    shards: Sequence[CoupledShard], tolerance: float, max_sweeps: int, watch: Watch | None = None
) -> Inference:
    """Run the inference of two classes for each class against the rest; its evidence is the sum of theirs.

    So each class has its own damping and its own rows at rest. Sweeps come one class after the other; the evidence in
    them is that of the classes so far.
    """
    C, found, sweeps, evidence, asked = shards[0].likelihood.n_classes, list[Inference](), list[Sweep](), 0.0, False
    fresh = not any(np.any(shard.precision) for shard in shards)
    for shard in shards:
        shard.log_site[:] = 0.0

    def tell(sweep: Sweep) -> bool:
        nonlocal asked
        sweeps.append(sweep._replace(log_evidence=evidence + sweep.log_evidence))
        asked = asked or bool(watch and watch(sweeps[-1]))
        return asked

    nothing = np.arange(0), np.zeros(0), np.zeros(0)
    for c in range(C):
        ones = [OneClass(shard, c) for shard in shards]
        if asked:
            found.append(infer(ones, tolerance=tolerance, max_sweeps=_LEAST))
        else:
            found.append(infer(ones, nothing if fresh else None, tolerance, max_sweeps, tell))
        evidence += found[-1].log_evidence
        for one in ones:
            one.tell()
    beliefs = Beliefs(np.stack([f.beliefs.Q for f in found]), np.stack([f.beliefs.beta for f in found]))
    return Inference(beliefs, evidence, all(f.converged for f in found), sweeps)
