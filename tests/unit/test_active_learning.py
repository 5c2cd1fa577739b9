"""What a label would tell before it is known, and batches of rows to ask for."""

from dataclasses import dataclass

import numpy as np
import pytest
from oracles import (
    greedy_batch,
    information_between_labels,
    information_of_additive_noise,
    information_of_classes,
    information_of_labels,
    tilted_by_panels,
)
from scipy.special import log_softmax, ndtr
from scipy.stats import norm

from infovec import IVMClassifier, IVMOrdinalClassifier, IVMRegressor
from infovec.active_learning import (
    CANDIDATE_SCORES,
    Pool,
    best_batch,
    choose_batch,
    expected_precision,
    in_blocks,
    information,
    predicted_information,
    share_at_random,
)
from infovec.errors import ParameterError
from infovec.kernels import RBF
from infovec.likelihoods import Discrete, Gaussian, Laplace, Likelihood, Logit, Ordinal, Poisson, Probit, StudentT
from infovec.likelihoods.classes import MultivariateProbit, OneAgainstRest, Softmax

MEANS = [-30.0, -8.0, -1.5, 0.0, 0.3, 4.0, 30.0]
VARS = [1e-6, 1e-3, 0.1, 1.0, 30.0, 1e3, 1e6]
LABELS = [
    (Probit(), [0.0], 1.0),
    (Probit(bias=-0.7, slope=2.5), [0.7], 0.4),
    (Logit(), [0.0], 1.0),
    (Logit(bias=0.4, slope=3.0), [-0.4], 0.3),
    (Ordinal(np.array([-1.0, 0.2, 2.0])), [-1.0, 0.2, 2.0], 1.0),
    (Ordinal(np.array([-0.01, 0.01]), slope=4.0), [0.0], 0.25),
    (Ordinal(np.array([-40.0, 0.0, 40.0])), [-40.0, 0.0, 40.0], 1.0),
]


@pytest.mark.parametrize(("likelihood", "centres", "unit"), LABELS, ids=lambda v: str(v)[:40])
def test_information_of_labels_equals_brute_force(likelihood, centres, unit):
    mean, var = (v.ravel() for v in np.meshgrid(MEANS, VARS))
    found = information(likelihood, mean, var)

    def log_prob(y, f):
        return likelihood.log_prob(np.full(f.shape, y), f)

    told = likelihood.labels, centres, unit
    wanted = [information_of_labels(log_prob, m, v, *told) for m, v in zip(mean, var, strict=True)]
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-10)
    assert found.max() > 0.1


def test_information_of_a_probit_is_accurate_where_it_is_next_to_nothing():
    mean, var = np.array([-7.0, -5.5, 7.5]), np.array([0.5, 0.2, 0.7])
    wanted = [
        information_of_labels(lambda y, f: Probit().log_prob(np.full(f.shape, y), f), m, v, [-1.0, 1.0])
        for m, v in zip(mean, var, strict=True)
    ]
    np.testing.assert_allclose(information(Probit(), mean, var), wanted, rtol=1e-5)
    assert max(wanted) < 1e-6


def test_the_spread_of_predictions_counts():
    mean, var = np.array([0.3, -1.0]), np.array([2.0, 0.5])
    assert np.array_equal(information(Probit(spread=0.4), mean, var), information(Probit(), mean, 0.4 * var))


@pytest.mark.parametrize(
    "likelihood",
    [Laplace(scale=0.3, bias=2.0), StudentT(), StudentT(scale=0.05, df=1.5)],
    ids=str,
)
def test_information_of_numbers_equals_brute_force(likelihood):
    var = np.array([1e-6, 0.3, 1e3])
    heavy = isinstance(likelihood, StudentT) and likelihood.df < 10
    wanted = []
    for v in var:
        far = 1e12 * likelihood.scale if heavy else 60.0 * likelihood.scale + 14.0 * np.sqrt(v)
        noise = lambda r: likelihood.log_prob(r + likelihood.bias, 0.0)  # noqa: E731
        wanted.append(information_of_additive_noise(noise, v, likelihood.scale, far))
    np.testing.assert_allclose(information(likelihood, np.array([0.0, 5.0, -3.0]), var), wanted, atol=1e-9)


def test_information_of_gaussian_noise():
    var = np.array([0.0, 1e-8, 0.3, 50.0])
    np.testing.assert_allclose(information(Gaussian(0.2, bias=3.0), var, var), 0.5 * np.log1p(var / 0.2))


@pytest.mark.parametrize(
    ("mean", "var", "scatter"),
    [(-4.0, 2.0, 0.0), (0.0, 1e-6, 0.0), (0.0, 1.0, 0.0), (2.0, 0.3, 0.0), (4.0, 0.3, 0.0), (7.0, 0.01, 0.0),
     (0.0, 1.0, 0.4), (-2.0, 0.3, 2.0), (4.0, 0.1, 0.05)],
)  # fmt: skip
def test_information_of_counts_equals_brute_force(mean, var, scatter):
    top = int(np.exp(mean + 9.0 * np.sqrt(var)) + 12.0 * np.exp(0.5 * (mean + 9.0 * np.sqrt(var))) + 50)
    top *= 1 + int(40.0 * scatter)
    likelihood = Poisson(bias=0.5, scatter=scatter)
    found = information(likelihood, np.array([mean - 0.5]), np.array([var]))
    x = np.linspace(-9.0, 9.0, 3001)  # the trapezoidal rule is exact for what is so smooth
    f, w = mean + np.sqrt(var) * x, norm.pdf(x) / norm.pdf(x).sum()
    total = 0.0
    for start in range(0, top, 500):
        log_p = likelihood.log_prob(np.arange(start, start + 500.0)[:, None], f - 0.5)
        p = np.exp(log_p) @ w
        total += np.sum((np.exp(log_p) * (log_p - np.log(np.maximum(p, 1e-300))[:, None])) @ w)
    assert found[0] == pytest.approx(total, abs=2e-9)


def test_large_counts_tell_as_much_as_a_gaussian_of_the_same_width():
    found = information(Poisson(), np.array([14.0]), np.array([0.01]))
    assert found[0] == pytest.approx(0.5 * np.log1p(0.01 * np.exp(14.0)), abs=0.02)


@pytest.mark.parametrize("likelihood", [Laplace(0.3), StudentT(0.3), StudentT(1.0, 3.0)], ids=str)
@pytest.mark.parametrize("score", ["information", "entropy"])
def test_many_rows_are_as_good_as_few(likelihood, score):
    rng = np.random.default_rng(0)
    mean, var = rng.normal(size=100), np.exp(rng.uniform(-12.0, 5.0, size=100))
    many = in_blocks(CANDIDATE_SCORES[score], likelihood, mean, var)
    few = np.concatenate([CANDIDATE_SCORES[score](likelihood, mean[k : k + 10], var[k : k + 10]) for k in (0, 40)])
    np.testing.assert_allclose(many[[*range(10), *range(40, 50)]], few, atol=1e-9)


@dataclass(frozen=True, eq=False, repr=False)
class OwnLabels(Discrete):
    """A probit that nobody knows."""

    @property
    def labels(self):
        return np.array([-1.0, 1.0])

    def log_prob(self, y, f):
        return norm.logcdf(y * f)


@dataclass(frozen=True, eq=False, repr=False)
class OwnNumbers(Likelihood):
    """Gaussian noise of variance 0.2 that nobody knows."""

    def log_prob(self, y, f):
        return norm.logpdf(y, f, np.sqrt(0.2))

    def predict(self, mean, var):
        return mean, var + 0.2


@dataclass(frozen=True, eq=False, repr=False)
class Waiting(OwnNumbers):
    """Positive targets only."""

    def log_prob(self, y, f):
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(y > 0, 50.0 * (np.log(y) - f - y * np.exp(-f)), -np.inf)


def test_likelihoods_of_the_users_own():
    mean, var = np.array([-2.0, 0.0, 0.4]), np.array([0.1, 1.0, 9.0])
    np.testing.assert_allclose(information(OwnLabels(), mean, var), information(Probit(), mean, var), atol=1e-6)
    np.testing.assert_allclose(information(OwnNumbers(), mean, var), 0.5 * np.log1p(var / 0.2), atol=1e-6)
    for name, likelihood in (("entropy", OwnNumbers()), ("variance", OwnLabels())):
        known = Gaussian(0.2) if name == "entropy" else Probit()
        np.testing.assert_allclose(
            CANDIDATE_SCORES[name](likelihood, mean, var), CANDIDATE_SCORES[name](known, mean, var), atol=1e-6
        )
    with pytest.raises(ParameterError, match="add up to"):
        information(Waiting(), mean, var)


BIAS = np.array([0.3, -0.2, 0.1])
MARGINALS = [
    ([0.0, 0.0, 0.0], [1.0, 1.0, 1.0]),
    ([1.0, -1.0, 0.5], [0.3, 2.0, 1.0]),
    ([4.0, -3.0, 0.5], [3.0, 0.1, 1.0]),
    ([5.0, 0.0, 0.0], [0.1, 0.1, 0.1]),
    ([0.0, 0.2, 0.0], [1e-3, 1e-3, 1e-3]),
]


@pytest.mark.parametrize(("mean", "var"), MARGINALS)
def test_information_of_softmax_equals_brute_force(mean, var):
    mean, var = np.array(mean), np.array(var)
    wanted = information_of_classes(lambda f: log_softmax(f + BIAS, axis=1), mean, var)
    assert information(Softmax(BIAS), mean[None], var[None])[0] == pytest.approx(wanted, abs=1e-7)
    assert information(Softmax(BIAS, spread=0.5), mean[None], 2.0 * var[None])[0] == pytest.approx(wanted, abs=1e-7)


@pytest.mark.parametrize(("mean", "var"), MARGINALS)
def test_information_of_the_probit_race_is_near_brute_force(mean, var):
    def log_prob(f):
        t = np.linspace(-9.0, 9.0, 91)
        z = f.max(axis=1)[:, None, None] + t[:, None] - f[:, None, :] - BIAS
        below = ndtr(z)
        p = np.sum(norm.pdf(z) * below.prod(axis=2, keepdims=True) / np.maximum(below, 1e-300), axis=1)
        return np.log(np.maximum(p / p.sum(axis=1, keepdims=True), 1e-300))

    mean, var = np.array(mean), np.array(var)
    wanted = information_of_classes(log_prob, mean, var, order=16)
    assert information(MultivariateProbit(BIAS), mean[None], var[None])[0] == pytest.approx(wanted, abs=3e-3)


def test_one_class_against_the_rest_adds_up_what_each_function_is_told():
    rng = np.random.default_rng(0)
    mean, var = rng.normal(size=(4, 3)), rng.uniform(0.1, 3.0, size=(4, 3))
    likelihood = OneAgainstRest(BIAS, power=0.7, spread=0.8)
    proba, total = np.exp(likelihood.log_proba(mean, var)), np.zeros(4)
    for i in range(4):
        for c in range(3):
            for sign, share in ((1.0, proba[i, c]), (-1.0, 1.0 - proba[i, c])):
                log_p = lambda f, s=sign, b=BIAS[c]: norm.logcdf(s * (f + b))  # noqa: E731
                nodes, weights = np.polynomial.hermite_e.hermegauss(120)
                f, w = mean[i, c] + np.sqrt(0.8 * var[i, c]) * nodes, weights / weights.sum()
                p = w @ np.exp(log_p(f))
                total[i] += share * (w @ (np.exp(log_p(f)) * log_p(f)) / p - np.log(p))
    np.testing.assert_allclose(information(likelihood, mean, var), total, atol=1e-8)


@pytest.mark.parametrize(
    "likelihood", [Probit(bias=0.3), Logit(), Ordinal(np.array([-1.0, 0.2, 2.0])), Probit(lapse=0.1)], ids=str
)
def test_expected_entropy_and_precision_equal_brute_force(likelihood):
    mean, var = np.array([-3.0, 0.2, 1.0]), np.array([0.5, 4.0, 30.0])
    entropy, precision, slope = np.zeros(3), np.zeros(3), np.zeros(3)
    for i, (m, v) in enumerate(zip(mean, var, strict=True)):
        for y in likelihood.labels:
            log_z, g, nu = tilted_by_panels(lambda f, y=y: likelihood.log_prob(np.full(np.shape(f), y), f), m, v)
            entropy[i] -= 0.5 * np.exp(log_z) * np.log1p(-v * nu)
            precision[i] += np.exp(log_z) * nu
            slope[i] += np.exp(log_z) * g**2
    np.testing.assert_allclose(CANDIDATE_SCORES["entropy"](likelihood, mean, var), entropy, atol=1e-8)
    np.testing.assert_allclose(expected_precision(likelihood, mean, var), precision, atol=1e-8)
    np.testing.assert_allclose(precision, slope, rtol=1e-6)  # the means spread by what the variances lose


@pytest.mark.parametrize(
    "likelihood", [Gaussian(0.2), Laplace(0.3), StudentT(0.5, 3.0), Poisson(0.5), Poisson(0.5, 0.6)], ids=str
)
def test_what_variances_lose_is_what_means_spread_for_numbers_too(likelihood):
    """Simulation: targets are drawn as they are predicted."""
    rng = np.random.default_rng(0)
    f = 0.4 + np.sqrt(0.7) * rng.normal(size=10_000)
    if isinstance(likelihood, Gaussian):
        y = f + np.sqrt(0.2) * rng.normal(size=len(f))
    elif isinstance(likelihood, Laplace):
        y = f + rng.laplace(scale=0.3, size=len(f))
    elif isinstance(likelihood, StudentT):
        y = f + 0.5 * rng.standard_t(3.0, size=len(f))
    else:
        own = rng.gamma(1.0 / 0.6, 0.6, size=len(f)) if likelihood.scatter else 1.0
        y = rng.poisson(own * np.exp(f + 0.5)).astype(float)
    found = likelihood.tilted(y, np.full(len(f), 0.4), np.full(len(f), 0.7))
    mean, var = np.array([0.4]), np.array([0.7])
    assert expected_precision(likelihood, mean, var)[0] == pytest.approx(np.mean(found.nu), rel=0.03)
    entropy = CANDIDATE_SCORES["entropy"](likelihood, mean, var)[0]
    assert entropy == pytest.approx(np.mean(-0.5 * np.log1p(-0.7 * found.nu)), rel=0.03)


def test_margin_is_for_classes_and_closest_is_best():
    score = CANDIDATE_SCORES["margin"]
    p = np.sort(np.exp(Softmax(BIAS).log_proba(np.ones((1, 3)), np.ones((1, 3))))[0])
    assert score(Softmax(BIAS), np.ones((1, 3)), np.ones((1, 3)))[0] == pytest.approx(1.0 - p[2] + p[1])
    assert np.argmax(score(Probit(), np.array([1.0, 0.1, -2.0]), np.ones(3))) == 1
    with pytest.raises(ParameterError, match="'variance'"):
        score(Gaussian(), np.zeros(1), np.ones(1))


RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 2))
TWO = np.where(X[:, 0] + 0.3 * RNG.normal(size=120) > 0, "b", "a")
THREE = np.digitize(X[:, 0] + 0.2 * RNG.normal(size=120), [-0.5, 0.5])
NUMBER = np.sin(2.0 * X[:, 0]) + 0.1 * RNG.normal(size=120)
POOL = 1.5 * RNG.normal(size=(300, 2))
FIXED = {"kernel": RBF(1.0, 2.0), "learn": None, "random_state": 0}

FORMS = [
    (IVMClassifier, {}, TWO),
    (IVMClassifier, {"approximation": "factorised"}, TWO),
    (IVMClassifier, {"likelihood": "logit"}, TWO),
    (IVMRegressor, {}, NUMBER),
    (IVMRegressor, {"likelihood": "laplace"}, NUMBER),
    (IVMOrdinalClassifier, {}, THREE),
    (IVMClassifier, {"multi_class": "ovr"}, THREE),
    (IVMClassifier, {"multi_class": "ovr", "approximation": "factorised"}, THREE),
    (IVMClassifier, {"multi_class": "probit"}, THREE),
    (IVMClassifier, {"multi_class": "probit", "approximation": "factorised"}, THREE),
    (IVMClassifier, {"multi_class": "softmax"}, THREE),
    (IVMClassifier, {"multi_class": "variational"}, THREE),
    (IVMClassifier, {"multi_class": "variational", "approximation": "factorised"}, THREE),
]
each_form = pytest.mark.parametrize(
    ("kind", "form", "y"), FORMS, ids=lambda v: str(v)[-40:] if isinstance(v, dict) else ""
)


@each_form
def test_every_form_scores_and_suggests(kind, form, y):
    model = kind(n_active=25, **FIXED, **form).fit(X, y)
    for score in CANDIDATE_SCORES:
        if kind is IVMRegressor and score == "margin":
            continue
        values = model.score_candidates(POOL[:50], score)
        assert values.shape == (50,)
        assert np.all(np.isfinite(values) & (values >= 0.0))
    rows, scores = model.suggest(POOL[:50], 4, return_scores=True)
    assert len(set(rows.tolist())) == 4
    assert rows[0] == np.argmax(model.score_candidates(POOL[:50]))
    assert np.all(np.diff(scores) <= 1e-6)


@pytest.mark.parametrize("score", ["information", "entropy", "variance"])
@pytest.mark.parametrize("approximation", ["projected", "factorised"])
def test_a_batch_is_that_of_the_whole_covariance_matrix(score, approximation):
    model = IVMClassifier(n_active=30, approximation=approximation, **FIXED).fit(X, TWO)
    Z = POOL[:150]
    posterior, lik = model.posterior_, model.likelihood_
    K = model.kernel_(Z, posterior.X) @ posterior.reduction.T
    cov, mean = model.kernel_(Z) - K @ K.T, posterior.mean(Z)

    def precision(m, v):
        p = ndtr((m + lik.bias) / np.sqrt(1.0 + v)), ndtr(-(m + lik.bias) / np.sqrt(1.0 + v))
        nu = [lik.tilted(np.array([s]), np.array([m]), np.array([v])).nu[0] for s in (1.0, -1.0)]
        return p[0] * nu[0] + p[1] * nu[1]

    wanted = greedy_batch(cov, mean, 12, lambda m, v: CANDIDATE_SCORES[score](lik, m, v), precision)
    assert model.suggest(Z, 12, score=score).tolist() == wanted


@pytest.mark.parametrize("score", ["information", "prediction"])
def test_rows_that_were_drawn_take_turns_and_the_others_know_of_them(score):
    model = IVMClassifier(n_active=30, **FIXED).fit(X, TWO)
    Z = POOL[:100]
    free = model.suggest(Z, 8, score, to_predict=Z).tolist()
    drawn = np.array([int(free[0]), 41, 77])  # the best row of all has the first turn anyhow, and is passed over
    batch = best_batch(model.posterior_, model.likelihood_.for_new_rows(), Z, 8, score, Z, drawn=drawn)
    rows = batch.rows.tolist()
    assert len(set(rows)) == 8
    assert (rows[0], rows[2], rows[5]) == (free[0], 41, 77)
    assert rows[1] == free[1]
    posterior, lik = model.posterior_, model.likelihood_
    K = model.kernel_(Z, posterior.X) @ posterior.reduction.T
    cov, mean = model.kernel_(Z) - K @ K.T, posterior.mean(Z)
    if score == "information":
        one = lambda m, v: expected_precision(lik, np.array([m]), np.array([v]))[0]  # noqa: E731
        told = lambda m, v: information(lik, m, v)  # noqa: E731
        assert rows == greedy_batch(cov, mean, 8, told, one, {2: 41, 5: 77})


def test_so_many_are_drawn_as_the_labels_are_few_for_the_batch():
    model = IVMClassifier(n_active=20, **FIXED).fit(X[:20], TWO[:20])
    assert share_at_random(1, 20) == 0.0
    assert share_at_random(20, 10) == pytest.approx(19 / 29)
    assert share_at_random(20, 10_000) < 0.002
    assert np.array_equal(model.suggest(POOL, 1, at_random="auto"), model.suggest(POOL, 1))
    plain, all_ = model.suggest(POOL, 10), model.suggest(POOL, 10, at_random=1.0)
    assert len(set(all_.tolist())) == 10
    assert len(set(all_) & set(plain)) < 5
    some = model.suggest(POOL, 10, at_random="auto")  # 9 / 29 of ten are three
    assert len(set(some) & set(all_[:3])) == 3
    for wrong in (1.5, -0.1, True, "often", None):
        with pytest.raises(ParameterError, match="at_random must be"):
            model.suggest(POOL, 5, at_random=wrong)


def test_rows_of_a_stream_are_drawn_with_equal_chances(monkeypatch):
    import infovec.estimators.asking as asking

    monkeypatch.setattr(asking, "_PIECE", 70)
    monkeypatch.setattr(asking, "pool_size", lambda posterior, n: 15)
    places = []
    for seed in range(60):
        model = IVMClassifier(n_active=5, kernel=RBF(1.0, 2.0), learn=None, random_state=seed).fit(X[:8], TWO[:8])
        places.append(model.suggest(POOL, 10, at_random=1.0))
    counts = np.histogram(np.concatenate(places), bins=5, range=(0, 300))[0]
    assert counts.sum() == 600
    assert np.all(np.abs(counts - 120) < 4.0 * np.sqrt(120 * 0.8))


def test_a_batch_does_not_ask_the_same_twice():
    model = IVMClassifier(n_active=30, **FIXED).fit(X, TWO)
    best = POOL[np.argmax(model.score_candidates(POOL))]
    crowd = np.concatenate([POOL, best + 1e-3 * RNG.normal(size=(100, 2))])
    alone = np.argsort(-model.score_candidates(crowd))[:8]
    together = model.suggest(crowd, 8)
    assert np.sum(alone >= 300) >= 7
    assert np.sum(together >= 300) <= 2


def test_scores_of_a_thorough_batch_are_those_of_a_lazy_one():
    model = IVMClassifier(n_active=30, **FIXED).fit(X, TWO)
    told = model.posterior_, model.likelihood_, POOL, 6, CANDIDATE_SCORES["information"]
    lazy, thorough = choose_batch(*told), choose_batch(*told, thorough=True)
    assert np.array_equal(lazy.rows, thorough.rows)
    assert np.array_equal(np.isneginf(thorough.table).sum(axis=1), np.arange(6))


def test_a_pool_keeps_the_best_rows_and_others_in_proportion_to_their_scores():
    scores = np.concatenate([np.full(500, 1e-9), np.linspace(1.0, 2.0, 500)])
    pool = Pool(100)
    for start in range(0, 1000, 130):
        part = scores[start : start + 130]
        pool.add(start, part, RNG.random(len(part)))
    assert len(pool.rows) == 100
    assert set(range(950, 1000)) <= set(pool.rows.tolist())
    assert np.sum(pool.rows < 500) <= 2
    assert np.sum((pool.rows >= 500) & (pool.rows < 800)) > 5


def test_a_pool_is_the_same_wherever_it_is(tmp_path, monkeypatch):
    import pandas as pd
    from scipy import sparse

    import infovec.estimators.asking as asking

    model = IVMClassifier(n_active=30, **FIXED).fit(X, TWO)
    wanted = model.suggest(POOL, 5)
    monkeypatch.setattr(asking, "_PIECE", 70)
    assert np.array_equal(model.suggest(POOL, 5), wanted)
    assert np.array_equal(model.suggest(sparse.csr_matrix(POOL), 5), wanted)
    np.save(tmp_path / "pool.npy", POOL)
    assert np.array_equal(model.suggest(np.load(tmp_path / "pool.npy", mmap_mode="r"), 5), wanted)
    da = pytest.importorskip("dask.array")
    assert np.array_equal(model.suggest(da.from_array(POOL, chunks=(80, 1)), 5), wanted)
    lazy = model.score_candidates(da.from_array(POOL, chunks=(80, 2)))
    np.testing.assert_allclose(lazy.compute(), model.score_candidates(POOL))
    frame = pd.DataFrame(X, columns=["u", "v"])
    named = IVMClassifier(n_active=30, **FIXED).fit(frame, TWO)
    assert np.array_equal(named.suggest(pd.DataFrame(POOL, columns=["u", "v"]), 5), wanted)


def test_a_large_pool_takes_little_memory():
    import tracemalloc

    model = IVMClassifier(n_active=20, **FIXED).fit(X, TWO)
    large = np.tile(POOL, (400, 1))  # 120 000 rows
    model.suggest(POOL, 2)
    tracemalloc.start()
    rows = model.suggest(large, 3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(rows) == 3
    assert peak < 120e6  # all nodes of all rows at once would be ten times as much


def test_what_cannot_be_asked_is_refused():
    model = IVMClassifier(n_active=20, **FIXED).fit(X, TWO)
    with pytest.raises(ParameterError, match="pool has 300"):
        model.suggest(POOL, 301)
    with pytest.raises(ParameterError, match="whole number"):
        model.suggest(POOL, 0)
    with pytest.raises(ParameterError, match="score must be one of"):
        model.score_candidates(POOL, "surprise")


def test_two_classes_that_race_are_a_probit_of_their_difference():
    rng = np.random.default_rng(0)
    mean, var = 2.0 * rng.normal(size=(6, 2)), np.exp(rng.normal(size=(6, 2)))
    wanted = [
        information_of_labels(
            lambda y, f: norm.logcdf(y * f), (m[0] - m[1]) / np.sqrt(2.0), 0.5 * v.sum(), [-1.0, 1.0], [0.0], 1.0
        )
        for m, v in zip(mean, var, strict=True)
    ]
    np.testing.assert_allclose(information(MultivariateProbit(np.zeros(2)), mean, var), wanted, atol=1e-10)


@pytest.mark.parametrize("mean", [[0.0, 0.0], [1.5, -0.5], [-2.0, 1.0]])
@pytest.mark.parametrize(("a", "b"), [(0.3, 0.5), (4.0, 2.0)])
def test_information_between_two_labels_is_that_of_the_bivariate_normal_in_the_limit(mean, a, b):
    missed = []
    for rho in (0.4, 0.1, 0.025):
        c = rho * np.sqrt(a * b)
        wanted = information_between_labels(np.array(mean), np.array([[a, c], [c, b]]))
        nu = expected_precision(Probit(), np.array(mean), np.array([a, b]))
        found = predicted_information(np.array([[c]]), nu[:1], nu[1:])[0]
        missed.append(abs(found / wanted - 1.0))
    assert missed[0] < 0.5
    assert missed[2] < 0.3 * missed[0] + 1e-3
    assert missed[2] < 0.05


def test_information_between_targets_of_gaussian_noise_is_exact():
    a, b, c, noise = 2.0, 0.7, 0.9, 0.3
    nu = expected_precision(Gaussian(noise), np.zeros(2), np.array([a, b]))
    rho = c / np.sqrt((a + noise) * (b + noise))
    found = predicted_information(np.array([[c]]), nu[:1], nu[1:])
    np.testing.assert_allclose(found, -0.5 * np.log(1.0 - rho**2), rtol=1e-12)


@each_form
def test_every_form_asks_for_what_it_predicts(kind, form, y):
    model = kind(n_active=15, **FIXED, **form).fit(X[:60], y[:60])
    values = model.score_candidates(POOL[:30], "prediction")
    assert np.all(np.isfinite(values) & (values >= 0.0))
    rows, scores = model.suggest(POOL[:30], 3, "prediction", return_scores=True)
    assert rows[0] == np.argmax(values)
    assert scores[0] == pytest.approx(values[rows[0]])
    assert len(set(rows.tolist())) == 3


def test_a_batch_to_predict_is_that_of_the_whole_covariance_matrix():
    model = IVMClassifier(n_active=30, **FIXED).fit(X, TWO)
    Z, m, s = POOL[:100], 40, 0.4
    model.likelihood_ = model.likelihood_.with_spread(s)
    posterior, lik = model.posterior_, model.likelihood_.with_spread(1.0)
    K = model.kernel_(Z, posterior.X) @ posterior.reduction.T
    cov, mean, chosen = s * (model.kernel_(Z) - K @ K.T), posterior.mean(Z), []
    for _ in range(6):
        nu = expected_precision(lik, mean, np.diagonal(cov))
        value = -0.5 * np.log1p(-(cov[:, -m:] ** 2) * np.outer(nu, nu[-m:])).mean(axis=1)
        value[chosen] = -np.inf
        best = int(np.argmax(value))
        chosen.append(best)
        cov = cov - nu[best] * np.outer(cov[:, best], cov[best])
    assert model.suggest(Z, 6, "prediction", to_predict=Z[-m:]).tolist() == chosen


def test_a_row_that_is_like_no_other_is_not_worth_a_question():
    model = IVMClassifier(n_active=30, **FIXED).fit(X, TWO)
    far = np.concatenate([POOL[:200], [[30.0, 30.0]]])
    assert np.argmax(model.score_candidates(far, "variance")) == 200
    assert np.argmin(model.score_candidates(far, "prediction", to_predict=POOL[:200])) == 200
    assert model.suggest(far, 1, "variance")[0] == 200
    assert model.suggest(far, 1, "prediction")[0] != 200


def test_what_is_predicted_is_a_sample_of_a_stream(monkeypatch):
    import infovec.estimators.asking as asking

    model = IVMClassifier(n_active=20, **FIXED).fit(X, TWO)
    monkeypatch.setattr(asking, "_PIECE", 70)
    monkeypatch.setattr(asking, "MOST_PREDICTED", 50)
    search = asking.Search(model, 2, "prediction")
    for start in range(0, 300, 70):
        search.add(POOL[start : start + 70])
    places = [int(np.flatnonzero((row == POOL).all(axis=1))[0]) for row in search._to_predict]
    assert len(set(places)) == 50
    assert 80 < np.mean(places) < 220
