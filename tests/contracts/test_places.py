"""Shards elsewhere: in another process, of which nothing is known but the methods of the protocols."""

from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.managers import BaseManager

import numpy as np
import pytest

from infovec import IVMClassifier
from infovec.learning import Learning
from infovec.shards import HERE, ClassShard, Places, Shard, SiteShard


class Elsewhere(BaseManager):
    """A process that makes shards and keeps them; who asks for one gets a stand-in that sends messages."""


for name, protocol in (("to_select", Shard), ("to_infer", SiteShard), ("to_infer_classes", ClassShard)):
    Elsewhere.register(name, getattr(HERE, name), exposed=[k for k in dir(protocol) if not k.startswith("_")])

FORMS = {
    "two classes": (2, {"learn": Learning(major_steps=1, minor_steps=1)}),
    "two classes, factorised": (2, {"approximation": "factorised"}),
    "two classes, gain": (2, {"score": "projected_gain"}),
    "three classes, against the rest": (3, {}),
    "three classes, coupled": (3, {"multi_class": "probit"}),
}


@pytest.fixture(scope="module")
def elsewhere():
    with Elsewhere(ctx=get_context("spawn")) as process:
        yield Places(2, process.to_select, process.to_infer, process.to_infer_classes)


@pytest.mark.parametrize("form", FORMS)
def test_shards_of_another_process_give_the_same_model(form, elsewhere, monkeypatch):
    n_classes, settings = FORMS[form]
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, 60)
    angle = 2 * np.pi * y / n_classes
    X = rng.normal(size=(60, 2)) + 2 * np.column_stack([np.cos(angle), np.sin(angle)])
    settings = {"n_active": 15, "learn": None, "dtype": "float64", "random_state": 0} | settings
    here = IVMClassifier(**settings).fit(X, y)
    made = IVMClassifier._made

    def given(self, *args):
        machine = made(self, *args)
        return replace(machine, choices=replace(machine.choices, places=elsewhere))

    monkeypatch.setattr(IVMClassifier, "_made", given)
    there = IVMClassifier(**settings).fit(X, y)
    np.testing.assert_allclose(there.predict_proba(X), here.predict_proba(X), atol=1e-6)
    assert there.log_evidence_ == pytest.approx(here.log_evidence_, rel=1e-7)
