"""Deadlines: work that is late ends with the best there is."""

import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from infovec import IVMClassifier
from infovec.errors import InfovecError
from infovec.inference.bound import maximise_bound, project
from infovec.kernels import RBF
from infovec.learning import Model, find_scale, optimise
from infovec.likelihoods import Gaussian
from infovec.likelihoods.classes import MultivariateProbit, Softmax
from infovec.likelihoods.classes import softmax as softmax_module
from infovec.machines.all_rows import Projected
from infovec.machines.bound_fit import fit_variational_rows
from infovec.machines.pairs import fit_factorised
from infovec.runtime import NEVER, Deadline, Late, Listener, Progress, StopReason, check, current, for_each, work_until

OVER = Deadline(0.0)
ROOT = Path(__file__).parents[2]


@pytest.fixture
def own_clock(monkeypatch):
    """Let deadlines go by the clock of this process: what other programs do is no part of a test."""
    Softmax(np.zeros(3)).log_weights(np.zeros((1, 3)), np.ones((1, 3)))  # its table is made once in a process
    monkeypatch.setattr(time, "perf_counter", time.process_time)


def all_forms():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT)
        from benchmarks.forms import forms, problem

    return list(forms()), cache(problem)


FORMS, PROBLEM = all_forms()


def classes(n, C, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    f = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2]
    return X, np.searchsorted(np.quantile(f, np.linspace(0.0, 1.0, C + 1)[1:-1]), f)


class Asking(Listener):
    """Asks for an end when a condition holds."""

    def __init__(self, when):
        super().__init__()
        self.when = when

    @property
    def reason(self):
        return StopReason.CALLBACK if self.when() else None


def test_a_deadline_counts_inside_only():
    check()
    assert current() is NEVER
    with work_until(OVER), pytest.raises(Late):
        check()
    check()
    listener = Listener(callback=lambda progress: progress.included > 1)
    deadline = Deadline(listener=listener)
    listener.tell(Progress(1, 5, 0.0, 0.0, None))
    assert deadline.left == np.inf
    assert deadline.reason is None
    listener.tell(Progress(2, 5, 0.0, 0.0, None))
    assert deadline.over
    assert deadline.reason is listener.answer() is StopReason.CALLBACK
    assert deadline.reason is None  # it is answered
    assert deadline.within(0.0).reason is StopReason.TIME


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_know_the_deadline_of_who_started_them(threads):
    asked, done = [], []
    deadline = Deadline(listener=Asking(lambda: len(asked) > 5))

    def work(item):
        assert current() is deadline
        asked.append(item)
        done.append(item)

    with threadpool_limits(threads, user_api="blas"), work_until(deadline), pytest.raises(Late):
        for_each(work, range(100))
    assert 5 < len(done) < 5 + 2 * threads


def test_learning_that_is_late_keeps_the_best_so_far():
    model = Model.begin(RBF(1.0, 1.0), Gaussian(0.1))
    seen = []

    def objective(trial):
        if len(seen) == 4:
            raise Late
        seen.append((-float(np.sum((trial.theta - 1.0) ** 4)), trial.theta))
        return seen[-1][0], -4.0 * (trial.theta - 1.0) ** 3

    found, steps, _ = optimise(objective, model, 50)
    assert len(steps) == 4
    np.testing.assert_array_equal(found.theta, max(seen, key=lambda pair: pair[0])[1])
    seen.clear()
    scaled = find_scale(objective, model)
    np.testing.assert_allclose(scaled.theta, max(seen, key=lambda pair: pair[0])[1])
    assert not issubclass(Late, InfovecError)  # else a line search would go on


def test_a_bound_that_is_late_is_a_lower_one():
    X, y = classes(300, 3)
    likelihood, projections = MultivariateProbit(np.zeros(3)), project(RBF(1.0, 4.0), 3, X, np.arange(40))
    whole = maximise_bound(projections, y, likelihood)
    early = maximise_bound(projections, y, likelihood, deadline=OVER)
    assert early.evaluations == 1
    assert not early.converged
    assert early.bound < whole.bound
    np.testing.assert_allclose(early.mean, projections[0].R @ early.z)
    with work_until(OVER), pytest.raises(Late):  # somebody else waits for it
        maximise_bound(projections, y, likelihood)


def test_selections_that_are_late_have_a_block():
    X, y = classes(200, 3)
    likelihood = MultivariateProbit(np.zeros(3))
    pairs = fit_factorised(X, y, RBF(1.0, 4.0), likelihood, 50, deadline=OVER)
    whole = fit_factorised(X, y, RBF(1.0, 4.0), likelihood, 50)
    assert 0 < sum(map(len, pairs.active)) < sum(map(len, whole.active))
    for some, rows in zip(pairs.active, whole.active, strict=True):
        np.testing.assert_array_equal(some, rows[: len(some)])
    rows = fit_variational_rows(X, y, RBF(1.0, 4.0), 50, deadline=OVER).active
    assert 0 < len(rows) < 50


@pytest.mark.parametrize(
    ("multi_class", "approximation"),
    [("softmax", "projected"), ("softmax", "factorised"), ("variational", "projected")],
)
@pytest.mark.usefixtures("own_clock")
def test_many_classes_keep_to_the_time(multi_class, approximation):
    X, y = classes(12_000, 6)
    model = IVMClassifier(multi_class=multi_class, approximation=approximation, max_time=1.0, random_state=0)
    start = time.process_time()
    model.fit(X, y)
    assert time.process_time() - start < 1.6
    np.testing.assert_allclose(model.predict_proba(X[:20]).sum(axis=1), 1.0)
    assert model.stop_reason_ == "the time is used up"


@pytest.mark.usefixtures("own_clock")
@pytest.mark.parametrize("form", FORMS, ids=[form.name for form in FORMS])
def test_every_form_keeps_to_the_time(form):
    X, y = PROBLEM(form.targets, 60_000)
    model = form.make(max_time=0.5, n_active=500, n_jobs=1, random_state=0)
    start = time.process_time()
    with pytest.warns(ConvergenceWarning, match=r"max_time was used up: .* ends this"):
        model.fit(X, y)
    assert time.process_time() - start < 1.1 * 0.5 + 0.5
    assert model.stop_reason_ == "the time is used up"
    assert len(model.active_) > 1
    told = model.predict_proba(X[:100]) if hasattr(model, "predict_proba") else model.predict(X[:100])
    assert np.all(np.isfinite(told))


@pytest.mark.usefixtures("own_clock")
def test_preparation_counts_in_the_time(monkeypatch):
    X, y = PROBLEM("two", 20_000)
    prepare = IVMClassifier._prepare

    def slow(self, *data):
        end = time.process_time() + 0.8
        while time.process_time() < end:
            pass
        return prepare(self, *data)

    monkeypatch.setattr(IVMClassifier, "_prepare", slow)
    start = time.process_time()
    model = IVMClassifier(learn=None, max_time=1.0, random_state=0).fit(X, y)
    assert time.process_time() - start < 1.3
    assert model.stop_reason_ == "the time is used up"


@pytest.mark.usefixtures("own_clock")
def test_a_table_that_is_late_goes_on_where_it_was(monkeypatch):
    made, whole = [], list(softmax_module._columns)
    asked = Deadline(listener=Asking(lambda: len(made) > 100))

    def column(*where):
        made.append(where)
        return whole[len(softmax_module._columns)]

    monkeypatch.setattr(softmax_module, "_columns", [])
    monkeypatch.setattr(softmax_module, "_column", column)
    tables = softmax_module._tables.__wrapped__
    with work_until(asked), pytest.raises(Late):
        tables()
    assert len(made) == 101
    again = tables()
    assert len(made) == len(whole)
    for new, old in zip(again, softmax_module._tables(), strict=True):
        np.testing.assert_array_equal(new, old)


@pytest.mark.usefixtures("own_clock")
def test_rows_that_time_is_too_short_for_are_left_out_whatever_else_is_asked():
    X, y = PROBLEM("two", 20_000)
    initial = [19_999, 3]
    model = IVMClassifier(learn=None, n_active="auto", initial=initial, max_time=0.2, random_state=0, warm_start=True)
    model.fit(X, y)
    assert list(model.active_[:2]) == initial
    assert model.n_samples_fit_ == 20_000
    np.testing.assert_array_equal(model.active_vectors_, X[model.active_])
    before = list(model.active_)
    model.set_params(max_time=None).grow(5)
    assert list(model.active_[: len(before)]) == before
    assert len(model.active_) == len(before) + 5


@pytest.mark.usefixtures("own_clock")
def test_little_time_leaves_classes_that_know_something():
    X, y = classes(6000, 4)
    model = IVMClassifier(multi_class="softmax", learn=None, max_time=1.0, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.3  # one sweep alone would leave the prior


def test_a_site_cut_short_without_precision_has_its_shift_for_a_mean():
    class Shard:
        def sites(self, rows):
            return np.array([0.0, 1e-310, -1e-310, 2.0, 3.0]), np.array([0.0, 0.5, 0.5, 1.0, 0.0])

    precision, mean = Projected(None, [Shard()], None, None, None, None).sites(np.arange(5))
    np.testing.assert_array_equal(mean, [0.0, 0.5, 0.5, 0.5, 0.0])
    np.testing.assert_array_equal(precision, [0.0, 1e-310, -1e-310, 2.0, 3.0])
