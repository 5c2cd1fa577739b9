"""A few numbers far off do not decide what a column is like."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import log_loss

from infovec import IVMClassifier, IVMRegressor
from infovec.machines.defaults import column_spreads, default_kernel, length_scales
from infovec.numerics.outliers import usual_reach


def test_reach_of_ordinary_columns():
    X = np.random.default_rng(0).normal(size=(4000, 3)) * [1.0, 1e-6, 1e6] + [0.0, 5.0, -1e9]
    centre, reach = usual_reach(X)
    np.testing.assert_allclose((centre - [0.0, 5.0, -1e9]) / [1.0, 1e-6, 1e6], 0.0, atol=0.06)
    np.testing.assert_allclose(reach / [1.0, 1e-6, 1e6], 20.0 * 1.96, rtol=0.05)  # no number is an outlier


@pytest.mark.parametrize("n", [3, 10, 19, 20, 21, 500])
@pytest.mark.parametrize("far", [1e6, -1e12])
def test_one_number_far_off(n, far):
    X = np.random.default_rng(n).normal(size=(n, 1))
    spread = column_spreads(X)
    X[n // 2] = far
    moved = column_spreads(X)
    assert moved[0][0] < 6.0 * spread[0][0] + 3.0
    assert moved[1][0] < 30.0 * max(spread[1][0], 1.0)


def test_columns_that_are_seldom_used_reach_as_far_as_they_do_then():
    rng = np.random.default_rng(0)
    X = np.where(rng.uniform(size=(1000, 1)) < 0.02, rng.normal(10.0, 1.0, size=(1000, 1)), 0.0)
    np.testing.assert_allclose(column_spreads(X), [X.std(axis=0), np.ptp(X, axis=0)])
    np.testing.assert_allclose(usual_reach(sparse.csr_matrix(X))[1], usual_reach(X)[1])
    np.testing.assert_allclose(column_spreads(sparse.csr_matrix(X)), column_spreads(X))
    constant = usual_reach(np.full((5, 2), 3.0))
    np.testing.assert_array_equal(constant, [[3.0, 3.0], [0.0, 0.0]])


def test_a_weight_is_a_repetition():
    rng = np.random.default_rng(1)
    X, w = rng.standard_t(2, size=(200, 2)), rng.integers(1, 6, 200)
    np.testing.assert_allclose(usual_reach(X, w.astype(float)), usual_reach(np.repeat(X, w, axis=0)))
    some = sparse.csr_matrix(np.where(rng.uniform(size=X.shape) < 0.3, X, 0.0))
    again = sparse.csr_matrix(np.repeat(some.toarray(), w, axis=0))
    np.testing.assert_allclose(usual_reach(some, w.astype(float)), usual_reach(again))


@pytest.mark.parametrize("far", [1e6, 1e12])
def test_the_default_model_does_not_mind_one(far):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    y = np.hypot(*X.T) > 1.2
    clean = IVMClassifier(n_active=60, learn=None, random_state=0).fit(X[:250], y[:250])
    X[3, 0] = far
    found = IVMClassifier(n_active=60, learn=None, random_state=0).fit(X[:250], y[:250])
    losses = [log_loss(y[250:], model.predict_proba(X[250:])) for model in (clean, found)]
    assert losses[1] < losses[0] + 0.02


def test_nor_does_single_precision(monkeypatch):
    monkeypatch.setattr("infovec.machines.prepare.SMALL_STUBS", 0)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1]
    X[5, 0] = 1e9  # in the mean, it would leave nothing of the others' digits
    model = IVMRegressor(kernel=default_kernel(X, 3.0), learn=None, n_active=80, random_state=0).fit(X, y)
    others = np.arange(300) != 5
    assert model.score(X[others], y[others]) > 0.95


def test_a_common_unit_is_for_many_columns():
    few, many = np.full(63, 2.0), np.full(64, 2.0)
    assert np.ndim(length_scales(few, 3.0 * few)) == 1
    assert length_scales(many, 3.0 * many) == pytest.approx(16.0)
    assert np.ndim(length_scales(many, np.append(3.0 * many[1:], 100.0))) == 1
