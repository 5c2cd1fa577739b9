"""Exchange moves and sweeps of the factorised posterior."""

import numpy as np
import pytest
from scipy import integrate
from scipy.special import log_ndtr, ndtr
from sklearn.base import clone

from infovec import IVMClassifier, IVMOrdinalClassifier, IVMRegressor, load
from infovec.criteria import log_evidence
from infovec.errors import ParameterError
from infovec.inference import settle_active
from infovec.kernels import RBF, Bias, White
from infovec.likelihoods import Gaussian, Logit, Poisson, Probit, StudentT
from infovec.selection import exchange
from infovec.selection.exchange import ActiveRows
from infovec.selection.pair_pool import PairPool

KERNEL = RBF(1.1, 3.0) + Bias(0.4)


def rows(likelihood, n=60, d=12, seed=0, kernel=KERNEL):
    """Active rows with sites of any kind, and others."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3.0, 3.0, size=(n, 2))
    f = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n)
    y = f if not isinstance(likelihood, Probit | Logit) else np.where(f > 0.0, 1.0, -1.0)
    y = rng.poisson(np.exp(f)).astype(float) if isinstance(likelihood, Poisson) else y
    precision, b = rng.uniform(0.3, 2.0, size=n), rng.normal(size=n)
    every = ActiveRows(np.arange(n) * 2 + 1, X, y, precision, b)  # numbers are not positions
    return every.take(np.arange(d)), every.take(np.arange(d, n))


def dense(active, kernel=KERNEL):
    """Covariance and mean of the posterior at any rows, by the dense formula."""
    inverse = np.linalg.inv(kernel(active.X) + np.diag(1.0 / active.precision))

    def at(X, same):
        K = kernel(X, active.X)
        K[same, np.arange(len(active.rows))] = kernel.diag(active.X)
        return kernel(X) - K @ inverse @ K.T, K @ inverse @ (active.b / active.precision)

    return at


def pool_of(active, outside, likelihood, kernel=KERNEL):
    every = active.and_(outside)
    return PairPool(every.rows, every.X, every.y, active.posterior(kernel), likelihood), every


LIKELIHOODS = [Probit(0.2), Gaussian(0.3), Poisson(0.1), Logit(-0.1)]


@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=str)
@pytest.mark.parametrize("kernel", [KERNEL, KERNEL + White(0.2)], ids=["plain", "white"])
def test_a_move_is_what_the_dense_posterior_of_the_new_sites_says(likelihood, kernel):
    active, outside = rows(likelihood, kernel=kernel)
    pool, every = pool_of(active, outside, likelihood, kernel)
    pool.look_at(np.array([3, 7, 20, 33, 41]))
    for j, i in ((3, 20), (7, 41), (20, 33)):
        pool.move(j, i)
    now = np.flatnonzero(pool.active)
    assert set(now) == {*range(12), 33, 41} - {3, 7}
    after = every._replace(precision=pool.precision, b=pool.b).take(now)
    A, h = dense(after, kernel)(every.X, now)
    np.testing.assert_allclose(pool.mean, h, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(pool.var, np.diagonal(A), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(pool.A, A[:, [3, 7, 20, 33, 41]], rtol=1e-9, atol=1e-9)
    root = np.sqrt(after.precision)
    B = np.eye(len(now)) + root[:, None] * kernel(after.X) * root
    assert pool.log_det == pytest.approx(np.linalg.slogdet(B)[1], abs=1e-9)


def test_the_site_of_a_row_that_comes_in_matches_the_moments():
    likelihood = Probit(0.2)
    active, outside = rows(likelihood)
    pool, every = pool_of(active, outside, likelihood)
    A, h = dense(active.take(np.delete(np.arange(12), 5)))(every.X, np.delete(np.arange(12), 5))
    mean, var, y = h[30], A[30, 30], every.y[30]

    def moment(k):
        density = lambda u: u**k * ndtr(y * (u + 0.2)) * np.exp(-0.5 * (u - mean) ** 2 / var)  # noqa: E731
        return integrate.quad(density, mean - 12 * np.sqrt(var), mean + 12 * np.sqrt(var), epsabs=1e-13)[0]

    first = moment(1) / moment(0)
    pool.look_at(np.array([5, 30]))
    pool.move(5, 30)
    assert pool.mean[30] == pytest.approx(first, rel=1e-7)
    assert pool.var[30] == pytest.approx(moment(2) / moment(0) - first**2, rel=1e-7)


def brute_force(active, outside, j, i, likelihood, by_evidence):
    """The criterion after a move, everything made anew."""
    rest = np.delete(np.arange(len(active.rows)), j)
    A, h = dense(active.take(rest))(np.concatenate([active.X, outside.X]), rest)
    at, n = np.array([i]), len(active.rows)
    mean, var = h[n + at], np.diagonal(A)[n + at]
    site = likelihood.site(outside.y[at], mean, var, likelihood.tilted(outside.y[at], mean, var))
    new = active.take(rest).and_(outside.take(at)._replace(precision=site.precision, b=site.b))
    left = outside.take(np.delete(np.arange(len(outside.rows)), i)).and_(active.take(np.array([j])))
    posterior = new.posterior(KERNEL)
    if not by_evidence:
        return 0.5 * posterior.log_det_B
    log_z = likelihood.tilted(left.y, *posterior.predict(left.X)).log_z
    return log_evidence(posterior, new.y, likelihood, float(log_z.sum()))


@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=str)
@pytest.mark.parametrize("by_evidence", [True, False])
def test_what_pairs_gain_is_what_brute_force_finds(likelihood, by_evidence):
    active, outside = rows(likelihood, n=16, d=5)
    pool, _ = pool_of(active, outside, likelihood)
    pool.look_at(np.arange(16))
    gains = pool.gains(np.arange(5), np.arange(5, 16), by_evidence)
    before = active.posterior(KERNEL)
    log_z = likelihood.tilted(outside.y, *before.predict(outside.X)).log_z
    level = log_evidence(before, active.y, likelihood, float(log_z.sum())) if by_evidence else 0.5 * before.log_det_B
    assert pool.level(by_evidence) == pytest.approx(level, abs=1e-8)
    for j in range(5):
        for i in range(11):
            if np.isfinite(gains[j, i]):
                after = brute_force(active, outside, j, i, likelihood, by_evidence)
                assert gains[j, i] == pytest.approx(after - level, abs=1e-7)
    assert np.isfinite(gains).any()


def test_what_is_lost_without_a_row_and_gained_with_one_more():
    likelihood = Probit(0.2)
    active, outside = rows(likelihood, n=20, d=6)
    pool, every = pool_of(active, outside, likelihood)
    pool.look_at(np.arange(20))
    for by_evidence in (True, False):
        lost, won = pool.without(np.arange(6), by_evidence), pool.with_one_more(np.arange(6, 20), by_evidence)
        for j in range(6):
            rest = np.delete(np.arange(6), j)
            other = PairPool(*(np.concatenate([v[rest], v[6:], v[[j]]]) for v in every[:3]),
                             active.take(rest).posterior(KERNEL), likelihood)  # fmt: skip
            assert lost[j] == pytest.approx(other.level(by_evidence) - pool.level(by_evidence), abs=1e-8)
        at = np.array([9])
        site = likelihood.site(every.y[at], pool.mean[at], pool.var[at],
                               likelihood.tilted(every.y[at], pool.mean[at], pool.var[at]))  # fmt: skip
        more = active.and_(every.take(at)._replace(precision=site.precision, b=site.b))
        order = [*range(6), 9, *np.delete(np.arange(6, 20), 3)]
        other = PairPool(every.rows[order], every.X[order], every.y[order], more.posterior(KERNEL), likelihood)
        assert won[3] == pytest.approx(other.level(by_evidence) - pool.level(by_evidence), abs=1e-8)


def test_pairs_are_looked_for_by_an_expansion():
    """Of second order in the means and first order in the variances: half the step leaves a quarter of the error."""
    likelihood = Probit(0.2)
    active, outside = rows(likelihood, n=300, d=80)
    errors = []
    for share in (1e-1, 5e-2):  # sites that say little move little
        some = active._replace(precision=np.where(np.arange(80) < 8, share, 1.0) * active.precision,
                               b=np.where(np.arange(80) < 8, share, 1.0) * active.b)  # fmt: skip
        pool, _ = pool_of(some, outside, likelihood)
        errors.append(np.abs(pool.without(np.arange(8), True, exact=False) - pool.without(np.arange(8), True)).max())
    assert errors[0] < 1e-2
    assert errors[1] < 0.35 * errors[0]
    pool, _ = pool_of(active, outside, likelihood)
    pool.look_at(np.arange(70, 90))
    rough, exact = (pool.gains(np.arange(70, 80), np.arange(80, 90), True, exact=e) for e in (False, True))
    assert np.corrcoef(rough.ravel(), exact.ravel())[0, 1] > 0.99
    for each in (False, True):
        assert pool.level(True, exact=each) == pytest.approx(pool.level(True), rel=1e-12)


@pytest.mark.parametrize("by_evidence", [True, False])
@pytest.mark.parametrize("likelihood", [Probit(0.1), Gaussian(0.2), Poisson(0.3), StudentT(0.4, 4.0)], ids=str)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_criterion_never_falls(likelihood, by_evidence, seed):
    n, d = (24, 6) if isinstance(likelihood, Poisson) else (90, 15)  # by quadrature
    active, outside = rows(likelihood, n=n, d=d, seed=seed)
    found = exchange(active, outside, KERNEL, likelihood, 60, by_evidence)
    assert len(found.moves) > 0
    assert np.all(np.diff(found.level) >= 0.0)
    assert sum(move.gain for move in found.moves) == pytest.approx(found.level[-1] - found.level[0], rel=1e-6)
    pool, _ = pool_of(found.active, found.outside, likelihood)
    assert pool.level(by_evidence) == pytest.approx(found.level[-1], rel=1e-10)
    assert sorted([*found.active.rows, *found.outside.rows]) == sorted([*active.rows, *outside.rows])
    gone = set(active.rows)
    for move in found.moves:
        gone = gone - {move.out} | {move.into}
    assert gone == set(found.active.rows)


def test_rows_that_stay_stay():
    likelihood = Probit(0.1)
    active, outside = rows(likelihood, n=90, d=15)
    found = exchange(active, outside, KERNEL, likelihood, 60, stay=active.rows[:10])
    assert len(found.moves) > 0
    assert set(active.rows[:10]) <= set(found.active.rows)
    assert exchange(active, outside, KERNEL, likelihood, 60, stay=active.rows).moves == []
    assert exchange(active, outside.take(np.arange(0)), KERNEL, likelihood, 60).moves == []
    assert exchange(active, outside, KERNEL, likelihood, 60, over=lambda: True).moves == []
    assert len(exchange(active, outside, KERNEL, likelihood, 3).moves) == 3


def test_a_thousand_moves_leave_no_drift():
    """Moves at random in blocks, each block from the sites of the one before, against the dense formula."""
    likelihood, rng = Probit(0.1), np.random.default_rng(3)
    active, outside = rows(likelihood, n=120, d=30)
    drift = 0.0
    for _ in range(50):
        pool, every = pool_of(active, outside, likelihood)
        pool.look_at(np.arange(120))
        order = np.arange(120)
        for j, i in zip(rng.permutation(30)[:20], 30 + rng.permutation(90)[:20], strict=True):
            pool.move(j, i)
            order[[j, i]] = order[[i, j]]
        every = every._replace(precision=pool.precision, b=pool.b).take(order)
        active, outside = every.take(np.arange(30)), every.take(np.arange(30, 120))
        again, _ = pool_of(active, outside, likelihood)
        drift = max(drift, np.abs(pool.mean[order] - again.mean).max(), np.abs(pool.var[order] - again.var).max())
    A, h = dense(active)(every.X, np.arange(30))
    np.testing.assert_allclose(again.mean, h, atol=1e-8)
    np.testing.assert_allclose(again.var, np.diagonal(A), atol=1e-8)
    assert drift < 1e-8


def test_sites_that_have_settled_match_the_moments_of_all_active_rows():
    likelihood = Probit(0.2)
    active, _ = rows(likelihood, d=20)
    precision, b, converged, sweeps = settle_active(*active, KERNEL, likelihood)
    assert converged
    assert len(sweeps) > 1
    posterior = active._replace(precision=precision, b=b).posterior(KERNEL)
    at = posterior.active_marginals()
    tilted = likelihood.tilted(active.y, at.cavity_mean, at.cavity_var)
    np.testing.assert_allclose(at.mean, at.cavity_mean + at.cavity_var * tilted.g, atol=1e-6)
    np.testing.assert_allclose(at.var, at.cavity_var * (1.0 - at.cavity_var * tilted.nu), atol=1e-6)


def data(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3.0, 3.0, size=(n, 2))
    return X, np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.5 * rng.normal(size=n)


@pytest.mark.parametrize("refine", ["exchange", "entropy", "sweeps", "both"])
def test_estimators_refine_and_files_keep_it(refine, tmp_path):
    X, f = data()
    settings = {"approximation": "factorised", "n_active": 20, "random_state": 0, "learn": None}
    for estimator, y, options in (
        (IVMClassifier, f > 0.0, {"kernel": KERNEL, "likelihood": Probit()}),
        (IVMRegressor, f, {"kernel": KERNEL, "likelihood": Gaussian(0.3)}),
        (IVMOrdinalClassifier, np.digitize(f, [-0.5, 0.5]), {"kernel": KERNEL}),
        (IVMClassifier, np.digitize(f, [-0.5, 0.5]), {"kernel": KERNEL}),
    ):
        plain = estimator(**settings, **options, refine=None).fit(X, y)
        model = estimator(**settings, **options, refine=refine).fit(X, y)
        assert len(model.active_) == len(np.unique(model.active_))
        if refine == "exchange":
            assert model.log_evidence_ >= plain.log_evidence_
        model.save(tmp_path / "m.ivm")
        again = load(tmp_path / "m.ivm")
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        assert again.refine == refine


def test_the_model_is_that_of_its_sites_and_the_moves_are_told():
    X, f = data()
    model = IVMClassifier(
        kernel=KERNEL, likelihood=Probit(), learn=None, approximation="factorised", n_active=20, refine="exchange",
        random_state=0,
    ).fit(X, f > 0.0)  # fmt: skip
    y = np.where(f > 0.0, 1.0, -1.0)
    active = ActiveRows(model.active_, X[model.active_], y[model.active_], model.site_precision_,
                        model.site_precision_ * model.site_mean_)  # fmt: skip
    A, h = dense(active)(X, model.active_)
    mean, std = model.predict_latent(X)
    np.testing.assert_allclose(mean, h, atol=1e-8)
    np.testing.assert_allclose(
        std**2, np.where(np.isin(np.arange(150), model.active_), std**2, np.diagonal(A)), atol=1e-8
    )
    posterior = active.posterior(KERNEL)
    left = np.setdiff1d(np.arange(150), model.active_)
    u = y[left] * h[left] / np.sqrt(1.0 + np.diagonal(A)[left])
    assert model.log_evidence_ == pytest.approx(
        log_evidence(posterior, active.y, Probit(), float(log_ndtr(u).sum())), abs=1e-7
    )
    history = model.history_
    assert len(history["exchange_out"]) == len(history["exchange_in"]) == len(history["exchange_gain"]) > 0
    assert np.all(history["exchange_gain"] > 0.0)
    assert set(history["exchange_in"]) & set(model.active_)


def test_exchanges_are_the_default_where_parameters_are_learned():
    X, f = data()
    settings = {"approximation": "factorised", "n_active": 15, "random_state": 0}
    learned = IVMClassifier(**settings, initial=[3, 8]).fit(X, f > 0.0)
    assert "exchange_in" in learned.history_
    assert {3, 8} <= set(learned.active_)
    for model in (
        IVMClassifier(**settings, kernel=KERNEL, learn=None).fit(X, f > 0.0),
        IVMClassifier(**settings, refine=None).fit(X, f > 0.0),
        IVMClassifier(n_active=15, random_state=0).fit(X, f > 0.0),
    ):
        assert "exchange_in" not in model.history_


def test_growth_goes_on_from_the_selection():
    X, f = data()
    model = IVMRegressor(kernel=KERNEL, likelihood=Gaussian(0.3), learn=None, approximation="factorised", n_active=10,
                         refine="exchange", warm_start=True, random_state=0).fit(X, f)  # fmt: skip
    grown = model.grow(10)
    once = clone(model).set_params(n_active=20, warm_start=False).fit(X, f)
    assert set(grown.active_) == set(once.active_)


def test_what_cannot_be_refined_is_refused():
    X, f = data(60)
    with pytest.raises(ParameterError, match="is for approximation='factorised'"):
        IVMRegressor(refine="exchange").fit(X, f)
    with pytest.raises(ParameterError, match="negative precision in sweeps"):
        IVMRegressor(approximation="factorised", likelihood="student_t", refine="sweeps").fit(X, f)
    with pytest.raises(ParameterError, match="refine must be one of"):
        IVMRegressor(approximation="factorised", refine="always").fit(X, f)
    with pytest.raises(ParameterError, match="use multi_class='ovr'"):
        IVMClassifier(approximation="factorised", multi_class="probit", refine="exchange").fit(
            X, np.digitize(f, [-0.5, 0.5])
        )
