"""Counts that scatter more than a Poisson distribution."""

import numpy as np
import pytest

from infovec import IVMRegressor
from infovec.kernels import White


@pytest.mark.parametrize("shape", [None, 3.0])
def test_the_function_does_not_follow_counts_from_row_to_row(shape):
    rng = np.random.default_rng(5)
    X = rng.uniform(0.0, 5.0, size=(1300, 2))
    mean = np.exp(3.0 + np.sin(X[:, 0]))
    y = rng.poisson(mean if shape is None else mean * rng.gamma(shape, 1.0 / shape, 1300))
    model = IVMRegressor(likelihood="poisson", n_active=100, random_state=0).fit(X[:300], y[:300])
    best = 1.0 - np.mean((mean[300:] - y[300:]) ** 2) / np.var(y[300:])  # of who knows the means
    assert model.score(X[300:], y[300:]) > best - 0.06
    assert model.kernel is None
    white = model.kernel_.left.right if isinstance(model.kernel_.left.right, White) else model.kernel_.right
    assert (white.variance > 0.1) == (shape is not None)
    fixed = IVMRegressor(likelihood="poisson", learn=None, n_active=20, random_state=0).fit(X[:50], y[:50])
    assert "White" not in repr(fixed.kernel_)
