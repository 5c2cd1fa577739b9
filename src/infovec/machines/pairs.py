"""The factorised coupled IVM: C functions with active sets of their own, tied by the likelihood (SLH section 4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from .._types import Floats, Inputs, Rows
from ..criteria import pair_evidence, refine_pairs
from ..errors import ParameterError
from ..kernels import Kernel
from ..likelihoods.classes import ClassLikelihood
from ..posterior import FactorisedPosterior
from ..runtime import Deadline
from ..scores import Score
from ..selection import Choosing, choose_pair_schedule, select_pairs
from .at_once import AtOnce, Chosen
from .budget import Needs, Sizes, pairs_need
from .work import Refine

__all__ = ["FactorisedClasses", "Pairs", "fit_factorised"]

_SWEEPS = 50  # over the active pairs at most, if any


@dataclass(frozen=True, eq=False, repr=False)
class FactorisedClasses:
    """Independent posteriors of C functions, each with an active set of its own.

    Parameters
    ----------
    parts : tuple of FactorisedPosterior
        One for each class.
    likelihood : ClassLikelihood
    active : list of arrays of int
        Training rows of each class, in order of inclusion.
    log_evidence : float
    converged : bool
        Whether the sites match the moments, after sweeps over the active pairs.
    """

    parts: tuple[FactorisedPosterior, ...]
    likelihood: ClassLikelihood
    active: list[Rows]
    log_evidence: float
    converged: bool

    def predict_latent(self, X: Inputs) -> tuple[Floats, Floats]:
        """Means and variances of the latent functions, without biases, both of shape (n, C)."""
        columns = [part.predict(X) for part in self.parts]
        return np.column_stack([m for m, _ in columns]), np.column_stack([v for _, v in columns])

    def predict_log_proba(self, X: Inputs) -> Floats:
        """Log probabilities of the classes, shape (n, C)."""
        return self.likelihood.log_proba(*self.predict_latent(X))

    def __repr__(self) -> str:
        sizes = ", ".join(str(len(rows)) for rows in self.active)
        return f"FactorisedClasses({sizes} active rows, log_evidence={self.log_evidence:.6g})"


def fit_factorised(
    X: Inputs,
    labels: Rows,
    kernels: Kernel | Sequence[Kernel],
    likelihood: ClassLikelihood,
    n_active: int,
    *,
    sweeps: int = 0,
    **choosing: Unpack[Choosing[str | Score]],
) -> FactorisedClasses:
    """Select pairs of row and class, and return the posterior that their sites give.

    Parameters
    ----------
    X, labels
        Training rows; labels are 0 to C - 1.
    kernels : Kernel or C of them
    likelihood : ClassLikelihood
        Probit or softmax.
    n_active : int
        Pairs for each class, on average; which class gets how many is left to the score.
    sweeps : int
        Of EP over the active pairs after selection; SLH have none.
    **choosing
        See ``select_pairs``.
    """
    labels = np.asarray(labels, dtype=np.intp)
    if likelihood.lapse:
        raise ParameterError(f"fit_factorised takes labels as right; give it {type(likelihood).__name__} without lapse")
    wanted = n_active * likelihood.n_classes
    sites = select_pairs(X, labels, kernels, likelihood, wanted, **choosing)
    converged = False
    if sweeps:
        sites, converged = refine_pairs(X, labels, kernels, likelihood, sites, sweeps)
    found = pair_evidence(X, labels, kernels, likelihood, sites, gradient=False)
    parts = tuple(part.posterior() for part in found.parts)
    return FactorisedClasses(parts, likelihood, [rows for rows, _, _ in sites], found.log_evidence, converged)


@dataclass(frozen=True)
class Pairs(AtOnce):
    """Sites at the best pairs of a row and a class (SLH section 4): so many for each class on average."""

    refinable = Refine(sweeps=True)

    @classmethod
    def needs(cls, sizes: Sizes) -> Needs:
        return Needs(pairs_need(sizes))

    def choose(self, wanted: int, rows: Rows, deadline: Deadline) -> Chosen:
        data, likelihood, size = self.data, self.likelihood.take(rows), min(wanted, len(rows))
        hurried = self.data.beside > 0  # some rows take no part, for want of time
        schedule = choose_pair_schedule(len(rows), self.n_functions, size * self.n_functions, hurried)
        found = fit_factorised(
            data.near(rows), data.y[rows], self.kernel, likelihood, size, score=self.choices.rule.score,
            priority=data.priority[rows], schedule=schedule, dtype=self.work.dtype, deadline=deadline,
            sweeps=_SWEEPS if self.choices.refine.sweeps else 0,
        )  # fmt: skip
        parts = [(part, rows[at]) for part, at in zip(found.parts, found.active, strict=True)]
        pairs = sum(map(len, found.active))
        return Chosen(parts, found.log_evidence, pairs < min(wanted, data.n) * self.n_functions)
