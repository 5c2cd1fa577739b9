"""Limits and continuation: memory, time, interruption, callbacks, growing, and the number of rows left to the data."""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from fixed import IVMClassifier, IVMRegressor
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_info, threadpool_limits

from infovec.errors import ParameterError
from infovec.estimators.limits import memory_limit, threads, time_limit
from infovec.kernels import RBF, Bias, FromFunction
from infovec.runtime import Interruption, own_threads
from infovec.selection import Patience


def spirals(n=1500, seed=0, noise=0.1):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, size=n)
    t = rng.uniform(0.5, 3.0, size=n)
    X = (t * np.array([np.cos(3 * t + np.pi * y), np.sin(3 * t + np.pi * y)])).T
    return X + noise * rng.normal(size=(n, 2)), y


@pytest.mark.parametrize(
    ("text", "size"),
    [("2GB", 2_000_000_000), ("1.5 MB", 1_500_000), ("64MiB", 64 * 2**20), (123456, 123456), (1e6, 1_000_000)],
)
def test_memory_by_words(text, size):
    assert memory_limit(text) == size


@pytest.mark.parametrize("bad", ["much", "2 apples", -1, 0, True, [1]])
def test_memory_that_makes_no_sense(bad):
    with pytest.raises(ParameterError, match="max_memory must be"):
        memory_limit(bad)


def test_half_of_what_is_available_is_the_default():
    assert memory_limit(None) > 2**20


def test_too_little_memory_is_said_before_any_work():
    X, y = spirals(4000)

    def never(A, B):
        raise AssertionError("work was done")

    with pytest.raises(ParameterError, match="max_memory of 1 MB is not enough for 4000 rows and 500 active ones"):
        IVMClassifier(kernel=FromFunction(never), n_active=500, max_memory="1MB").fit(list(X), y)


def test_a_memory_cap_shrinks_the_index_and_hardly_the_quality():
    X, y = spirals(4000)
    Z, t = spirals(2000, seed=1)
    settings = {"n_active": 300, "dtype": "float32", "selection": "all", "approximation": "factorised"}
    free = IVMClassifier(random_state=0, **settings)
    capped = IVMClassifier(max_memory="7MB", random_state=0, **settings)
    assert capped.plan(X, y).n_index < 4000 == free.plan(X, y).n_index
    assert capped.plan(X, y).memory <= 7e6
    assert capped.fit(X, y).score(Z, t) > free.fit(X, y).score(Z, t) - 0.01


@pytest.mark.parametrize("selection", ["all", "shrinking", "refilled"])
def test_every_way_of_looking_selects_well(selection):
    X, y = spirals(3000)
    Z, t = spirals(2000, seed=1)
    model = IVMClassifier(n_active=400, selection=selection, block_size=16, random_state=0).fit(X, y)
    assert len(np.unique(model.active_)) == 400
    assert model.score(Z, t) > 0.97
    again = IVMClassifier(n_active=400, selection=selection, block_size=16, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.active_, again.active_)
    mean, std = model.predict_latent(X[model.active_])
    assert np.all(std**2 < 0.1 * model.kernel_.diag(X[model.active_]))  # it knows itself
    assert np.mean((mean + model.likelihood_.bias > 0) == (y[model.active_] == model.classes_[1])) > 0.9


def test_automatic_selection():
    def considered(n, **settings):
        return IVMClassifier(n_active=900, approximation="factorised", **settings).plan(*spirals(n)).n_index

    assert considered(6000) < 6000  # shrinks
    assert considered(6000, block_size=1) == 6000  # the papers' algorithm
    assert considered(4000) == 4000
    assert IVMClassifier(n_active=900).plan(*spirals(6000)).n_index == 6000  # all rows count in the end
    with pytest.raises(ParameterError, match="selection must be one of"):
        IVMClassifier(selection="some").fit(*spirals(100))


def test_the_plan_is_about_right():
    X, y = spirals(6000)
    model = IVMClassifier(n_active=400, selection="all", random_state=0)
    plan = model.plan(X, y)
    assert not hasattr(model, "classes_")  # nothing was fitted
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    assert plan.seconds / 10 < seconds < plan.seconds * 10  # the machine may be busy; benchmarks measure it properly
    assert plan.n_active == 400
    assert "400 of 6000 rows in about" in str(plan)


def test_time_runs_out_with_a_usable_model(monkeypatch):
    X, y = spirals(4000)
    monkeypatch.setattr(time, "perf_counter", time.process_time)  # whatever else the machine does
    start = time.process_time()
    settings = {"block_size": 1, "random_state": 0, "dtype": "float64"}  # few rows would be in double precision anyway
    model = IVMClassifier(n_active=4000, max_time=0.3, n_jobs=1, **settings).fit(X, y)
    assert time.process_time() - start < 1.1 * 0.3 + 0.5
    assert model.stop_reason_ == "the time is used up"
    assert 0 < len(model.active_) < 4000
    first = IVMClassifier(n_active=len(model.active_), **settings).fit(X, y)
    np.testing.assert_array_equal(model.active_, first.active_)  # it is the model of as many rows
    assert np.mean(model.predict(X) == first.predict(X)) > 0.9  # whose sites may not have come to rest
    with pytest.raises(ParameterError, match="max_time must be"):
        IVMClassifier(max_time=-1).fit(X, y)


@pytest.mark.parametrize(("given", "meant"), [("60s", "60"), ("1.5 min", "90"), ("2h", "7200"), ("60", "60")])
def test_a_time_as_text_is_told_in_seconds(given, meant):
    with pytest.raises(ParameterError, match=f"max_time={meant}$"):
        time_limit(given)
    with pytest.raises(ParameterError, match=r"got 'soon'$"):
        time_limit("soon")


def test_a_callback_sees_every_block_and_may_stop():
    X, y = spirals()
    seen = []

    def callback(progress):
        seen.append(progress)
        return progress.included >= 40

    model = IVMClassifier(
        n_active=200, block_size=8, callback=callback, approximation="factorised", random_state=0
    ).fit(X, y)
    assert model.stop_reason_ == "the callback asked to stop"
    assert [p.included for p in seen] == sorted({p.included for p in seen})
    assert len(model.active_) == seen[-1].included < 60
    assert seen[-1].wanted == 200


@pytest.mark.parametrize("block_size", [1, 16])
def test_growing_equals_fitting_at_once(block_size):
    X, y = spirals()
    settings = {"kernel": RBF(0.5, 50.0) + Bias(), "block_size": block_size, "initial": [0], "dtype": "float64"}
    grown = IVMClassifier(n_active=60, warm_start=True, **settings).fit(X, y)
    first = grown.active_.copy()
    grown.grow(40)
    assert len(grown.active_) == 100
    np.testing.assert_array_equal(grown.active_[:60], first)
    at_once = IVMClassifier(n_active=100, **settings).fit(X, y)
    if block_size == 1:
        np.testing.assert_array_equal(grown.active_, at_once.active_)
        assert grown.log_evidence_ == pytest.approx(at_once.log_evidence_, rel=1e-9)
    assert grown.history_["seconds"][99] > grown.history_["seconds"][59]


def test_warm_start_goes_on_with_the_same_data_only():
    X, y = spirals()
    model = IVMClassifier(n_active=40, warm_start=True, random_state=0).fit(X, y)
    first = model.active_.copy()
    model.set_params(n_active=70).fit(X, y)
    np.testing.assert_array_equal(model.active_[:40], first)
    assert len(model.active_) == 70
    model.fit(X[::-1], y[::-1])
    assert len(model.active_) == 70
    assert not np.array_equal(model.active_[:40], first)


def test_growing_needs_a_warm_start_and_files_stay_small():
    X, y = spirals()
    cold = IVMClassifier(n_active=20, random_state=0).fit(X, y)
    with pytest.raises(ParameterError, match="warm_start=True"):
        cold.grow(10)
    warm = IVMClassifier(n_active=20, warm_start=True, random_state=0).fit(X, y)
    with pytest.raises(ParameterError, match="whole number"):
        warm.grow(0)
    copy = pickle.loads(pickle.dumps(warm))
    np.testing.assert_allclose(copy.predict_proba(X), warm.predict_proba(X))
    assert len(pickle.dumps(warm)) < 1.2 * len(pickle.dumps(cold))


@pytest.mark.parametrize("approximation", ["factorised", "projected"])
def test_the_number_of_rows_left_to_the_data(approximation):
    settings = {"approximation": approximation, "random_state": 0}
    n_full, tolerance = (1500, 1e-3) if approximation == "factorised" else (1000, 5e-2)  # EP ends at a tolerance
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 5))
    y = (X[:, 0] + X[:, 1] ** 2 > 1.0).astype(int)
    model = IVMClassifier(n_active="auto", **settings).fit(X[:2000], y[:2000])
    assert model.stop_reason_ == "rows held back are predicted no better"
    assert 20 < len(model.active_) < 1500
    full = IVMClassifier(n_active=n_full, **settings).fit(X[:2000], y[:2000])
    assert model.score(X[2000:], y[2000:]) > full.score(X[2000:], y[2000:]) - 0.01
    # what is left when selection goes back to the best is the model of those rows alone
    again = IVMClassifier(n_active=len(model.active_), initial=model.active_, **settings).fit(X[:2000], y[:2000])
    np.testing.assert_allclose(again.predict_latent(X[2000:])[0], model.predict_latent(X[2000:])[0], atol=tolerance)
    assert again.log_evidence_ == pytest.approx(model.log_evidence_, rel=1e-3)


def test_few_rows_are_not_held_back():
    X, y = spirals(60)
    assert len(IVMClassifier(n_active="auto", random_state=0).fit(X, y).active_) == 60
    line = np.linspace(0, 1, 600)[:, None]
    model = IVMRegressor(n_active="auto", random_state=0).fit(line, 3.0 * line[:, 0])
    assert len(model.active_) < 300


def test_patience_waits_and_goes_back_to_the_best():
    patience = Patience(tolerance=0.02, wait=10)
    assert not patience.ends(10, -1.0)
    assert not patience.ends(15, -0.5)
    assert not patience.ends(20, -0.495)  # one per cent is not enough of an improvement
    assert patience.ends(26, -0.6)
    assert patience.best_size == 15


def test_threads_follow_n_jobs():
    X, y = spirals(300)
    counts = []

    def callback(progress):
        counts.append(max(lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"))

    IVMClassifier(n_active=3, n_jobs=1, callback=callback).fit(X, y)
    assert set(counts) == {1}
    for bad in (0, 1.5, "all"):
        with pytest.raises(ParameterError, match="n_jobs must be"):
            IVMClassifier(n_jobs=bad).fit(X, y)


def test_an_interruption_leaves_a_usable_model_that_can_grow():
    X, y = spirals(3000)
    for delay in (0.05, 0.2):
        model = IVMClassifier(
            n_active=3000, block_size=1, warm_start=True, dtype="float64", approximation="factorised", random_state=0
        )
        timer = threading.Timer(delay, signal.raise_signal, [signal.SIGINT])

        def begun(progress, timer=timer):  # before there is a row it would be a KeyboardInterrupt
            if timer.ident is None:
                timer.start()

        with pytest.warns(UserWarning, match="interrupted: the model has"):
            model.set_params(callback=begun).fit(X, y)
        timer.join()
        model.set_params(callback=None)
        assert model.stop_reason_ == "interrupted from the keyboard"
        d = len(model.active_)
        whole = clone(model).set_params(n_active=d).fit(X, y)
        np.testing.assert_array_equal(model.active_, whole.active_)
        np.testing.assert_allclose(model.predict_latent(X[:20]), whole.predict_latent(X[:20]), rtol=1e-8)
        model.grow(20)
        assert len(model.active_) == d + 20
        shard = model._state.selector.shards[0]
        np.testing.assert_allclose(shard.mean[:20], model.predict_latent(X[:20])[0], atol=1e-6)


def test_time_that_runs_out_in_inference_is_named():
    X, y = spirals(400)

    def slow(progress):
        if progress.log_evidence is not None:
            time.sleep(1.2)

    model = IVMClassifier(n_active=40, max_time=1.0, callback=slow, random_state=0).fit(X, y)
    assert len(model.active_) == 40
    assert not model.converged_
    assert model.stop_reason_ == "the time is used up"


@pytest.mark.parametrize("approximation", ["projected", "factorised"])
def test_an_interruption_while_learning_soon_leaves_a_usable_model(approximation, monkeypatch):
    monkeypatch.setattr("infovec.machines.fit._SOON", 0.2)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 8))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=2000) > 0).astype(int)
    times = []

    def interrupt(progress):
        if progress.log_evidence is not None and not progress.included and not times:
            times.append(time.perf_counter())
            signal.raise_signal(signal.SIGINT)

    model = IVMClassifier(
        n_active=2000, learn="ep", approximation=approximation, callback=interrupt, warm_start=True, random_state=0
    )
    with pytest.warns(UserWarning, match="interrupted while learning: the model has"):
        model.fit(X, y)
    assert time.perf_counter() - times[0] < 10.0
    assert model.stop_reason_ == "interrupted from the keyboard"
    assert 0 < len(model.active_) < 2000
    assert model.score(X, y) > 0.6
    d = len(model.active_)
    assert len(model.set_params(callback=None).grow(2).active_) == d + 2


def test_a_refit_after_an_interruption_is_an_undisturbed_fit():
    X, y = spirals(400)
    settings = {"n_active": 40, "learn": "ep", "warm_start": True, "random_state": 0}
    seen = []

    def interrupt(progress):
        seen.append(progress)
        if len(seen) == 2:
            signal.raise_signal(signal.SIGINT)

    model = IVMClassifier(callback=interrupt, **settings)
    with pytest.warns(UserWarning, match="interrupted while learning"):
        model.fit(X, y)
    assert model.stop_reason_ == "interrupted from the keyboard"
    model.set_params(callback=None).fit(X, y)
    whole = IVMClassifier(**settings).fit(X, y)
    assert model.stop_reason_ == whole.stop_reason_
    np.testing.assert_array_equal(model.kernel_.theta, whole.kernel_.theta)
    np.testing.assert_array_equal(model.active_, whole.active_)


def test_an_interruption_inside_a_search_ends_one_fit_and_says_so():
    X, y = spirals(300)
    seen = []

    def interrupt(progress):
        seen.append(progress)
        if len(seen) == 1:
            signal.raise_signal(signal.SIGINT)

    search = GridSearchCV(IVMClassifier(callback=interrupt, learn=None), {"n_active": [10, 20]}, cv=3)
    with pytest.warns(UserWarning, match="Only this fit was cut short: its score counts, and the others go on") as said:
        search.fit(X, y)
    assert sum("cut short" in str(one.message) for one in said) == 1
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert len(search.best_estimator_.active_) == search.best_params_["n_active"]
    seen.clear()
    with pytest.warns(UserWarning, match=r"interrupted: .*is usable$"):
        IVMClassifier(callback=interrupt, learn=None).fit(X, y)


def test_an_interruption_inside_is_known_outside():
    with Interruption() as outer:
        with Interruption() as inner:
            signal.raise_signal(signal.SIGINT)
        assert inner.asked
        assert outer.asked
        with Interruption(), pytest.raises(KeyboardInterrupt):  # the second one
            signal.raise_signal(signal.SIGINT)


def test_interruptions_that_are_ignored_stay_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interruption() as interruption:
            signal.raise_signal(signal.SIGINT)
        assert not interruption.asked
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.mark.parametrize("limits", [(own_threads, own_threads), (lambda: threads(1), lambda: threads(2))])
def test_limits_of_threads_that_overlap_leave_what_was_there(limits):
    usual = threadpool_limits(3, user_api="blas")
    try:
        with threadpool_limits(None):  # not for this thread alone
            pass
        before, inside, leave = blas_threads(), threading.Event(), threading.Event()

        def longer():
            with limits[1]():
                inside.set()
                leave.wait(10)

        other = threading.Thread(target=longer)
        with limits[0]():
            other.start()
            inside.wait(10)
            assert set(blas_threads()) == {1}
        leave.set()
        other.join()
        assert blas_threads() == before
    finally:
        with usual:
            pass


SCRIPT = """
import os, sys, numpy as np, warnings
warnings.simplefilter("ignore")
from infovec import IVMClassifier
rng = np.random.default_rng(0)
X = rng.normal(size=(10000, 10)); y = (X[:, 0] * X[:, 1] > 0).astype(int)

def attempt():
    print("ready", os.getpid(), flush=True)
    try:
        model = IVMClassifier(n_active=800, learn=None, random_state=0).fit(X, y)
        assert np.all(np.isfinite(model.predict_proba(X[:10])))
        print("model", len(model.active_), model.stop_reason_, flush=True)
    except KeyboardInterrupt:
        print("clean exception", flush=True)

for _ in range(int(sys.argv[1])):  # processes of their own, which are spared the imports
    if not (child := os.fork()):
        attempt()
        os._exit(0)
    print("ended", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def test_a_signal_at_any_moment_leaves_a_model_or_a_clean_exception():
    delays = np.random.default_rng(0).uniform(0.0, 1.2, size=10)
    endings = set()
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(len(delays))], stdout=subprocess.PIPE, text=True, env=os.environ
    ) as process:
        for delay in delays:
            ready, child = process.stdout.readline().split()
            assert ready == "ready"
            time.sleep(delay)
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGINT)
            endings.add(process.stdout.readline().split()[0])
            assert process.stdout.readline() == "ended 0\n"
    assert endings <= {"model", "clean"}
    assert "model" in endings
