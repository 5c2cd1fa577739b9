"""Dense models by four ways of inference: against formulas of their own, brute force, and the sparse machines."""

import numpy as np
import oracles
import pytest
from fixed import IVMClassifier
from scipy.special import log_ndtr, ndtr
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process import kernels as of_sklearn

from infovec import GPClassifier
from infovec.dense import class_proba, laplace, laplace_latent
from infovec.dense.draws import fit_gibbs
from infovec.dense.fits import fit_bound, fit_ep, fit_laplace, signs
from infovec.dense.importance import precisions_of, sample_precisions, with_precisions
from infovec.dense.learn import LaplaceCriterion, bound_criterion, climb, ep_criterion
from infovec.dense.noises import Logit as LogitNoise
from infovec.dense.noises import Probit as ProbitNoise
from infovec.errors import ParameterError
from infovec.inference.bound import as_race, bound_gradient, maximise_bound, project
from infovec.kernels import RBF, Bias, Exponential, Linear
from infovec.learning import Learning, Model, VariationalBound
from infovec.likelihoods import Gaussian, Logit, Probit
from infovec.likelihoods.classes import MultivariateProbit, Softmax
from infovec.machines.bound_fit import fit_variational
from infovec.posterior import AuxiliaryPosterior, DrawnPosterior

KERNEL = RBF([0.9, 1.3], 3.0) + Bias(0.5)
THREE = MultivariateProbit(np.zeros(3))


def problem(n=30, seed=0, classes=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    angle = np.arctan2(X[:, 1], X[:, 0]) + 0.4 * rng.normal(size=n)
    return X, np.floor(classes * (angle % (2 * np.pi)) / (2 * np.pi)).astype(np.intp) % classes


def test_the_bound_is_that_of_the_dense_formulas():
    X, y = problem(12)
    K = KERNEL(X)
    mean, S, bound = oracles.variational_probit([K] * 3, y)
    fitted = fit_bound(X, y, KERNEL, THREE)
    assert fitted.log_evidence == pytest.approx(bound, abs=1e-8)
    found_mean, found_var = fitted.posterior.predict(X)
    np.testing.assert_allclose(found_mean, mean, atol=1e-5)
    np.testing.assert_allclose(found_var, np.column_stack([np.diag(s) for s in S]), atol=1e-8)
    Z = np.array([[0.3, -0.2], [2.0, 1.0], [6.0, -5.0]])
    target = mean + oracles.race_gradient(y, mean)
    weights = np.linalg.solve(np.eye(12) + K, target)  # GR06 4.5
    np.testing.assert_allclose(fitted.posterior.mean(Z), KERNEL(Z, X) @ weights, atol=1e-5)
    proba = np.exp(fitted.posterior.log_proba(Z, THREE))
    var = KERNEL.diag(Z) - np.sum(KERNEL(Z, X) * np.linalg.solve(np.eye(12) + K, KERNEL(X, Z)).T, axis=1)
    expected = [
        oracles.race_log_z(np.full(3, c), KERNEL(Z, X) @ weights, np.repeat(var[:, None], 3, 1)) for c in range(3)
    ]
    np.testing.assert_allclose(proba, np.exp(expected).T, atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_the_bound_never_falls_and_lies_below_the_marginal_likelihood(seed):
    """Along the iteration of the paper, along ours, and beside an exact integral for functions that are Markov."""
    rng = np.random.default_rng(seed)
    x, y = np.sort(rng.uniform(0, 4, 5)), rng.integers(0, 3, 5)
    kernel, X = Exponential(length_scale=1.5, variance=4.0), x[:, None]
    truth = oracles.MarkovRace(x, y, 4.0, 1.5).log_evidence
    K, mean, values = kernel(X), np.zeros((5, 3)), []
    S = K @ np.linalg.inv(np.eye(5) + K)
    for _ in range(30):
        values.append(oracles.variational_bound_of([K] * 3, y, mean, [S] * 3))
        mean = S @ (mean + oracles.race_gradient(y, mean))  # eq. 4.6
    assert np.all(np.diff(values) > -1e-10)
    projections = project(kernel, 3, X, np.arange(5))
    ours = [maximise_bound(projections, y, THREE, max_iterations=k).bound for k in (1, 2, 3, 5, 8, 13, 21)]
    assert np.all(np.diff(ours) > -1e-10)
    assert values[-1] <= ours[-1] + 1e-8
    common = 0.5 * np.linalg.slogdet(np.eye(5) + K)[1]  # what independence of the sum of all classes costs
    assert truth - 5.0 < ours[-1] + common < truth
    assert fit_ep(X, y, kernel, THREE).log_evidence == pytest.approx(truth, abs=0.4)  # the same number, better


def test_columns_that_matter_together_are_found_among_many():
    """Rings in two of ten columns, a draw of which no start at which all columns count the same leads there."""
    rng = np.random.default_rng(114)
    y = rng.integers(0, 3, 80)
    radius = np.sqrt(rng.uniform(np.array([0.1, 0.6, 0.0])[y], np.array([0.5, 1.0, 0.0])[y]))
    angle = rng.uniform(0.0, 2.0 * np.pi, 80)
    blob, rings = 0.1 * rng.normal(size=(80, 2)), radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    X = np.hstack([np.where((y == 2)[:, None], blob, rings), rng.normal(size=(80, 8))])
    kernel = RBF(np.full(10, np.sqrt(0.5)), 1.0)
    learned = climb(ep_criterion, X, y, kernel, THREE, np.arange(80)).kernel
    assert np.all(learned.length_scale[:2] < 1.0)
    assert np.all(learned.length_scale[2:] > 5.0)
    assert fit_ep(X, y, learned, THREE).log_evidence > -50.0


@pytest.mark.parametrize("variance", [1.0, 10.0, 100.0])
@pytest.mark.parametrize("classes", [3, 5])
def test_the_first_step_is_the_iteration_of_the_paper_and_no_later_one_is_worse(classes, variance):
    """GR06 eq. 4.6, which is all that vbmp does, costs one evaluation of the slopes a step, as ours does."""
    X, y = problem(60, classes=classes)
    kernel = Exponential(1.0, variance)
    K = kernel(X)
    S, likelihood = K @ np.linalg.inv(np.eye(60) + K), MultivariateProbit(np.zeros(classes))
    projections = project(kernel, classes, X, np.arange(60))
    ours = [maximise_bound(projections, y, likelihood, max_iterations=k) for k in (1, 2, 3, 4, 6, 9)]
    mean, theirs = np.zeros((60, classes)), [-np.inf]
    for _ in range(ours[-1].evaluations):
        theirs.append(oracles.variational_bound_of([K] * classes, y, mean, [S] * classes))
        mean = S @ (mean + oracles.race_gradient(y, mean))  # eq. 4.6
    assert ours[0].evaluations == 2
    assert ours[0].bound == pytest.approx(theirs[2], abs=1e-6)
    for found in ours[1:]:
        assert found.bound > theirs[found.evaluations] + 1e-6
    limit = maximise_bound(projections, y, likelihood, tolerance=1e-9).bound
    assert limit - ours[-1].bound < 0.1 * (limit - theirs[ours[-1].evaluations])


def test_two_classes_have_one_function_and_a_higher_bound():
    """GR06 4.4.1; the race of two has the same means, and its bound is lower by log |I + K| / 2."""
    X, y = problem(14, classes=2)
    K = KERNEL(X)
    mean, bounds = oracles.variational_binary(K, signs(y))
    fitted = fit_bound(X, y, KERNEL, Probit())
    assert np.all(np.diff(bounds) > -1e-10)
    assert fitted.log_evidence == pytest.approx(bounds[-1], abs=1e-8)
    np.testing.assert_allclose(fitted.posterior.predict(X)[0], mean, atol=1e-5)
    race = fit_bound(X, y, KERNEL, MultivariateProbit(np.zeros(2)))
    both = race.posterior.predict(X)[0]
    np.testing.assert_allclose((both[:, 1] - both[:, 0]) / np.sqrt(2.0), mean, atol=1e-5)
    dets = np.linalg.slogdet(np.eye(14) + K)[1]
    assert fitted.log_evidence - race.log_evidence == pytest.approx(0.5 * dets, abs=1e-6)
    proba = np.exp(fitted.posterior.log_proba(X, Probit()))
    var = fitted.posterior.predict(X)[1]
    np.testing.assert_allclose(proba[:, 1], ndtr(mean / np.sqrt(1.0 + var)), atol=1e-5)  # end of 4.5
    np.testing.assert_allclose(proba, np.exp(race.posterior.log_proba(X, MultivariateProbit(np.zeros(2)))), atol=1e-5)
    with pytest.raises(ParameterError, match="slope one"):
        as_race(Probit(slope=2.0))
    with pytest.raises(ParameterError, match="slope one"):
        as_race(Gaussian())


def test_the_gradient_of_one_function_equals_differences():
    X, y = problem(16, classes=2)
    active = np.array([0, 3, 8, 12, 5])
    kernel, probit = RBF([0.9, 1.3], 3.0) + Linear(0.2), Probit(0.3)
    for rows in (active, np.arange(16)):

        def largest(theta, rows=rows):
            race = as_race(probit.with_theta(np.append(theta[-1:], 0.0)))
            return maximise_bound(project(kernel.with_theta(theta[:-1]), 1, X, rows), y, race, tolerance=1e-8).bound

        projections = project(kernel, 1, X, rows)
        found = bound_gradient(projections, X, maximise_bound(projections, y, as_race(probit), tolerance=1e-8))
        theta = np.append(kernel.theta, 0.3)
        np.testing.assert_allclose(
            np.concatenate([*found.kernels, found.likelihood]), oracles.fd_gradient(largest, theta, 1e-5), atol=2e-5
        )
    weight = np.random.default_rng(0).integers(1, 4, 16).astype(float)  # a row that counts twice is two rows
    again = np.repeat(np.arange(16), weight.astype(int))
    race = as_race(Probit())
    one = maximise_bound(project(KERNEL, 1, X, np.arange(16), weight=weight), y, race, tolerance=1e-8).bound
    assert one == pytest.approx(fit_bound(X[again], y[again], KERNEL, Probit()).log_evidence, abs=1e-5)


@pytest.mark.parametrize("criterion", [bound_criterion, ep_criterion, LaplaceCriterion])
@pytest.mark.parametrize("likelihood", [THREE, Softmax(np.zeros(3)), Probit(), Logit()], ids=lambda v: type(v).__name__)
def test_gradients_of_the_criteria_equal_differences(criterion, likelihood):
    if criterion is bound_criterion and isinstance(likelihood, Softmax | Logit):
        pytest.skip("the bound is about auxiliary variables")
    X, y = problem(15, classes=3 if isinstance(likelihood, MultivariateProbit | Softmax) else 2)
    objective = criterion(X, y, likelihood)
    objective.tolerance = 1e-7
    model = Model.begin(KERNEL, likelihood, learning=Learning(fixed=["likelihood.*"]))
    step = np.random.default_rng(0).normal(0.0, 0.3, model.size)
    found = objective(model.with_theta(step))[1]
    numbers = oracles.fd_gradient(lambda v: objective(model.with_theta(v))[0], step, 1e-4)
    np.testing.assert_allclose(found, numbers, atol=3e-4)


@pytest.mark.parametrize(("multi_class", "inference"), [("variational", "variational"), ("probit", "ep")])
def test_the_sparse_machine_with_all_rows_active_is_the_dense_model(multi_class, inference):
    X, y = problem(40)
    sparse = IVMClassifier(
        KERNEL, MultivariateProbit(np.zeros(3)), multi_class=multi_class, n_active=40, blur=False, dtype="float64"
    ).fit(X, y)  # fmt: skip
    dense = GPClassifier(KERNEL, inference, learn=None).fit(X, y)
    assert dense.log_evidence_ == pytest.approx(sparse.log_evidence_, abs=2e-3)
    for a, b in zip(dense.predict_latent(X), sparse.predict_latent(X), strict=True):
        np.testing.assert_allclose(a, b, atol=5e-3)
    if inference == "variational":
        whole = fit_variational(X, y, KERNEL, 40, tolerance=1e-7)
        assert dense.log_evidence_ == pytest.approx(whole.bound, abs=1e-8)
        np.testing.assert_allclose(dense.predict_latent(X)[0], whole.predict_latent(X)[0], atol=1e-5)


def test_two_classes_by_ep_are_those_of_the_sparse_machine():
    X, y = problem(40, classes=2)
    sparse = IVMClassifier(KERNEL, Probit(), n_active=40, blur=False, dtype="float64").fit(X, y)
    dense = GPClassifier(KERNEL, "ep", learn=None).fit(X, y)
    assert dense.log_evidence_ == pytest.approx(sparse.log_evidence_, abs=1e-3)
    np.testing.assert_allclose(dense.predict_latent(X)[0], sparse.predict_latent(X)[0], atol=5e-3)


def test_ep_is_that_of_the_full_covariance():
    X, y = problem(9)

    def tilted(i, mean, var):
        return tuple(part[0] for part in THREE.tilted(y[i : i + 1], mean[None], var[None]))

    *_, mean, var, log_z = oracles.full_coupled_ep(KERNEL(X), 3, tilted)
    fitted = fit_ep(X, y, KERNEL, THREE)
    assert fitted.log_evidence == pytest.approx(log_z, abs=1e-5)
    np.testing.assert_allclose(fitted.posterior.predict(X)[0], mean, atol=1e-3)
    np.testing.assert_allclose(fitted.posterior.predict(X)[1], var, atol=1e-3)


def test_laplace_of_two_classes_is_that_of_scikit_learn():
    X, y = problem(60, classes=2)
    ours = GPClassifier(RBF(0.8, 4.0), "laplace", learn=None).fit(X, y)
    theirs = GaussianProcessClassifier(of_sklearn.ConstantKernel(4.0) * of_sklearn.RBF(0.8), optimizer=None).fit(X, y)
    Z = np.random.default_rng(1).normal(size=(50, 2))
    assert isinstance(ours.likelihood_, Logit)
    assert ours.log_evidence_ == pytest.approx(theirs.log_marginal_likelihood_value_, abs=1e-6)
    np.testing.assert_allclose(ours.predict_latent(X)[0], theirs.base_estimator_.f_cached, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(Z), theirs.predict_proba(Z), atol=3e-3)  # theirs is a fit of erfs


@pytest.mark.parametrize("noise", [LogitNoise(), ProbitNoise()], ids=["logit", "probit"])
def test_laplace_of_several_classes_predicts_as_its_functions_do(noise):
    X, y = problem(25)
    Z = np.random.default_rng(1).normal(0, 2, size=(20, 2))
    likelihood = Softmax(np.zeros(3)) if isinstance(noise, LogitNoise) else THREE
    fitted = fit_laplace(X, y, KERNEL, likelihood)
    found = laplace(noise, KERNEL(X), y, 3)
    mean, cov = laplace_latent(found, KERNEL(Z, X), KERNEL.diag(Z))
    assert fitted.log_evidence == pytest.approx(found.log_evidence, abs=1e-9)
    np.testing.assert_allclose(fitted.posterior.predict_cov(Z)[0], mean, atol=1e-9)
    np.testing.assert_allclose(fitted.posterior.predict_cov(Z)[1], cov, atol=1e-9)
    np.testing.assert_allclose(fitted.posterior.predict(Z)[1], np.einsum("icc->ic", cov), atol=1e-9)
    np.testing.assert_allclose(fitted.posterior.mean(Z), mean, atol=1e-9)
    name = "logit" if isinstance(noise, LogitNoise) else "probit"
    model = GPClassifier(KERNEL, "laplace", None, name).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(Z), class_proba(likelihood, mean, cov), atol=1e-9)


def test_laplace_of_two_classes_by_the_probit_is_the_mode_of_one_function():
    X, y = problem(20, classes=2)
    K, t = KERNEL(X), signs(y)
    f = fit_laplace(X, y, KERNEL, Probit()).posterior.predict(X)[0]
    slope = t * np.exp(-0.5 * f**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(t * f))
    np.testing.assert_allclose(K @ slope, f, atol=1e-5)


def test_draws_agree_with_an_exact_integral_and_their_mixture_is_a_mixture():
    rng = np.random.default_rng(0)
    x, y = np.array([0.0, 0.7, 1.9, 3.0]), np.array([0, 1, 1, 2])
    kernel = Exponential(length_scale=1.5, variance=4.0)
    exact = oracles.MarkovRace(x, y, 4.0, 1.5)
    found = fit_gibbs(x[:, None], y, kernel, THREE, rng, n_samples=8000, burn_in=100)
    proba = np.exp(found.posterior.log_proba(np.array([[1.3]]), THREE))[0]
    np.testing.assert_allclose(proba, exact.proba_at(1.3), atol=0.02)  # of 400 draws
    assert found.evidence.log_evidence == pytest.approx(exact.log_evidence, abs=5 * found.evidence.error)
    assert found.r_hat < 1.02
    draws = found.posterior.force[:3]
    one_by_one = [AuxiliaryPosterior(kernel, x[:, None], draw[None]) for draw in draws]
    Z = np.array([[0.2], [5.0]])
    mixed = AuxiliaryPosterior(kernel, x[:, None], draws)
    expected = np.mean([np.exp(part.log_proba(Z, THREE)) for part in one_by_one], axis=0)
    np.testing.assert_allclose(np.exp(mixed.log_proba(Z, THREE)), expected, atol=1e-10)
    kernels = DrawnPosterior(kernel, x[:, None], (kernel,) * 3, draws[:, None])
    np.testing.assert_allclose(np.exp(kernels.log_proba(Z, THREE)), expected, atol=1e-10)
    means = np.array([part.predict(Z)[0] for part in one_by_one])
    for posterior in (mixed, kernels):
        mean, var = posterior.predict(Z)
        np.testing.assert_allclose(mean, means.mean(axis=0), atol=1e-10)
        np.testing.assert_allclose(var, one_by_one[0].predict(Z)[1] + means.var(axis=0), atol=1e-10)
        np.testing.assert_allclose(posterior.mean(Z), mean, atol=1e-10)


def test_weights_of_the_importance_sampler_are_densities_of_the_auxiliary_variables():
    """One iteration with many draws is the posterior mean and spread of a precision by quadrature."""
    X, y = problem(20)
    kernel = RBF(1.0, 2.0)
    phi = np.geomspace(1e-4, 15.0, 300)
    found = fit_bound(X, y, kernel, THREE)
    target = found.posterior.predict(X)[0] + found.posterior.weights
    for weigh, value, noise in (
        ("auxiliary", target, np.eye(20)),
        ("means", found.posterior.predict(X)[0], 2e-6 * np.eye(20)),
    ):
        matrices = [with_precisions(kernel, np.array([p]))(X) + noise for p in phi]
        log = [sum(oracles.gaussian_log_density(column, K) for column in value.T) for K in matrices]
        rate = 1.001 / (1e-3 + precisions_of(kernel)[0])  # eq. 4.8
        density = phi * np.exp(np.array(log) - max(log) - rate * phi)  # on a logarithmic grid
        mean = density @ phi / density.sum()
        std = np.sqrt(density @ (phi - mean) ** 2 / density.sum())
        sampled = sample_precisions(
            X, y, kernel, THREE, np.random.default_rng(0), n_samples=2500, max_iterations=1, weigh=weigh
        )
        assert sampled.mean[0] == pytest.approx(mean, rel=0.1)
        assert sampled.std[0] == pytest.approx(std, rel=0.2)
        assert sampled.weights.sum() == pytest.approx(1.0)
        assert 1.0 <= sampled.ess[0] <= 2500.0


def test_the_importance_sampler_finds_the_inputs_that_matter_and_the_printed_weights_do_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.digitize(X[:, 1], [-0.5, 0.5])
    start = RBF(np.ones(3))
    found = sample_precisions(X, y, start, THREE, rng, n_samples=120)
    assert np.argmax(found.mean) == 1
    assert found.mean[1] > 5.0 * np.delete(found.mean, 1).max()
    assert len(found.path) == len(found.bounds) == len(found.ess)
    assert max(found.bounds) > found.bounds[0] + 3.0
    printed = sample_precisions(X, y, start, THREE, rng, n_samples=120, weigh="means", max_iterations=8)
    assert printed.bounds[-1] < max(found.bounds)
    assert printed.mean[1] < found.mean[1]  # functions of means are too smooth
    with pytest.raises(ParameterError, match="draws length scales"):
        sample_precisions(X, y, Linear(), THREE, rng)
    told = []
    sample_precisions(X, y, start, THREE, rng, n_samples=20, watch=lambda bound, phi: told.append(bound) or True)
    assert len(told) == 1


def test_learning_climbs_and_every_start_counts():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = np.digitize(X[:, 1] + 0.2 * rng.normal(size=80), [-0.5, 0.5])
    for criterion, likelihood in (
        (bound_criterion, THREE),
        (ep_criterion, THREE),
        (LaplaceCriterion, Softmax(np.zeros(3))),
    ):
        start = RBF(np.full(3, 2.0), 4.0)
        learned = climb(criterion, X, y, start, likelihood, rng.permutation(80))
        assert np.argmin(learned.kernel.length_scale) == 1
        assert max(step.criterion for step in learned.steps) > learned.steps[0].criterion + 2.0
    tied = climb(bound_criterion, X, y, start, THREE, np.arange(80), tied=True).kernel
    assert np.ptp(tied.length_scale) == pytest.approx(0.0, abs=1e-9)
    assert isinstance(bound_criterion(X, y, THREE), VariationalBound)
