"""Rows left out of machines of one class against the rest, each with an active set of its own."""

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np

from .._types import Rows
from ..inference import LeftOut, calibrated, left_out, left_out_loss
from ..kernels import Kernel
from ..likelihoods.classes import OneAgainstRest
from .model import Model
from .objective import ProjectedEvidence

__all__ = ["AgainstRest"]


class AgainstRest:
    """What is known of rows left out when each class has a machine of its own.

    Parameters
    ----------
    machines : sequence of ProjectedEvidence
        One for each class, all with the same rows.
    labels : array of int
        Classes of these rows.
    select : callable
        Returns the active rows of a class for a kernel.
    """

    def __init__(
        self, machines: Sequence[ProjectedEvidence], labels: Rows, select: Callable[[int, Kernel], Rows]
    ) -> None:
        self.machines, self.labels, self.select = machines, labels.astype(np.intp), select

    def left_out(self, model: Model) -> tuple[float, float]:
        """Log evidence plus log prior, and mean log loss of rows left out after calibration."""
        likelihood, known, evidence = cast(OneAgainstRest, model.likelihood), [], 0.0
        for c, machine in enumerate(self.machines):
            machine.active = self.select(c, model.kernel)
            shard, _, found = machine.settle(model.kernel, likelihood.of_class(c))
            known.append(left_out([shard], found.beliefs, machine.group))
            evidence += found.log_evidence
        weight = likelihood.take(self.machines[0].rows).weight
        rows = LeftOut(np.stack(known, axis=2), self.labels, weight)
        loss = left_out_loss(calibrated(likelihood.for_new_rows(), [rows]), [rows])
        return evidence + model.log_prior()[0], loss
