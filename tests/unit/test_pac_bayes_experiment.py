"""Figures of Thesis 3.5, with one run."""

from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def experiment(dataset):
    dataset("mnist")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT)
        from experiments.catalogue import load

        module = load("thesis-pac-bayes")
        yield module, *module.digits((2, 3))


def test_the_pool_is_that_of_the_thesis(experiment):
    _, pool, test = experiment
    assert pool.X.shape == (12089, 64)
    assert len(test.y) >= 1000
    assert 0.0 <= pool.X.min() < pool.X.max() <= 1.0
    image = np.zeros((1, 784))
    image.reshape(28, 28)[2:5, 2:5] = 255.0  # the first block inside the margin
    assert experiment[0].shrunk(image).nonzero()[1].tolist() == [0]


def test_bounds_at_five_thousand_rows(experiment):
    module, pool, test = experiment
    rows = pool.take(np.random.default_rng(0).permutation(len(pool.y))[:5000])
    found = module.ivm(module.Gaussian(2.0, 120.0), rows, test, 500, 0)
    assert found["upper"] <= 0.070  # the Thesis: 0.067
    assert found["upper, exact moment"] < found["upper"]
    assert found["emp"] == pytest.approx(0.0154, abs=0.005)
    assert found["gen"] == pytest.approx(0.0207, abs=0.005)
    assert found["gen-bayes"] <= 0.0115  # the Thesis: 0.0084
    bayes = module.ivm_bayes(module.Gaussian(5.0, 60.0), rows, test, 500, 0)
    assert bayes["upper"] == pytest.approx(0.3048, abs=0.005)
    assert bayes["upper, made again"] == pytest.approx(0.3048, abs=0.005)


def test_laplace_at_five_hundred_rows(experiment):
    module, pool, test = experiment
    rows = pool.take(np.random.default_rng(0).permutation(len(pool.y))[:500])
    found = module.laplace(module.Gaussian(2.0, 30.0), rows, test, 0, 0)
    assert found["upper"] == pytest.approx(0.182, abs=0.03)
    assert found["gen"] == pytest.approx(0.0469, abs=0.01)


def test_a_quick_run(experiment, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = experiment[0].run(True)
    found = {row["quantity"]: row["ours"] for row in rows}
    assert found["table 3.2 n=1000: emp"] < found["table 3.2 n=1000: upper, exact moment"] < 0.2
    assert (tmp_path / "out" / "thesis-pac-bayes" / "figure-3.3.png").stat().st_size > 5000
