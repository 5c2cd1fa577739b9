"""What the experiments of LSH05 section 4 share: its start, its algorithm 2, and parameters as it prints them."""

from collections.abc import Sequence

import numpy as np

from infovec.kernels import MLP, RBF, Kernel, Linear, Relevance, Sum
from infovec.learning import Learning

__all__ = ["RELEVANCE", "SMALL", "algorithm_2", "as_printed", "with_relevances"]

RELEVANCE = 0.999  # where every alpha starts
SMALL = float(np.exp(-2.0))  # where variances of white noise and bias start: the authors' program, the paper has none


def algorithm_2(iterations: int, fixed: Sequence[str], minor_steps: int = 100) -> Learning:
    """Return the settings of algorithm 2: no priors, and nothing that ends it before its last iteration."""
    return Learning(
        "active_set", major_steps=iterations, minor_steps=minor_steps, tolerance=0.0, lag=iterations + 1, warm_up=False,
        max_rows=None, priors={"*": None}, fixed=fixed, bounds={"kernel.*": (1e-9, 1e9)},
    )  # fmt: skip


def with_relevances(kernel: Kernel, p: int) -> Relevance:
    """Return the kernel with one relevance for each column, shared by its terms."""
    return Relevance(kernel, np.full(p, RELEVANCE), transform="log")


def as_printed(kernel: Kernel) -> dict[str, float]:
    """Parameters by the letters of the paper, with the largest relevance at one.

    Relevances at most one, as the paper has them, leave a factor between them and the parameters that scale the inner
    products: moved to the latter the kernel is the same.
    """
    scale, found = 1.0, dict[str, float]()
    for leaf in _terms(kernel):
        if isinstance(leaf, Relevance):
            relevance = np.atleast_1d(leaf.relevance)
            scale = float(relevance.max())
            found |= {f"alpha_{j + 1}": float(a / scale) for j, a in enumerate(relevance)}
            found |= {key: value for term in _terms(leaf.kernel) for key, value in _of_term(term, scale).items()}
        else:
            found |= _of_term(leaf, 1.0)
    return found


def _terms(kernel: Kernel) -> list[Kernel]:
    return [*_terms(kernel.left), *_terms(kernel.right)] if isinstance(kernel, Sum) else [kernel]


def _of_term(kernel: Kernel, scale: float) -> dict[str, float]:
    if isinstance(kernel, RBF):
        return {"theta_rbf": float(kernel.variance), "gamma": scale * float(kernel.length_scale) ** -2}
    if isinstance(kernel, MLP):
        w, b = scale * float(kernel.weight_variance), float(kernel.bias_variance)
        return {"theta_mlp": float(kernel.variance), "w": w, "b": b}
    if isinstance(kernel, Linear):
        return {"theta_lin": scale * float(kernel.variance)}
    return {f"theta_{type(kernel).__name__.lower()}": float(getattr(kernel, "variance", np.nan))}
