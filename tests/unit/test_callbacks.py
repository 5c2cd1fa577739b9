"""Callbacks of scikit-learn 1.9: what they are told, that they can end a fit, and that they are cleared away."""

import signal
import subprocess
import sys
from collections import Counter

import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from infovec import IVMClassifier, IVMRegressor, load

callback = pytest.importorskip("sklearn.callback", reason="needs scikit-learn 1.9")
X, Y = load_breast_cancer(return_X_y=True)


class Listener:
    """Notes all it is told; ends a stage after some tasks of it."""

    max_propagation_depth = None

    def __init__(self, stage=None, after=0):
        self.stage, self.after = stage, after
        self.begun, self.ended, self.life, self.scores = Counter(), Counter(), [], []

    def setup(self, estimator, context):
        self.life.append("setup")

    def teardown(self, estimator, context):
        self.life.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.begun[context.task_name] += 1

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        self.ended[context.task_name] += 1
        if hasattr(fitted_estimator, "classes_"):
            self.scores.append((fitted_estimator.score(X, y), metadata))
        return context.task_name == self.stage and self.ended[self.stage] == self.after


def test_every_step_block_and_sweep_is_a_task():
    listener = Listener()
    model = IVMClassifier(n_active=25, random_state=0).set_callbacks(listener).fit(X, Y)
    assert listener.begun == listener.ended
    assert set(listener.ended) == {"fit", "learning", "selection", "inference"}
    assert listener.ended["learning"] == len(model.history_["criterion"])
    assert listener.ended["inference"] == len(model.history_["sweep_change"])
    assert listener.life == ["setup", "teardown"]
    assert listener.scores == [(model.score(X, Y), None)]
    assert not [name for name in vars(model) if "ctx" in name or "teardown" in name]


def test_a_callback_ends_learning_and_selection():
    learning = Listener("learning", 3)
    model = IVMClassifier(n_active=25, random_state=0).set_callbacks(learning).fit(X, Y)
    assert len(model.history_["criterion"]) <= 4
    assert len(model.active_) == 25
    selection = Listener("selection", 3)
    model = IVMClassifier(n_active=25, learn=None, random_state=0).set_callbacks(selection).fit(X, Y)
    assert len(model.active_) < 25
    assert model.stop_reason_ == "the callback asked to stop"


def test_a_fit_that_fails_tears_down_and_keeps_the_model():
    listener = Listener()
    model = IVMRegressor(n_active=20, learn=None).set_callbacks(listener).fit(*load_diabetes(return_X_y=True))
    before = model.active_
    with pytest.raises(ValueError, match="no column of X has any value"):
        model.fit(X * float("nan"), Y)
    assert listener.life == ["setup", "teardown"] * 2
    assert model.active_ is before
    assert not [name for name in vars(model) if "ctx" in name]


def test_weights_pipelines_clones_and_files(tmp_path):
    listener = Listener()
    weight = 1.0 + Y
    model = IVMClassifier(n_active=15, learn=None).set_callbacks(listener).fit(X, Y, sample_weight=weight)
    assert listener.scores[0][1]["sample_weight"] is weight
    assert clone(model)._skl_callbacks == [listener]
    model.save(tmp_path / "m.ivm")
    assert not hasattr(load(tmp_path / "m.ivm"), "_skl_callbacks")
    whole = Listener()
    pipeline = make_pipeline(StandardScaler(), IVMClassifier(n_active=15, learn=None))
    pipeline.set_callbacks(whole).fit(X, Y)
    alone = Listener()
    IVMClassifier(n_active=15, learn=None).set_callbacks(alone).fit(StandardScaler().fit_transform(X), Y)
    assert whole.ended["selection"] == alone.ended["selection"] == 15  # blocks of one row
    assert whole.life == ["setup", "teardown"]


def test_warnings_point_at_who_called():
    def interrupt(progress):
        if progress.log_evidence is None:
            signal.raise_signal(signal.SIGINT)

    model = IVMClassifier(n_active=1, learn=None, callback=interrupt, random_state=0)
    with pytest.warns(UserWarning, match="interrupted: the model has 1 of 1") as caught:
        model.fit(X, Y)
    assert caught[0].filename == __file__


def test_without_scikit_learns_callbacks():
    script = (
        "import sys, sklearn.base; sys.modules['sklearn.callback'] = None\n"
        "from infovec import IVMClassifier; import numpy as np\n"
        "X = np.random.default_rng(0).normal(size=(60, 3)); seen = []\n"
        "IVMClassifier(n_active=9, callback=seen.append).fit(X, X[:, 0] > 0)\n"
        "assert seen and not hasattr(IVMClassifier, 'set_callbacks')\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
