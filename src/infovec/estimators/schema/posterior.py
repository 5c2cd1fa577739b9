"""Posteriors: the shapes of their pieces against each other, and that all of them are finite."""

import numpy as np

from ..._types import Array, Inputs
from ...errors import ModelFileError
from ...kernels import Kernel
from ...kernels.relevances import column_weights
from ...persistence.values import array_of_floats, finite_inputs, must, number, refuse
from ...posterior import (
    AuxiliaryPosterior,
    ClassPosterior,
    DrawnPosterior,
    FactorisedPosterior,
    ModePosterior,
    Posterior,
    ProjectedPosterior,
    SeparateAuxiliaryPosterior,
    SeparatePosterior,
)

__all__ = ["MOST_PARTS", "check_kernel", "check_posterior", "near_inputs", "same_inputs", "same_kernel"]

MOST_PARTS = 500
"""Kernels in one kernel: each of them looks at all active rows in every prediction."""


def check_kernel(kernel: object, where: str) -> Kernel:
    """Return a kernel; raise unless it is one, of not too many parts."""
    if not isinstance(kernel, Kernel):
        refuse(where, "a kernel", kernel)
    if kernel.n_parts > MOST_PARTS:
        raise ModelFileError(f"{where} is made of {kernel.n_parts} kernels, and {MOST_PARTS} are the most there may be")
    return kernel


def same_kernel(a: Kernel, b: Kernel) -> bool:
    """Whether two kernels are the same, or look so where those of the user's own cannot be compared."""
    try:
        if a == b:
            return True
    except Exception:  # fields of the user's own may be of any kind
        pass
    return type(a) is type(b) and repr(a) == repr(b) and np.array_equal(a.theta, b.theta)


def same_inputs(a: Inputs, b: Inputs) -> bool:
    """Whether two inputs, dense or both CSR, are the same, to the last bit."""
    if a is b:
        return True
    if type(a) is not type(b) or a.shape != b.shape or a.dtype != b.dtype:
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == object or bool(np.array_equal(a, b))  # objects of the user's own need not be comparable
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("data", "indices", "indptr"))


def near_inputs(a: Inputs, b: Inputs, kernel: Kernel) -> bool:
    """Whether two inputs are the same, dense ones up to a millionth of a column's range, or of what the kernel sees."""
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.dtype.kind == b.dtype.kind == "f"):
        return same_inputs(a, b)
    if a.shape != b.shape or a.ndim != 2 or a.dtype != b.dtype:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        near = 1e-6 * np.ptp(b, axis=0) + 1e-12 * np.max(np.abs(b), axis=0, initial=0.0) if len(b) else 0.0
        weights = column_weights(kernel, b.shape[1])  # a column may have one value in all active rows
        if weights is not None:
            near = np.maximum(near, np.where(weights > 0.0, 1e-6 / np.sqrt(np.maximum(weights, 1e-300)), 0.0))
        return bool(np.all(np.abs(a - b) <= near))


def check_posterior(posterior: object, where: str, n_functions: int) -> None:
    """Raise unless it is the posterior of so many latent functions, with pieces that fit each other."""
    if isinstance(posterior, AuxiliaryPosterior | DrawnPosterior):
        _check_drawn(posterior, where, n_functions)
    elif n_functions == 1:
        _check_one(posterior, where)
    elif isinstance(posterior, ModePosterior):
        _check_mode(posterior, where, n_functions)
    elif isinstance(posterior, ClassPosterior):
        d = _check_active(posterior, where)
        _factor(posterior.L, f"{where}.L", (d, d))
        _factor(posterior.Q, f"{where}.Q", (n_functions, d, d))
        array_of_floats(posterior.beta, f"{where}.beta", (n_functions, d))
    elif isinstance(posterior, SeparatePosterior):
        _check_active(posterior, where)
        parts = posterior.parts
        fits = isinstance(parts, tuple) and len(parts) == n_functions
        must(fits, f"{where}.parts", f"a tuple of the posteriors of {n_functions} classes", parts)
        for c, part in enumerate(parts):
            _check_one(part, f"{where}.parts[{c}]")
            same = part.X.shape[1:] == posterior.X.shape[1:]
            must(same, f"{where}.parts[{c}].X", f"inputs like those of {where}.X", part.X)
    else:
        refuse(where, f"a posterior of {n_functions} classes", posterior)


def _check_one(posterior: object, where: str) -> None:
    if not isinstance(posterior, ProjectedPosterior | FactorisedPosterior):
        refuse(where, "a ProjectedPosterior or FactorisedPosterior", posterior)
    d = _check_active(posterior, where, least=0)
    _factor(posterior.L, f"{where}.L", (d, d))
    array_of_floats(posterior.beta, f"{where}.beta", (d,))
    if isinstance(posterior, ProjectedPosterior):
        _factor(posterior.Q, f"{where}.Q", (d, d))
    else:
        precision = array_of_floats(posterior.precision, f"{where}.precision", (d,))
        if np.any(precision < 0.0):
            raise ModelFileError(f"{where}.precision must not be negative")
        array_of_floats(posterior.site_mean, f"{where}.site_mean", (d,))


def _check_drawn(posterior: AuxiliaryPosterior | DrawnPosterior, where: str, n_functions: int) -> None:
    n, force = _check_active(posterior, where), f"{where}.force"
    if isinstance(posterior, AuxiliaryPosterior):
        array_of_floats(posterior.force, force, (None, n, n_functions))
        if isinstance(posterior, SeparateAuxiliaryPosterior):
            _check_kernels(posterior.kernels, f"{where}.kernels", n_functions)
    else:
        kernels = posterior.kernels
        _check_kernels(kernels, f"{where}.kernels")
        array_of_floats(posterior.force, force, (len(kernels), None, n, n_functions))
    must(posterior.force.size > 0, force, "of one draw at least", posterior.force)


def _check_kernels(kernels: tuple[Kernel, ...], where: str, many: int | None = None) -> None:
    fits = isinstance(kernels, tuple) and (len(kernels) == many if many is not None else len(kernels) > 0)
    must(fits, where, "a tuple of kernels" if many is None else f"a tuple of {many} kernels", kernels)
    for k, kernel in enumerate(kernels):
        check_kernel(kernel, f"{where}[{k}]")


def _check_mode(posterior: ModePosterior, where: str, n_functions: int) -> None:
    n = _check_active(posterior, where)
    array_of_floats(posterior.slopes, f"{where}.slopes", (n, n_functions))
    E = array_of_floats(posterior.E, f"{where}.E", (None, n, n))
    must(len(E) in (0, n_functions), f"{where}.E", "a matrix for each class, or none", E)
    array_of_floats(posterior.G, f"{where}.G", (n_functions, None, n))
    if posterior.kernels != ():
        _check_kernels(posterior.kernels, f"{where}.kernels", n_functions)
    must(number(posterior.sign, f"{where}.sign") in (-1.0, 1.0), f"{where}.sign", "1 or -1", posterior.sign)


def _check_active(posterior: Posterior, where: str, least: int = 1) -> int:
    """Check the kernel and the active inputs; return how many of them there are."""
    check_kernel(posterior.kernel, f"{where}.kernel")
    X = finite_inputs(posterior.X, f"{where}.X", bool(posterior.kernel.numeric))
    must(X.shape[0] >= least, f"{where}.X", "of one row at least", X)
    return int(X.shape[0])


def _factor(value: object, where: str, shape: tuple[int, ...]) -> Array:
    """Check a triangular factor, or several: finite, with a positive diagonal."""
    found = array_of_floats(value, where, shape)
    if not np.all(np.diagonal(found, axis1=-2, axis2=-1) > 0.0):
        raise ModelFileError(f"{where} must have a positive diagonal")
    return found
