"""Columns that say nothing are switched off where there are many."""

import numpy as np
import pytest

from infovec import IVMClassifier, IVMRegressor
from infovec.kernels import RBF, Bias
from infovec.kernels.relevances import column_weights
from infovec.learning import Model, Normal, fewer_columns, price_of, worth_of
from infovec.learning.settings import Learning
from infovec.likelihoods import Probit


def wide(n, p, seed):
    """Four columns of p that count: a product, a wave and a line."""
    rng = np.random.default_rng(seed)
    X, columns = rng.normal(size=(n, p)), rng.permutation(p)[:4]
    a, b, c, d = X[:, columns].T
    return X, 2.0 * a * b + 1.5 * np.sin(2.0 * c) + 1.5 * d + 0.5 * rng.normal(size=n), columns


def separated(p=80, **settings):
    tied = Model.begin(RBF(1.0) + Bias(0.1), Probit(), tied=True, learning=Learning(**settings))
    return tied.separated(p)[0]


def test_switched_columns_count_for_nothing_and_no_prior_calls_them_back():
    model, off = separated(), np.arange(10, 80)
    fewer = model.switched_off(off)
    X = np.random.default_rng(0).normal(size=(20, 80))
    np.testing.assert_allclose(fewer.kernel(X), separated(10).kernel(X[:, :10]), rtol=1e-7)
    moved = fewer.with_theta(np.where(np.arange(fewer.size) < 10, 0.7, fewer.theta))
    value, gradient = moved.log_prior()
    np.testing.assert_allclose(value, -0.5 * 10 * (0.7 / 3.0) ** 2, rtol=1e-12)
    np.testing.assert_array_equal(gradient[10:80], 0.0)
    assert price_of(model) == pytest.approx(80.0)
    assert price_of(fewer) == pytest.approx(10.0 + np.log(80.0**10))
    assert price_of(model.switched_off(np.arange(80))) == price_of(model.switched_off(np.arange(79)))


def test_what_a_model_is_worth_is_without_its_prior():
    model = separated().with_theta(np.full(82, 0.5))
    prior = model.log_prior()[0]
    assert worth_of(lambda at: (-7.0 + prior, np.zeros(82)), model) == pytest.approx(-7.0 - 80.0)
    asked = separated(priors={"kernel.left.variance": Normal(0.0, 1.0)}).switched_off(np.arange(3))
    assert asked.log_prior()[0] == pytest.approx(-0.5 * np.sum(asked.theta[3:] ** 2 / 9.0))  # and its own at its mode


def test_four_of_a_hundred_columns_are_found_and_the_others_switched_off():
    X, f, columns = wide(1400, 100, 14)
    y, few = f > 0.0, X[:, columns]
    train, test = slice(0, 400), slice(400, None)
    model = IVMClassifier(random_state=0).fit(X[train], y[train])
    known = IVMClassifier(random_state=0).fit(few[train], y[train])
    weight = column_weights(model.kernel_, 100)
    assert set(np.argsort(-weight)[:4]) == set(columns)
    assert np.sum(weight > 1e-6 * weight.max()) <= 10

    def loss(model, Z):
        return -np.mean(np.log(model.predict_proba(Z)[np.arange(1000), y[test].astype(int)]))

    assert loss(model, X[test]) < 1.2 * loss(known, few[test])


def test_numbers_of_which_four_columns_of_a_hundred_count():
    X, y, columns = wide(900, 100, 1)
    model = IVMRegressor(random_state=0).fit(X[:400], y[:400])
    weight = column_weights(model.kernel_, 100)
    assert set(np.argsort(-weight)[:4]) == set(columns)
    assert np.sum(weight > 1e-6 * weight.max()) <= 10
    assert model.score(X[400:], y[400:]) > 0.85


def test_where_no_column_says_anything_none_is_let_in():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 80)), rng.integers(0, 2, 300)
    model = IVMClassifier(random_state=0).fit(X, y)
    assert np.ptp(model.predict_proba(rng.normal(size=(200, 80)))[:, 1]) < 0.25


class Clean:
    """Each of a hundred columns costs a nat when its length scale is short, but for two, which bring fifty each."""

    def __init__(self):
        self.asked = 0

    def __call__(self, model):
        self.asked += 1
        scale = np.log(np.asarray(model.kernel.length_scale))
        worth = np.where(np.arange(100) < 2, 50.0, -1.0)
        near = np.exp(-(np.minimum(scale, 30.0) ** 2) / 8.0)
        slopes = np.zeros(model.group.size)
        slopes[:100] = -worth * near * scale / 4.0
        return float(worth @ near) + model.log_prior()[0], model.pull(slopes) + model.log_prior()[1]


def test_two_columns_are_left_and_an_end_that_is_asked_for_comes_soon():
    model = Model.begin(RBF(1.0), Probit(), tied=True).separated(100)[0]
    model = model.with_theta(np.where(np.arange(model.size) < 2, -0.1, 0.1) * model.scales)
    found, steps = fewer_columns(Clean(), model, lambda fewer: True)
    np.testing.assert_array_equal(np.flatnonzero(found.theta[:100] < 5.0), [0, 1])
    assert price_of(found) == pytest.approx(2.0 + 2.0 * np.log(100.0))
    assert fewer_columns(Clean(), model, lambda fewer: False)[0] is None
    some = fewer_columns(Clean(), model, lambda fewer: True, lambda step: True)[1]
    assert len(some) == 1 < len(steps)
