"""Posteriors seen through their first active rows, and the learning curve that is made of them."""

import numpy as np
import pytest

from infovec import IVMClassifier, IVMRegressor
from infovec.evaluation import judge, learning_curve, loss_reject_curve, rejected_loss
from infovec.kernels import RBF, Bias

RNG = np.random.default_rng(1)
X = RNG.normal(size=(150, 2))
Y = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.2 * RNG.normal(size=150)
Z, T = X[100:], Y[100:]
KERNEL = RBF(1.3, 2.0) + Bias(0.5)


def machine(cls, approximation, **options):
    y = Y[:100] if cls is IVMRegressor else Y[:100] > 0
    return cls(
        kernel=KERNEL, learn=None, n_active=30, approximation=approximation, dtype="float64", random_state=0, **options
    ).fit(X[:100], y)


def test_first_rows_see_the_marginal_of_the_posterior():
    """Dense: u at the first k rows has the mean and covariance of the posterior, new rows the prior given u."""
    model = machine(IVMClassifier, "projected")
    A, post = model.active_vectors_, model.posterior_
    K = KERNEL(A, A) + 1e-12 * np.eye(30)
    V = np.linalg.inv(post.Q @ post.Q.T)
    mean, cov = post.L @ np.linalg.solve(post.Q.T, post.beta), post.L @ V @ post.L.T
    for k in (1, 7, 30):
        R = np.linalg.solve(K[:k, :k], KERNEL(A[:k], Z)).T  # k_x' K_k^-1
        expected = KERNEL.diag(Z) - np.sum(R * KERNEL(Z, A[:k]), axis=1) + np.sum(R @ cov[:k, :k] * R, axis=1)
        found_mean, found_var = post.first(k).predict(Z)
        np.testing.assert_allclose(found_mean, R @ mean[:k], rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(found_var, expected, rtol=1e-6, atol=1e-6)


def test_first_rows_of_a_selection_are_the_model_it_went_through():
    model = machine(IVMClassifier, "factorised", block_size=1)
    for k in (1, 9):
        smaller = IVMClassifier(
            kernel=KERNEL, likelihood=model.likelihood_, learn=None, n_active=k, approximation="factorised",
            dtype="float64", random_state=0, block_size=1,
        ).fit(X[:100], Y[:100] > 0)  # fmt: skip
        np.testing.assert_array_equal(smaller.active_, model.active_[:k])
        for a, b in zip(model.posterior_.first(k).predict(Z), smaller.posterior_.predict(Z), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("approximation", ["projected", "factorised"])
@pytest.mark.parametrize("cls", [IVMClassifier, IVMRegressor])
def test_learning_curve_ends_at_the_loss_of_the_model(cls, approximation):
    model = machine(cls, approximation)
    t = T if cls is IVMRegressor else T > 0
    before = model.posterior_
    curve = learning_curve(model, Z, t, most=8)
    figures = judge(model, Z, t).figures()
    loss = figures["log_loss"]["value"] if cls is IVMClassifier else -figures["log_density"]["value"]
    assert curve.size[0] == 1
    assert curve.size[-1] == 30
    assert curve.loss[-1] == pytest.approx(loss, rel=1e-6)
    assert curve.loss[0] > curve.loss[-1] + 0.1
    assert model.posterior_ is before


def test_no_curve_of_a_posterior_without_parts():
    assert learning_curve(object(), Z, T) is None


def test_loss_over_rejected_rows_is_that_of_every_share():
    loss, uncertainty = RNG.normal(size=40) ** 2, RNG.random(40)
    curve = loss_reject_curve(loss, uncertainty)
    for share in (0.0, 0.25, 0.5, 0.95):
        assert curve.at(share) == pytest.approx(rejected_loss(loss, uncertainty, share).value)
