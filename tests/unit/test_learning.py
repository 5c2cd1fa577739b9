"""Learning by the evidence: gradients, what is tied, and that it finds what it should."""

import time
from dataclasses import replace

import numpy as np
import pytest
from fixed import IVMClassifier as FixedClassifier
from oracles import fd_gradient
from scipy import stats

from infovec import IVMClassifier, IVMRegressor
from infovec.errors import ParameterError
from infovec.kernels import RBF, Bias, Linear, Role
from infovec.learning import (
    WEAK,
    ClassKernels,
    Expected,
    LearnedRows,
    Learning,
    Model,
    Normal,
    ProjectedEvidence,
    optimise,
    value_at,
)
from infovec.learning.priors import WeakPriors
from infovec.likelihoods import Gaussian, Probit
from infovec.machines import learn
from infovec.machines.staged import stages


def waves(n=400, seed=0, noise=0.1):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, 2))
    return X, np.sin(2 * X[:, 0]) + noise * rng.normal(size=n)


@pytest.mark.parametrize("tied", [True, False])
def test_gradient_in_the_steps_of_a_model(tied):
    X, y = waves(60)
    start = Model.begin(RBF(np.array([0.7, 2.0]), 1.5) + Bias(0.3), Probit(0.2), tied)
    assert start.size == (4 if tied else 5)  # the slope stays: the variance says the same
    theta = np.linspace(-0.3, 0.4, start.size)
    np.testing.assert_allclose(start.with_theta(theta).theta, theta)
    rows = np.arange(60)

    def objective(theta):
        fresh = ProjectedEvidence(LearnedRows(rows, X, np.sign(y)), np.arange(0, 60, 6))
        return fresh(start.with_theta(theta))

    got = objective(theta)[1]
    want = fd_gradient(lambda t: objective(t)[0], theta, 1e-3)  # the evidence is converged to a tolerance only
    np.testing.assert_allclose(got, want, rtol=0.02, atol=0.02)


def test_tied_length_scales_keep_their_proportions():
    model = Model.begin(RBF(np.array([0.7, 2.0])) + Linear(), Gaussian(0.1), tied=True)
    moved = model.with_theta(np.full(model.size, 0.5))
    np.testing.assert_allclose(moved.kernel.left.length_scale, np.exp(0.5) * np.array([0.7, 2.0]))


def test_kernels_of_classes_are_one_value():
    kernels = ClassKernels((RBF(np.array([0.7, 2.0])), RBF(0.4, 3.0) + Bias(0.1)))
    assert kernels.parameter_names == (
        "0.length_scale[0]", "0.length_scale[1]", "0.variance",
        "1.left.length_scale", "1.left.variance", "1.right.variance",
    )  # fmt: skip
    assert kernels.free_roles == (Role.SCALE, Role.SCALE, Role.VARIANCE, Role.SCALE, Role.VARIANCE, Role.VARIANCE)
    moved = kernels.with_theta(kernels.theta + np.log([2.0, 3.0, 4.0, 5.0, 6.0, 7.0]))
    assert moved == ClassKernels((RBF(moved.kernels[0].length_scale, 4.0), moved.kernels[1]))
    np.testing.assert_allclose(moved.kernels[0].length_scale, [1.4, 6.0])
    np.testing.assert_allclose(np.exp(moved.kernels[1].theta), [2.0, 18.0, 0.7])
    assert kernels.bounds.shape == (6, 2)
    with pytest.raises(ParameterError, match="6 free parameters"):
        kernels.with_theta(np.zeros(5))


def test_the_best_step_is_kept_and_failures_are_survived():
    model = Model.begin(RBF(), Gaussian(1.0))
    calls = []

    def objective(m):
        calls.append(m)
        if len(calls) in (2, 3):
            raise np.linalg.LinAlgError
        x = m.theta - 1.0
        return -float(x @ x), -2.0 * x

    best, steps, _ = optimise(objective, model, 30)
    np.testing.assert_allclose(best.theta, 1.0, atol=1e-2)
    assert max(s.criterion for s in steps) == pytest.approx(-float(np.sum((best.theta - 1.0) ** 2)), abs=1e-12)


def test_stages_grow_and_end_at_the_full_active_set():
    assert [s[:2] for s in stages(60000, 500)] == [(1000, 100), (1500, 150), (5000, 500)]
    assert [s[:2] for s in stages(100, 500)] == [(100, 100)]
    assert [s[:2] for s in stages(250, 500)] == [(250, 100), (250, 125), (250, 250)]
    assert stages(3000, 40)[-1][:2] == (3000, 40)


def test_noise_and_length_scale_are_found():
    X, y = waves()
    model = IVMRegressor(kernel=RBF(np.array([5.0, 1.0]), 5.0), likelihood=Gaussian(1.0), n_active=80, random_state=0)
    model.fit(X, y)
    assert np.sqrt(model.likelihood_.variance) == pytest.approx(0.1, rel=0.2)
    across, along = model.kernel_.length_scale
    assert 0.4 < across < 1.5
    assert along > 5 * across  # the second column says nothing
    assert model.history_["criterion"].max() > model.history_["criterion"][0] + 50
    mean, std = model.predict(X, return_std=True)
    assert 0.9 < np.mean(np.abs(y - mean) < 2 * std) <= 1.0


@pytest.mark.parametrize("factor", [1e-4, 1e4])
def test_a_start_that_is_far_off(factor):
    X, y = waves(300)
    model = IVMClassifier(kernel=RBF(factor, 10.0) + Bias(), n_active=60, random_state=0).fit(X, y > 0)
    Z, t = waves(500, seed=1)
    assert model.score(Z, t > 0) > 0.9


def test_awkward_data_end_well():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    X[:, 2] = 7.0  # a constant column
    separable = IVMClassifier(n_active=50, random_state=0).fit(X, X[:, 0] > 0)
    assert separable.kernel_(X[:1])[0, 0] < 1e6  # the prior holds it
    assert separable.score(X, X[:, 0] > 0) > 0.95
    coin = rng.integers(0, 2, size=200)
    noise = IVMClassifier(n_active=50, random_state=0).fit(X, coin)
    Z = rng.normal(size=(400, 3))
    Z[:, 2] = 7.0
    loss = -np.mean(noise.predict_log_proba(Z)[np.arange(400), rng.integers(0, 2, 400)])
    assert loss < 0.75  # it knows that it knows nothing


def test_learning_improves_on_the_start():
    X, y = waves(600, noise=0.6)
    Z, t = waves(600, seed=1, noise=0.6)
    settings = {"n_active": 100, "random_state": 0}
    learned, fixed = IVMClassifier(**settings).fit(X, y > 0), FixedClassifier(**settings).fit(X, y > 0)
    losses = [-np.mean(m.predict_log_proba(Z)[np.arange(600), (t > 0).astype(int)]) for m in (learned, fixed)]
    assert losses[0] < 0.95 * losses[1]


def test_time_covers_learning(monkeypatch):
    X, y = waves(3000)
    monkeypatch.setattr(time, "perf_counter", time.process_time)  # what other programs do is no part of it
    start = time.process_time()
    model = IVMRegressor(max_time=0.3, n_active=300, n_jobs=1, random_state=0).fit(X, y)
    assert time.process_time() - start < 1.1 * 0.3 + 0.5
    assert 0 < len(model.history_["criterion"]) < 20  # 52 without a limit
    assert model.score(X, y) > 0.5


def test_an_objective_that_raises_its_precision_is_climbed_anew_from_the_best_so_far():
    class Rounded:
        """Two valleys; a trial that goes far finds that single precision is not enough."""

        dtype = "float32"

        def __init__(self):
            self.seen = []

        def __call__(self, model):
            x = model.theta[0]
            self.seen.append((self.dtype, x))
            if abs(x) > 1.1:
                self.dtype = "float64"
            value = -((x - 1.0) ** 2) * (x + 6.0) ** 2
            return value, np.array([-2.0 * (x - 1.0) * (x + 6.0) ** 2 - 2.0 * (x - 1.0) ** 2 * (x + 6.0)])

    one = Learning(fixed=["likelihood*", "kernel.variance"])
    objective, model = Rounded(), Model.begin(RBF(1.0), Gaussian(), learning=one).with_theta(np.array([0.2]))
    found, steps, _ = optimise(objective, model, 30)
    first = next(x for dtype, x in objective.seen if dtype == "float64")
    before = [x for dtype, x in objective.seen if dtype == "float32" and abs(x) <= 1.1]
    best = max(before, key=lambda x: -((x - 1.0) ** 2) * (x + 6.0) ** 2)
    assert first == best
    assert found.theta[0] == pytest.approx(1.0, abs=1e-3)
    assert len(steps) == sum(dtype == "float64" for dtype, _ in objective.seen)


EXPECTED = Expected(Normal(0.0, 1.0), Normal(0.3, 2.0), Normal(-1.5, 3.0), Normal(1.0, 2.0))


@pytest.mark.parametrize("tied", [True, False])
def test_what_is_expected_of_default_parameters_is_their_prior(tied):
    """By role: length scales that move together or alone, both variances, the noise, and the weak prior of a bias."""
    model = Model.begin(RBF(np.array([0.7, 2.0]), 1.5) + Bias(0.3), Gaussian(0.2, 0.1), tied)
    model = replace(model, weak=WeakPriors(expected=EXPECTED))
    scales = [EXPECTED.scale] if tied else [EXPECTED.own_scale] * 2
    wanted = [*scales, EXPECTED.variance, EXPECTED.variance, EXPECTED.noise, WEAK]
    theta = np.linspace(-1.4, 1.7, model.size)

    def log_density(theta):
        return sum(stats.norm.logpdf(step, one.mean, one.std) for step, one in zip(theta, wanted, strict=True))

    prior, gradient = model.with_theta(theta).log_prior()
    assert prior - model.log_prior()[0] == pytest.approx(log_density(theta) - log_density(0.0 * theta))
    np.testing.assert_allclose(gradient, fd_gradient(log_density, theta), atol=1e-6)
    apart, columns = model.with_theta(theta).separated(2)
    if tied:
        alone = [EXPECTED.own_scale] * 2 + wanted[1:]
        steps = [(step - one.mean) / one.std for step, one in zip(theta[columns], alone, strict=True)]
        assert apart.log_prior()[0] == pytest.approx(-0.5 * np.sum(np.square(steps)))
    half = Expected(noise=Normal(1.0, 2.0)).of(Role.NOISE_SCALE, False)
    assert half == Normal(0.5, 1.0)  # the same belief of a standard deviation


def test_few_rows_without_noise_to_be_seen_are_not_taken_for_certain():
    """A made plane with noise of half its variance, ten rows: what is learned of noise and labels, over draws."""
    noise, variance = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(10, 3))
        y = X[:, 0] + 0.7 * rng.normal(size=10)
        noise.append(IVMRegressor(random_state=0).fit(X, y).likelihood_.variance / np.var(y))
        variance.append(IVMClassifier(random_state=0).fit(X, y > 0).kernel_.left.variance)
    assert min(noise) > 1e-3
    assert np.median(variance) < 100.0


@pytest.mark.parametrize("given", [{"kernel": RBF(1.0) + Bias()}, {"learn": Learning(priors={"kernel*": None})}])
def test_what_is_expected_is_of_defaults_only(given):
    X, y = waves(30)
    model = IVMRegressor(random_state=0, **given)
    seen = []

    def spy(machine, model):
        seen.append(expecting(machine, model))
        return seen[-1]

    expecting = learn._expecting
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learn, "_expecting", spy)
        model.fit(X, y)
        assert seen[-1].weak.expected is None
        IVMRegressor(random_state=0).fit(X, y)
        assert seen[-1].weak.expected.noise == learn._NOISE
        IVMRegressor(random_state=0, likelihood=Gaussian(0.1)).fit(X, y)
        assert seen[-1].weak.expected.noise == WEAK
        IVMRegressor(random_state=0, n_active=5).fit(*waves(201))
        assert seen[-1].weak.expected is None


def test_the_criterion_without_its_gradient_is_the_same():
    X, y = waves(60)
    model = Model.begin(RBF(np.array([0.7, 2.0]), 1.5) + Bias(0.3), Probit(0.2), True)
    one, other = (ProjectedEvidence(LearnedRows(np.arange(60), X, np.sign(y)), np.arange(0, 60, 6)) for _ in range(2))
    assert value_at(one, model) == other(model)[0]  # each from no sites at all
