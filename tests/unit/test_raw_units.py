"""Columns of very different units under one length scale that is learned: said, and nothing is said elsewhere."""

import warnings

import numpy as np
import pandas as pd
import pytest

import infovec.learning
from infovec import IVMClassifier, IVMRegressor
from infovec.kernels import RBF, Bias, Matern, On, Standardised

UNITS = np.array([30_000.0, 10.0, 1.0])


def houses(n=240, units=UNITS):
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(n, 3))
    price = 2e5 + 6e4 * Z[:, 0] + 5e4 * np.sin(2.0 * Z[:, 1]) + 4e4 * Z[:, 2] + 5e3 * rng.normal(size=n)
    return pd.DataFrame(units * Z, columns=["income", "age", "rooms"]), price


def told(make, X, y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = make.fit(X, y)
    return model, [str(w.message) for w in caught if "share one length scale" in str(w.message)]


@pytest.mark.parametrize(
    "kernel", [RBF() + Bias(), Matern(5.0, nu=1.5) * 2.0, On(RBF(), ("income", "age", "rooms")) + Bias()]
)
@pytest.mark.parametrize("make", [IVMRegressor, IVMClassifier])
def test_one_length_scale_for_raw_columns_is_told_with_the_way_out(kernel, make):
    X, y = houses()
    y = y if make is IVMRegressor else y > np.median(y)
    model, said = told(make(kernel, n_active=40, random_state=0), X, y)
    assert len(said) == 1
    assert "'income' spreads by" in said[0]
    assert "'rooms' by" in said[0]
    assert "kernel=RBF(np.ones(3)) + Bias()" in said[0]
    for other in (None, "rbf", RBF(np.ones(3)) + Bias()):  # what it says can be pasted, and helps
        better, quiet = told(make(other, n_active=40, random_state=0), X, y)
        assert not quiet
        assert better.score(X, y) >= model.score(X, y)


@pytest.mark.parametrize(
    ("settings", "units"),
    [
        ({"kernel": RBF() + Bias()}, np.ones(3)),
        ({"kernel": RBF() + Bias()}, np.array([30.0, 10.0, 1.0])),
        ({"kernel": "matern + linear"}, UNITS),
        ({"kernel": RBF(1e4) + Bias(), "learn": None}, UNITS),
        ({"kernel": RBF(1e4) + Bias(), "learn": infovec.learning.Learning(fixed=["kernel.left.length_scale"])}, UNITS),
        ({"kernel": Standardised(RBF(2.0), np.zeros(3), UNITS) + Bias()}, UNITS),
        ({"kernel": On(RBF(), ("income",)) + On(RBF(), ("rooms",)) + Bias()}, UNITS),
    ],
)
def test_nothing_is_said_elsewhere(settings, units):
    X, y = houses(units=units)
    assert not told(IVMRegressor(n_active=30, random_state=0, **settings), X, y)[1]


def test_pixels_at_the_edge_are_no_other_unit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 70)) * np.where(np.arange(70) < 5, 1e-5, 1.0)
    assert not told(IVMRegressor(RBF(8.0) + Bias(), n_active=30, random_state=0), X, X[:, 10])[1]
