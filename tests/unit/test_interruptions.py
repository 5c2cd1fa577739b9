"""Ctrl-C at any moment of any form: a model that says it was cut short, or the one that was there before."""

import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fixed import IVMClassifier

import infovec as library
from infovec.estimators import base
from infovec.learning import Learning
from infovec.runtime import Interruption
from infovec.selection import Driver

ROOT = str(Path(__file__).parents[2])
sys.path.insert(0, ROOT)
from benchmarks import interruptions  # noqa: E402

sys.path.remove(ROOT)
ROWS = 60


class AtCall:
    """A callback that interrupts when it is called for the k-th time, and notes the CPU clock."""

    def __init__(self, k):
        self.left, self.sent = k, None

    def __call__(self, progress):
        self.left -= 1
        if self.left == 0:
            self.sent = time.process_time()
            signal.raise_signal(signal.SIGINT)


def shorter(learn):
    """Return how to learn in a few steps."""
    return learn and replace(learn if isinstance(learn, Learning) else Learning(learn), major_steps=1, minor_steps=2)


@pytest.mark.parametrize("form", interruptions.every_form(), ids=lambda form: form.name)
def test_every_form_ends_well_and_is_whole_again_when_refitted(form):
    few = interruptions.settings(form, ROWS) | {"learn": shorter(form.make().learn)}
    X, y = interruptions.problem(form.targets, ROWS, n_classes=3)
    start = time.process_time()
    whole = interruptions.quietly(lambda: form.make(**few).fit(X, y))
    seconds = time.process_time() - start
    rng, again = np.random.default_rng(len(form.name)), False
    for moment in (AtCall(int(rng.integers(2, 12))), AtCall(1), interruptions.Signal(seconds * rng.uniform())):
        warm = isinstance(moment, AtCall)
        model = interruptions.old_model(form, warm).set_params(**few)
        if warm:
            model.set_params(callback=moment)
            done = interruptions.attempt(model, X, y, whole, lambda: None, lambda moment=moment: moment.sent)
            assert done.ending == ("finished before" if moment.left > 0 else "cut short")
            model.set_params(callback=None)
        else:
            done = interruptions.attempt(model, X, y, whole, moment.start, moment.stop)
        assert done.faults == []
        assert done.seconds is None or done.seconds < interruptions.SOON
        if done.ending == "cut short" and not again:
            interruptions.quietly(lambda model=model: model.fit(X, y))
            assert interruptions.differences(model, whole, X) == []
            again = True
    assert again


@pytest.mark.parametrize("place", ["driver", "_store"])
@pytest.mark.parametrize("approximation", ["projected", "factorised"])
def test_between_two_stages_it_counts_too(monkeypatch, approximation, place):
    """Before the selection, and when all is done but the noting of it: the next stage has not begun to look out."""
    X, y = interruptions.problem("two", ROWS)
    model = IVMClassifier(n_active=40, approximation=approximation, warm_start=True, random_state=0)
    whole = IVMClassifier(n_active=40, approximation=approximation, random_state=0).fit(X, y)
    home = Driver if place == "driver" else base.InformativeVectorMachine
    name = "include" if place == "driver" else place
    work = getattr(home, name)

    def interrupted(*arguments):
        signal.raise_signal(signal.SIGINT)
        return work(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(home, name, interrupted)
        with pytest.raises(KeyboardInterrupt):  # there is nothing yet, or nobody waits for a good moment any more
            model.fit(X, y)
        assert not hasattr(model, "stop_reason_")
    model.fit(X, y)
    assert interruptions.differences(model, whole, X) == []


def test_classes_that_got_to_length_scales_of_columns_beside_one_that_did_not():
    X, y = interruptions.problem("many", 100, n_classes=3)
    settings = {"multi_class": "ovr", "shared_kernel": False, "n_active": 20, "random_state": 0}
    calls = AtCall(0)
    whole = library.IVMClassifier(callback=calls, **settings).fit(X, y)
    for share in (0.4, 0.55):  # while the second class learns, and the third
        model = library.IVMClassifier(callback=AtCall(int(-share * calls.left)), **settings)
        with pytest.warns(UserWarning, match="interrupted while learning"):
            model.fit(X, y)
        assert len(model.kernel_) == 3
        assert np.all(np.isfinite(model.predict_proba(X)))
        assert model.history_["theta"].shape[1] == whole.history_["theta"].shape[1]


def test_growing_that_is_interrupted_at_once_leaves_the_model(monkeypatch):
    X, y = interruptions.problem("two", ROWS)
    model = IVMClassifier(n_active=20, warm_start=True, random_state=0).fit(X, y)
    before = {name: value for name, value in vars(model).items() if name != "_state"}

    def interrupted(*arguments):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(base.InformativeVectorMachine, "_store", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.grow(20)
    assert vars(model) == before


def test_one_that_was_answered_does_not_stop_what_follows():
    with Interruption() as outer:
        with Interruption() as inner:
            signal.raise_signal(signal.SIGINT)
            assert inner.asked
            assert inner.answer()
        with Interruption() as later:
            assert not later.asked
            assert not later.answer()
        assert outer.noted
        assert not outer.asked
