"""What a user chooses by name for a dense model, and what the names stand for."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, Self, TypeAlias

import numpy as np

from .._types import Foreign, Inputs, Rows
from ..dense.annealing import annealed_evidence
from ..dense.draws import MakeEvidence, draws_of_prior
from ..dense.fits import DenseFit, Kernels, fit_bound, fit_ep, fit_laplace
from ..dense.learn import LaplaceCriterion, MakeCriterion, bound_criterion, ep_criterion
from ..dense.memory import Need, ep_need, gibbs_need, laplace_need, more_kernels, unit_noise_need
from ..errors import ParameterError
from ..likelihoods import Discrete, Logit, Probit
from ..likelihoods.classes import ClassLikelihood, MultivariateProbit, Softmax
from .settings import check_choice

__all__ = ["CRITERIA", "EVIDENCES", "INFERENCES", "LEARNING", "LIKELIHOODS", "DenseSettings"]

Fit: TypeAlias = Callable[[Inputs, Rows, Kernels, Discrete | ClassLikelihood], DenseFit]


class Way(NamedTuple):
    """A way of inference: how it is done, what it learns by if nobody says, and what memory it needs."""

    fit: Fit | None  # none where it draws
    criterion: str
    need: Need
    likelihoods: tuple[str, ...] = ("probit",)  # the first is the default


INFERENCES: Final[Mapping[str, Way]] = {
    "variational": Way(fit_bound, "ep", unit_noise_need),
    "ep": Way(fit_ep, "ep", ep_need, ("probit", "logit")),
    "laplace": Way(fit_laplace, "laplace", laplace_need, ("logit", "probit")),
    "gibbs": Way(None, "ep", gibbs_need),
}
CRITERIA: Final[Mapping[str, MakeCriterion]] = {
    "bound": bound_criterion,
    "ep": ep_criterion,
    "laplace": LaplaceCriterion,
}
LEARNING: Final = ("auto", *CRITERIA, "importance", "mcmc", None)
EVIDENCES: Final[Mapping[str | None, MakeEvidence | None]] = {
    "annealing": annealed_evidence,
    "prior": draws_of_prior,
    None: None,
}
LIKELIHOODS: Final = ("auto", "probit", "logit")
_UNIT_NOISE = ("bound", "importance", "mcmc")  # ways of learning that are about auxiliary variables


class DenseSettings(NamedTuple):
    """What a user asked for, checked."""

    way: Way
    likelihood: str
    learn: str | None
    n_samples: int
    n_chains: int
    burn_in: int
    evidence: MakeEvidence | None
    verbose: bool
    n_kernels: int  # one, or as many as there are classes

    @classmethod
    def of(cls, model: Foreign, n: int, n_classes: int, limit: int) -> Self:
        """Return the settings of an estimator for so many rows; refuse what does not go together or into memory."""
        check_choice("inference", model.inference, list(INFERENCES))
        check_choice("learn", model.learn, LEARNING)
        check_choice("evidence", model.evidence, list(EVIDENCES))
        check_choice("likelihood", model.likelihood, LIKELIHOODS)
        way = INFERENCES[model.inference]
        likelihood = way.likelihoods[0] if model.likelihood == "auto" else model.likelihood
        _check_together(model, way, likelihood)
        n_kernels = n_classes if not model.shared_kernel and n_classes > 2 else 1
        if n_kernels > 1:
            _check_separate(model)
        needed = way.need(n, n_classes, likelihood == "probit") + more_kernels(n, n_kernels)
        if needed > limit:
            raise ParameterError(
                f"inference={model.inference!r} with {n} rows and {n_classes} classes takes {needed / 1e9:.3g} GB, "
                f"and {limit / 1e9:.3g} GB may be used; raise max_memory, or use IVMClassifier, which takes less"
            )
        chains = _size(model, "n_samples", 1), _size(model, "n_chains", 1), _size(model, "burn_in", 0)
        return cls(way, likelihood, model.learn, *chains, EVIDENCES[model.evidence], bool(model.verbose), n_kernels)

    @property
    def criterion(self) -> str:
        """What gradients are to maximise."""
        if self.learn != "auto":
            return str(self.learn)
        return "bound" if self.n_kernels > 1 and self.way.criterion == "ep" else self.way.criterion

    def noise(self, n_classes: int) -> Discrete | ClassLikelihood:
        """Return the likelihood: of one function for two classes, else of one for each."""
        logit = self.likelihood == "logit"
        if n_classes == 2:
            return Logit() if logit else Probit()
        return Softmax(np.zeros(n_classes)) if logit else MultivariateProbit(np.zeros(n_classes))


def _check_together(model: Foreign, way: Way, likelihood: str) -> None:
    if likelihood not in way.likelihoods:
        raise ParameterError(
            f"likelihood='logit' has no auxiliary variables, which inference={model.inference!r} is about; choose "
            "'probit', or inference='laplace' or 'ep'"
        )
    if likelihood == "logit" and model.learn in _UNIT_NOISE:
        raise ParameterError(
            f"learn={model.learn!r} is about the probit, and the likelihood is the logit; give likelihood='probit', or "
            "learn the kernel by itself, with GPClassifier(inference='variational'), and give it with learn=None"
        )
    if model.learn == "mcmc" and way.fit is not None:
        raise ParameterError(
            f"learn='mcmc' draws the kernel with the functions: it needs inference='gibbs', not {model.inference!r}"
        )


def _check_separate(model: Foreign) -> None:
    """Refuse what has one kernel for all classes."""
    if model.inference == "ep" or model.learn == "ep":
        raise ParameterError(
            "expectation propagation of coupled classes has one kernel for all of them: with shared_kernel=False take "
            "inference='variational', 'gibbs' or 'laplace', and learn='bound', 'laplace' or 'auto'"
        )
    if model.learn in ("importance", "mcmc"):
        raise ParameterError(
            f"learn={model.learn!r} draws the parameters of one kernel for all classes: with shared_kernel=False take "
            "learn='bound', 'laplace' or 'auto'"
        )


def _size(model: Foreign, name: str, least: int) -> int:
    value = getattr(model, name)
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise ParameterError(f"{name} must be a whole number from {least}, got {value!r}")
    return int(value)
