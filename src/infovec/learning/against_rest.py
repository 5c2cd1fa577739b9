"""Machines of one class against the rest, each with an active set of its own, that share a kernel."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from typing import cast

import numpy as np

from .._types import Floats, Rows
from ..errors import NotConverged
from ..inference import LOST, Inference, LeftOut, calibrated, evidence_gradient, left_out_loss
from ..kernels import Kernel
from ..likelihoods import Likelihood, OneOfMany, plain
from ..likelihoods.classes import OneAgainstRest, against_rest
from ..shards import Basis, Group
from .model import Model
from .objective import LearnedRows, ProjectedEvidence

__all__ = ["RestEvidence"]

_WANDERING = 1.0  # change, in deviations, of a few rows that go on changing sides: other rows are predicted as well


class RestEvidence:
    """The evidence of C machines of one function, which is the sum of theirs, and what they say of rows left out.

    Parameters
    ----------
    given : LearnedRows
        Whose targets are labels from 0.
    active : sequence of arrays of int
        Positions of the active rows of each class.
    tolerance : float
        Of the sites.
    select : callable
        Returns the active rows of a class for a kernel: each has those that suit it where rows are left out.
    """

    def __init__(
        self, given: LearnedRows, active: Sequence[Rows], tolerance: float, select: Callable[[int, Kernel], Rows]
    ) -> None:
        self.labels, self.select = given.y.astype(np.intp), select
        signs = [against_rest(self.labels, c) for c in range(len(active))]
        each = zip(signs, active, strict=True)
        if given.far and given.kept is not None:  # all of them have their shards at the same time
            given = given._replace(kept=given.kept // len(active))
        self.machines = [ProjectedEvidence(given._replace(y=y), rows, tolerance) for y, rows in each]

    def __copy__(self) -> "RestEvidence":
        other = object.__new__(RestEvidence)
        other.labels, other.select, other.machines = self.labels, self.select, [copy(one) for one in self.machines]
        return other

    @property
    def dtype(self) -> str:
        """Precision of the products, the highest of all classes."""
        return max(machine.dtype for machine in self.machines)  # "float64" comes after "float32"

    def go_on_from(self, other: "RestEvidence") -> None:
        """Begin with the sites that rows had in another objective."""
        for machine, before in zip(self.machines, other.machines, strict=True):
            machine.go_on_from(before)

    @contextmanager
    def one_by_one(self) -> Iterator[None]:
        """Leave out single rows for a while, where it would be groups."""
        with ExitStack() as all_machines:
            for machine in self.machines:
                all_machines.enter_context(machine.one_by_one())
            yield

    def release(self) -> None:
        """Give back what shards elsewhere have."""
        for machine in self.machines:
            machine.release()

    def __call__(self, model: Model) -> tuple[float, Floats]:
        """Log evidence plus log prior, and the gradient in the steps of the model."""
        rest, evidence = cast(OneAgainstRest, model.likelihood), 0.0
        by_kernel, by_likelihood = np.zeros(model.kernel.theta.size), np.zeros(rest.theta.size)
        for c, machine in enumerate(self.machines):
            one = rest.of_class(c)
            shards, basis, found = self._settle(machine, model.kernel, one)
            gradient = evidence_gradient(shards, basis, model.kernel, one, found)
            by_kernel += gradient.kernel
            by_likelihood[c] = gradient.likelihood[one.parameter_names.index("bias")]
            if rest.lapse:
                by_likelihood[-1] += gradient.likelihood[one.parameter_names.index("lapse")]
            evidence += found.log_evidence
        prior, prior_gradient = model.log_prior()
        return evidence + prior, model.pull(np.concatenate([by_kernel, by_likelihood])) + prior_gradient

    def _settle(self, machine: ProjectedEvidence, kernel: Kernel, one: Likelihood) -> tuple[Group, Basis, Inference]:
        """Go on from the sites of the last evaluation; from nothing where labels may be wrong and that leads astray."""
        try:
            return machine.settle(kernel, one)
        except NotConverged:
            if not isinstance(plain(one), OneOfMany):
                raise
            machine.forget()
            return machine.settle(kernel, one)

    def left_out(self, model: Model) -> tuple[float, float]:
        """Log evidence plus log prior, and mean log loss of rows left out after calibration."""
        rest, known, evidence = cast(OneAgainstRest, model.likelihood), [], 0.0
        for c, machine in enumerate(self.machines):
            machine.active = self.select(c, model.kernel)
            if rest.lapse:
                machine.forget()
            one = rest.of_class(c)
            shards, basis, found = machine.settle(model.kernel, one, lost=_WANDERING if rest.lapse else LOST)
            of_class, at = machine.without_folds(model.kernel, one, shards, basis, found)
            known.append(of_class)
            evidence += found.log_evidence
        rows = LeftOut(np.stack(known, axis=2), self.labels[at], rest.take(self.machines[0].given.rows[at]).weight)
        loss = left_out_loss(calibrated(rest.for_new_rows(), [rows]), [rows])
        return evidence + model.log_prior()[0], loss
