"""Numbers at the ends of what floating point holds: one clear error, or finite predictions without stray warnings.

The long run is ``python -m benchmarks.fuzz numeric``.
"""

from decimal import Decimal, getcontext
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.integrate import quad
from scipy.special import expit

from infovec import IVMClassifier, IVMRegressor
from infovec.errors import NotPositiveDefinite, ParameterError
from infovec.kernels import MLP, RBF, Exponential, Linear, Matern, Polynomial, RationalQuadratic
from infovec.learning.model import Model
from infovec.likelihoods import Gaussian, Logit, Ordinal, Poisson
from infovec.likelihoods.classes import MultivariateProbit
from infovec.numerics.cholesky import beyond_identity
from infovec.numerics.quadrature import tilted_moments

ROOT = Path(__file__).parents[2]
COMMON = {"learn": None, "n_active": 15, "random_state": 0}
X = np.random.default_rng(0).normal(size=(40, 3))
WAVE = np.sin(2.0 * X[:, 0])
TWO, THREE = (WAVE > 0).astype(int), np.digitize(WAVE, [-0.3, 0.3])


@pytest.fixture
def numeric(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks.fuzzing import numeric

    return numeric


FOUND = [
    1, 7, 16, 25, 29, 41, 46, 58, 64, 88, 92, 95, 104, 115, 132, 146, 147, 150, 161, 169, 172, 186, 201, 213, 264, 277,
    315, 329, 363, 380, 382, 512, 527, 634, 659, 697, 1165, 1640,
]  # fmt: skip


@pytest.mark.parametrize("number", FOUND)
def test_problems_that_were_faults(numeric, number):
    assert numeric.outcome(numeric.draw(number)) in ("rejected", "fitted")


def test_the_fuzzer_tells_faults(numeric, monkeypatch):
    from benchmarks import fuzz

    class Wrong(IVMRegressor):
        def predict_latent(self, X, return_std=True, return_noise=False):
            return np.full(X.shape[0], np.nan), np.ones(X.shape[0])

    problem = numeric.Problem(Wrong(**COMMON), X, WAVE, None, X)
    assert numeric.outcome(problem) == "latent mean is nan"
    monkeypatch.setattr(IVMRegressor, "fit", lambda *given: 1 / 0)
    assert numeric.outcome(problem).startswith("raised: ")
    monkeypatch.setattr(numeric, "draw", lambda number: problem)
    assert numeric.run(10.0, trials=3)["outcomes"] == {"fault": 3}
    monkeypatch.setitem(fuzz.PARTS, "numeric", lambda seconds, seed: numeric.run(seconds, seed, 2))
    assert fuzz.main(["numeric"]) == 1


def _finite(model, y, weight=None, new=X):
    model.fit(X, y, weight)
    told = [*model.predict_latent(new)]
    told += [model.predict_proba(new)] if hasattr(model, "predict_proba") else model.predict(new, return_std=True)
    return all(np.all(np.isfinite(value)) for value in told)


@pytest.mark.parametrize("scale", [1e154, 1e300, 1e-300])
def test_targets_without_squares_are_refused(scale):
    with pytest.raises(ParameterError, match="another unit"):
        IVMRegressor(**COMMON).fit(X, scale * WAVE)


@pytest.mark.parametrize("approximation", ["projected", "factorised"])
@pytest.mark.parametrize("likelihood", ["probit", "logit"])
@pytest.mark.parametrize("variance", [1e-30, 1e30])
def test_kernels_of_hardly_any_and_of_huge_variance(approximation, likelihood, variance):
    assert _finite(IVMClassifier(RBF(1.0, variance), likelihood, approximation, **COMMON), TWO)


@pytest.mark.parametrize("approximation", ["projected", "factorised"])
def test_tiny_weights(approximation):
    tiny = np.full(len(X), 1e-12)
    assert _finite(IVMClassifier(approximation=approximation, **COMMON), TWO, tiny)
    assert _finite(IVMRegressor(likelihood="laplace", approximation=approximation, **COMMON), WAVE, tiny)
    assert _finite(IVMClassifier(multi_class="variational", approximation=approximation, **COMMON), THREE, tiny)


@pytest.mark.parametrize("multi_class", ["ovr", "variational"])
def test_kernels_whose_variance_has_no_square_are_refused(multi_class):
    with pytest.raises(ParameterError, match=r"a variance of .*scale the columns"):
        IVMClassifier(Linear(), multi_class=multi_class, **COMMON).fit(1e150 * X, THREE)


def test_predictions_out_of_reach():
    linear, smooth = (IVMClassifier(kernel, **COMMON).fit(X, TWO) for kernel in (Linear(), RBF()))
    with pytest.raises(ParameterError, match="scale the columns"):
        linear.predict_proba(1e300 * X)
    mean, std = smooth.predict_latent(1e300 * X)  # it knows nothing there
    np.testing.assert_array_equal(mean, 0.0)
    np.testing.assert_allclose(std, 1.0)


def test_infinite_rates_are_told():
    model = IVMRegressor(RBF(1.0, 1e5), "poisson", **COMMON).fit(X, THREE.astype(float))
    with pytest.warns(UserWarning, match=r"infinite.*kernel of smaller variance"):
        mean = model.predict(X + 30.0)
    assert np.all(np.isinf(mean))


def _exact_distances(A, Z, length_scale):
    getcontext().prec = 60
    return [
        [sum(((Decimal(float(a)) - Decimal(float(z))) / Decimal(length_scale)) ** 2 for a, z in zip(x, w, strict=True))
         for w in Z] for x in A
    ]  # fmt: skip


@pytest.mark.parametrize("columns", [2, 6])
@pytest.mark.parametrize(("scale", "length_scale"), [(1e160, 1e160), (1e160, 1.0), (1.0, 1e-200), (1e300, 1e250)])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_distances_in_any_unit_equal_those_of_exact_numbers(columns, scale, length_scale, form):
    A = scale * np.random.default_rng(1).normal(size=(4, columns))
    Z = np.vstack([A[:2], -A[1:3]])
    exact = _exact_distances(A, Z, length_scale)
    expected = [[float((1 + d / 2) ** -1) for d in row] for row in exact]
    found = RationalQuadratic(length_scale)(form(A), form(Z))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("kernel", [RBF, Matern, Exponential, RationalQuadratic])
def test_what_is_infinitely_far_has_no_covariance_and_no_slope(kernel):
    far = np.array([[0.0, 0.0], [1e300, -1e300]])
    for one in (kernel(1e-50), kernel(np.array([1e-50, 1.0]))):
        np.testing.assert_array_equal(one(far), np.eye(2))
        slope = one.vjp(far, far, np.ones((2, 2)))
        assert np.all(np.isfinite(slope))
        np.testing.assert_allclose(slope[-1 if kernel is RBF else slice(0, 0)], 2.0 if kernel is RBF else [])


@pytest.mark.parametrize("kernel", [Polynomial(), MLP()])
def test_kernels_of_angles_far_out_see_the_angle_only(kernel):
    A, Z = 1e100 * X[:4], 1e120 * X[4:8]
    angle = (X[:4] @ X[4:8].T) / np.outer(np.linalg.norm(X[:4], axis=1), np.linalg.norm(X[4:8], axis=1))
    np.testing.assert_allclose(
        kernel(A, Z), angle**2 if isinstance(kernel, Polynomial) else np.arcsin(angle), rtol=1e-9
    )
    assert np.all(np.isfinite(kernel.vjp(A, A, np.ones((4, 4)))))


@pytest.mark.parametrize("mean", [-3.0, 0.01, 0.5, 30.0])
def test_logit_under_a_wide_gaussian_equals_quadrature(mean):
    """In units of the deviation the logistic function is a step with a narrow flank, which is integrated apart."""
    sd = 1e8
    for label in (-1.0, 1.0):

        def density(f):
            return np.exp(-0.5 * (f / sd - mean) ** 2) / (sd * np.sqrt(2.0 * np.pi))

        # log Z' = g, and Z' = int s(y f) N'(f) df = y int s'(f) N(f) df
        flank = quad(lambda f: density(f) * expit(f) * expit(-f), -60.0, 60.0, epsabs=0.0, epsrel=1e-12)[0]
        log_z, g, nu = (float(v[0]) for v in Logit().tilted(*(np.array([v]) for v in (label, mean * sd, sd**2))))
        np.testing.assert_allclose(g * np.exp(log_z), label * flank, rtol=1e-9, atol=1e-300)
        slope = quad(
            lambda f: density(f) * (f / sd - mean) / sd * expit(f) * expit(-f), -60.0, 60.0, epsabs=0.0, epsrel=1e-10
        )[0]
        np.testing.assert_allclose((g**2 - nu) * np.exp(log_z), label * slope, rtol=1e-6, atol=1e-12 * g**2)


@pytest.mark.parametrize("var", [1e26, 1e30, 1e60])
def test_logit_curves_however_wide_the_gaussian(var):
    """The curvature of log Phi(f / sd) at zero is 2 / pi of the precision."""
    nu = Logit().tilted(np.ones(1), np.zeros(1), np.array([var])).nu
    np.testing.assert_allclose(nu, 2.0 / (np.pi * var), rtol=1e-12)


def test_hazards_of_hopeless_classes():
    """Far down, the slope of log Phi is minus its argument."""
    shape = MultivariateProbit.noise.below(np.array([-1e24, -1e5, -3.0]), np.zeros(3))
    np.testing.assert_allclose(shape.slope[:2], [1e24, 1e5], rtol=1e-9)


def test_variances_of_counts_whose_rate_vanishes_or_overflows():
    """That of a lognormal rate plus its mean, e^(m + v / 2) + (e^v - 1) e^(2 m + v)."""
    mean, var = Poisson().predict(np.array([-2000.0, 400.0, -800.0, 1.0]), np.array([1500.0, 0.0, 790.0, 0.5]))
    np.testing.assert_allclose(mean, np.exp([-1250.0, 400.0, -405.0, 1.25]))
    rest = np.exp(2.0 * 1.0 + 0.5) * np.expm1(0.5)
    np.testing.assert_allclose(var, [np.exp(-1000.0), np.exp(400.0), np.exp(-20.0), np.exp(1.25) + rest], rtol=1e-12)


def test_moments_of_rows_without_variance_are_derivatives():
    y, f = np.array([2.0]), np.array([0.3])
    moments = tilted_moments(Gaussian(0.5).log_prob, y, f, np.zeros(1))
    np.testing.assert_allclose([moments.g[0], moments.nu[0]], [(2.0 - 0.3) / 0.5, 2.0], rtol=1e-3)


def test_factors_beside_which_one_is_nothing():
    with pytest.raises(NotPositiveDefinite, match="smaller variance"):
        beyond_identity(np.array([[1e93, 1e93], [1e93, 0.99e93]]))
    np.testing.assert_allclose(beyond_identity(np.diag([3.0, 8.0])), np.diag([2.0, 3.0]))


def test_learning_may_begin_beyond_its_bounds():
    low, high = Model.begin(RBF(1e-115, 1e66), Gaussian()).bounds.T
    assert np.all(low <= 0.0)
    assert np.all(high >= 0.0)


def test_powers_of_a_likelihood_under_a_gaussian_without_width():
    mean, power = np.array([-1.0, 0.3, 2.0, 0.3]), np.array([2.0, 0.5, 7.0, 3.0])
    var = np.array([0.0, 1e-310, 1e-40, 1e-17])
    likelihood, y = Ordinal([-0.5, 0.5]), np.array([0.0, 1.0, 2.0, 2.0])
    log_z, g, nu = likelihood.tilted_power(y, mean, var, power)
    once = likelihood.tilted(y, mean, np.full(4, 1e-12))
    np.testing.assert_allclose(log_z, power * once.log_z, rtol=1e-6)
    np.testing.assert_allclose(g, power * once.g, rtol=1e-5)
    np.testing.assert_allclose(nu, power * once.nu, rtol=1e-3)
