"""Expectation propagation for classes that are independent of each other: class after class, on common projections."""

from collections.abc import Sequence

import numpy as np

from ..shards import Beliefs, ClassShard
from .ep import infer
from .settle import Inference, Sweep, Watch

__all__ = ["infer_apart"]

_LEAST = 4  # sweeps for a class whose turn comes when an end was asked for: without any it would know nothing


def infer_apart(
    shards: Sequence[ClassShard], tolerance: float, max_sweeps: int, watch: Watch | None = None
) -> Inference:
    """Run the inference of two classes for each class against the rest; its evidence is the sum of theirs.

    So each class has its own damping and its own rows at rest. Sweeps come one class after the other; the evidence in
    them is that of the classes so far.
    """
    C, found, sweeps, evidence, asked = shards[0].traits().n_functions, list[Inference](), list[Sweep](), 0.0, False
    known = [shard.begin_apart() for shard in shards]
    fresh = not any(known)

    def tell(sweep: Sweep) -> bool:
        nonlocal asked
        sweeps.append(sweep._replace(log_evidence=evidence + sweep.log_evidence))
        asked = asked or bool(watch and watch(sweeps[-1]))
        return asked

    nothing = np.arange(0), np.zeros(0), np.zeros(0)
    for c in range(C):
        ones = [shard.one_class(c) for shard in shards]
        if asked:
            found.append(infer(ones, tolerance=tolerance, max_sweeps=_LEAST))
        else:
            found.append(infer(ones, nothing if fresh else None, tolerance, max_sweeps, tell))
        evidence += found[-1].log_evidence
        for one in ones:
            one.tell()
    beliefs = Beliefs(np.stack([f.beliefs.Q for f in found]), np.stack([f.beliefs.beta for f in found]))
    return Inference(beliefs, evidence, all(f.converged for f in found), sweeps)
