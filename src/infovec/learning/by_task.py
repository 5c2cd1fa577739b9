"""The evidence of rows that fall into independent parts, such as tasks: a sum, in time linear in their number."""

from collections.abc import Sequence

import numpy as np

from .._types import Floats, Rows
from ..inference import best_spread, evidence_gradient
from .model import Model
from .objective import LearnedRows, ProjectedEvidence

__all__ = ["EvidenceByTask"]


class EvidenceByTask:
    r"""Sum of the evidences of parts whose rows are independent given the parameters, plus the log prior.

    .. math:: \log Z = \sum_t \log Z_t

    The active set of a part is of its own rows, so that the time is the sum of n_t d_t^2 instead of n d^2.

    Parameters
    ----------
    given : LearnedRows
        Of all parts.
    parts : sequence of (rows, active)
        Positions among these rows of the rows of each part, ascending, and positions among those of its active ones.
    tolerance : float
        As for ``ProjectedEvidence``.
    """

    def __init__(self, given: LearnedRows, parts: Sequence[tuple[Rows, Rows]], tolerance: float = 1e-3) -> None:
        self.given = given
        self.parts = [ProjectedEvidence(given.some(rows), active, tolerance) for rows, active in parts]

    def __call__(self, model: Model) -> tuple[float, Floats]:
        """Log evidence plus log prior, and the gradient in the steps of the model."""
        total, gradient = 0.0, np.zeros(model.group.size)
        for part in self.parts:
            shards, basis, found = part.settle(model.kernel, model.likelihood)
            total += found.log_evidence
            gradient += np.concatenate(evidence_gradient(shards, basis, model.kernel, model.likelihood, found))
        prior, prior_gradient = model.log_prior()
        return total + prior, model.pull(gradient) + prior_gradient

    def go_on_from(self, other: "EvidenceByTask") -> None:
        """Begin without the sites of another objective: those of a few rows are found soon."""

    def left_out(self, model: Model) -> tuple[float, float]:
        """Log evidence plus log prior, and mean log loss of rows left out with the spread that suits them best."""
        total, known = 0.0, list[Floats]()
        for part in self.parts:
            shards, basis, found = part.settle(model.kernel, model.likelihood)
            total += found.log_evidence
            known.append(part.given.left_out(shards, model.kernel, basis, found.beliefs))
        rows = np.concatenate([part.given.rows for part in self.parts])
        y = np.concatenate([part.given.y for part in self.parts])
        loss = best_spread(model.likelihood.take(rows), y, np.concatenate(known, axis=1)).loss
        return total + model.log_prior()[0], loss

    def release(self) -> None:
        """Give back nothing: all rows are here."""
