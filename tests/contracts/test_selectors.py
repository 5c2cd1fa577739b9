"""Contract of every selector, as a fit makes it; and whole fits of rows in any number of shards."""

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest
from implementations import implementations

from infovec import IVMClassifier, IVMOrdinalClassifier, IVMRegressor
from infovec.kernels import RBF, Bias
from infovec.runtime import Deadline, Listener, StopReason
from infovec.selection import Driver, GainDriver, InTurns, Selector
from infovec.shards import HERE, Places

N, CLASSES, SAME = 120, 3, 3  # SAME: rows that repeat another one and its class, which count as one
KERNEL = RBF(1.0, 2.0) + Bias(1.0)
SETTINGS = {"kernel": KERNEL, "learn": None, "dtype": "float64", "random_state": 0, "warm_start": True}


def data(n=N):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    X[60:64] = X[:4]  # rows of equal inputs are left out together, whatever shard they are in
    return X, np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.2 * rng.normal(size=n)


def labels(y, classes=CLASSES):
    return np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))


# selector -> a fit that selects by it
CASES = {
    Driver: lambda: IVMRegressor(n_active=20, **SETTINGS),
    GainDriver: lambda: IVMRegressor(n_active=20, score="projected_gain", **SETTINGS),
    InTurns: lambda: IVMClassifier(n_active=20, multi_class="probit", **SETTINGS),
}
each_kind = pytest.mark.parametrize("kind", CASES, ids=lambda kind: kind.__name__)


@pytest.fixture(scope="module")
def make():
    """Return a selector of a kind as a fit makes it."""
    machines = {}

    def fresh(kind):
        if kind not in machines:
            X, y = data()
            model = CASES[kind]()
            model.fit(X, labels(y) if isinstance(model, IVMClassifier) else y)
            machines[kind] = model._state.machine
        selector = machines[kind].selector()
        assert type(selector) is kind
        return selector

    return fresh


def test_no_selector_without_a_contract():
    assert implementations(Selector) == set(CASES)


@each_kind
def test_it_has_all_that_a_selector_has(kind, make):
    selector = make(kind)
    assert isinstance(selector, Selector)
    assert selector.n_rows == (N if kind in (Driver, GainDriver) else N - SAME)
    assert selector.size == 0
    stop = selector.run(12)
    assert stop is StopReason.COMPLETE
    check_found(kind, selector, 12)


def check_found(kind, selector, size):
    assert selector.size == size
    found = selector.active[:size]
    assert len(set(found)) == len(found)
    assert np.all((found >= 0) & (found < N))
    assert len(selector.scores) >= len(found)
    seconds = selector.seconds[: len(found)]
    assert np.all(np.diff(seconds) >= 0.0)
    assert np.all(seconds >= 0.0)
    if selector.sites is not None:
        rows, precision, b = selector.sites
        np.testing.assert_array_equal(rows, found)
        assert len(precision) == len(b) == size
        assert np.all(precision > 0.0)


@each_kind
def test_it_goes_on_where_it_stopped(kind, make):
    selector, longer = make(kind), make(kind)
    selector.run(8)
    before = selector.active[:8].copy()
    selector.run(14)
    check_found(kind, selector, 14)
    longer.run(20)
    selector.enlarge(26, None)
    selector.run(26)
    check_found(kind, selector, 26)
    assert set(before) <= set(selector.active)
    if kind in (Driver, GainDriver):
        np.testing.assert_array_equal(selector.active[:8], before)


@each_kind
def test_it_goes_back(kind, make):
    selector = make(kind)
    selector.run(15)
    before = selector.active.copy()
    selector.rewind(6)
    check_found(kind, selector, 6)
    np.testing.assert_array_equal(selector.active[:6], before[:6])
    selector.run(15)
    check_found(kind, selector, 15)


@each_kind
def test_a_callback_ends_it(kind, make):
    selector, told = make(kind), []

    def enough(progress):
        told.append(progress)
        return True

    stop = selector.run(20, Deadline(listener=Listener(callback=enough)))
    assert told
    assert told[0].wanted == 20
    assert stop is StopReason.CALLBACK
    assert 0 < selector.size <= 20


@each_kind
def test_given_rows_come_first(kind, make):
    selector = make(kind)
    selector.include(np.empty(0, dtype=np.intp))
    selector.include(np.array([7, 100, 31]))
    selector.run(12)
    check_found(kind, selector, 12)
    assert list(selector.active[:3]) == [7, 100, 31]


@each_kind
def test_memory_is_given_back(kind, make):
    selector = make(kind)
    selector.run(10)
    held = [weakref.ref(shard) for shard in _shards(selector)]
    assert held
    active, scores = selector.active[:10].copy(), selector.scores[:10].copy()
    selector.release()
    gc.collect()
    assert all(shard() is None for shard in held)
    np.testing.assert_array_equal(selector.active[:10], active)
    np.testing.assert_array_equal(selector.scores[:10], scores)
    check_found(kind, selector, 10)


def _shards(selector):
    own = list(getattr(selector, "shards", []))
    return own + [shard for driver in getattr(selector, "_drivers", []) for shard in driver.shards]


GIVEN = {"learn": None, "kernel": KERNEL}
FITS = {
    "regression": (IVMRegressor, {}),
    "regression, factorised": (IVMRegressor, {"approximation": "factorised"}),
    "regression, auto": (IVMRegressor, {"n_active": "auto", "learn": None, "rows": 240}),
    "regression, blocks": (IVMRegressor, {"approximation": "factorised", "block_size": 5, "pool_size": 25}),
    "student": (IVMRegressor, {"likelihood": "student_t", "learn": None}),
    "two classes": (IVMClassifier, {}),
    "two classes, factorised": (IVMClassifier, {"approximation": "factorised"}),
    "two classes, active set": (IVMClassifier, {"approximation": "factorised", "learn": "active_set"}),
    "two classes, gain": (IVMClassifier, {"score": "projected_gain", **GIVEN}),
    "two classes, variance": (IVMClassifier, {"score": "variance", **GIVEN}),
    "three classes, against the rest": (IVMClassifier, {"classes": 3, **GIVEN}),
    "three classes, coupled": (IVMClassifier, {"classes": 3, "multi_class": "probit", **GIVEN}),
    "three classes, variance": (IVMClassifier, {"classes": 3, "multi_class": "softmax", "score": "variance", **GIVEN}),
    "ordered": (IVMOrdinalClassifier, {"classes": 4, "learn": None}),
}  # fmt: skip


@pytest.mark.parametrize("name", FITS)
def test_a_fit_does_not_depend_on_the_number_of_shards(name, monkeypatch):
    """Probabilities of more classes are calibrated by a search along finite differences, exact to about 1e-6."""
    kind, settings = FITS[name]
    settings = {"n_active": 25, "dtype": "float64", "random_state": 0} | settings
    X, y = data(settings.pop("rows", N))
    y = y if kind is IVMRegressor else labels(y, settings.pop("classes", 2))
    Z = np.random.default_rng(5).normal(size=(40, 2))
    found, original = {}, kind._made
    for n_shards in (1, 2, 5):
        seen, made = [], []

        def noted(make, made=made):
            return lambda *args: made.append(make) or make(*args)

        places = Places(n_shards, *(noted(make) for make in HERE[1:]))

        def cut(self, *args, places=places, seen=seen):
            machine = original(self, *args)
            seen.append(replace(machine, choices=replace(machine.choices, places=places)))
            return seen[-1]

        monkeypatch.setattr(kind, "_made", cut)
        model = kind(**settings).fit(X, y)
        assert (HERE.to_select in made) != seen[-1].choices.rule.by_gain
        assert (HERE.to_infer in made or HERE.to_infer_classes in made) == seen[-1].all_rows
        latent = np.stack(model.predict_latent(Z, return_std=True))
        told = model.predict(Z) if kind is IVMRegressor else model.predict_proba(Z)
        found[n_shards] = model.active_, latent, told, model.log_evidence_
    (active, latent, told, evidence), *others = found.values()
    for other in others:
        np.testing.assert_array_equal(np.concatenate(_lists(other[0])), np.concatenate(_lists(active)))
        np.testing.assert_allclose(other[1], latent, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(other[2], told, rtol=1e-8, atol=1e-5 if "three" in name else 1e-8)
        assert other[3] == pytest.approx(evidence, rel=1e-8)


def _lists(active):
    return active if isinstance(active, list) else [active]
