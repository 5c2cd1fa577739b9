"""The same course with scikit-activeml: uncertainty sampling with its wrapper of scikit-learn's Gaussian process."""

import warnings

import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, CompoundKernel, ConstantKernel, Kernel

from .asking import LEARN, Split

__all__ = ["installed", "peer_course", "variants"]

_VARIANCE = 10.0  # of the fixed kernel, whose length scale is the root of the number of columns


def installed() -> bool:
    """Whether scikit-activeml can be imported."""
    try:
        import skactiveml.classifier
        import skactiveml.pool  # noqa: F401
    except ImportError:
        return False
    return True


def variants(n_classes: int) -> list[tuple[str, str]]:
    """Return kernels and methods, the best of which is the peer; of two classes all methods ask the same."""
    methods = ["margin_sampling"] if n_classes == 2 else ["margin_sampling", "entropy"]
    return [(kernel, method) for kernel in ("fixed", "learned") for method in methods]


def peer_course(data: Split, kernel: str, method: str, labels: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Buy labels until there are so many; return counts of labels and the accuracies with them.

    Where parameters are learned it is from the same start every time, and twice from others: those of the last time
    can be a trap that it does not leave.
    """
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.pool import UncertaintySampling

    classes, strategy = np.unique(data.y), UncertaintySampling(method=method, random_state=seed)
    known, y, scale = data.first.copy(), np.full(len(data.y), np.nan), np.sqrt(data.X.shape[1])
    found: Kernel = ConstantKernel(_VARIANCE) * RBF(scale)
    learned, counts, accuracy = 0, list[int](), list[float]()
    while True:
        y[known] = data.y[known]
        learns = kernel == "learned" and len(known) >= LEARN * learned
        gpc = GaussianProcessClassifier(found, optimizer=None, random_state=seed)
        if learns:
            gpc = GaussianProcessClassifier(ConstantKernel() * RBF(scale), n_restarts_optimizer=2, random_state=seed)
        model = SklearnClassifier(gpc, classes=classes, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # parameters at their bounds
            model.fit(data.X, y)
        if learns:
            found, learned = _one(model.estimator_.kernel_), len(known)
        counts.append(len(known))
        accuracy.append(float(np.mean(model.predict(data.X_test) == data.y_test)))
        if len(known) >= labels:
            return np.array(counts), np.array(accuracy)
        known = np.append(known, strategy.query(data.X, y, clf=model, fit_clf=False)[0])


def _one(kernel: Kernel) -> Kernel:
    """Return one kernel for all classes, since no more can be given: the median of the logarithms of parameters."""
    if not isinstance(kernel, CompoundKernel):
        return kernel
    return kernel.kernels[0].clone_with_theta(np.median([part.theta for part in kernel.kernels], axis=0))
