"""Quasi-Newton steps: what is learned of the curvature, and that it is worth passing on."""

import numpy as np
import pytest

from infovec.kernels import RBF
from infovec.learning import Curvature, LearnedRows, Model, ProjectedEvidence, optimise
from infovec.likelihoods import Gaussian, Probit


def bowl(p, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(p, p))
    return A @ A.T + np.eye(p), rng.normal(size=p)


def test_after_steps_in_all_directions_the_next_one_is_that_of_newton():
    H, _ = bowl(6)
    known = Curvature()
    for step in np.linalg.eigh(H)[1].T:  # conjugate directions
        known = known.after(step, H @ step)
    gradient = np.random.default_rng(1).normal(size=6)
    np.testing.assert_allclose(known.direction(gradient), np.linalg.solve(H, gradient), rtol=1e-9)
    np.testing.assert_allclose(known.times(4.0).direction(gradient), 0.25 * np.linalg.solve(H, gradient), rtol=1e-9)


def test_steps_are_uphill_and_not_too_long():
    assert np.linalg.norm(Curvature().direction(np.full(3, 1e9))) == pytest.approx(1.0)
    nearly_flat = Curvature().after(np.ones(3), np.full(3, 1e-6))
    assert np.max(nearly_flat.direction(np.ones(3))) == pytest.approx(2.0)
    assert Curvature().after(np.ones(3), -np.ones(3)).pairs == ()  # it bends the wrong way: nothing is learned


def test_what_was_learned_before_saves_evaluations():
    H, target = bowl(8)
    model = Model.begin(RBF(np.ones(8)), Gaussian(0.1))
    H, target = (np.pad(part, (0, model.size - 8)) for part in (H, 0.3 * target))
    H[np.diag_indices(model.size)] += 1.0

    def objective(scale):
        def value(at):
            x = at.theta - target
            return -scale * float(x @ H @ x), -2.0 * scale * (H @ x)

        return value

    first = optimise(objective(1.0), model, 60, tolerance=1e-9)
    np.testing.assert_allclose(first.model.theta, target, atol=1e-3)
    again = optimise(objective(3.0), model, 60, tolerance=1e-9, curvature=first.curvature.times(3.0))
    np.testing.assert_allclose(again.model.theta, target, atol=1e-3)
    assert len(again.steps) < 0.7 * len(first.steps)


def test_sites_of_fewer_rows_are_a_start_for_more():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=300) > 0.0, 1.0, -1.0)
    model, active = Model.begin(RBF(1.0, 20.0), Probit()), np.arange(0, 300, 10)
    few = np.arange(0, 300, 2)
    before = ProjectedEvidence(LearnedRows(few, X[few], y[few]), np.arange(0, 150, 5), 1e-6)
    before(model)
    fresh, told = (ProjectedEvidence(LearnedRows(np.arange(300), X, y), active, 1e-6) for _ in range(2))
    told.go_on_from(before)
    np.testing.assert_array_equal(told._sites[0][1::2], 0.0)
    assert np.all(told._sites[0][::2] > 0.0)
    value, gradient = fresh(model)
    np.testing.assert_allclose(told(model)[0], value, rtol=1e-6)
    np.testing.assert_allclose(told(model)[1], gradient, rtol=1e-3, atol=1e-3)
