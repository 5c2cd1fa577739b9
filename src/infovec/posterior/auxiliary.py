"""The posterior of all rows given their auxiliary variables, which have unit noise: expected, or drawn."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import logsumexp

from .._types import Floats, Inputs
from ..kernels import Kernel
from ..likelihoods import Discrete
from ..likelihoods.classes import ClassLikelihood
from ..numerics.cholesky import beyond_identity, inverse_lower
from ..runtime import at_once, parts
from .base import Posterior

__all__ = ["AuxiliaryPosterior", "DrawnPosterior", "SeparateAuxiliaryPosterior"]

_DRAW_BYTES = 64  # for a latent value of a draw, on the way to probabilities
_AT_ONCE = 2**20  # latent values of all draws


@dataclass(frozen=True, repr=False)
class AuxiliaryPosterior(Posterior):
    r"""Regression on auxiliary variables with unit noise (GR06 4.5, appendix D).

    .. math:: \mu_s(x) = k(x)^T (I + K)^{-1} y_s, \qquad \sigma^2(x) = k(x, x) - k(x)^T (I + K)^{-1} k(x)

    All functions of a kernel have one variance, for which one factor is enough.

    Parameters
    ----------
    kernel : Kernel
    X : inputs of all training rows
    force : array of shape (S, n, C)
        (I + K)^-1 y for expected auxiliary variables (S = 1), or for S draws of them; C = 1 for two classes.
    """

    force: Floats

    @cached_property
    def weights(self) -> Floats:
        """Weights of the means of all draws together, shape (n, C)."""
        return np.asarray(self.force.mean(axis=0))

    @cached_property
    def reduction(self) -> Floats:
        r"""Inverse of the factor of I + K."""
        return np.ascontiguousarray(inverse_lower(beyond_identity(self.kernel(self.kernel.in_double(self.X)))))

    def mean(self, X: Inputs) -> Floats:
        """Latent means at new inputs, shape (n, C), or (n,) of one function."""
        found = np.zeros((X.shape[0], self.force.shape[2]))
        for part, K in self.blocks(X):
            found[part] = K @ self.weights
        return found[:, 0] if self.force.shape[2] == 1 else found

    def predict(self, X: Inputs) -> tuple[Floats, Floats]:
        """Latent means and variances at new inputs, of shape (n, C), or (n,) of one function."""
        found = [(means.mean(axis=0), var + means.var(axis=0)) for means, var in self.draws(X)]
        mean, var = (np.concatenate(column) for column in zip(*found, strict=True))
        return (mean[:, 0], var[:, 0]) if mean.shape[1] == 1 else (mean, var)

    def draws(self, X: Inputs) -> Iterator[tuple[Floats, Floats]]:
        """Yield, for some new inputs at a time, means of every draw, shape (S, b, C), and variances of all, (b, 1)."""
        S, n, C = self.force.shape
        flat, var = self.force.transpose(1, 0, 2).reshape(n, S * C), np.array(self.kernel.diag(X), dtype=np.float64)
        for block, K in self.blocks(X):
            for some in parts(len(K), max(1, at_once(_AT_ONCE, _DRAW_BYTES) // (S * C))):
                at = slice(block.start + some.start, block.start + some.stop)
                means = (K[some] @ flat).reshape(len(K[some]), S, C).transpose(1, 0, 2)
                yield means, self.variance(K[some], var[at])[:, None]

    def log_proba(self, X: Inputs, likelihood: Discrete | ClassLikelihood) -> Floats:
        """Log probabilities of the classes, averaged over the draws, shape (n, classes)."""
        found = [logsumexp(each, axis=0) - np.log(len(each)) for each in self.log_probas(X, likelihood)]
        return np.concatenate(found)

    def log_probas(self, X: Inputs, likelihood: Discrete | ClassLikelihood) -> Iterator[Floats]:
        """Yield log probabilities by every draw, shape (S, b, classes), of new inputs some at a time."""
        for means, var in self.draws(X):
            S, b, C = means.shape
            every, same = means.reshape(S * b, C), np.tile(np.broadcast_to(var, (b, C)), (S, 1))
            if isinstance(likelihood, Discrete):
                found = likelihood.log_proba(every[:, 0], same[:, 0])
            else:
                found = likelihood.log_proba(every, same)
            yield found.reshape(S, b, -1)


@dataclass(frozen=True, repr=False)
class SeparateAuxiliaryPosterior(AuxiliaryPosterior):
    """The same where each class has a kernel of its own.

    Parameters
    ----------
    kernel : Kernel
        That of the first class.
    X : inputs of all training rows
    force : array of shape (S, n, C)
        (I + K_c)^-1 y_c.
    kernels : tuple of Kernel
        One for each class.
    """

    kernels: tuple[Kernel, ...]

    @cached_property
    def parts(self) -> tuple[AuxiliaryPosterior, ...]:
        """The posterior of every class."""
        return tuple(
            AuxiliaryPosterior(kernel, self.X, self.force[:, :, c : c + 1]) for c, kernel in enumerate(self.kernels)
        )

    @cached_property
    def reduction(self) -> Floats:
        """Matrices of the reductions of variance, shape (C, n, n)."""
        return np.stack([part.reduction for part in self.parts])

    def mean(self, X: Inputs) -> Floats:
        """Latent means at new inputs, shape (n, C)."""
        return np.column_stack([part.mean(X) for part in self.parts])

    def draws(self, X: Inputs) -> Iterator[tuple[Floats, Floats]]:
        """Yield, for some new inputs at a time, means of every draw, shape (S, b, C), and variances, (b, C)."""
        for each in zip(*(part.draws(X) for part in self.parts), strict=True):
            yield np.concatenate([means for means, _ in each], axis=2), np.hstack([var for _, var in each])


@dataclass(frozen=True, repr=False)
class DrawnPosterior(Posterior):
    """The same with draws of the kernel too, each with some draws of the auxiliary variables (GR06 appendix D, end).

    Parameters
    ----------
    kernel : Kernel
        One that stands for all, at the mean of their free numbers.
    X : inputs of all training rows
    kernels : tuple of Kernel
    force : array of shape (S, T, n, C)
        (I + K_s)^-1 y of T draws for each of S kernels.
    """

    kernels: tuple[Kernel, ...]
    force: Floats

    @property
    def parts(self) -> Iterator[AuxiliaryPosterior]:
        """The posterior given each of the kernels, whose factors are made anew and not kept."""
        return (AuxiliaryPosterior(k, self.X, force) for k, force in zip(self.kernels, self.force, strict=True))

    @property
    def weights(self) -> list[Floats]:  # type: ignore[override]
        """Weights of the means, one array for each kernel."""
        return [part.weights for part in self.parts]

    @property
    def reduction(self) -> list[Floats]:  # type: ignore[override]
        """Matrices of the reductions of variance, one for each kernel."""
        return [part.reduction for part in self.parts]

    def mean(self, X: Inputs) -> Floats:
        """Latent means at new inputs, of shape (n, C), or (n,) of one function."""
        return np.mean([part.mean(X) for part in self.parts], axis=0)

    def predict(self, X: Inputs) -> tuple[Floats, Floats]:
        """Latent means and variances at new inputs, of shape (n, C), or (n,) of one function."""
        found = np.array([part.predict(X) for part in self.parts])
        return found[:, 0].mean(axis=0), found[:, 1].mean(axis=0) + found[:, 0].var(axis=0)

    def log_proba(self, X: Inputs, likelihood: Discrete | ClassLikelihood) -> Floats:
        """Log probabilities of the classes, averaged over all draws, shape (n, classes)."""
        found = logsumexp([part.log_proba(X, likelihood) for part in self.parts], axis=0)
        return np.asarray(found - np.log(len(self.kernels)))
