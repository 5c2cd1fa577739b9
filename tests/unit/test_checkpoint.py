"""Fits that are cut off go on from their checkpoint, to the same model."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from infovec import IVMClassifier, IVMRegressor
from infovec.errors import ParameterError
from infovec.kernels import RBF
from infovec.learning import Learning
from infovec.machines import checkpoint as module
from infovec.machines.checkpoint import Checkpoint, _decoded, _encoded
from infovec.shards import InProcess, Steps, Sums


def rows(n=200):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n)


FEW = Learning(major_steps=1, minor_steps=1)
FORMS = {
    "two classes": lambda f: (IVMClassifier(n_active=30, random_state=0), (f > 0).astype(int)),
    "three classes": lambda f: (IVMClassifier(n_active=15, random_state=0, learn=None), np.digitize(f, [-0.5, 0.5])),
    "kernels of their own": lambda f: (
        IVMClassifier(n_active=10, random_state=0, shared_kernel=False, learn=FEW), np.digitize(f, [-0.5, 0.5]),
    ),
    "coupled": lambda f: (
        IVMClassifier(n_active=15, random_state=0, multi_class="probit", learn=None, kernel=RBF(1.5, 3.0)),
        np.digitize(f, [-0.5, 0.5]),
    ),
    "factorised": lambda f: (
        IVMClassifier(n_active=30, random_state=0, approximation="factorised", learn=None), (f > 0).astype(int),
    ),
    "regression": lambda f: (IVMRegressor(n_active=30, random_state=0, learn=FEW), f),
}  # fmt: skip


class Enough(Exception):
    """The process ends here."""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("share", [0.1, 0.9])
def test_a_fit_goes_on(form, share, tmp_path, monkeypatch):
    X, f = rows()
    model, y = FORMS[form](f)
    count, append, path = [], Checkpoint._append, tmp_path / "fit.ivm"
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "_append", lambda self, *args: (append(self, *args), count.append(args[0])))
        expected = model.fit(X, y, checkpoint=path)
    assert not path.exists()
    proba = expected.predict_latent(X)
    again, last = FORMS[form](f)[0], int(share * (len(count) - 1))

    def some(self, *args, so_far=[0]):  # noqa: B006
        append(self, *args)
        so_far[0] += 1
        if so_far[0] > last:
            raise Enough

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "_append", some)
        with pytest.raises(Enough):
            again.fit(X, y, checkpoint=path)
    with path.open("ab") as file:
        file.write(b"half of a record")
    learned = [] if model.learn is None or not last else [Exception("it was learned before")]
    with monkeypatch.context() as patch:
        if learned:
            patch.setattr("infovec.machines.fit.learn", lambda *args: (_ for _ in ()).throw(learned[0]))
        again.fit(X, y, checkpoint=path)
    np.testing.assert_array_equal(again.active_, expected.active_)
    np.testing.assert_allclose(again.predict_latent(X), proba, rtol=0, atol=1e-12)
    assert not list(tmp_path.iterdir())


def test_the_checkpoint_of_another_fit_is_left_alone(tmp_path, monkeypatch):
    X, f = rows()
    path = tmp_path / "fit.ivm"
    monkeypatch.setattr(Checkpoint, "done", Checkpoint.close)
    IVMRegressor(n_active=10, random_state=0, learn=None).fit(X, f, checkpoint=path)
    before = path.read_bytes()
    for other in (IVMRegressor(n_active=11, random_state=0, learn=None).fit, IVMRegressor(random_state=1).fit):
        with pytest.raises(ParameterError, match="other data or settings"):
            other(X, f, checkpoint=path)
    with pytest.raises(ParameterError, match="whole number as random_state"):
        IVMRegressor().fit(X, f, checkpoint=path)
    assert path.read_bytes() == before
    path.write_text("a letter to my aunt, which is longer than the first line of a checkpoint")
    with pytest.raises(ParameterError, match="another file"):
        IVMRegressor(n_active=10, random_state=0).fit(X, f, checkpoint=path)


def test_values_come_back_as_they_were():
    array = np.arange(6.0).reshape(2, 3)
    value = [None, True, 3, "text", 0.1, float("-inf"), (array, array[:0]), Sums(array, array[0]), Steps(1.0, 2.0, 3.0),
             sparse.csr_matrix(array), array.astype(np.float32)[::-1]]  # fmt: skip
    found = _decoded(_encoded(value))
    assert found[:6] == value[:6]
    np.testing.assert_array_equal(found[6][0], array)
    assert found[6][1].shape == (0, 3)
    assert isinstance(found[7], Sums)
    assert found[8] == value[8]
    np.testing.assert_array_equal(found[9].toarray(), array)
    np.testing.assert_array_equal(found[10], value[10])
    assert set(module._NAMED) >= {"Sums", "Swept", "Candidates", "Step"}


def test_a_process_that_is_killed(tmp_path):
    code = """
import os, signal, sys, numpy as np
from infovec import IVMClassifier
from infovec.machines.checkpoint import Checkpoint
rng = np.random.default_rng(0)
X = rng.normal(size=(300, 3))
append, kill = Checkpoint._append, int(sys.argv[2])
def counted(self, *args):
    global kill
    append(self, *args)
    kill -= 1
    if kill == 0:
        os.kill(os.getpid(), signal.SIGKILL)
Checkpoint._append = counted
model = IVMClassifier(n_active=20, learn=None, random_state=0).fit(X, X[:, 0] > 0, checkpoint=sys.argv[1])
print(model.active_.tolist(), model.log_evidence_)
"""

    def run(kill):
        command = [sys.executable, "-c", code, str(tmp_path / "fit.ivm"), str(kill)]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)

    expected = run(-1)
    assert expected.returncode == 0, expected.stderr
    assert run(12).returncode == -signal.SIGKILL
    assert [path.name for path in tmp_path.iterdir()] == ["fit.ivm"]
    assert run(-1).stdout == expected.stdout
    assert not list(tmp_path.iterdir())


def test_shards_are_told_apart_by_more_than_their_address():
    """One that is gone leaves its place to another, which must not be told what the first one was."""

    class Shard:
        pass

    seen = set()
    for _ in range(5):
        shard = Shard()
        group = InProcess([shard])
        assert group.key not in seen
        assert InProcess([shard]).key == group.key
        seen.add(group.key)
        del shard, group
