"""The lower bound on the log marginal likelihood, and where it is largest."""

from collections.abc import Sequence
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from ..._types import Floats, Rows
from ...runtime import Deadline, Late, own_threads, work_until
from .projection import Projection
from .race import Race

__all__ = ["Optimum", "maximise_bound"]

_MEMORY = 12  # steps that L-BFGS remembers
_SLACK = {
    "float64": 10.0,
    "float32": 100.0,
}  # tolerances that a gradient may be off in the end: rounding ends the search


class Optimum(NamedTuple):
    """The posterior that makes the bound largest."""

    bound: float
    z: Floats  # (d, C): means of the functions in the coordinates of their projections
    mean: Floats  # (n, C): of the training rows
    g: Floats  # (n, C): expected auxiliary variables less their means, p of GR06 4.4
    converged: bool
    evaluations: int


def maximise_bound(
    projections: Sequence[Projection],
    labels: Rows,
    likelihood: Race,
    start: Floats | None = None,
    tolerance: float = 1e-5,
    max_iterations: int = 500,
    deadline: Deadline | None = None,
) -> Optimum:
    r"""Maximise the bound over the posterior means of the functions (GR06 4.4).

    With unit noise the posterior covariances do not depend on the labels, and the bound of GR06 appendix C (constant
    corrected) becomes, for rows that count w times, W = diag w,

    .. math:: \sum_n w_n \log Z_n(m_n) - \tfrac12 \sum_c \bigl(m_c^T C_c^{-1} m_c + \log |I + W C_c|
              + \mathrm{tr} \, W (K_c - C_c)\bigr), \qquad C_c = V_c V_c^T,

    where the last term is what the active rows leave; it is zero, and the bound that of GR06, when all rows are
    active. In the coordinates z with :math:`m_c = R_c z_c` it is

    .. math:: \sum_n w_n \bigl(\log Z_n(m_n) + \tfrac12 |m_n|^2\bigr) - \tfrac12 \sum_c |z_c|^2 + \mathrm{const},

    concave, with gradient :math:`R_c^T W \tilde y_c - z_c`. A step of length one along it is the iteration of GR06 eq.
    4.6, which is the first one that is tried; L-BFGS takes better ones from there.

    Parameters
    ----------
    projections : sequence of Projection
        Of the kernels; together they have all classes.
    labels : array of int, shape (n,)
    likelihood : MultivariateProbit or AgainstZero
    start : array of shape (d, C), optional
        z to begin with.
    tolerance : float
        Of the gradient in z, which is in units of the posterior.
    deadline : Deadline, optional
        When it is over the best of all evaluations is returned, the first of which is made in any case.
    """
    d, C = len(projections[0].Q), likelihood.n_classes
    at = _Evaluation(projections, labels, likelihood)

    first = best = at(np.zeros((d, C)) if start is None else start)
    unit = float(np.linalg.norm(first.gradient))  # the first step that SciPy tries has length one

    def minus(flat: Floats) -> tuple[float, Floats]:
        nonlocal best
        z = unit * flat.reshape(d, C)
        point = first
        if not np.array_equal(z, first.z):
            if deadline is not None and deadline.over:
                raise Late
            with work_until(deadline) if deadline is not None else nullcontext():
                point = at(z)
        if point.value > best.value:
            best = point
        return -point.value, -unit * point.gradient.ravel()

    if unit > 0.0:  # without active rows there is nothing to move, which SciPy 1.13 does not take
        try:
            with own_threads():  # products with few columns: threads would wait for each other
                found = minimize(
                    minus, first.z.ravel() / unit, jac=True, method="L-BFGS-B",
                    options={"maxiter": max_iterations, "maxfun": 2 * max_iterations, "maxcor": _MEMORY,
                             "gtol": unit * tolerance, "ftol": 0.0},
                )  # fmt: skip
            z = unit * found.x.reshape(d, C)
            best = best if np.array_equal(z, best.z) else at(z)
        except Late:
            if deadline is None:
                raise
    slack = _SLACK[projections[0].features.dtype]
    converged = bool(np.max(np.abs(best.gradient), initial=0.0) <= slack * tolerance)
    constant = sum(len(p.classes) * (p.log_det + float(p.weight @ p.variance_left)) for p in projections)
    return Optimum(best.value - 0.5 * constant, best.z, best.mean, best.g, converged, at.count)


class _Point(NamedTuple):
    value: float
    gradient: Floats
    z: Floats
    mean: Floats
    g: Floats


class _Evaluation:
    """Value and gradient in z, and what was found on the way."""

    def __init__(self, projections: Sequence[Projection], labels: Rows, likelihood: Race) -> None:
        self.projections, self.labels, self.likelihood = projections, labels, likelihood.for_new_rows()
        self.weight = projections[0].weight
        self._no_variance, self.count = np.zeros((len(labels), likelihood.n_classes)), 0

    def __call__(self, z: Floats) -> _Point:
        self.count += 1
        mean, gradient = np.empty_like(self._no_variance), np.empty_like(z)
        for p in self.projections:
            mean[:, p.classes] = p.times(z[:, p.classes])
        log_z, g, _ = self.likelihood.tilted(self.labels, mean, self._no_variance)
        target = self.weight[:, None] * (mean + g)  # eq. 4.3, 4.4
        for p in self.projections:
            gradient[:, p.classes] = p.transposed_times(target[:, p.classes])
        value = float(self.weight @ (log_z + 0.5 * np.sum(mean**2, axis=1)) - 0.5 * np.sum(z**2))
        return _Point(value, gradient - z, z.copy(), mean, g)
