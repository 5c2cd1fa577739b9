"""A posterior as fewer active inputs see it, which move until they see it best."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._types import Floats, Inputs
from ..inference import make_basis, through_active
from ..kernels import Kernel
from ..numerics.cholesky import factorise, inverse_lower, solve_lower
from ..posterior import FactorisedPosterior, ProjectedPosterior
from ..shards import Basis
from .moving import MovingInputs, no_rows

__all__ = ["Distillation", "Evidence", "evidence_of"]

_ROUNDING = (1e-12, 1e-10, 1e-8)
_MESSAGE = "what the model knows of its active inputs leaves no posterior on fewer of them"


class Evidence(NamedTuple):
    r"""What all rows say of v, as one Gaussian factor: :math:`\exp(h^T v - \tfrac12 v^T A v)`, with u_I = L v."""

    A: Floats
    h: Floats


def evidence_of(posterior: ProjectedPosterior | FactorisedPosterior) -> tuple[Floats, Evidence]:
    r"""Return the factor L of K_I, and what the rows say of v.

    .. math:: A = Q Q^T - I, \quad h = Q \beta; \qquad
              A = L^T \Pi L, \quad h = L^T \Pi m \quad \text{where the active rows alone have sites.}
    """
    if isinstance(posterior, ProjectedPosterior):
        Q = posterior.Q
        return posterior.L, Evidence(Q @ Q.T - np.eye(len(Q)), Q @ posterior.beta)
    kernel, X = posterior.kernel, posterior.X
    L = make_basis(kernel, no_rows(X.shape[0]), X, "float64").L
    pi = posterior.precision
    return L, Evidence(L.T @ (pi[:, None] * L), L.T @ (pi * posterior.site_mean))


class Distillation:
    r"""Minus the relative entropy of a posterior on fewer active inputs to one on more, and its gradient in these.

    With :math:`B = L^{-1} K_{I, J} L_J^{-T}`, the projections of v onto the coordinates of the fewer inputs J, the best
    of all posteriors that see the function through J has precision :math:`M = I + B^T A B` and shift :math:`B^T h`,
    and is as far from the other as

    .. math:: -D = -\tfrac12 \log|M| + \tfrac12 h^T B M^{-1} B^T h - \tfrac12 \mathrm{tr} A (I - B B^T) - \log Z,
              \qquad \log Z = -\tfrac12 \log|I + A| + \tfrac12 h^T (I + A)^{-1} h.

    It is the bound of Titsias (2009) for one observation of the whole of v, so D is not negative: no place of the
    inputs makes more of the function known than it is. Several functions on the same inputs add up.

    Parameters
    ----------
    kernel : Kernel
    X : inputs of the larger posterior
    L : array of shape (d, d)
        Factor of their prior covariance.
    functions : sequence of Evidence
    """

    dtype = "float64"

    def __init__(self, kernel: Kernel, X: Inputs, L: Floats, functions: Sequence[Evidence]) -> None:
        self.kernel, self.X, self.L, self.functions = kernel, X, L, functions
        self._log_z = sum(_log_integral(one.A, one.h) for one in functions)

    def __call__(self, model: MovingInputs) -> tuple[float, Floats]:
        """Minus the relative entropy, and the gradient in the steps of the inputs."""
        basis, B, beliefs = self._seen(model.inputs)
        G, eye = np.zeros(B.shape), np.eye(B.shape[1])
        for (A, h), (Q, beta) in zip(self.functions, beliefs, strict=True):
            half = inverse_lower(Q)
            mean = half.T @ beta
            G += np.outer(h, mean) - (A @ B) @ (half.T @ half + np.outer(mean, mean) - eye)
        inverse = inverse_lower(basis.L)
        by_K = solve_lower(self.L, G, transposed=True) @ inverse
        by_own = through_active(basis, inverse, B.T @ G)
        by_inputs = self.kernel.input_vjp(self.X, model.inputs, by_K)[1]
        return self._value(B, beliefs), model.pull(by_inputs + self.kernel.square_input_vjp(model.inputs, by_own))

    def value(self, inputs: Inputs) -> float:
        """Minus the relative entropy, at some inputs."""
        return self._value(*self._seen(inputs)[1:])

    def _value(self, B: Floats, beliefs: Sequence[tuple[Floats, Floats]]) -> float:
        value = -self._log_z
        for (A, _), (Q, beta) in zip(self.functions, beliefs, strict=True):
            value += 0.5 * float(beta @ beta) - float(np.sum(np.log(np.diagonal(Q))))
            value -= 0.5 * (float(np.trace(A)) - float(np.vdot(A @ B, B)))
        return value

    def posteriors(self, inputs: Inputs) -> list[ProjectedPosterior]:
        """Return the best posterior of every function on these inputs."""
        basis, _, beliefs = self._seen(inputs)
        return [ProjectedPosterior(self.kernel, inputs, basis.L, Q, beta) for Q, beta in beliefs]

    def _seen(self, inputs: Inputs) -> tuple[Basis, Floats, list[tuple[Floats, Floats]]]:
        """Return the fewer inputs with their factor, B, and what is known of their coordinates."""
        basis = make_basis(self.kernel, no_rows(inputs.shape[0]), inputs, "float64")
        K = np.asarray(self.kernel(self.X, inputs), dtype=np.float64)
        B = solve_lower(basis.L, solve_lower(self.L, K).T).T
        return basis, B, [_beliefs(B.T @ A @ B, B.T @ h) for A, h in self.functions]


def _beliefs(A: Floats, h: Floats) -> tuple[Floats, Floats]:
    """Factor Q of I + A, and Q^-1 h."""
    Q, _ = factorise(0.5 * (A + A.T) + np.eye(len(A)), _MESSAGE, (0.0, *_ROUNDING))
    return Q, solve_lower(Q, h)


def _log_integral(A: Floats, h: Floats) -> float:
    """Log of the integral of the factor under the prior of v."""
    Q, beta = _beliefs(A, h)
    return 0.5 * float(beta @ beta) - float(np.sum(np.log(np.diagonal(Q))))
