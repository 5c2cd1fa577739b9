"""What is left of a fit for which there is little time: fewer rows beside all that were given, fewer sweeps, blocks."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs

from infovec import IVMClassifier, IVMRegressor
from infovec.inference import infer_coupled
from infovec.kernels import RBF, Bias
from infovec.likelihoods import Probit
from infovec.machines.in_time import in_time
from infovec.runtime import Deadline, StopReason, work_within
from infovec.selection import choose_pair_schedule

CLASSES = 10


def ten_classes(n):
    return make_blobs(n, n_features=5, centers=CLASSES, cluster_std=2.0, random_state=0)


def whole_machine(n=4000, limit=None, **settings):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 8))
    model = IVMRegressor(n_active=100, max_memory=limit, random_state=0, learn=None, **settings)
    return model._prepare(X, X[:, 0] + 0.1 * rng.normal(size=n), None), X


@pytest.mark.parametrize("approximation", ["projected", "factorised"])
def test_rows_that_take_part_are_counted_beside_all_rows(approximation):
    limit = 6e6
    with work_within(limit):
        machine, _ = whole_machine(10_000, limit, approximation=approximation)
        some = machine.only(np.arange(0, 10_000, 2))
        some = in_time(some, Deadline.after(0.0))
        raised = some.raised()
    every = machine.data.n * machine.data.p * machine.work.itemsize
    assert some.data.beside > every  # their inputs, targets and numbers stay in memory
    assert some.peak_bytes(some.work.index.max_entries or some.data.n * 100) <= limit
    assert raised.work.dtype == "float64"
    assert raised.data.beside > some.data.beside
    assert raised.peak_bytes(raised.work.index.max_entries or raised.data.n * 100) <= limit


@pytest.mark.parametrize("approximation", ["projected", "factorised"])
def test_all_rows_are_counted_whether_double_precision_was_needed_before_or_not(approximation):
    machine, _ = whole_machine(10_000, 1e7, approximation=approximation)
    rows = np.arange(0, 10_000, 2)
    assert machine.raised().only(rows).data.beside > machine.only(rows).data.beside > 0
    again = machine.only(rows).only(np.arange(10))
    assert again.data.beside == machine.only(rows).data.beside  # those in between are gone


@pytest.mark.parametrize("approximation", ["projected", "factorised"])
def test_posteriors_of_all_classes_are_counted_beside_a_class_in_double_precision(approximation):
    X, y = ten_classes(5000)
    model = IVMClassifier(n_active=100, multi_class="ovr", approximation=approximation, learn=None, max_memory=2e7)
    machine = model._prepare(X, y, None)
    one = machine.machine(0)
    assert one.data.beside >= 8 * CLASSES * 100**2
    raised = one.raised()
    assert raised.work.dtype == "float64"
    assert raised.peak_bytes(raised.work.index.max_entries or 5000 * 100) <= 2e7


def test_inputs_of_rows_that_take_part_are_not_copied_in_double_precision():
    machine, X = whole_machine()
    rows = np.arange(0, 4000, 3)
    some = machine.only(rows)
    assert some.data.given.X._X is machine.data.given.X
    np.testing.assert_array_equal(some.data.given.X[np.arange(5)], X[rows[:5]])
    np.testing.assert_array_equal(some.data.exact_inputs(some.kernel), machine.data.exact_inputs(machine.kernel)[rows])
    assert some.only(np.arange(10)).data.given.X._X is machine.data.given.X


@pytest.mark.parametrize("multi_class", ["probit", "softmax"])
@pytest.mark.parametrize("sweeps", [2, 3, 4])
def test_a_few_sweeps_of_coupled_classes_are_of_use(multi_class, sweeps, monkeypatch):
    X, y = ten_classes(400)
    monkeypatch.setattr("infovec.machines.coupled.infer_coupled", lambda *a, **k: infer_coupled(*a, max_sweeps=sweeps))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they do not converge
        model = IVMClassifier(multi_class=multi_class, n_active=80, learn=None, random_state=0).fit(X[:300], y[:300])
    assert model.score(X[300:], y[300:]) > 0.7  # all classes overshoot together if they go all the way at first


@pytest.mark.parametrize("n", [50, 200, 1000, 10_000])
def test_pairs_in_a_hurry_take_the_fewest_moments(n):
    def moments(schedule):
        block, pool = schedule.block_size, schedule.pool_size
        return (n + (block - 1) * pool) / block  # for a pair

    hurried, usual = (choose_pair_schedule(n, CLASSES, 2000, hurry) for hurry in (True, False))
    assert moments(hurried) <= min(moments(usual), 4.0 * np.sqrt(n) + 10.0)
    assert hurried.sizes(0) == (hurried.block_size, hurried.pool_size)
    assert usual.sizes(0) == (1, 1)


@pytest.mark.parametrize("multi_class", ["probit", "softmax"])
@pytest.mark.parametrize("approximation", ["projected", "factorised"])
def test_ten_classes_in_a_second_are_better_than_guessing(multi_class, approximation):
    X, y = ten_classes(20_500)
    model = IVMClassifier(
        multi_class=multi_class, approximation=approximation, learn=None, n_active=300, max_time=1.0, random_state=0
    )
    IVMClassifier(multi_class=multi_class, learn=None, n_active=20).fit(X[:50], y[:50])  # tables are made once
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[:20_000], y[:20_000])
    assert model.score(X[20_000:], y[20_000:]) > 0.3


@pytest.mark.parametrize("weight", [None, np.arange(400) % 4 + 0.5])
@pytest.mark.parametrize("approximation", ["projected", "factorised"])
def test_evidence_of_rows_that_there_was_time_for_is_taken_to_all(approximation, weight, monkeypatch):
    """Else a model of a fifth of the rows would seem better than one of all by hundreds of nats."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.5 * rng.normal(size=400) > 0.0
    some = np.arange(0, 400, 5)
    model = IVMClassifier(
        kernel=RBF(2.0, 4.0) + Bias(), likelihood=Probit(), learn=None, approximation=approximation, n_active=60,
        random_state=0, warm_start=True,
    )  # fmt: skip
    of_all, taken = clone(model).fit(X, y, weight).log_evidence_, []

    def in_time(machine, *_):
        taken.append(machine.data.given.rows[some])
        return machine.only(some)

    monkeypatch.setattr("infovec.machines.fit.in_time", in_time)
    cut = clone(model).fit(X, y, weight)
    monkeypatch.undo()
    assert cut.stop_reason_ == str(StopReason.TIME)
    (rows,) = taken
    share = len(some) / 400 if weight is None else weight[rows].sum() / weight.sum()
    of_some = model.fit(X[rows], y[rows], None if weight is None else weight[rows]).log_evidence_
    assert of_some > 0.5 * of_all  # of fewer observations
    assert cut.log_evidence_ * share == pytest.approx(of_some, rel=0.01)
    assert cut.log_evidence_ == pytest.approx(of_all, rel=0.4)
    assert cut.grow(5).log_evidence_ == pytest.approx(cut.log_evidence_, rel=0.1)
