"""Where learning begins: several starts, the best of which counts."""

import numpy as np
import pytest

from infovec import IVMRegressor
from infovec.kernels import RBF, Bias
from infovec.learning import Learning, Model, best_of_starts, second_look, starts
from infovec.likelihoods import Gaussian, Laplace, Probit, StudentT, weighted
from infovec.machines.staged import stages


def flat(model):
    return 0.0, np.zeros(model.size)


@pytest.mark.parametrize(
    ("likelihood", "name", "factor"),
    [
        (Gaussian(0.1), "variance", 5.0),
        (Laplace(0.1), "scale", np.sqrt(5.0)),
        (StudentT(0.1), "scale", np.sqrt(5.0)),
        (weighted(Gaussian(0.1), 2.0), "variance", 5.0),
    ],
)
def test_a_noisier_start_has_five_times_the_variance(likelihood, name, factor):
    model = Model.begin(RBF(1.0, 2.0) + Bias(), likelihood)
    given, noisier = starts(flat, model, noisier=True)
    assert given is model
    at = likelihood.parameter_names.index(name)
    moved = noisier.likelihood.theta - likelihood.theta
    assert moved[at] == pytest.approx(np.log(factor))
    assert np.count_nonzero(moved) == 1
    np.testing.assert_allclose(noisier.kernel.theta, model.kernel.theta)


def test_there_is_no_noisier_start_without_noise_to_learn():
    assert len(starts(flat, Model.begin(RBF(), Gaussian(0.1)))) == 1
    assert len(starts(flat, Model.begin(RBF(), Probit()), noisier=True)) == 1
    held = Learning(fixed=["likelihood.variance"])
    assert len(starts(flat, Model.begin(RBF(), Gaussian(0.1), learning=held), noisier=True)) == 1


def test_noise_stays_within_its_bounds():
    limited = Learning(bounds={"likelihood.variance": (0.01, 0.2)})
    noisier = starts(flat, Model.begin(RBF(), Gaussian(0.1), learning=limited), noisier=True)[-1]
    assert noisier.likelihood.variance == pytest.approx(0.2)


def test_a_second_look_brings_back_what_has_been_switched_off():
    model = Model.begin(RBF(np.array([2.0, 3.0, 4.0]), 1.0), Gaussian(0.1))
    moved = model.with_theta(np.array([-1.0, 4.0, 0.5, 2.0, -3.0, 0.3]))
    again = second_look(moved)
    np.testing.assert_allclose(again.kernel.length_scale, [2.0 * np.exp(-1.0), 3.0, 4.0])
    np.testing.assert_allclose(again.theta[3:], moved.theta[3:])


def two_hills(model):
    """A low hill where all length scales are a tenth, which looks better from afar, and a high one beyond the start."""
    t = model.theta[0]
    low, high = -4.0 * (t + np.log(10.0)) ** 2, 10.0 - 30.0 * (t - 1.0) ** 2
    value, slope = (low, -8.0 * (t + np.log(10.0))) if low > high else (high, -60.0 * (t - 1.0))
    return value, np.concatenate([[slope], np.zeros(model.size - 1)])


def test_the_scale_that_looks_best_is_not_the_only_one_tried():
    model = Model.begin(RBF(1.0, 2.0), Gaussian(0.1))
    assert starts(two_hills, model)[1].theta[0] == pytest.approx(-np.log(10.0))
    best, steps, _ = best_of_starts(two_hills, starts(two_hills, model), 40)
    assert best.theta[0] == pytest.approx(1.0, abs=1e-2)
    assert max(step.criterion for step in steps) == pytest.approx(10.0, abs=1e-3)


def test_whoever_listens_can_end_it_at_once():
    model = Model.begin(RBF(np.ones(9), 2.0), Gaussian(0.1))
    steps = best_of_starts(two_hills, [model, model], 40, lambda step: True, again=True)[1]
    assert len(steps) == 1


def test_with_many_parameters_more_rows_are_active_at_first():
    assert [s[:2] for s in stages(60000, 500, many=True)] == [(1000, 400), (1500, 150), (5000, 500)]
    assert [s[:2] for s in stages(7000, 50, many=True)] == [(1000, 400), (1500, 50), (5000, 50)]
    assert [s[:2] for s in stages(300, 100, many=True)] == [(300, 150), (300, 100)]
    assert stages(1000, 500)[0].iterations == 40


@pytest.mark.parametrize("approximation", ["projected", "factorised"])
def test_inputs_that_matter_together_are_found_among_many(approximation):
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(300, 10)), rng.normal(size=(300, 10))
    y, t = (np.sin(2.0 * A[:, 3]) * A[:, 7] + 0.1 * rng.normal(size=len(A)) for A in (X, Z))
    model = IVMRegressor(
        kernel=RBF(np.full(10, 3.0), 1.0), approximation=approximation, n_active=100, random_state=0
    ).fit(X, y)  # fmt: skip
    scales = model.kernel_.length_scale
    assert set(np.argsort(scales)[:2]) == {3, 7}
    assert np.sort(scales)[2] > 3.0 * np.sort(scales)[1]
    assert np.mean((model.predict(Z) - t) ** 2) < 0.1 * np.var(t)
