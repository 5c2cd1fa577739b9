"""Rules of selection: ties, first rows, rows passed over, and when it ends."""

import itertools
import pickle
import tracemalloc

import numpy as np
import pytest
from fixed import IVMClassifier, IVMRegressor

from infovec.errors import NotPositiveDefinite, ParameterError
from infovec.kernels import RBF, Bias, FromFunction, Precomputed, White
from infovec.likelihoods import Gaussian, Probit, StudentT
from infovec.runtime import StopReason
from infovec.scores import SCORES
from infovec.selection import Driver, Schedule
from infovec.shards import GivenRows, IndexRule, LocalShard, Refill, RefilledShard


def rings(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, (np.hypot(*X.T) > 1.1).astype(int)


def test_ties_are_broken_reproducibly_and_differently_by_seed():
    X, y = rings()
    firsts = [IVMClassifier(n_active=5, random_state=s).fit(X, y).active_[0] for s in range(12)]
    again = [IVMClassifier(n_active=5, random_state=s).fit(X, y).active_[0] for s in range(12)]
    assert firsts == again
    assert len(set(firsts)) > 6


@pytest.mark.parametrize("score", ["entropy", "information_gain", "predictive"])
def test_permuting_rows_gives_the_same_set_for_the_same_first_row(score):
    X, y = rings()
    order = np.random.default_rng(1).permutation(len(X))
    a = IVMClassifier(n_active=40, initial=[7], score=score, dtype="float64", random_state=0).fit(X, y)
    first = int(np.flatnonzero(order == 7)[0])
    b = IVMClassifier(n_active=40, initial=[first], score=score, dtype="float64", random_state=5)
    b.fit(X[order], y[order])
    np.testing.assert_array_equal(a.active_, order[b.active_])


def test_random_selection_takes_every_row_once():
    X, y = rings(30)
    model = IVMClassifier(n_active=30, score="random", random_state=0).fit(X, y)
    assert sorted(model.active_) == list(range(30))
    assert "size asked for" in model.stop_reason_
    other = IVMClassifier(n_active=30, score="random", random_state=1).fit(X, y)
    assert list(model.active_) != list(other.active_)


def test_initial_rows_come_first_in_order():
    X, y = rings()
    model = IVMClassifier(n_active=10, initial=[9, 3, 50], random_state=0).fit(X, y)
    assert list(model.active_[:3]) == [9, 3, 50]
    assert len(model.active_) == 10
    for bad in ([3, 3], [-1], [len(X)], [0.5], list(range(11))):
        with pytest.raises(ParameterError, match="initial"):
            IVMClassifier(n_active=10, initial=bad).fit(X, y)


def test_a_score_of_the_users_own():
    X, y = rings()
    leftmost = IVMRegressor(score=lambda log_z, g, nu, mean, var: -np.arange(len(var), dtype=float), n_active=4)
    assert list(leftmost.fit(X, y.astype(float)).active_) == [0, 1, 2, 3]


def test_it_ends_with_a_reason_when_all_rows_are_in():
    X, y = rings(20)
    model = IVMClassifier(n_active=500, random_state=0).fit(X, y)
    assert len(model.active_) == 20
    assert IVMClassifier(n_active=1.0).fit(X, y).active_.size == 20
    assert IVMClassifier(n_active=0.25).fit(X, y).active_.size == 5


def test_it_ends_when_duplicates_have_nothing_left_to_say():
    X = np.repeat(np.array([[0.0, 0.0], [1.0, 1.0]]), 30, axis=0)
    y = np.repeat([0.0, 1.0], 30)
    model = IVMRegressor(
        kernel=RBF(),
        likelihood=Gaussian(1e-14),
        approximation="factorised",
        dtype="float64",
        n_active=60,
        random_state=0,
    )
    model.fit(X, y)
    assert model.stop_reason_ == "no remaining row is informative"
    assert len(model.active_) == 2
    np.testing.assert_allclose(model.predict(X), y, atol=1e-6)


def test_rows_that_are_not_log_concave_here_are_passed_over():
    rng = np.random.default_rng(0)
    x = np.linspace(0, 6, 80)[:, None]
    y = np.sin(x[:, 0]) + 0.05 * rng.normal(size=80)
    y[::8] += 30.0
    model = IVMRegressor(
        kernel=RBF(1.0, 1.0),
        likelihood=StudentT(0.05, df=3.0),
        n_active=80,
        random_state=0,
        score="entropy",
        approximation="factorised",
    ).fit(x, y)
    assert np.all(model.site_precision_ > 0)
    assert not np.isin(np.arange(0, 80, 8), model.active_).any()
    assert "informative" in model.stop_reason_
    assert np.abs(model.predict(x) - np.sin(x[:, 0])).max() < 0.15


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_indefinite_kernel_is_found_with_the_row(dtype):
    X, y = rings(30)
    bad = FromFunction(lambda A, B: np.tanh(2.0 * np.array(list(A)) @ np.array(list(B)).T - 1.0))
    with pytest.raises(NotPositiveDefinite, match=r"row \d+ has variance -.*heck the kernel"):
        IVMClassifier(kernel=bad, n_active=30, dtype=dtype, random_state=0).fit(list(X), y)
    gram = np.eye(30)
    gram[4, 9] = gram[9, 4] = 3.0
    with pytest.raises(NotPositiveDefinite, match=r"row (4|9) has variance -"):
        IVMClassifier(kernel=Precomputed(gram), n_active=30, dtype=dtype).fit(np.arange(30)[:, None], y)


def test_white_noise_belongs_to_the_row_itself():
    """White(v) and no slope is the probit with slope v^-1/2 (LSH05 2.3)."""
    X, y = rings(60)
    kernel = RBF(1.0, 4.0) + Bias(0.5)
    settings = {"n_active": 25, "dtype": "float64", "initial": np.arange(25), "approximation": "factorised"}
    white = IVMClassifier(kernel=kernel + White(0.7), likelihood=Probit(slope=1e6), **settings).fit(X, y)
    slope = IVMClassifier(kernel=kernel, likelihood=Probit(slope=0.7**-0.5), **settings).fit(X, y)
    np.testing.assert_allclose(white.predict_proba(X + 0.3), slope.predict_proba(X + 0.3), atol=1e-6)


def test_the_training_set_is_not_kept():
    X, y = rings(200)
    big = np.vstack([X] * 20), np.tile(y, 20)
    small_file, big_file = (
        len(pickle.dumps(IVMClassifier(n_active=20, random_state=0).fit(*data))) for data in ((X, y), big)
    )
    assert big_file < 1.05 * small_file


def test_prediction_memory_does_not_grow_with_the_number_of_rows():
    X, y = rings(600)
    model = IVMClassifier(n_active=300, random_state=0).fit(X, y)
    Z = np.random.default_rng(0).normal(size=(200_000, 2))
    tracemalloc.start()
    model.posterior_.predict(Z)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 150e6  # the kernel matrix to all rows would take 480e6


def test_history_tells_rows_scores_and_seconds():
    X, y = rings()
    model = IVMClassifier(n_active=15, random_state=0).fit(X, y)
    sweeps = {"sweep_log_evidence", "sweep_change", "sweep_damping", "sweep_rows"}
    assert set(model.history_) == {"row", "score", "seconds"} | sweeps
    np.testing.assert_array_equal(model.history_["row"], model.active_)
    assert np.all(np.diff(model.history_["seconds"]) >= 0)
    assert np.all(model.history_["score"] > 0)


def test_verbose_says_how_far_it_is(capsys):
    X, y = rings()
    IVMClassifier(n_active=15, random_state=0, verbose=1).fit(X, y)
    assert "15 of 15 rows included" in capsys.readouterr().err


@pytest.mark.parametrize("block_size", [6, 20, 60])
def test_blocks_fit_nearly_as_well(block_size):
    X, y = rings(600)
    Z, t = rings(600, seed=1)
    exact = IVMClassifier(n_active=60, block_size=1, random_state=0).fit(X, y)
    blocked = IVMClassifier(n_active=60, block_size=block_size, random_state=0).fit(X, y)
    assert len(blocked.active_) == len(np.unique(blocked.active_)) == 60
    assert blocked.score(Z, t) > exact.score(Z, t) - 0.02


def test_blocks_start_at_one_row_and_pools_grow_with_them():
    schedule = Schedule.choose(None, None, n=50_000, d=2000)
    sizes = [schedule.sizes(t) for t in range(0, 2000, 10)]
    assert sizes[0] == (1, 1)
    assert sizes[-1] == (schedule.block_size, schedule.pool_size)
    assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in itertools.pairwise(sizes))
    assert Schedule.choose(None, None, n=500, d=100) == Schedule(1, 1)
    assert Schedule.choose(1, None, n=50_000, d=2000) == Schedule(1, 1)
    assert Schedule.choose(32, 8, n=50_000, d=2000) == Schedule(32, 32)


def test_a_shrinking_index_keeps_the_best_rows_and_a_random_share():
    rule = IndexRule(max_entries=4000)
    assert rule.limit(1000, 1, 50) == 1000
    assert rule.limit(1000, 8, 50) == 4000 // 11
    key, priority = np.arange(100.0), np.linspace(1.0, 0.0, 100)
    key[-3:] = -np.inf
    kept = rule.keep(key, priority, 20)
    np.testing.assert_array_equal(kept, [0, 1, 2, 3, *range(81, 97)])
    np.testing.assert_array_equal(rule.keep(key, priority, 99), np.arange(97))


@pytest.mark.parametrize("rule", [IndexRule(max_entries=6000), IndexRule(shrink_after=10)], ids=["cap", "decay"])
def test_stubs_of_a_shrinking_shard_stay_those_of_the_full_one(rule):
    X, y = rings(500)
    kernel, likelihood, score = RBF(1.0, 9.0) + Bias(), Probit(), SCORES["entropy"]
    targets = 2.0 * y - 1.0
    priority = np.random.default_rng(0).random(500)
    given = GivenRows(np.arange(500), X, targets, priority)
    shard = LocalShard(given, kernel, likelihood, score, 40, "float64", rule)
    driver = Driver([shard], kernel, likelihood, score, 40, Schedule(4, 24))
    assert driver.run(40) is StopReason.COMPLETE
    assert len(shard.rows) < 300
    if rule.max_entries:
        assert shard.M.size <= rule.max_entries
    mean, var = driver.posterior(X).predict(X[shard.rows])
    np.testing.assert_allclose(shard.mean, mean, atol=1e-8)
    np.testing.assert_allclose(shard.var, var, atol=1e-8)
    assert len(np.unique(driver.active)) == 40


def test_stubs_of_a_refilled_shard_are_right():
    X, y = rings(500)
    kernel, likelihood, score = RBF(1.0, 9.0) + Bias(), Probit(), SCORES["entropy"]
    priority = np.random.default_rng(0).random(500)
    given, rule = GivenRows(np.arange(500), X, 2.0 * y - 1.0, priority), IndexRule(refill=Refill(80, 0.5, 10, (1,)))
    shard = RefilledShard(given, kernel, likelihood, score, 60, "float64", rule)
    driver = Driver([shard], kernel, likelihood, score, 60, Schedule(4, 24))
    assert driver.run(60) is StopReason.COMPLETE
    assert len(np.unique(driver.active)) == 60
    assert len(shard.rows) <= 80
    assert np.all(np.diff(shard.rows) > 0)
    mean, var = driver.posterior(X).predict(X[shard.rows])
    np.testing.assert_allclose(shard.mean, mean, atol=1e-8)
    np.testing.assert_allclose(shard.var, var, atol=1e-8)
    np.testing.assert_array_equal(shard.y, 2.0 * y[shard.rows] - 1.0)
