"""Length scales that move together until the evidence says that columns differ."""

import numpy as np
import pytest

from infovec import IVMClassifier, IVMRegressor
from infovec.errors import NotConverged
from infovec.kernels import RBF, Bias, Matern
from infovec.kernels.relevances import column_weights, separate_scales
from infovec.learning import Learning, Model, Normal, Step, alike, refine_scales, separable, separate
from infovec.likelihoods import Gaussian, Probit
from infovec.machines.defaults import column_spreads, length_scales


def test_a_kernel_with_separate_scales_is_the_same_kernel():
    X = np.random.default_rng(0).normal(size=(20, 3))
    kernel = 2.0 * (RBF(1.5, 2.0) * Matern([1.0, 2.0, 3.0], 0.5, nu=1.5)) + Bias(0.3)
    several = separate_scales(kernel, 3)
    np.testing.assert_allclose(several(X), kernel(X), rtol=1e-12)
    assert several.theta.size == kernel.theta.size + 2


@pytest.mark.parametrize("scale", [1.5, np.array([1.0, 2.0, 3.0])])
def test_a_separated_model_is_at_the_same_place(scale):
    model = Model.begin(RBF(scale, 2.0) + Bias(0.3), Gaussian(0.1), tied=True)
    moved = model.with_theta(np.arange(1.0, model.size + 1.0) / 10.0)
    several, columns = moved.separated(3)
    assert several.size == model.size + 2
    np.testing.assert_allclose(several.theta, moved.theta[columns])
    np.testing.assert_allclose(several.kernel.left.length_scale, np.broadcast_to(moved.kernel.left.length_scale, 3))
    again = several.with_theta(several.theta + 0.1)
    np.testing.assert_allclose(again.kernel.right.variance, np.exp(0.1) * moved.kernel.right.variance)
    np.testing.assert_allclose(again.likelihood.variance, np.exp(0.1) * moved.likelihood.variance)


def test_when_it_is_tried():
    free = Model.begin(RBF(1.0), Probit(), tied=True)
    asked = Model.begin(RBF(1.0), Probit(), tied=True, learning=Learning(priors={"kernel.length_scale": Normal(0, 1)}))
    assert separable(free, 100, 100)
    assert not separable(free, 100, 101)
    assert separable(free, 100, 2)
    assert not separable(free, 99, 2)  # labels say little
    assert separable(Model.begin(RBF(1.0), Gaussian(), tied=True), 20, 2)
    assert not separable(free, 100, 1)
    assert separable(free, 10_000, 500)
    assert not separable(free, 10_000, 501)
    assert not separable(asked, 100, 10)
    assert not separable(Model.begin(RBF(1.0), Probit()), 100, 10)


def test_a_scale_that_brings_less_than_its_price_is_not_taken():
    model = Model.begin(RBF(1.0), Gaussian(), tied=True)

    def objective(gain):
        def value(at):
            scales = np.log(np.broadcast_to(at.kernel.length_scale, 3))
            return -gain * float(np.sum((scales - [0.0, 0.0, 1.0]) ** 2)), at.pull(
                np.concatenate([-2.0 * gain * (scales - [0.0, 0.0, 1.0]), np.zeros(3)])
            )

        return value

    for gain, taken in ((1.5, False), (4.0, True)):  # what it brings is two thirds of the gain more than at the middle
        at_best = model.with_theta(np.array([1.0 / 3.0, 0.0, 0.0, 0.0])[: model.size])
        found, steps = separate(objective(gain), at_best, 3, 100, -gain * 2.0 / 3.0, 1.0)
        assert (found is not None) == taken
        assert found is None or found.model.size == model.size + 2
        told = alike([Step(0.0, at_best.theta), *steps], model, apart=taken)
        assert {step.theta.size for step in told} == {model.size + 2 * taken}
        np.testing.assert_allclose(told[-1].theta[-2:], steps[-1].theta[-2:])  # of variance and noise
        if not taken:
            np.testing.assert_allclose([step.theta[0] for step in told[1:]], [s.theta[:3].mean() for s in steps])


@pytest.mark.parametrize("likelihood", [Gaussian(), Probit()])
def test_a_column_that_is_a_straight_line_to_a_long_scale_is_tried_with_a_short_one(likelihood):
    model = Model.begin(RBF(1.0), likelihood, tied=True)

    def objective(at):  # the second column has a hill of 30 nats at long scales, and one of 60 at short ones
        log_scale = np.log(np.broadcast_to(at.kernel.length_scale, 2))
        hills = np.array([30.0, 60.0]) * np.exp(-2.0 * (log_scale[1] - np.array([1.0, -1.2])) ** 2)
        slopes = np.zeros(at.group.size)
        slopes[0] = -20.0 * log_scale[0]
        slopes[1] = float(hills @ (-4.0 * (log_scale[1] - np.array([1.0, -1.2]))))
        return float(-10.0 * log_scale[0] ** 2 + hills.sum()), at.pull(slopes)

    start = model.with_theta(np.where(np.arange(model.size) == 0, 0.5, 0.0))
    found, steps = separate(objective, start, 2, 100, -10.0, 1.0)
    np.testing.assert_allclose(np.log(found.model.kernel.length_scale), [0.0, -1.2], atol=0.05)
    assert max(step.criterion for step in steps) > 59.0


def test_columns_that_matter_are_told_from_those_that_do_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 5))
    y = np.sin(2.0 * X[:, 1]) + 0.1 * rng.normal(size=500)
    model = IVMRegressor(n_active=100, random_state=0).fit(X, y)
    scales = model.kernel_.left.length_scale
    assert np.argmin(scales) == 1
    assert np.min(np.delete(scales, 1)) > 4.0 * scales[1]
    assert model.history_["theta"].shape[1] == 5 + 4
    even = IVMClassifier(n_active=60, random_state=0).fit(X, X.sum(axis=1) + rng.normal(size=500) > 0)
    shares = even.kernel_.left.length_scale / length_scales(*column_spreads(X))
    np.testing.assert_allclose(shares, shares[0], rtol=1e-6)  # they keep their proportions
    assert len(even.relevances()) == 0


def test_where_rows_have_become_strangers_learning_begins_anew():
    model = Model.begin(RBF(1.0), Gaussian(), tied=True)

    def objective(at):  # a hill near where learning began, which has no slope where length scales are short
        log_scale = np.log(np.broadcast_to(at.kernel.length_scale, 2))
        hill = 50.0 * np.exp(-4.0 * float(np.sum((log_scale - 0.3) ** 2)))
        slopes = np.zeros(at.group.size)
        slopes[:2] = -8.0 * hill * (log_scale - 0.3)
        return hill, at.pull(slopes)

    for begun in (-3.0, -0.5):
        at = model.with_theta(np.where(np.arange(model.size) == 0, begun, 0.0))
        found, _ = separate(objective, at, 2, 100, objective(at)[0], 1.0)
        assert objective(found.model)[0] > 49.0


class Valley:
    """Rows left out are predicted best at one length scale."""

    def __init__(self, best, fails=False):
        self.best, self.fails, self.asked = best, fails, 0

    def left_out(self, model):
        self.asked += 1
        if self.fails:
            raise NotConverged("no")
        return 0.0, float(np.log(model.kernel.length_scale / self.best) ** 2)


@pytest.mark.parametrize("best", [0.3, 1.0, 2.2])
def test_scales_are_refined_towards_the_least_loss_of_rows_left_out(best):
    model, valley = Model.begin(RBF(1.0), Probit()), Valley(best)
    found = refine_scales(valley, model, 1.2, lambda step: False)
    assert abs(np.log(found.kernel.length_scale / best)) <= 0.5 * np.log(1.2) + 1e-9
    assert valley.asked <= 10
    assert refine_scales(valley, model, 1.2, lambda step: True).kernel.length_scale == 1.0
    assert refine_scales(Valley(best, fails=True), model, 1.2, lambda step: False) is model


def test_a_wall_beside_the_best_length_scale_does_not_hide_it():
    class Wall(Valley):
        def left_out(self, model):
            x = np.log(model.kernel.length_scale) / np.log(1.4)
            self.asked += 1
            return 0.0, 0.2150 + 0.02 * x if x > -2.5 else 1.0

    wall = Wall(None)
    found = refine_scales(wall, Model.begin(RBF(1.0), Probit()), 1.4, lambda step: False)
    assert np.log(found.kernel.length_scale) / np.log(1.4) < -1.4  # the best that was tried is at -2
    assert wall.asked == 4


@pytest.mark.parametrize("seed", [8, 9])  # with these the length scale that all columns share says that nothing counts
def test_three_columns_of_two_hundred_are_found(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2700, 200))
    columns = rng.permutation(200)[:3]
    f = 2.0 * X[:, columns[0]] * X[:, columns[1]] + 1.5 * np.sin(2.0 * X[:, columns[2]])
    y = f + 0.5 * rng.normal(size=2700) > 0.0
    model = IVMClassifier(random_state=0).fit(X[:700], y[:700])
    assert set(np.argsort(-column_weights(model.kernel_, 200))[:3]) == set(columns)
    known = np.take_along_axis(model.predict_log_proba(X[700:]), y[700:, None].astype(int), axis=1)
    assert -known.mean() < 0.3  # 0.69 without knowing which
