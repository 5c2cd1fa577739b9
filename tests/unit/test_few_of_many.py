"""The few of many columns that say something are found in rounds."""

import numpy as np
import pytest
from scipy import sparse

from infovec import IVMClassifier, IVMRegressor
from infovec.kernels import RBF, Bias, Matern, On, White
from infovec.kernels.relevances import column_weights, of_distances, on_columns, scales_of, with_scales
from infovec.learning import LearnedRows, Learning, Model, ProjectedEvidence, few_of_many, screenable
from infovec.learning.fewer_columns import price
from infovec.learning.screening import Spread, best_products, chance, single_scores, wave_scores
from infovec.likelihoods import Gaussian, NullCategory, Probit


def toy(n, p, seed):
    """Four columns of p that count: a product, a wave and a line."""
    rng = np.random.default_rng(seed)
    X, columns = rng.normal(size=(n, p)), rng.permutation(p)[:4]
    a, b, c, d = X[:, columns].T
    return X, 2.0 * a * b + 1.5 * np.sin(2.0 * c) + 1.5 * d + 0.5 * rng.normal(size=n), columns


def test_scales_of_a_kernel_and_the_kernel_of_some_columns():
    kernel = 2.0 * (RBF(1.5, 2.0) * Matern([1.0, 2.0, 3.0], 0.5)) + Bias(0.3)
    assert of_distances(kernel)
    assert not of_distances(On(RBF(), 0) + Bias())
    whole = scales_of(kernel, 3)
    np.testing.assert_array_equal(whole, [[1.5] * 3, [1.0, 2.0, 3.0]])
    X = np.random.default_rng(0).normal(size=(20, 5))
    few = with_scales(kernel, [scale[:2] for scale in whole])
    np.testing.assert_allclose(on_columns(few, np.array([4, 1]))(X), few(X[:, [4, 1]]), rtol=1e-12)
    np.testing.assert_array_equal(few.left.kernel.right.length_scale, [1.0, 2.0])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("shift", "scale"), [(0.0, 1.0), (50.0, 1e-3), (-3.0, 1e4)])
def test_scores_of_columns_and_of_products_equal_those_one_by_one(form, shift, scale):
    rng = np.random.default_rng(3)
    X, a = shift * scale + scale * rng.normal(size=(60, 7)) * (rng.random((60, 7)) < 0.7), rng.normal(size=60)
    X[:, 6] = shift * scale
    spread, c = Spread.of(form(X)), a - a.mean()
    np.testing.assert_allclose(spread.mean, X.mean(axis=0), rtol=1e-12, atol=1e-12 * scale)
    Z = (X - X.mean(axis=0))[:, :6] / X.std(axis=0)[:6]
    np.testing.assert_allclose(spread.deviation[:6], X.std(axis=0)[:6], rtol=1e-6)
    single = single_scores(form(X), spread, a)
    np.testing.assert_allclose(single[:6], np.abs(c @ Z) / np.sqrt(c**2 @ Z**2), rtol=1e-5)
    assert single[6] == 0.0
    pairs, clear = best_products(form(X), spread, a, single, 3)
    products = {}
    for i in range(6):
        for j in range(i, 6):
            both = np.clip(Z[:, i], -4, 4) * np.clip(Z[:, j], -4, 4)
            both -= both.mean()
            products[i, j] = abs(c @ both) / np.sqrt(c**2 @ both**2)
    best = sorted(products, key=products.__getitem__)[::-1][:3]
    assert [tuple(pair) for pair in pairs.tolist()] == best
    np.testing.assert_allclose(clear, [products[pair] / chance(28.0) for pair in best], rtol=1e-4)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_scores_of_waves_equal_those_one_by_one(form):
    rng = np.random.default_rng(4)
    X, a = 5.0 + 3.0 * rng.normal(size=(80, 300)), rng.normal(size=80)
    X[:, 7] = 5.0
    c, Z = a - a.mean(), np.clip((X - X.mean(axis=0)) / np.where(X.std(axis=0) > 1e-9, X.std(axis=0), 1.0), -4, 4)
    found = wave_scores(form(X), Spread.of(form(X)), a)
    for j in (0, 150, 299):
        waves = [part(omega * Z[:, j]) for omega in (1.0, 2.0) for part in (np.sin, np.cos)]
        scores = [abs(c @ (w - w.mean())) / np.sqrt(c**2 @ (w - w.mean()) ** 2) for w in waves]
        np.testing.assert_allclose(found[j], max(scores) / chance(1200.0), rtol=1e-3)
    assert found[7] < 1e-3
    assert np.argmax(wave_scores(form(X), Spread.of(form(X)), np.sin(2.0 * Z[:, 200]) + 0.3 * a)) == 200


def test_products_of_more_columns_than_a_block_and_fewer_than_all(monkeypatch):
    import infovec.learning.screening as screening

    X, f, columns = toy(300, 700, 0)
    spread, (i, j) = Spread.of(X), sorted(columns[:2].tolist())
    single = single_scores(X, spread, f)
    assert best_products(X, spread, f, single, 1)[0].tolist() == [[i, j]]
    monkeypatch.setattr(screening, "_WORK", 300 * 50.0**2)
    assert np.all(best_products(X, spread, f, -np.arange(700.0), 4)[0] < 50)
    single = np.where(np.isin(np.arange(700), [i, j]), 1.0, 0.0)
    assert best_products(X, spread, f, single, 1)[0].tolist() == [[i, j]]


def test_the_best_of_many_columns_that_say_nothing_is_about_chance():
    rng = np.random.default_rng(1)
    ratios = []
    for _ in range(5):
        X, a = rng.normal(size=(200, 2000)), rng.normal(size=200)
        ratios.append(single_scores(X, Spread.of(X), a).max() / chance(2000))
    assert 0.75 < np.mean(ratios) < 1.05


def objective(X, y, active=60):
    return ProjectedEvidence(LearnedRows(np.arange(len(y)), X, y), np.arange(active), 1e-6)


def test_residuals_are_those_of_a_dense_posterior():
    X, y, _ = toy(50, 4, 0)
    model = Model.begin(RBF(2.0, 3.0) + Bias(0.5), Gaussian(0.4))
    dense = np.linalg.solve(model.kernel(X) + 0.4 * np.eye(50), y)
    np.testing.assert_allclose(objective(X, y, 50).residuals(model), dense, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(objective(X[:, :2], y).of_columns(np.array([1])).X, X[:, 1:2])


def test_slopes_of_columns_that_are_switched_off_are_differences_of_the_evidence():
    from infovec.learning.few_of_many import _Found, _Search

    X, y, _ = toy(60, 4, 2)
    X = X * [1.0, 10.0, 0.1, 3.0]
    tied = Model.begin(RBF(3.0, 4.0) + Bias(0.5), Gaussian(0.4), tied=True)
    search = _Search(objective(X, y), tied, 0.0, None)
    few = Model.begin(RBF(np.array([2.0]), 4.0) + Bias(0.5), Gaussian(0.4))
    found = _Found(np.array([0]), search.objective.of_columns(np.array([0])), few, 0.0)
    slopes = search._slopes(search.objective, search._far(found))
    spread = X.std(axis=0)

    def evidence(j, inverse):
        kernel = On(RBF(2.0, 1.0), 0) * On(RBF(1.0 / np.sqrt(inverse) if inverse else 1e9), j)
        K = 4.0 * kernel(X) + 0.5 + 0.4 * np.eye(60)
        return -0.5 * (y @ np.linalg.solve(K, y) + np.linalg.slogdet(K)[1])

    for j in (1, 2, 3):
        step = 1e-5 / spread[j] ** 2
        difference = (evidence(j, step) - evidence(j, 0.0)) / step / spread[j] ** 2
        np.testing.assert_allclose(slopes[j], difference, rtol=2e-2)


def test_when_columns_are_screened():
    free = Model.begin(RBF(1.0) + Bias(), Probit(), tied=True)
    assert screenable(free, 40, 65)
    assert not screenable(free, 39, 1000)
    assert not screenable(free, 1000, 64)
    assert not screenable(Model.begin(RBF(1.0), Probit()), 100, 1000)
    assert not screenable(Model.begin(On(RBF(1.0), (0, 1)), Probit(), tied=True), 100, 1000)
    assert not screenable(Model.begin(RBF(1.0), NullCategory(), tied=True), 100, 1000)
    fixed = Learning(fixed=["kernel.right.variance"])
    assert not screenable(Model.begin(RBF(1.0) + Bias(), Probit(), tied=True, learning=fixed), 100, 1000)
    bounded = Learning(bounds={"kernel.left.variance": (0.1, 10.0)})
    assert not screenable(Model.begin(RBF(1.0) + Bias(), Probit(), tied=True, learning=bounded), 100, 1000)


def test_an_end_that_is_asked_for_comes_soon_and_steps_are_those_of_the_model_given():
    X, f, _ = toy(200, 100, 5)
    y = np.where(f > 0.0, 1.0, -1.0)
    model = Model.begin(RBF(10.0) + White(0.1) + Bias(), Probit(), tied=True)
    found, steps = few_of_many(objective(X, y, 100), model, -np.inf, lambda step: True)
    assert found is None
    assert len(steps) == 1
    assert steps[0].theta.size == model.size
    assert few_of_many(objective(X, y, 100), model, 0.0)[0] is None  # an evidence of zero is not to be had


@pytest.mark.parametrize("scale", [1.0, 10.0 ** np.linspace(-4.0, 4.0, 2000)])
def test_four_of_two_thousand_columns_are_found(scale):
    X, f, columns = toy(1400, 2000, 3)
    y, few, X = f > 0.0, X[:, columns], X * scale
    model = IVMClassifier(random_state=0).fit(X[:400], y[:400])
    known = IVMClassifier(kernel="rbf", random_state=0).fit(few[:400], y[:400])  # the terms that both may have
    assert set(np.flatnonzero(column_weights(model.kernel_, 2000))) == set(columns)
    relevances = model.relevances()
    assert set(relevances.columns[:4]) == {f"column {j}" for j in columns}
    assert "1996" in str(relevances)

    def loss(model, Z):
        return -np.mean(np.log(model.predict_proba(Z)[np.arange(1000), y[400:].astype(int)]))

    assert loss(model, X[400:]) < 1.1 * loss(known, few[400:])


def test_numbers_of_a_csr_matrix_of_which_few_columns_count():
    rng = np.random.default_rng(4)
    X = sparse.random_array((900, 3000), density=0.05, rng=rng, format="csr")
    X = sparse.csr_array(X)
    counts = X[:, [5, 70, 2500]].toarray()
    y = np.sin(3.0 * counts[:, 0]) + 2.0 * counts[:, 1] - 2.0 * counts[:, 2] + 0.02 * rng.normal(size=900)
    model = IVMRegressor(random_state=0).fit(X[:500], y[:500])
    weight = column_weights(model.kernel_, 3000)
    assert {5, 70, 2500} <= set(np.argsort(-np.broadcast_to(weight, 3000))[:4])
    assert model.score(X[500:], y[500:]) > 0.8


def test_where_nothing_counts_predictions_are_no_worse_than_the_base_rate():
    rng = np.random.default_rng(0)
    for _ in range(3):
        X, y = rng.normal(size=(600, 2000)), rng.integers(0, 2, 600)
        model = IVMClassifier(random_state=0).fit(X[:100], y[:100])
        loss = -np.mean(np.log(model.predict_proba(X[100:])[np.arange(500), y[100:]]))
        assert loss < 1.03 * np.log(2.0)


def test_the_price_is_what_the_best_of_so_many_bring_by_chance():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(400, 2000))
    assert np.mean(0.5 * np.sort(z**2, axis=1)[:, -3:].sum(axis=1)) < price(3, 2000)
    assert price(0, 2000) == price(1, 2000) == pytest.approx(1.0 + np.log(2000.0))
