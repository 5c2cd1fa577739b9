"""Learning says how far it is: in callbacks, with verbose, and on the command line."""

import pickle
import re
from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from infovec import IVMClassifier, IVMOrdinalClassifier, IVMRegressor
from infovec.estimators import progress as bar
from infovec.kernels import RBF
from infovec.learning import Learning, Step
from infovec.machines.course import Course, Leg, Turn
from infovec.runtime import Deadline, Listener, Progress

CANCER, IRIS, DIABETES = (load(return_X_y=True) for load in (load_breast_cancer, load_iris, load_diabetes))
EACH = {"shared_kernel": False}
KINDS = {
    "two classes": (IVMClassifier, {}, CANCER),
    "many parameters": (IVMClassifier, {"kernel": RBF(np.ones(30))}, CANCER),
    "numbers": (IVMRegressor, {}, DIABETES),
    "ordered classes": (IVMOrdinalClassifier, {}, IRIS),
    "against the rest": (IVMClassifier, {}, IRIS),
    "coupled": (IVMClassifier, {"multi_class": "softmax"}, IRIS),
    "a bound": (IVMClassifier, {"multi_class": "variational"}, IRIS),
    "pairs": (IVMClassifier, {"multi_class": "probit", "approximation": "factorised"}, IRIS),
    "a kernel for each": (IVMClassifier, EACH, IRIS),
    "factorised": (IVMClassifier, {"approximation": "factorised"}, CANCER),
    "factorised, each": (IVMClassifier, {"approximation": "factorised", **EACH}, IRIS),
    "a bound of the papers": (IVMClassifier, {"learn": "variational"}, CANCER),
    "active rows": (IVMRegressor, {"learn": "active_set"}, DIABETES),
    "sites that move": (IVMClassifier, {"approximation": "factorised", "learn": Learning(sites="exact")}, CANCER),
    "restarts": (IVMClassifier, {"learn": Learning(restarts=1, major_steps=2)}, CANCER),
    "little time": (IVMClassifier, {"max_time": 2.0}, CANCER),
}


def learning_of(kind):
    estimator, given, (X, y) = KINDS[kind]
    told = []
    model = estimator(n_active=20, random_state=0, callback=told.append, **given).fit(X, y)
    return model, [progress for progress in told if progress.learning], told


@pytest.mark.parametrize("kind", KINDS)
def test_every_step_of_learning_says_how_far_it_is(kind):
    model, learning, told = learning_of(kind)
    assert len(learning) >= len(model.history_["criterion"])  # what refines is not in the history
    for progress in learning:
        assert 1 <= progress.stage <= progress.stages
        assert 1 <= progress.step <= progress.at_most
        assert 0.0 <= progress.seconds_left < np.inf
        assert {type(value) for value in progress} <= {int, float, type(None)}
    assert [p.stage for p in learning] == sorted(p.stage for p in learning)
    for before, now in pairwise(learning):
        assert now.step == (before.step + 1 if now.stage == before.stage else 1)
    assert learning[-1].seconds_left < max(p.seconds_left for p in learning)
    others = [progress for progress in told if not progress.learning]
    assert others
    assert {progress[6:] for progress in others} == {(0, 0, 0, 0, None)}


def test_classes_and_restarts_are_counted_through():
    for kind, turns in (("a kernel for each", 3), ("restarts", 2)):
        _, learning, _ = learning_of(kind)
        stages = learning[0].stages
        assert stages % turns == 0
        assert {(p.stage - 1) * turns // stages for p in learning} == set(range(turns))


def course(legs, turn, monkeypatch, deadline=float("inf")):
    """A course on which every evaluation takes as many seconds as its size, and what is told."""
    told, clock = [], [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: clock[0])
    made = Course(legs, 9, Deadline(deadline, Listener(callback=lambda p: told.append(p) and None)), turn)

    def walk(evaluations):
        for number, leg in enumerate(legs):
            made.begin(number)
            for _ in range(evaluations[number]):
                clock[0] += leg.size
                made.tell(Step(0.0, np.zeros(1)))
        return told

    return walk


def test_seconds_left_are_those_of_what_is_usual(monkeypatch):
    legs = [Leg(10, 5, 4.0, 9), Leg(20, 10, 3.0, 9)]
    told = course(legs, Turn(), monkeypatch)([4, 60])
    first = 4.0 * np.exp(-0.25) * legs[0].size + 3.0 * legs[1].size
    assert told[0].seconds_left == pytest.approx(first)
    left = [progress.seconds_left for progress in told]
    assert left == sorted(left, reverse=True)
    assert 0.0 < left[-1] < 1e-6 * left[0]
    assert (told[4].at_most, told[-1].step, told[-1].at_most) == (9, 60, 60)  # more than was thought possible


def test_seconds_left_with_searches_that_follow_and_with_little_time(monkeypatch):
    legs = [Leg(10, 5, 4.0, 9, untold=2.0)]
    (told,) = course(legs, Turn(1, 3), monkeypatch)([1])
    rate, whole = 1.0 / 3.0, 6.0 * legs[0].size  # two evaluations took no time here
    assert told.seconds_left == pytest.approx(rate * (4.0 * np.exp(-0.25) * legs[0].size + whole))
    assert (told.stage, told.stages) == (2, 3)
    (told,) = course(legs, Turn(), monkeypatch, 1.5 * legs[0].size)([1])
    assert told.seconds_left == pytest.approx(0.5 * legs[0].size)
    assert Turn(1, 3).part(1, 2) == Turn(3, 6)


class _Hasty(bar.ProgressBar):
    """Writes whenever it is told something."""

    def __call__(self, progress):
        self.next = 0.0
        super().__call__(progress)


def test_verbose_says_how_far_learning_is(capsys, monkeypatch):
    monkeypatch.setattr("infovec.estimators.callbacks.ProgressBar", _Hasty)
    IVMClassifier(n_active=15, random_state=0, verbose=1).fit(*CANCER)
    lines = [line for line in capsys.readouterr().err.splitlines() if "learning" in line]
    assert lines
    for line in lines:
        assert re.search(r" s, stage \d of \d, step \d+ of at most \d+, about \d+\.\d s left$", line)


def test_messages_of_old_go_on_working():
    old = Progress(0, 5, 0.0, 1.0, None, -3.0)
    assert old.learning
    assert old.seconds_left is None
    assert pickle.loads(pickle.dumps(old)) == old
