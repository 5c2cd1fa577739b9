"""Kernels of chosen columns and of categories, in estimators."""

import numpy as np
import pandas as pd
import pytest

import infovec
from infovec import IVMClassifier, IVMRegressor
from infovec.errors import ParameterError
from infovec.kernels import RBF, Bias, Categorical, Linear, On, Tasks
from infovec.kernels.relevances import column_weights, separate_scales


def frame(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.normal(size=n), "job": rng.integers(4, size=n), "noise": rng.normal(size=n)})
    y = np.sin(2.0 * X["age"]) + np.array([1.0, -1.0, 0.5, -0.5])[X["job"]] + 0.1 * rng.normal(size=n)
    return X, y.to_numpy()


def test_columns_by_name_and_by_number_are_the_same_fit(tmp_path):
    X, y = frame()
    by_name = On(RBF(1.0), ["age"]) * On(Categorical(1.0), "job") + Bias()
    by_number = On(RBF(1.0), 0) * On(Categorical(1.0), -2) + Bias()
    models = [IVMRegressor(kernel=k, n_active=80, random_state=0).fit(X, y) for k in (by_name, by_number)]
    expected = models[0].predict(X, return_std=True)
    np.testing.assert_array_equal(expected, models[1].predict(X, return_std=True))
    assert models[0].kernel_.left.left.columns == (0,)
    assert models[0].kernel_.left.right.columns == (1,)
    moved = X.assign(noise=1e6)  # which no part looks at
    np.testing.assert_array_equal(models[0].predict(moved), expected[0])
    models[0].save(tmp_path / "m.ivm")
    np.testing.assert_array_equal(infovec.load(tmp_path / "m.ivm").predict(X), expected[0])


def test_categories_are_learned_as_well_as_zeros_and_ones():
    X, y = frame(300)
    test, truth = frame(500, seed=1)
    kernel = On(RBF(1.0), "age") * On(Categorical(1.0), "job") + Bias()
    model = IVMRegressor(kernel=kernel, n_active=120, random_state=0).fit(X, y)
    assert np.mean((model.predict(test) - truth) ** 2) < 0.03  # the noise is 0.01
    codes = IVMRegressor(kernel=RBF(np.ones(3)) + Bias(), n_active=120, random_state=0).fit(X, y)
    assert model.log_evidence_ > codes.log_evidence_  # for which the order of the codes means something


def test_a_category_that_no_training_row_has_differs_from_all():
    X, y = frame()
    model = IVMClassifier(kernel=On(Categorical(50.0), "job"), learn=None, n_active=50, random_state=0).fit(X, y > 0)
    mean, std = model.predict_latent(X[:1].assign(job=77))
    assert abs(mean[0]) < 1e-8
    assert std[0] == pytest.approx(1.0)


def test_names_that_are_none_are_named():
    X, y = frame()
    with pytest.raises(ParameterError, match="'jobs' is none of the names of columns, which are age, job, noise"):
        IVMRegressor(kernel=On(RBF(), "jobs")).fit(X, y)
    with pytest.raises(ParameterError, match="of which X has none"):
        IVMRegressor(kernel=On(RBF(), "job")).fit(X.to_numpy(), y)


def test_tasks_inside_and_around():
    X, y = frame()
    inside = IVMRegressor(kernel=On(Tasks(RBF(), "job"), ["job", "age"]), learn=None, n_active=60, random_state=0)
    around = IVMRegressor(kernel=Tasks(On(RBF(), "age"), "job"), learn=None, n_active=60, random_state=0)
    np.testing.assert_allclose(inside.fit(X, y).predict(X), around.fit(X, y).predict(X), rtol=1e-6, atol=1e-8)


def test_how_much_columns_count():
    kernel = On(RBF([0.5, 2.0]), [2, 0]) * On(Categorical([3.0]), 1) + On(Linear(), 3)
    np.testing.assert_allclose(column_weights(kernel, 5), [0.25, 3.0, 4.0, 0.0, 0.0])
    apart = separate_scales(On(RBF(2.0), [0, 3]) * On(Categorical(0.5), [1, 2]) + Bias(), 4)
    np.testing.assert_array_equal(apart.left.left.kernel.length_scale, [2.0, 2.0])
    np.testing.assert_array_equal(apart.left.right.kernel.relevance, [0.5, 0.5])
