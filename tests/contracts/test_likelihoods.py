"""Contract of every likelihood. A likelihood without an entry in CASES makes the suite fail."""

import inspect
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from oracles import expected_by_panels, fd_gradient, tilted_by_panels

import infovec.likelihoods as module
from infovec.errors import ParameterError
from infovec.likelihoods import (
    Discrete,
    Gaussian,
    Laplace,
    Likelihood,
    Logit,
    NullCategory,
    OneOfMany,
    Ordinal,
    Poisson,
    Probit,
    Role,
    StudentT,
)
from infovec.likelihoods.classes import ClassLikelihood
from infovec.likelihoods.parts import row_bytes

MEANS = [-30.0, -8.0, -1.5, 0.0, 0.3, 4.0, 30.0]
VARS = [1e-6, 1e-3, 0.1, 1.0, 30.0, 1e3, 1e6]

# likelihood, targets to try, centres of its own scale (for the oracle)
CASES = [
    (Gaussian(0.05), [-2.0, 0.0, 3.0], True),
    (Gaussian(2.0, bias=1.5), [1.0, 40.0], True),
    (Probit(), [-1.0, 1.0], False),
    (Probit(bias=-0.7, slope=2.5), [-1.0, 1.0], False),
    (Logit(), [-1.0, 1.0], False),
    (Logit(bias=0.4, slope=3.0), [-1.0, 1.0], False),
    (Ordinal(np.array([-1.0, 0.2, 2.0])), [0.0, 1.0, 2.0, 3.0], False),
    (Ordinal(np.array([-0.01, 0.01]), slope=4.0), [0.0, 1.0, 2.0], False),
    (Probit(lapse=0.05), [-1.0, 1.0], False),
    (Probit(bias=-0.7, slope=2.5, lapse=1e-4), [-1.0, 1.0], False),
    (Logit(lapse=0.3), [-1.0, 1.0], False),
    (Logit(bias=0.4, slope=3.0, lapse=1e-3), [-1.0, 1.0], False),
    (Ordinal(np.array([-1.0, 0.2, 2.0]), lapse=0.1), [0.0, 1.0, 2.0, 3.0], False),
    (Ordinal(np.array([-0.01, 0.01]), slope=4.0, lapse=1e-3), [0.0, 1.0, 2.0], False),
    (OneOfMany(0.3, lapse=0.1, classes=4), [-1.0, 1.0], False),
    (OneOfMany(bias=-0.7, slope=2.5, lapse=0.7, classes=10), [-1.0, 1.0], False),
    (Laplace(), [-1.0, 0.0, 5.0], True),
    (Laplace(scale=0.05, bias=-1.0), [0.0, 2.0], True),
    (StudentT(), [-1.0, 0.0, 5.0], True),
    (StudentT(scale=0.05, df=1.5, bias=0.5), [0.0, 2.0], True),
    (StudentT(scale=2.0, df=80.0), [0.0, 2.0], True),
    (NullCategory(), [-1.0, 0.0, 1.0], False),
    (NullCategory(0.4, 4.0, 0.9, 0.3, slope=2.0), [-1.0, 0.0, 1.0], False),
    (Poisson(), [0.0, 1.0, 7.0], False),
    (Poisson(bias=2.0), [0.0, 30.0], False),
    (Poisson(bias=0.5, scatter=0.3), [0.0, 1.0, 7.0], False),
    (Poisson(scatter=4.0), [0.0, 30.0], False),
]
each_case = pytest.mark.parametrize(("likelihood", "targets", "real"), CASES, ids=lambda v: str(v)[:40])


def concrete_likelihoods(base=Likelihood):
    todo, found = [base], []
    while todo:
        cls = todo.pop()
        todo += cls.__subclasses__()
        if not inspect.isabstract(cls) and cls.__module__.startswith("infovec."):
            found.append(cls)
    return found


def test_no_likelihood_without_a_contract():
    covered = {type(case[0]) for case in CASES}
    elsewhere = {module.Weighted, module.WeightedDiscrete}  # tests/unit/test_weights.py
    elsewhere |= {module.Transformed}  # tests/unit/test_targets.py
    assert set(concrete_likelihoods()) == covered | elsewhere
    assert {c.__name__ for c in covered} <= set(module.__all__)


CLASSES = [kind(np.array([0.3, -0.2, 1.0])) for kind in concrete_likelihoods(ClassLikelihood)]
ALL = [*(case[0] for case in CASES), *CLASSES, module.weighted(Laplace(0.3), 2.0), module.weighted(Probit(0.3), 2.0),
       module.Transformed(StudentT(), module.Log())]  # fmt: skip


def of_role(likelihood, role):
    """Names of the parameters that have a role."""
    return [name for name, here in likelihood.roles.items() if here is role and name in likelihood.transforms]


def test_every_likelihood_is_asked_for_its_roles():
    asked = {type(likelihood) for likelihood in ALL}
    assert asked == {*concrete_likelihoods(), *concrete_likelihoods(ClassLikelihood)}


@pytest.mark.parametrize("likelihood", ALL, ids=str)
def test_every_parameter_has_a_role(likelihood):
    assert len(likelihood.free_roles) == len(likelihood.parameter_names) == likelihood.theta.size
    for value in (likelihood, *(part for _, part in likelihood._children())):
        assert set(value.transforms) <= set(value.roles), type(value)
    assert set(likelihood.free_roles) <= {
        Role.NOISE_VARIANCE, Role.NOISE_SCALE, Role.BIAS, Role.REDUNDANT, Role.FREE,
    }  # fmt: skip


@each_case
def test_moments_of_a_row_take_no_more_memory_than_is_counted(likelihood, targets, real):
    n = 4000
    rng = np.random.default_rng(0)
    y, mean, var = rng.choice(targets, n), 5.0 * rng.normal(size=n), rng.choice(VARS, n)
    likelihood.tilted(y[:10], mean[:10], var[:10])  # tables are made once
    tracemalloc.start()
    likelihood.tilted(y, mean, var)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= n * row_bytes(likelihood)


@each_case
def test_noise_moves_by_its_exponent(likelihood, targets, real):
    exponent = np.array([role.noise for role in likelihood.free_roles])
    assert exponent.any() == real
    if not real:
        return
    mean, var = np.array([-1.0, 0.5]), np.array([0.2, 0.7])
    log = [np.log(one.predict(mean, var)[1] - var) for one in
           (likelihood, likelihood.with_theta(likelihood.theta + 0.8 * exponent))]  # fmt: skip
    if np.all(np.isfinite(log[0])):  # noise that has a variance
        np.testing.assert_allclose(log[1] - log[0], 0.8, rtol=1e-12)
    f, y, factor = np.linspace(-2.0, 2.0, 9), targets[0], np.exp(0.4)  # else it is a change of unit of the residual
    wide = likelihood.with_theta(likelihood.theta + 0.8 * exponent)
    stretched = likelihood.log_prob(y, y - likelihood.bias + f) - np.log(factor)
    np.testing.assert_allclose(wide.log_prob(y, y - likelihood.bias + factor * f), stretched, rtol=1e-11)


@each_case
def test_a_shift_of_the_function_is_a_shift_of_the_bias(likelihood, targets, real):
    f, names = np.linspace(-2.0, 2.0, 9), of_role(likelihood, Role.BIAS)
    assert names
    way = 1.0 if isinstance(likelihood, Ordinal) else -1.0  # cut points move with the function
    there = replace(likelihood, **{name: getattr(likelihood, name) + way * 0.7 for name in names})
    for y in targets:
        np.testing.assert_allclose(there.log_prob(y, f + 0.7), likelihood.log_prob(y, f), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("likelihood", CLASSES, ids=str)
def test_a_shift_of_the_functions_is_a_shift_of_the_biases(likelihood):
    f, shift, labels = np.random.default_rng(0).normal(size=(6, 3)), np.array([0.7, -0.2, 0.1]), np.arange(6) % 3
    there = replace(likelihood, bias=likelihood.bias - shift)
    np.testing.assert_allclose(there.log_prob(labels, f + shift), likelihood.log_prob(labels, f), rtol=1e-7)


@each_case
def test_what_is_redundant_is_a_factor_of_the_function(likelihood, targets, real):
    redundant, places = of_role(likelihood, Role.REDUNDANT), of_role(likelihood, Role.BIAS)
    assert bool(redundant) == isinstance(likelihood, Discrete)
    if redundant:
        (name,), factor, f = redundant, 2.3, np.linspace(-2.0, 2.0, 9)
        steeper = replace(likelihood, **{name: factor * getattr(likelihood, name)})
        wider = replace(likelihood, **{place: factor * getattr(likelihood, place) for place in places})
        for y in targets:
            np.testing.assert_allclose(steeper.log_prob(y, f), wider.log_prob(y, factor * f), rtol=1e-9)


def grid(targets):
    y, mean, var = (v.ravel() for v in np.meshgrid(targets, MEANS, VARS, indexing="ij"))
    return y, mean, var


@each_case
def test_tilted_equals_brute_force_integral(likelihood, targets, real):
    y, mean, var = grid(targets)
    log_z, g, nu = likelihood.tilted(y, mean, var)
    centres = [0.0, *getattr(likelihood, "thresholds", ()), -getattr(likelihood, "bias", 0.0)]
    for i in range(len(y)):
        own = [y[i] - likelihood.bias] if real else centres
        z0, g0, nu0 = tilted_by_panels(lambda f, v=y[i]: likelihood.log_prob(v, f), mean[i], var[i], own)
        case = f"y={y[i]} mean={mean[i]} var={var[i]}"
        assert log_z[i] == pytest.approx(z0, rel=1e-8, abs=1e-8), case
        # the oracle's moments carry rounding of about 1e-12 in units of the standard deviation
        assert g[i] == pytest.approx(g0, rel=1e-6, abs=1e-10 / np.sqrt(var[i])), case
        assert nu[i] == pytest.approx(nu0, rel=1e-6, abs=1e-9 / var[i]), case


# two modes (Student's t, wrong labels, rows without) or a kink (Laplace) are covered by no general rule
SMOOTH = [case for case in CASES if case[0].log_concave and not isinstance(case[0], Laplace)]


@pytest.mark.parametrize(("likelihood", "targets", "real"), SMOOTH, ids=lambda v: str(v)[:40])
def test_closed_form_equals_the_quadrature_default(likelihood, targets, real):
    y, mean, var = grid(targets)
    own, default = likelihood.tilted(y, mean, var), Likelihood.tilted(likelihood, y, mean, var)
    np.testing.assert_allclose(default.log_z, own.log_z, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(default.g * np.sqrt(var), own.g * np.sqrt(var), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(default.nu * var, own.nu * var, rtol=1e-6, atol=1e-7)


@each_case
def test_g_and_nu_are_derivatives_of_log_z(likelihood, targets, real):
    y, mean, var = grid(targets)
    step = 6e-6 * np.maximum(1.0, np.abs(mean))
    up, down = (likelihood.tilted(y, mean + s * step, var) for s in (1.0, -1.0))
    _, g, nu = likelihood.tilted(y, mean, var)
    keep = np.abs(up.log_z) < 1e5  # beyond, the difference of two such numbers says nothing
    fd = (up.log_z - down.log_z) / (2 * step)
    noise = 1e-15 * np.abs(up.log_z) / step
    assert keep.sum() > 0.5 * keep.size
    assert np.all(np.abs(fd - g)[keep] <= (1e-5 * np.abs(g) + 1e-7 + noise + 1e-9 / step)[keep])
    smooth = var >= 1e-3  # nu itself varies over sqrt(var)
    fd_nu = -(up.g - down.g) / (2 * step)
    scale = 1e-4 * np.abs(nu) + 1e-9 * np.maximum(1.0, np.abs(g)) / step + 1e-7
    assert np.all(np.abs(fd_nu - nu)[smooth] <= scale[smooth])


@each_case
def test_nu_is_positive_and_below_one_over_var_iff_log_concave(likelihood, targets, real):
    y, mean, var = grid(targets)
    _, _, nu = likelihood.tilted(y, mean, var)
    assert np.all(np.isfinite(nu))
    assert np.all(nu * var <= 1.0 + 1e-12)
    if likelihood.log_concave:
        assert np.all(nu >= 0)
        return
    if isinstance(likelihood, NullCategory):
        target, place = 0.0, np.array([-likelihood.bias])
    else:  # labels may be wrong: about as far on the other side as makes that the better explanation
        target, place = (0.0, np.linspace(0.0, 60.0, 601)) if isinstance(likelihood, Discrete) else (1e3, np.zeros(1))
        target = min(likelihood.labels) if isinstance(likelihood, Discrete) else target
    assert likelihood.tilted(np.full(len(place), target), place, np.ones(len(place))).nu.min() < 0


@each_case
def test_gradient_in_its_own_parameters(likelihood, targets, real):
    y, mean, var = (v[::3] for v in grid(targets))
    moderate = (np.abs(mean) < 10) & (var > 1e-3) & (var < 1e4)
    y, mean, var = y[moderate], mean[moderate], var[moderate]
    fd = fd_gradient(lambda t: likelihood.with_theta(t).tilted(y, mean, var).log_z, likelihood.theta)
    ours = likelihood.d_log_z(y, mean, var)
    assert ours.shape == (likelihood.theta.size, len(y))
    np.testing.assert_allclose(ours, fd, rtol=2e-6, atol=1e-7)
    default = Likelihood.d_log_z(likelihood, y, mean, var)
    np.testing.assert_allclose(default, ours, rtol=2e-6, atol=1e-7)


@each_case
def test_probabilities_sum_to_one(likelihood, targets, real):
    _, mean, var = grid([0.0])
    if isinstance(likelihood, Discrete):
        total = np.exp(likelihood.log_proba(mean, var)).sum(axis=1)
        np.testing.assert_allclose(total, 1.0, atol=1e-12)
        assert {y for y in targets if likelihood.told(y)} == set(likelihood.labels)
        return
    f = np.array([-3.0, 0.2, 2.5])
    if isinstance(likelihood, Poisson):
        total = np.exp(likelihood.log_prob(np.arange(20_000.0)[:, None], f)).sum(axis=0)
        np.testing.assert_allclose(total, 1.0, atol=1e-10)
    else:
        for one in f:
            log_z, _, _ = tilted_by_panels(
                lambda y, one=one: likelihood.log_prob(y, one) + 0.5 * (y / 1e3) ** 2 + 0.5 * np.log(2e6 * np.pi),
                0.0,
                1e6,
                [one + likelihood.bias],
            )
            # the heaviest tail here, df = 1.5, leaves about 1e-9 outside the oracle's 3e5
            assert log_z == pytest.approx(0.0, abs=1e-7)


@each_case
def test_predict_is_the_mean_and_variance_of_the_target(likelihood, targets, real):
    mean, var = np.array([-1.0, 0.3, 1.2]), np.array([0.2, 1.0, 0.5])
    predicted = likelihood.predict(mean, var)
    rng = np.random.default_rng(0)
    f = mean + np.sqrt(var) * rng.standard_normal((400_000, 3))
    if isinstance(likelihood, Discrete):
        y = likelihood.labels
        p = np.exp([likelihood.log_prob(np.full(f.shape, v), f).ravel() for v in y]).reshape(len(y), *f.shape)
        if isinstance(likelihood, NullCategory):  # the class of a row whose label is not missing, and not null
            p /= 1.0 - np.array([likelihood.missing_negative, likelihood.missing_positive])[:, None, None]
            p /= p.mean(axis=1).sum(axis=0)
        first = np.einsum("k,kij->j", y, p) / len(f)
        second = np.einsum("k,kij->j", y**2, p) / len(f)
    else:
        y = draw(likelihood, f, rng)
        first, second = y.mean(axis=0), (y**2).mean(axis=0)
    if isinstance(likelihood, StudentT) and likelihood.df <= 2:
        assert np.all(np.isinf(predicted.var))
        return
    np.testing.assert_allclose(predicted.mean, first, atol=0.02 * np.sqrt(second).max())
    np.testing.assert_allclose(predicted.var, second - first**2, rtol=0.1, atol=1e-3)


def draw(likelihood, f, rng):
    shifted = f + likelihood.bias
    if isinstance(likelihood, Gaussian):
        return shifted + np.sqrt(likelihood.variance) * rng.standard_normal(f.shape)
    if isinstance(likelihood, Laplace):
        return shifted + rng.laplace(scale=likelihood.scale, size=f.shape)
    if isinstance(likelihood, StudentT):
        return shifted + likelihood.scale * rng.standard_t(likelihood.df, size=f.shape)
    own = rng.gamma(1.0 / likelihood.scatter, likelihood.scatter, f.shape) if likelihood.scatter else 1.0
    return rng.poisson(np.exp(shifted) * own).astype(float)


@each_case
def test_it_is_an_immutable_value(likelihood, targets, real):
    twin = likelihood.with_theta(likelihood.theta)
    np.testing.assert_allclose(twin.theta, likelihood.theta, rtol=1e-12, atol=1e-15)
    assert likelihood == type(likelihood)(**{f: getattr(likelihood, f) for f in vars(likelihood)})
    assert len(likelihood.parameter_names) == likelihood.theta.size == len(likelihood.bounds)
    with pytest.raises(AttributeError):
        likelihood.bias = 3.0


def test_gaussian_with_a_variance_for_each_row():
    variance = np.array([0.1, 2.0, 7.0])
    y, mean, var = np.array([1.0, -1.0, 0.5]), np.zeros(3), np.full(3, 0.7)
    each = [Gaussian(v).tilted(y[i : i + 1], mean[:1], var[:1]) for i, v in enumerate(variance)]
    rows = Gaussian(variance)
    for k, field in enumerate(rows.tilted(y, mean, var)):
        np.testing.assert_allclose(field, [e[k][0] for e in each])
    default = Likelihood.tilted(rows, y, mean, var)
    np.testing.assert_allclose(default.nu, rows.tilted(y, mean, var).nu, rtol=1e-8)
    assert rows.take(np.array([2, 0])) == Gaussian(variance[[2, 0]])
    assert rows.parameter_names == ("bias",)
    with pytest.raises(ParameterError, match="3 variances for 2 rows"):
        rows.check_targets(y[:2])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian(0.0), "variance must be positive"),
        (lambda: Gaussian(np.array([1.0, -1.0])), "variance must be positive"),
        (lambda: Probit(slope=-1.0), "slope must be positive"),
        (lambda: Probit(bias=np.nan), "bias must be finite"),
        (lambda: Ordinal(np.array([1.0, 1.0])), "strictly increasing"),
        (lambda: StudentT(df=0.0), "df must be positive"),
        (lambda: Gaussian("loud"), "must be a number"),
        (lambda: Poisson().check_targets(np.array([0.0, 1.5])), "row 1"),
        (lambda: Probit().check_targets(np.array([0.0, 1.0])), "row 0"),
        (lambda: Probit().with_theta(np.zeros(3)), "2 free parameters"),
    ],
)
def test_impossible_parameters_and_targets_are_named(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


@each_case
def test_expected_log_likelihood_and_its_slopes(likelihood, targets, real):
    y, mean, var = (v.ravel() for v in np.meshgrid(targets, [-3.0, 0.0, 2.0], [1e-3, 0.1, 2.0], indexing="ij"))
    got = likelihood.expected_log_prob(y, mean, var)
    for i in range(len(y)):
        want = expected_by_panels(lambda f, v=y[i]: likelihood.log_prob(v, f), mean[i], var[i])
        assert got[i] == pytest.approx(want, rel=0.05, abs=0.01)  # 32 nodes miss some of a narrow peak
    slopes = likelihood.d_expected_log_prob(y, mean, var)
    for one, other in zip(slopes, Likelihood.d_expected_log_prob(likelihood, y, mean, var), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6 * max(np.abs(other).max(initial=0.0), 1.0))


def test_sites_of_gaussian_noise_move_with_it():
    y = np.array([0.3, -1.0, 4.0])
    for likelihood in (Gaussian(0.3, bias=0.7), Gaussian(np.array([0.1, 1.0, 5.0]), bias=-0.2)):
        for one, other in zip(likelihood.d_site(y), Likelihood.d_site(likelihood, y), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)
