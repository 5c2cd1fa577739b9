"""Predictions of large active sets in single precision: only where that is enough."""

import numpy as np
import pytest

from infovec.kernels import RBF, Bias, Linear
from infovec.posterior import FactorisedPosterior, base


def posterior(kernel, d=60, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(d, 3))
    precision = np.full(d, 1.0 / noise)
    root = np.sqrt(precision)
    L = np.linalg.cholesky(np.eye(d) + root[:, None] * kernel(X) * root)
    site_mean = np.sin(X[:, 0])
    return FactorisedPosterior(kernel, X, precision, site_mean, L, np.linalg.solve(L, root * site_mean))


@pytest.mark.parametrize("kernel", [RBF(1.5, 4.0) + Bias(0.1), Linear(2.0)], ids=str)
def test_it_agrees_with_double(monkeypatch, kernel):
    monkeypatch.setattr(base, "_PANEL", 16)
    Z = np.random.default_rng(1).normal(size=(500, 3))
    exact = posterior(kernel).predict(Z)
    monkeypatch.setattr(base, "_MANY_ACTIVE", 10)
    single = posterior(kernel)
    assert single._products == "float32"
    mean, var = single.predict(Z)
    assert not np.array_equal(mean, exact[0])
    np.testing.assert_allclose(mean, exact[0], atol=1e-4)
    np.testing.assert_allclose(var, exact[1], rtol=1e-3)
    np.testing.assert_array_equal(single.predict(Z[7:8])[1], single.predict(Z[7:8])[1])


def test_it_is_not_taken_where_little_is_left_of_the_variance(monkeypatch):
    monkeypatch.setattr(base, "_MANY_ACTIVE", 10)
    sharp = posterior(RBF(3.0, 1e4), noise=1e-4)
    assert sharp._products == "float64"
    far = posterior(RBF(1.0, 1.0))
    moved = FactorisedPosterior(far.kernel, far.X + 1e6, far.precision, far.site_mean, far.L, far.beta)
    assert moved._products == "float64"


def test_few_active_rows_stay_in_double():
    assert posterior(RBF()).X.shape[0] < base._MANY_ACTIVE
    assert posterior(RBF())._products == "float64"
