"""Exact selection on real data: USPS digits, 4 against the rest, as in LSH05 and SLH table 1."""

import numpy as np
import pytest
from fixed import IVMClassifier

from infovec.kernels import RBF, Bias

KERNEL = RBF(length_scale=10.0, variance=100.0) + Bias(0.1)


@pytest.fixture(scope="module")
def usps(dataset):
    data = dataset("usps")
    return data["X_train"], data["y_train"] == 4, data["X_test"], data["y_test"] == 4


@pytest.fixture(scope="module")
def model(usps):
    return IVMClassifier(
        kernel=KERNEL, n_active=500, initial=[0], dtype="float64", approximation="factorised", random_state=0
    ).fit(*usps[:2])


def test_error_is_that_of_the_papers(usps, model):
    X, _, Z, t = usps
    assert len(X) == 7291
    error = 100.0 * np.mean(model.predict(Z) != t)
    assert 1.3 <= error <= 1.7


def test_the_set_is_stable_under_permutation_of_the_rows(usps, model):
    X, y = usps[:2]
    order = np.random.default_rng(3).permutation(len(X))
    first = int(np.flatnonzero(order == 0)[0])
    permuted = IVMClassifier(
        kernel=KERNEL, n_active=500, initial=[first], dtype="float64", random_state=8, approximation="factorised"
    )
    permuted.fit(X[order], y[order])
    assert set(order[permuted.active_]) == set(model.active_)


def test_single_precision_selects_nearly_as_well(usps, model):
    X, y, Z, t = usps
    single = IVMClassifier(kernel=KERNEL, n_active=500, initial=[0], approximation="factorised", random_state=0)
    single.fit(X, y)
    proba, single_proba = model.predict_proba(Z)[:, 1], single.predict_proba(Z)[:, 1]
    loss, single_loss = (-np.mean(np.log(np.where(t, p, 1 - p))) for p in (proba, single_proba))
    assert single_loss == pytest.approx(loss, rel=0.01)
