"""Going on from an earlier fit, and combinations of limits, settings and inputs that once went wrong."""

import logging
import pickle

import numpy as np
import pytest
from fixed import IVMClassifier, IVMRegressor
from scipy import sparse, stats

from infovec.errors import ParameterError
from infovec.kernels import RBF, Bias, FromFunction, Precomputed
from infovec.likelihoods import Gaussian
from infovec.likelihoods.tails import residual_density


def wave(n=300, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=n)


LONG = np.ones(10)
OTHER = np.where(np.arange(10) == 4, 100.0, 1.0)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"kernel": RBF(LONG)}, {"kernel": RBF(OTHER)}),
        ({"kernel": RBF(1.0)}, {"kernel": RBF(1.0 + 1e-9)}),
        ({"likelihood": Gaussian(np.full(300, 0.1))}, {"likelihood": Gaussian(np.linspace(0.1, 2.0, 300))}),
        ({"score": lambda log_z, g, nu, mean, var: var}, {"score": lambda log_z, g, nu, mean, var: -mean}),
        ({"initial": [3, 4]}, {"initial": [4, 3]}),
    ],
    ids=["array", "number", "variances", "function", "rows"],
)
def test_a_warm_start_notices_every_change_of_the_model(first, second):
    X, y = wave(p=10)
    warm = IVMRegressor(n_active=30, warm_start=True, random_state=0, **first).fit(X, y)
    warm.set_params(**second).fit(X, y)
    fresh = IVMRegressor(n_active=30, random_state=0, **second).fit(X, y)
    np.testing.assert_allclose(warm.predict(X), fresh.predict(X))


def test_a_warm_start_notices_another_matrix_or_function():
    X, y = wave()
    rows = np.arange(300)[:, None]
    warm = IVMRegressor(kernel=Precomputed(RBF()(X)), n_active=30, warm_start=True, random_state=0).fit(rows, y)
    before = warm.predict(rows)
    warm.set_params(kernel=Precomputed(np.eye(300))).fit(rows, y)
    assert np.abs(warm.predict(rows) - before).max() > 0.1
    objects = list(X)
    near, far = (FromFunction(lambda A, B, s=s: RBF(s)(np.array(list(A)), np.array(list(B)))) for s in (1.0, 50.0))
    warm = IVMRegressor(kernel=near, n_active=30, warm_start=True, random_state=0).fit(objects, y)
    before = warm.predict(objects)
    assert np.abs(warm.set_params(kernel=far).fit(objects, y).predict(objects) - before).max() > 0.1


def test_a_warm_start_to_fewer_rows_or_to_auto_starts_over():
    X, y = wave(1000)
    model = IVMRegressor(n_active=100, warm_start=True, random_state=0).fit(X, y)
    assert len(model.set_params(n_active=50).fit(X, y).active_) == 50
    model.set_params(n_active="auto").fit(X, y)
    fresh = IVMRegressor(n_active="auto", random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.active_, fresh.active_)
    d = len(model.active_)
    assert len(model.grow(30).active_) == d + 30


@pytest.mark.parametrize("selection", ["all", "shrinking", "refilled"])
def test_growing_after_going_back_stays_right(selection):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(4000, 2))
    y = np.sin(9 * X[:, 0]) + 0.5 * rng.normal(size=4000)
    model = IVMRegressor(
        kernel=RBF(0.12), likelihood=Gaussian(0.25), n_active="auto", selection=selection, score="random",
        approximation="factorised", warm_start=True, random_state=0,
    ).fit(X, y)  # fmt: skip
    driver = model._state.selector
    held = set(np.flatnonzero(model._state.machine.data.held_back))
    for _ in range(3):
        model.grow(60)
        np.testing.assert_array_equal(driver.representation().X, model._state.machine.data.X[model.active_])
        shard = driver.shards[0]
        mean = model._state.machine.data.given.unit.scale * shard.mean
        np.testing.assert_allclose(mean, model.predict_latent(X[shard.rows])[0], atol=1e-2)
    assert not held & set(model.active_)
    assert held <= set(shard.rows)


def test_a_failing_callback_leaves_the_model_of_before():
    X, y = wave(600)
    model = IVMRegressor(n_active=50, warm_start=True, random_state=0).fit(X, y)
    before = model.predict(X)

    def fail(progress):
        if progress.included >= 80:
            raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        model.set_params(n_active=100, callback=fail).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), before)
    with pytest.raises(ParameterError, match="was not kept"):
        model.grow(10)


def test_growing_when_settings_changed_in_between():
    X, y = wave(600)
    model = IVMRegressor(n_active=20, warm_start=True, random_state=0).fit(X, y)
    model.set_params(warm_start=False).grow(5)
    with pytest.raises(ParameterError, match="was not kept"):
        model.grow(5)
    X, y = wave(9000)
    model = IVMRegressor(n_active=150, selection="all", approximation="factorised", warm_start=True, random_state=0)
    model.fit(X, y).set_params(max_memory="9MB").grow(10)
    assert len(model.active_) == 160
    shard = model._state.selector.shards[0]
    assert len(shard.rows) < 9000
    mean = model._state.machine.data.given.unit.scale * shard.mean
    np.testing.assert_allclose(mean, model.predict_latent(X[shard.rows])[0], atol=1e-2)


def test_initial_rows_survive_a_shrinking_index():
    X, y = wave(6000)
    model = IVMRegressor(n_active=500, initial=np.arange(450), random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.active_[:450], np.arange(450))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e4])
def test_the_plan_works_for_targets_of_any_size(scale, caplog):
    X, y = wave()
    plan, usual = (IVMRegressor(n_active=50).plan(X, s * y) for s in (scale, 1.0))
    assert plan._replace(seconds=0.0, learning=0.0) == usual._replace(seconds=0.0, learning=0.0)
    assert usual.seconds / 20 < plan.seconds < 20 * usual.seconds
    with caplog.at_level(logging.INFO, logger="infovec"):
        IVMRegressor(n_active=50).fit(X, scale * y)
    assert [record.message.split(":")[0] for record in caplog.records] == ["plan", "actual"]


def test_density_of_new_rows_with_a_variance_for_each_training_row():
    X, y = wave()
    model = IVMRegressor(likelihood=Gaussian(np.linspace(0.05, 0.15, 300)), n_active=30, random_state=0).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    residual = residual_density(model.residual_quantiles_)
    expected = stats.t.logpdf((y - mean) / std, residual.df, scale=residual.scale) - np.log(std)
    np.testing.assert_allclose(model.log_density(X, y), expected)
    assert model.log_density(X[:10], y[:10]).shape == (10,)


def test_an_index_with_nothing_left_ends_the_fit():
    points = np.array([[0.0], [1.0], [2.0]])
    X = np.repeat(points, 4000, axis=0)
    model = IVMRegressor(
        kernel=RBF(), likelihood=Gaussian(1e-15), initial=[0, 4000, 8000], n_active=300, max_memory="16MB",
        approximation="factorised", dtype="float32", random_state=0,
    ).fit(X, np.repeat([0.0, 1.0, 0.0], 4000))  # fmt: skip
    assert "informative" in model.stop_reason_
    assert len(model.active_) == 3


def test_dense_training_and_csr_prediction():
    for p in (3, 8):
        X, y = wave(p=p)
        model = IVMRegressor(n_active=30, random_state=0).fit(X, y)
        np.testing.assert_allclose(model.predict(sparse.csr_matrix(X)), model.predict(X), rtol=1e-8)


def test_kernels_of_whole_numbers():
    X = np.array([[0], [1], [3]])
    np.testing.assert_array_equal(RBF(2.0, 0.5)(X), RBF(2.0, 0.5)(X.astype(float)))
    np.testing.assert_array_equal(RBF(2.0, 0.5).diag(X), 0.5)
    assert (RBF() + Bias())(X.tolist()).shape == (3, 3)


def test_sizes_beyond_the_data_and_scores_that_are_infinite():
    X, y = wave()
    assert len(IVMRegressor(n_active=20, block_size=10**6, pool_size=10**6).fit(X, y).active_) == 20
    with pytest.raises(ParameterError, match="NaN or inf"):
        IVMRegressor(score=lambda *a: np.inf * np.ones_like(a[0])).fit(X, y)
    with pytest.raises(ParameterError, match="max_memory must be"):
        IVMRegressor(max_memory=np.inf).fit(X, y)
    with pytest.raises(ParameterError, match="likelihood must be"):
        IVMRegressor(likelihood=[1]).fit(X, y)


def test_files_hold_no_more_than_the_factors():
    X, y = wave()
    for approximation, n_factors in (("factorised", 1), ("projected", 2)):
        model = IVMClassifier(n_active=300, approximation=approximation, random_state=0).fit(X, y > 0)
        model.predict(X)
        assert len(pickle.dumps(model)) < (n_factors + 0.3) * 8 * 300**2
