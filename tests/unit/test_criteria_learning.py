"""Learning by the criteria of the factorised posterior: settings, priors, steps, and that it finds what it should."""

import os
import signal
from dataclasses import replace

import numpy as np
import pytest
from oracles import fd_gradient
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from infovec import IVMClassifier, IVMOrdinalClassifier, IVMRegressor
from infovec.criteria import Given
from infovec.errors import ParameterError
from infovec.kernels import RBF, Bias, Linear, Relevance, White
from infovec.learning import (
    CRITERIA,
    FACTORISED,
    FactorisedObjective,
    Gamma,
    LagRule,
    Learning,
    Model,
    Normal,
    climb,
    minor_steps,
    slh_priors,
)
from infovec.likelihoods import Gaussian, Ordinal, Probit, StudentT
from infovec.scores import SCORES
from infovec.selection import Driver, sites_in_order
from infovec.shards import GivenRows, LocalShard


def waves(n=400, seed=0, noise=0.1, columns=2):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, columns))
    return X, np.sin(2 * X[:, 0]) + noise * rng.normal(size=n)


def given(kernel, likelihood, n=80, d=25):
    X, y = waves(n, noise=0.4)
    y = np.sign(y) if isinstance(likelihood, Probit) else y
    active = np.arange(0, n, n // d)[:d]
    rows = np.setdiff1d(np.arange(n), active)
    sites = sites_in_order(kernel, X[active], y[active], likelihood)
    return Given(active, X[active], y[active], *sites, rows, X[rows], y[rows])


def few_steps(criterion):
    return Learning(criterion, major_steps=4, lag=2)


# settings


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"criterion": "luck"}, "criterion must be one of"),
        ({"sites": "mostly"}, "sites must be one of"),
        ({"major_steps": 0}, "major_steps must be a whole number from 1"),
        ({"restarts": -1}, "restarts must be a whole number from 0"),
        ({"lag": 1.5}, "lag must be"),
        ({"tolerance": float("nan")}, "tolerance"),
        ({"fixed": "kernel.*"}, "list of patterns"),
        ({"priors": {"kernel.variance": 3.0}}, "must be Normal, Gamma or None"),
        ({"bounds": {"kernel.variance": (2.0, 1.0)}}, "low < high"),
    ],
)
def test_settings_that_cannot_be(wrong, message):
    with pytest.raises(ParameterError, match=message):
        Learning(**wrong)


@pytest.mark.parametrize("prior", [(Normal, {"std": 0.0}), (Gamma, {"shape": -1.0}), (Gamma, {"power": 0.0})])
def test_priors_that_cannot_be(prior):
    with pytest.raises(ParameterError):
        prior[0](**prior[1])


@pytest.mark.parametrize(
    ("learning", "message"),
    [
        (Learning(fixed=["kernel.nothing"]), "kernel.nothing.*none of kernel.length_scale"),
        (Learning(priors={"likelihood.bias": Gamma()}), "give it a Normal prior"),
        (Learning(bounds={"kernel.variance": (-2.0, -1.0)}), "leave nothing"),
    ],
)
def test_patterns_that_fit_nothing(learning, message):
    with pytest.raises(ParameterError, match=message):
        Model.begin(RBF(), Probit(), False, learning)
    X, y = waves(40)
    with pytest.raises(ParameterError, match=message):
        IVMClassifier(kernel=RBF(), learn=learning).fit(X, y > 0)


def test_cut_points_are_not_bounded():
    with pytest.raises(ParameterError, match="increasing sequence"):
        Model.begin(RBF(), Ordinal(), False, Learning(bounds={"likelihood.thresholds*": (0.0, 1.0)}))


def test_scikit_learn_can_copy_and_compare_them():
    learning = Learning("variational", priors=slh_priors(2), fixed=["likelihood.bias"], bounds={"kernel*": (0.1, 9.0)})
    model = IVMClassifier(learn=learning)
    copied = clone(model)
    assert copied.get_params()["learn"] == learning
    assert copied.set_params(learn="ep").learn == "ep"
    assert replace(learning, restarts=2) != learning
    X, y = waves(60)
    quick = Learning("ep", major_steps=1, minor_steps=1)
    assert np.all(cross_val_score(IVMClassifier(learn=quick, n_active=10), X, y > 0, cv=2) > 0.3)


# priors


def test_priors_are_the_densities_they_name():
    for free in (-1.0, 0.3, 2.0):
        value, slope = Normal(0.5, 2.0).slope(free, np.exp(free), np.exp(free))
        assert value == pytest.approx(stats.norm.logpdf(free, 0.5, 2.0) - stats.norm.logpdf(0.5, 0.5, 2.0))
        x = np.exp(free)
        shift = stats.gamma.logpdf(1.0, 1.7, scale=1 / 0.4) - Gamma(1.7, 0.4).slope(0.0, 1.0, 1.0)[0]
        assert Gamma(1.7, 0.4).slope(free, x, x)[0] + shift == pytest.approx(stats.gamma.logpdf(x, 1.7, scale=1 / 0.4))
        assert slope == pytest.approx((0.5 - free) / 4.0)


def test_the_priors_of_the_papers_are_on_their_parameters():
    """SLH: w^-1 = length_scale^2 / p is Gamma with mean 1 and one degree of freedom: half a chi-squared variable."""
    prior = slh_priors(256)["kernel*length_scale*"]
    w_inverse = np.array([0.2, 1.0, 5.0])
    ours = [prior.slope(0.0, scale, 1.0)[0] for scale in np.sqrt(256 * w_inverse)]
    want = stats.chi2.logpdf(w_inverse, 1)
    np.testing.assert_allclose(np.diff(ours), np.diff(want), rtol=1e-10)


@pytest.mark.parametrize("tied", [True, False])
def test_log_prior_has_the_right_gradient(tied):
    learning = Learning(
        priors={
            "kernel*": Gamma(0.7, 0.3, power=2.0), "likelihood.*": Normal(0.4, 0.5), "kernel.right.variance": None,
            "kernel.left.length_scale[1]": Normal(1.0, 2.0),
        },
    )  # fmt: skip
    model = Model.begin(RBF(np.array([0.7, 2.0]), 1.5) + Bias(0.3), Gaussian(0.2, 0.1), tied, learning)
    theta = np.linspace(-0.4, 0.5, model.size)
    got = model.with_theta(theta).log_prior()[1]
    np.testing.assert_allclose(
        got, fd_gradient(lambda t: model.with_theta(t).log_prior()[0], theta), rtol=1e-6, atol=1e-8
    )
    free = dict(zip(model.kernel.parameter_names, model.group, strict=False))
    assert got[free["right.variance"]] == 0.0


def test_fixed_bounded_and_tied_parameters():
    learning = Learning(
        fixed=["kernel.right.*", "likelihood.variance"], bounds={"kernel*length_scale*": (0.5, 3.0)}
    )  # fmt: skip
    model = Model.begin(RBF(np.array([0.1, 2.0]), 1.5) + Bias(0.3), Gaussian(0.2), False, learning)
    assert model.size == 4  # two scales, a variance and the bias
    np.testing.assert_allclose(model.kernel.left.length_scale, [0.5, 2.0])  # moved to where it may begin
    far = model.with_theta(model.bounds[:, 1])
    np.testing.assert_allclose(far.kernel.left.length_scale, 3.0)
    assert far.kernel.right.variance == pytest.approx(0.3)
    shared = Relevance(RBF() + Linear(), np.array([0.5, 0.5]))
    one = Model.begin(shared, Gaussian(0.2), False, Learning(bounds={"kernel.relevance*": (0.01, 2.0)}))
    low = one.with_theta(one.bounds[:, 0])
    np.testing.assert_allclose(low.kernel.relevance, 0.01, rtol=1e-6)


# steps


def test_the_lag_rule_waits_for_oscillations():
    rule = LagRule(2, 3, 0.01)
    assert [rule.ends(v) for v in (-100.0, -50.0, -60.0, -40.0, -45.0)] == [False] * 5
    assert not rule.ends(-30.0)
    assert [rule.ends(v) for v in (-33.0, -30.0, -31.0)] == [False, False, True]
    falling = LagRule(1, 1, 0.01)
    assert [falling.ends(v) for v in (10.0, 5.0)] == [False, True]


@pytest.mark.parametrize("likelihood", [Probit(0.2), StudentT(0.3, df=3.0), Gaussian(0.2)], ids=repr)
def test_sites_in_order_are_those_of_the_driver(likelihood):
    kernel = RBF(0.8, 3.0) + White(0.1)
    X, y = waves(40)
    y = np.sign(y) if isinstance(likelihood, Probit) else y
    score = SCORES["entropy"]
    shard = LocalShard(
        GivenRows(np.arange(40), X, y, np.linspace(0, 0.9, 40)), kernel, likelihood, score, 12, "float64"
    )
    driver = Driver([shard], kernel, likelihood, score, 12)
    driver.run(12)
    active = driver.active[:12]
    precision, site_mean = sites_in_order(kernel, X[active], y[active], likelihood.take(active))
    np.testing.assert_allclose(precision, driver.precision, rtol=1e-8)
    np.testing.assert_allclose(site_mean, driver.site_mean, rtol=1e-8)


def test_a_row_with_nothing_to_say_gets_next_to_no_site():
    X, y = np.array([[0.0], [0.1], [0.2]]), np.array([0.0, 0.0, 50.0])
    precision, site_mean = sites_in_order(RBF(2.0, 4.0), X, y, StudentT(0.1, 1.5))
    assert precision[2] < 1e-6
    alone = sites_in_order(RBF(2.0, 4.0), X[:2], y[:2], StudentT(0.1, 1.5))
    np.testing.assert_allclose((precision[:2], site_mean[:2]), alone, rtol=1e-10)
    assert abs(precision[2] * site_mean[2]) < 1e-4  # it moves nothing


@pytest.mark.parametrize("sites", ["constant", "hybrid", "exact"])
def test_minor_steps_go_uphill(sites):
    kernel, likelihood = RBF(2.0, 1.0) + Bias(0.1), Probit()
    objective = FactorisedObjective(given(kernel, likelihood, 200, 50), FACTORISED["ep"].phases[0][0])
    model = Model.begin(kernel, likelihood)
    found, steps = minor_steps(objective, model, 12, sites, None)
    before, after = (objective.with_sites_of(m)(m)[0] for m in (model, found))
    assert after > before + 40.0
    assert found.kernel.left.length_scale == pytest.approx(1.0, rel=0.2)
    assert len(steps) > 3


def test_sites_move_as_asked():
    """Constant: never. Hybrid: once for each direction. Exact: for each evaluation."""
    kernel, likelihood = RBF(3.0, 1.0), Probit()
    model, counts = Model.begin(kernel, likelihood), {}

    class Counting(FactorisedObjective):
        moved = 0

        def with_sites_of(self, model):
            Counting.moved += 1
            return super().with_sites_of(model)

    for sites in ("constant", "hybrid", "exact"):
        Counting.moved = 0
        objective = Counting(given(kernel, likelihood), FACTORISED["ep"].phases[0][0])
        _, steps = climb(objective, model, 4, sites, None)
        counts[sites] = Counting.moved, len(steps)
    assert counts["constant"][0] == 0
    assert 0 < counts["hybrid"][0] < counts["hybrid"][1]
    assert counts["exact"][0] == counts["exact"][1]


def test_a_failed_line_search_is_recovered_from():
    """A criterion that cannot be computed far away, with a slope that promises too much."""
    kernel, likelihood = RBF(), Gaussian(1.0)
    model = Model.begin(kernel, likelihood)

    class Narrow(FactorisedObjective):
        def __call__(self, model):
            x = model.theta - 0.01
            if np.linalg.norm(x) > 0.05:
                raise np.linalg.LinAlgError
            return -float(x @ x), -1e3 * x

    objective = Narrow(given(kernel, likelihood), FACTORISED["ep"].phases[0][0])
    found, steps = minor_steps(objective, model, 8, "constant", None)
    assert -float(np.sum((found.theta - 0.01) ** 2)) > steps[0].criterion


def test_phases_move_their_own_parameters_only():
    kernel, likelihood = RBF(2.0, 1.0), Probit()
    model = Model.begin(kernel, likelihood)
    (of_kernel, first), (of_noise, second) = FACTORISED["active_set"].phases
    held = given(kernel, likelihood)
    found, _ = minor_steps(FactorisedObjective(held, of_kernel, first), model, 5, "constant", None)
    assert found.likelihood == likelihood
    assert found.kernel != kernel
    found, _ = minor_steps(FactorisedObjective(held, of_noise, second), model, 5, "constant", None)
    assert found.kernel == kernel
    assert found.likelihood != likelihood


# estimators


@pytest.mark.parametrize(
    ("criterion", "approximation"),
    [("ep", "factorised"), ("active_set", "factorised"), ("variational", "factorised"), ("active_set", "projected")],
)
def test_noise_and_length_scales_are_found(criterion, approximation):
    X, y = waves(250)
    model = IVMRegressor(
        kernel=RBF(np.array([3.0, 4.0]), 5.0), likelihood=Gaussian(1.0), n_active=60, learn=few_steps(criterion),
        approximation=approximation, random_state=0,
    ).fit(X, y)  # fmt: skip
    assert np.sqrt(model.likelihood_.variance) == pytest.approx(0.1, rel=0.35)
    across, along = model.kernel_.length_scale
    assert 0.4 < across < 1.7
    assert along > 3 * across
    Z, t = waves(300, seed=1, noise=0.0)
    assert np.mean((model.predict(Z) - t) ** 2) < 0.02
    assert model.history_["theta"].shape == (len(model.history_["criterion"]), 5)
    assert model.history_["major"].any()


@pytest.mark.parametrize("criterion", CRITERIA)
def test_classes_are_learned_better_than_without(criterion):
    X, y = waves(250, noise=0.2)
    Z, t = waves(500, seed=1, noise=0.2)
    settings = {"kernel": RBF(10.0, 1.0) + Bias(1.0), "approximation": "factorised", "n_active": 60, "random_state": 0}
    learned, start = (IVMClassifier(learn=how, **settings).fit(X, y > 0) for how in (few_steps(criterion), None))
    losses = [-np.mean(m.predict_log_proba(Z)[np.arange(500), (t > 0).astype(int)]) for m in (learned, start)]
    assert losses[0] < 0.7 * losses[1]
    assert learned.score(Z, t > 0) > 0.87


def test_factorised_learns_by_its_own_evidence():
    X, y = waves(300, noise=0.3)
    learning = Learning("ep", major_steps=4, minor_steps=4, warm_up=False, tolerance=0.0)
    settings = {"approximation": "factorised", "refine": None, "n_active": 50, "random_state": 0}
    model = IVMClassifier(learn=learning, **settings).fit(X, y > 0)
    at = model.history_["major"]
    assert at.sum() == 5
    prior_free = model.log_evidence_  # of the best major step, but for the prior
    best = model.history_["criterion"][at].max()
    assert best <= prior_free + 1e-6
    assert best == pytest.approx(prior_free, abs=5.0)
    other = IVMClassifier(learn="ep", approximation="projected", n_active=50, random_state=0).fit(X, y > 0)
    assert other.kernel_ != model.kernel_


@pytest.mark.parametrize("criterion", CRITERIA)
def test_cut_points_and_their_noise_are_learned(criterion):
    X, y = waves(150, noise=0.1)
    grade = np.digitize(y, [-0.5, 0.5])
    learning = Learning(criterion, major_steps=3, lag=2, warm_up=False)
    settings = {"approximation": "factorised", "refine": None, "n_active": 75, "random_state": 0}
    model = IVMOrdinalClassifier(learn=learning, **settings)
    start = model.fit(X, grade).history_["theta"][0]
    assert model.score(X, grade) > 0.85
    assert np.all(np.abs(model.history_["theta"][-1] - start)[-2:] > 1e-3)  # both cut points moved
    assert np.all(np.diff(model.likelihood_.thresholds) > 0)


def test_best_of_several_starts():
    X, y = waves(150, noise=0.3)
    kernel = RBF(np.array([1.0, 1.0]), 1.0)
    levels = []
    for restarts in (0, 2):
        learning = Learning("ep", restarts=restarts, major_steps=2, minor_steps=3, warm_up=False)
        model = IVMClassifier(kernel=kernel, learn=learning, approximation="factorised", n_active=40, random_state=0)
        history = model.fit(X, y > 0).history_
        levels.append(history["criterion"][history["major"]].max())
    assert levels[1] >= levels[0]
    projected = Learning("ep", restarts=1, minor_steps=3)
    model = IVMClassifier(kernel=kernel, learn=projected, n_active=40, random_state=0).fit(X, y > 0)
    assert np.ptp(model.history_["theta"][:, 0]) > 0.1


@pytest.mark.parametrize("approximation", ["factorised", "projected"])
def test_settings_reach_the_parameters(approximation):
    X, y = waves(200, noise=0.2)
    learning = Learning(
        "ep", major_steps=2, minor_steps=4, fixed=["likelihood.variance"],
        bounds={"kernel.length_scale[0]": (0.2, 0.4)}, priors={"kernel.length_scale[1]": Normal(np.log(3.0), 1e-3)},
    )  # fmt: skip
    model = IVMRegressor(
        kernel=RBF(np.array([0.3, 3.0]), 1.0), likelihood=Gaussian(0.05), learn=learning, approximation=approximation,
        n_active=40, random_state=0,
    ).fit(X, y)  # fmt: skip
    assert model.likelihood_.variance == pytest.approx(0.05)
    assert 0.2 - 1e-9 <= model.kernel_.length_scale[0] <= 0.4 + 1e-9
    assert model.kernel_.length_scale[1] == pytest.approx(3.0, rel=0.01)


def test_shared_relevances_are_learned():
    X, y = waves(300, noise=0.1, columns=3)
    kernel = Relevance(RBF(0.5, 1.0) + Linear(0.1), np.full(3, 0.5))
    settings = {"learn": few_steps("ep"), "approximation": "factorised", "n_active": 80, "random_state": 0}
    model = IVMRegressor(kernel=kernel, **settings).fit(X, y)
    relevance = model.kernel_.relevance
    assert relevance[0] > 10 * max(relevance[1:])


@pytest.mark.parametrize("approximation", ["factorised", "projected"])
def test_relevances_below_one_leave_the_flat_end_of_the_sigmoid(approximation):
    X, y = waves(300, noise=0.1, columns=3)
    kernel = Relevance(RBF(0.5, 1.0), np.full(3, 0.999))
    settings = {"learn": few_steps("ep"), "approximation": approximation, "n_active": 80, "random_state": 0}
    relevance = IVMRegressor(kernel=kernel, **settings).fit(X, y).kernel_.relevance
    assert max(relevance[1:]) < 0.05
    assert relevance[0] > 10 * max(relevance[1:])


def test_a_relevance_that_stays_is_left_where_it_is():
    kernel = Relevance(RBF(0.5, 1.0), np.array([0.999, 0.5]))
    moved = Model.begin(kernel, Gaussian(0.1), learning=Learning(fixed=["kernel.relevance[[]0]"]))
    np.testing.assert_allclose(moved.kernel.relevance, [0.999, 0.5])
    assert 0.8 < Model.begin(kernel, Gaussian(0.1)).kernel.relevance[0] < 0.9


def test_the_index_of_selection_is_what_is_summed_over():
    """With an index that shrinks the criterion is that of fewer rows."""
    X, y = waves(1200, noise=0.3)
    learning = Learning("ep", major_steps=1, minor_steps=1, warm_up=False)
    values = []
    for memory in ("1GB", 1_300_000):
        model = IVMClassifier(
            kernel=RBF(1.0, 5.0), learn=learning, approximation="factorised", n_active=100, max_memory=memory,
            random_state=0,
        ).fit(X, y > 0)  # fmt: skip
        values.append(model.history_["criterion"][0])
    assert values[1] > values[0] + 5.0


def test_any_score_gives_sites_to_learn_with():
    X, y = waves(150, noise=0.2)
    learning = Learning("active_set", major_steps=2, minor_steps=3, warm_up=False)
    for score in ("variance", "projected_gain", "random"):
        model = IVMClassifier(kernel=RBF(3.0, 1.0), learn=learning, score=score, n_active=40, random_state=0)
        assert np.ptp(model.fit(X, y > 0).history_["theta"][:, 0]) > 0.1


# awkward cases


def fit_factorised(X, y, **settings):
    return IVMClassifier(**{"approximation": "factorised", "n_active": 40, "random_state": 0, **settings}).fit(X, y)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_separable_data_do_not_drive_the_variance_to_infinity(criterion):
    X = np.random.default_rng(0).normal(size=(200, 3))
    X[:, 2] = 7.0  # a constant column
    model = fit_factorised(X, X[:, 0] > 0, learn=few_steps(criterion))
    assert model.kernel_(X[:1])[0, 0] < 1e6
    assert model.score(X, X[:, 0] > 0) > 0.95


@pytest.mark.parametrize("criterion", CRITERIA)
def test_pure_noise_is_known_for_what_it_is(criterion):
    rng = np.random.default_rng(1)
    X, coin = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    model = IVMClassifier(learn=few_steps(criterion), n_active=40, random_state=0).fit(X, coin)
    log_proba = model.predict_log_proba(rng.normal(size=(400, 3)))
    assert -np.mean(log_proba[np.arange(400), rng.integers(0, 2, 400)]) < 0.75


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("factor", [1e-4, 1e4])
def test_a_start_that_is_far_off(criterion, factor):
    X, y = waves(300)
    model = fit_factorised(X, y > 0, kernel=RBF(factor, 10.0) + Bias(), learn=few_steps(criterion))
    Z, t = waves(500, seed=1)
    assert model.score(Z, t > 0) > 0.85


@pytest.mark.parametrize("approximation", ["factorised", "projected"])
def test_two_hundred_irrelevant_inputs(approximation):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(250, 202))
    y = X[:, 0] + X[:, 1] > 0
    kernel, learn = RBF(np.full(202, 14.0), 10.0), few_steps("ep") if approximation == "factorised" else "ep"
    model = fit_factorised(X, y, kernel=kernel, approximation=approximation, learn=learn, n_active=150)
    nearest = np.argsort(model.kernel_.length_scale)[:2]
    assert set(nearest) == {0, 1}
    Z = rng.normal(size=(500, 202))
    assert model.score(Z, Z[:, 0] + Z[:, 1] > 0) > 0.85


# limits


@pytest.mark.parametrize("approximation", ["factorised", "projected"])
def test_time_covers_learning_and_leaves_some_for_the_fit(approximation):
    X, y = waves(2000)
    model = IVMRegressor(max_time=0.5, n_active=200, approximation=approximation, random_state=0).fit(X, y)
    assert len(model.history_.get("criterion", ())) < 60
    assert len(model.active_) > 20
    hasty = IVMRegressor(max_time=1e-3, n_active=200, approximation=approximation, random_state=0).fit(X, y)
    assert len(hasty.active_) >= 1


def test_a_callback_and_the_keyboard_end_learning():
    X, y = waves(400)
    seen = []

    def enough(progress):
        seen.append(progress)
        return len(seen) == 3

    settings = {"approximation": "factorised", "n_active": 60, "random_state": 0}
    model = IVMClassifier(callback=enough, **settings).fit(X, y > 0)
    assert len(model.history_["criterion"]) <= 6

    seen.clear()

    def interrupt(progress):
        seen.append(progress)
        if len(seen) == 10:
            os.kill(os.getpid(), signal.SIGINT)
        return False

    with pytest.warns(UserWarning, match="interrupted while learning"):
        model = IVMClassifier(callback=interrupt, **settings).fit(X, y > 0)
    assert len(model.history_["criterion"]) <= 12
    assert model.score(X, y > 0) > 0.5
