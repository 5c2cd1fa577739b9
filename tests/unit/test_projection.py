"""The estimators with the projected posterior: what a user sees of it."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from fixed import IVMClassifier, IVMOrdinalClassifier, IVMRegressor
from scipy.linalg import lapack
from sklearn.datasets import make_moons

from infovec.errors import NotConverged, ParameterError
from infovec.inference import Sweep, infer, make_basis, next_damping
from infovec.inference.settle import stalled
from infovec.kernels import RBF, Bias
from infovec.learning import LearnedRows, Model, ProjectedEvidence, objective, optimise
from infovec.likelihoods import Gaussian, Logit, Probit
from infovec.scores import RULES
from infovec.shards import ProjectedShard

KERNEL = RBF(0.8, 4.0) + Bias(0.5)


def noisy(n=1500, seed=0, flipped=0.15):
    """Two classes with some labels wrong, which the factorised machine cannot stand."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] > 0
    return X, np.where(rng.uniform(size=n) < flipped, ~y, y)


def log_loss(model, X, y):
    return -np.mean(model.predict_log_proba(X)[np.arange(len(y)), y.astype(int)])


def test_noisy_labels():
    X, y = noisy(3000)
    train, test = slice(0, 1500), slice(1500, 3000)
    projected, factorised = (
        IVMClassifier(kernel=KERNEL, n_active=60, approximation=name, random_state=0).fit(X[train], y[train])
        for name in ("projected", "factorised")
    )
    best = -(0.15 * np.log(0.15) + 0.85 * np.log(0.85))
    assert log_loss(projected, X[test], y[test]) < 1.12 * best
    assert log_loss(projected, X[test], y[test]) < 0.85 * log_loss(factorised, X[test], y[test])


@pytest.mark.parametrize("score", RULES)
def test_every_way_of_selection(score):
    X, y = noisy()
    model = IVMClassifier(kernel=KERNEL, n_active=40, score=score, random_state=0).fit(X, y)
    assert len(set(model.active_)) == 40
    assert model.converged_
    assert log_loss(model, *noisy(seed=1)) < 0.5
    again = IVMClassifier(kernel=KERNEL, n_active=40, score=score, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.active_, again.active_)
    grown = IVMClassifier(kernel=KERNEL, n_active=25, score=score, random_state=0, warm_start=True).fit(X, y).grow(15)
    assert len(set(grown.active_)) == 40
    assert log_loss(grown, *noisy(seed=1)) < 0.5


def test_variance_is_the_pivoting_of_cholesky():
    X, y = noisy(300)
    model = IVMRegressor(kernel=KERNEL, n_active=20, score="variance", initial=[0], block_size=1, random_state=0)
    model.fit(X, y.astype(float))
    K = KERNEL(X)
    K[0, 0] += 1e-9  # all start equal
    _, pivots, _, _ = lapack.dpstrf(K, lower=1)
    np.testing.assert_array_equal(model.active_, pivots[:20] - 1)


def test_the_gain_of_the_projected_posterior_needs_it():
    with pytest.raises(ParameterError, match="needs approximation='projected'"):
        IVMClassifier(score="projected_gain", approximation="factorised").fit(*noisy(50))


def test_without_blur_it_is_more_confident():
    X, y = noisy(400)
    blurred, plain = (
        IVMClassifier(kernel=RBF(0.4, 4.0), n_active=10, blur=blur, random_state=0).fit(X, y) for blur in (True, False)
    )
    assert plain.predict_latent(X)[1].mean() < blurred.predict_latent(X)[1].mean()
    assert plain.log_evidence_ != pytest.approx(blurred.log_evidence_, rel=1e-3)


def test_noise_is_told_from_uncertainty_about_the_function():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 4, (2000, 1))
    y = np.sin(2 * x[:, 0]) + 0.3 * rng.normal(size=2000)
    model = IVMRegressor(kernel=RBF(0.5, 1.0), likelihood=Gaussian(0.09), n_active=50, random_state=0).fit(x, y)
    _, std, noise = model.predict_latent([[2.0], [40.0]], return_noise=True)
    np.testing.assert_allclose(noise, 0.3, rtol=1e-6)
    assert std[0] < 0.1
    assert std[1] == pytest.approx(1.0, rel=1e-6)
    total = model.predict([[2.0], [40.0]], return_std=True)[1]
    np.testing.assert_allclose(total**2, std**2 + noise**2)
    X, y = noisy()
    classes = IVMClassifier(kernel=KERNEL, n_active=60, random_state=0).fit(X, y)
    _, _, noise = classes.predict_latent(X, return_noise=True)
    proba = classes.predict_proba(X)[:, 1]
    assert np.all(noise**2 <= 4 * proba * (1 - proba) + 1e-9)  # of a label -1 or 1, uncertainty about f included
    grades = IVMOrdinalClassifier(n_active=30, random_state=0).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    mean, std, noise = grades.predict_latent(X, return_noise=True)
    t, weight = np.polynomial.hermite_e.hermegauss(60)
    f = mean[:, None] + std[:, None] * t
    proba = np.exp(grades.likelihood_.log_proba(f.ravel(), np.zeros(f.size))).reshape(*f.shape, 3)
    variance = proba @ [0.0, 1.0, 4.0] - (proba @ [0.0, 1.0, 2.0]) ** 2
    np.testing.assert_allclose(noise**2, variance @ weight / weight.sum(), rtol=1e-3)


def test_time_and_callback_end_the_sweeps_too():
    X, y = noisy(4000)
    seen = []
    model = IVMClassifier(kernel=KERNEL, n_active=60, random_state=0, callback=seen.append).fit(X, y)
    sweeps = [p for p in seen if p.log_evidence is not None]
    assert [p.log_evidence for p in sweeps] == list(model.history_["sweep_log_evidence"])
    ended = IVMClassifier(kernel=KERNEL, n_active=60, random_state=0, callback=lambda p: p.log_evidence is not None)
    ended.fit(X, y)
    assert ended.stop_reason_ == "the callback asked to stop"
    assert not ended.converged_
    np.testing.assert_array_equal(ended.history_["sweep_log_evidence"], model.history_["sweep_log_evidence"][:2])
    assert np.mean(ended.predict(X) == model.predict(X)) > 0.95  # after the first, all rows have been heard
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "max_time was used up")
        hurried = IVMClassifier(kernel=KERNEL, n_active=4000, max_time=0.05, random_state=0).fit(X, y)
    assert hurried.stop_reason_ == "the time is used up"


def test_the_evidence_prefers_the_right_kernel():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, (400, 1))
    y = np.sin(3 * x[:, 0]) + 0.1 * rng.normal(size=400)
    evidence = [
        IVMRegressor(kernel=RBF(length, 1.0), likelihood=Gaussian(0.01), n_active=60, random_state=0).fit(x, y)
        for length in (0.05, 0.6, 8.0)
    ]
    assert np.argmax([model.log_evidence_ for model in evidence]) == 1


STREAM = """
import resource, sys, time
import numpy as np
from infovec import IVMClassifier
from infovec.kernels import RBF, Bias
n = int(sys.argv[1])
rng = np.random.default_rng(0)
X = rng.standard_normal((n, 20), dtype=np.float32)
y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.standard_normal(n, dtype=np.float32) > 0).astype(np.int8)
IVMClassifier(kernel=RBF(4.0, 3.0), n_active=20, learn=None, random_state=0).fit(X[:3000], y[:3000])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model = IVMClassifier(
    kernel=RBF(4.0, 3.0) + Bias(0.5), learn=None, n_active=int(sys.argv[2]), max_memory=int(float(sys.argv[3])),
    random_state=0,
)
start = time.perf_counter()
model.fit(X, y)
seconds = time.perf_counter() - start
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(1024 * (after - before), seconds, model.score(X[:5000], y[:5000]))
"""


def stream(n, d, limit):
    run = [sys.executable, "-c", STREAM, str(n), str(d), str(limit)]
    out = subprocess.run(run, capture_output=True, text=True, check=True, env=os.environ).stdout
    return (float(v) for v in out.split())


def test_projections_that_do_not_fit_are_streamed():
    peak, _, score = stream(60_000, 200, 60e6)  # all projections would take 48 MB, and what else is needed 45 MB
    assert peak < 1.05 * 60e6
    assert score > 0.7


@pytest.mark.parametrize("slope", [-3.0, -0.5, 0.0, 0.5])
def test_damping_ends_the_motion_of_one_direction(slope):
    """A fixed point x = slope x + 1, which plain iteration finds slowly or not at all."""
    x, damping, before = 0.0, 1.0, 0.0
    for _ in range(30):
        step = slope * x + 1.0 - x
        x += damping * step
        damping, before = next_damping(damping, step * before, before**2), step
    assert x == pytest.approx(1.0 / (1.0 - slope), rel=1e-6)
    assert 0.0 < damping <= 1.0


@pytest.mark.parametrize("likelihood", [Logit(), Probit()])
def test_sites_that_overshoot_from_nothing_settle(likelihood):
    X, y = make_moons(1000, noise=0.35, random_state=0)
    kernel, active = RBF(0.6, 80.0) + Bias(9.0), np.arange(100)
    shard = ProjectedShard(np.arange(1000), X, 2.0 * y - 1.0, kernel, likelihood, "float64")
    shard.project(make_basis(kernel, active, X[active], "float64"))
    found = infer([shard])
    assert found.converged
    assert len(found.sweeps) < 50


def test_evidence_of_sites_that_do_not_settle_is_none(monkeypatch):
    X, y = make_moons(300, noise=0.35, random_state=0)
    monkeypatch.setattr(objective, "_MOST_SWEEPS", 2)
    evidence = ProjectedEvidence(LearnedRows(np.arange(300), X, 2.0 * y - 1.0), np.arange(50))
    model = Model.begin(RBF(0.6, 80.0), Logit())
    with pytest.raises(NotConverged, match="do not settle"):
        evidence(model)
    found, steps, _ = optimise(evidence, model, 5)
    assert found is model
    assert not steps


def test_inference_ends_where_the_sites_only_tremble():
    falling = [Sweep(0.0, 0.9**k, 1.0, 10) for k in range(60)]
    trembling = [*falling[:20], *(Sweep(0.0, 0.12, 0.05, 10) for _ in range(40))]
    assert not any(stalled(falling[:k]) for k in range(60))
    assert stalled(trembling)
    assert not stalled(trembling[:34])  # not before fifteen sweeps have brought nothing
