"""The same course with scikit-activeml: uncertainty sampling with its wrapper of scikit-learn's Gaussian process."""

import warnings

import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, CompoundKernel, ConstantKernel, Kernel

from .asking import LEARN, Split

__all__ = ["METHODS", "installed", "peer_course"]

METHODS = ("margin_sampling", "entropy")
"""Of two classes both ask the same."""


def installed() -> bool:
    """Whether scikit-activeml can be imported."""
    try:
        import skactiveml.classifier
        import skactiveml.pool  # noqa: F401
    except ImportError:
        return False
    return True


def peer_course(data: Split, method: str, labels: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Buy labels until there are so many; return counts of labels and the accuracies with them."""
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.pool import UncertaintySampling

    classes, strategy = np.unique(data.y), UncertaintySampling(method=method, random_state=seed)
    known, y = data.first.copy(), np.full(len(data.y), np.nan)
    kernel, learned, counts, accuracy = None, 0, [], []
    while True:
        y[known] = data.y[known]
        learns = len(known) >= LEARN * learned
        start = ConstantKernel() * RBF(np.sqrt(data.X.shape[1])) if kernel is None else kernel
        gpc = GaussianProcessClassifier(start, optimizer="fmin_l_bfgs_b" if learns else None, random_state=seed)
        model = SklearnClassifier(gpc, classes=classes, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # parameters at their bounds
            model.fit(data.X, y)
        if learns:
            kernel, learned = _one(model.estimator_.kernel_), len(known)
        counts.append(len(known))
        accuracy.append(float(np.mean(model.predict(data.X_test) == data.y_test)))
        if len(known) >= labels:
            return np.array(counts), np.array(accuracy)
        known = np.append(known, strategy.query(data.X, y, clf=model, fit_clf=False)[0])


def _one(kernel: Kernel) -> Kernel:
    """Return one kernel for all classes: of their parameters, which are logarithms, the mean."""
    if not isinstance(kernel, CompoundKernel):
        return kernel
    return kernel.kernels[0].clone_with_theta(np.mean([part.theta for part in kernel.kernels], axis=0))
