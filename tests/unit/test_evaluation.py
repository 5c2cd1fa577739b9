"""Areas, Brier scores, R² and partial dependences, against loops, scikit-learn, simulation and closed forms."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import expit, log_softmax, logsumexp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, r2_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from infovec import GPClassifier, IVMClassifier, IVMOrdinalClassifier, IVMRegressor, TableEncoder
from infovec.errors import ParameterError
from infovec.evaluation import (
    ClassPredictions,
    classification_figures,
    explained_figure,
    judge,
    mean_figure,
    partial_dependence,
    regression_figures,
)
from infovec.evaluation.dependence import covariance, expected
from infovec.evaluation.figures import root_figure
from infovec.kernels import RBF, Bias, Linear, Polynomial
from infovec.metrics import area_under_curve, brier_losses
from infovec.report.baselines import baselines, losses


def scored(n=80, C=2, seed=0, gap=1.0):
    """Labels, and log probabilities that know something of them."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % C
    return y, log_softmax(rng.normal(size=(n, C)) + gap * np.eye(C)[y], axis=1)


def two(scores):
    return np.column_stack([np.log(expit(-np.asarray(scores))), np.log(expit(np.asarray(scores)))])


def delong(y, s):
    """DeLong, DeLong and Clarke-Pearson (1988), word for word."""
    ones, zeros = [a for a, c in zip(s, y, strict=True) if c], [a for a, c in zip(s, y, strict=True) if not c]
    psi = [[1.0 if a > b else 0.5 if a == b else 0.0 for b in zeros] for a in ones]
    v10 = [sum(row) / len(zeros) for row in psi]
    v01 = [sum(row[j] for row in psi) / len(ones) for j in range(len(zeros))]
    area = sum(v10) / len(ones)
    s10 = sum((v - area) ** 2 for v in v10) / (len(ones) - 1)
    s01 = sum((v - area) ** 2 for v in v01) / (len(zeros) - 1)
    return area, np.sqrt(s10 / len(ones) + s01 / len(zeros))


@pytest.mark.parametrize("ties", [False, True])
def test_area_of_two_classes_is_delongs(ties):
    rng = np.random.default_rng(1)
    y = (rng.random(70) < 0.3).astype(int)
    s = rng.normal(size=70) + y
    s = np.round(s) if ties else s
    found = area_under_curve(y, two(s))
    np.testing.assert_allclose(found, delong(y, s), rtol=1e-12)
    assert found.value == pytest.approx(roc_auc_score(y, s), rel=1e-12)
    names = np.array(["no", "yes"])
    assert area_under_curve(names[y], two(s), names) == found
    turned = area_under_curve(1 - y, two(s)[:, ::-1])
    np.testing.assert_allclose(turned, found, rtol=1e-12)


@pytest.mark.parametrize(("C", "gap"), [(2, 1.0), (3, 1.0), (4, 2.0)])
def test_standard_errors_of_areas_are_how_far_they_vary(C, gap):
    y, log_proba = scored(90, C, gap=gap)
    assert area_under_curve(y, log_proba).value == pytest.approx(
        roc_auc_score(y, np.exp(log_proba[:, 1]) if C == 2 else np.exp(log_proba), multi_class="ovr"), rel=1e-12
    )
    found = np.array([area_under_curve(*scored(90, C, seed, gap)) for seed in range(600)])
    assert np.sqrt(np.mean(found[:, 1] ** 2)) == pytest.approx(found[:, 0].std(), rel=0.1)


def test_areas_that_rows_do_not_tell():
    y = np.array([0, 0, 1, 1])
    assert area_under_curve(y, two([-2.0, -1.0, 1.0, 2.0])) == (1.0, np.inf)
    assert np.isinf(area_under_curve(y[:3], two([0.0, 1.0, 0.5])).standard_error)  # one row of a class
    assert np.isnan(area_under_curve(y[:2], two([0.0, 1.0])).value)
    absent = np.column_stack([two([-2.0, 1.0, 0.0, 2.0]), np.full(4, -50.0)])  # a class without rows
    assert area_under_curve(y, absent).value == 0.75
    sure = np.array([[0.0, -800.0], [0.0, -700.0], [-750.0, 0.0], [-790.0, 0.0]])  # probabilities are all 0 or 1
    assert area_under_curve(np.array([0, 1, 0, 1]), sure).value == 0.75


def test_brier_scores():
    y, log_proba = scored(50, 2)
    assert brier_losses(y, np.exp(log_proba)).mean() == pytest.approx(brier_score_loss(y, np.exp(log_proba[:, 1])))
    y, log_proba = scored(50, 4)
    told = [sum((np.exp(p[c]) - (c == own)) ** 2 for c in range(4)) for p, own in zip(log_proba, y, strict=True)]
    np.testing.assert_allclose(brier_losses(y, np.exp(log_proba)), told)


def test_the_figures_of_classes_are_those_of_the_functions():
    y, log_proba = scored(200, 3)
    figures = classification_figures(y, log_proba)
    wrong = np.mean(log_proba.argmax(axis=1) != y)
    assert figures["error"]["value"] == pytest.approx(wrong)
    assert figures["accuracy"]["value"] == pytest.approx(1 - wrong)
    assert figures["accuracy"]["standard_error"] == figures["error"]["standard_error"]
    assert figures["brier"]["value"] == pytest.approx(brier_losses(y, np.exp(log_proba)).mean())
    area = area_under_curve(y, log_proba)
    assert (figures["auc"]["value"], figures["auc"]["standard_error"]) == area
    assert "auc" not in classification_figures(np.zeros(5, dtype=int), log_proba[:5])


@pytest.mark.parametrize("unit", [1.0, 1e-12, 1e12])
def test_r2_and_how_far_it_varies(unit):
    def one(seed):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=120)
        y = unit * (3.0 + x + 0.8 * rng.standard_t(8, size=120))
        return y, unit * (3.0 + 0.9 * x)

    y, mean = one(0)
    assert explained_figure(y, (y - mean) ** 2).value == pytest.approx(r2_score(y, mean))
    found = np.array([explained_figure(y, (y - mean) ** 2) for y, mean in map(one, range(800))])
    assert np.sqrt(np.mean(found[:, 1] ** 2)) == pytest.approx(found[:, 0].std(), rel=0.12)


RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
F = X[:, 0] - 0.5 * X[:, 1] + 0.4 * RNG.normal(size=120)
WORDS = np.array(["a", "b", "c"])[np.digitize(F, [-0.5, 0.5])]


def fixed(cls, kernel, **options):
    return cls(kernel=kernel, learn=None, n_active=25, random_state=0, **options)


@pytest.mark.parametrize("approximation", ["projected", "factorised"])
def test_the_mean_over_rows_of_a_linear_function_is_the_function_at_the_mean_row(approximation):
    model = fixed(IVMRegressor, Linear(2.0) + Bias(), approximation=approximation).fit(X, F)
    values = np.linspace(-2.0, 2.0, 5)
    found = partial_dependence(model, X[:30], 0, values, draws=4000)
    centre = np.tile(X[:30].mean(axis=0), (5, 1))
    centre[:, 0] = values
    mean, std = model.predict_latent(centre)
    mean = mean + model.likelihood_.bias
    np.testing.assert_allclose(found.mean[:, 0], mean, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found.low[:, 0], mean - 1.96 * std, atol=0.08 * std.max())
    np.testing.assert_allclose(found.high[:, 0], mean + 1.96 * std, atol=0.08 * std.max())
    assert found.reach == pytest.approx(np.ptp(mean))


def test_the_band_of_one_row_is_that_of_its_probability():
    """Probabilities rise with the function, so that their quantiles are those of the function."""
    model = fixed(IVMClassifier, RBF(1.5, 4.0) + Bias()).fit(X, F > 0)
    values, row = np.linspace(-1.5, 1.5, 4), X[:1]
    found = partial_dependence(model, row, 0, values, draws=20_000)
    rows = np.tile(row, (4, 1))
    rows[:, 0] = values
    np.testing.assert_allclose(found.mean, model.predict_proba(rows), atol=1e-12)
    mean, var = model.posterior_.predict(rows)
    std = np.sqrt(model.likelihood_.spread * var)
    for sign, ends in ((-1.0, found.low), (1.0, found.high)):
        exact = expected(model, mean + sign * 1.959964 * std, np.zeros(4))
        np.testing.assert_allclose(ends[:, 1], exact[:, 1], atol=0.02)


MODELS = {
    "numbers": lambda: fixed(IVMRegressor, RBF(1.5, 4.0) + Bias()).fit(X, F),
    "counts": lambda: fixed(IVMRegressor, RBF(1.5, 1.0) + Bias(), likelihood="poisson").fit(X, np.round(np.exp(F))),
    "ordinal": lambda: fixed(IVMOrdinalClassifier, RBF(1.5, 4.0), categories=["b", "c", "a"]).fit(X, WORDS),
    "weighted ordinal": lambda: fixed(
        IVMOrdinalClassifier, RBF(1.5, 4.0), categories=["b", "c", "a"], class_weight={"a": 3.0, "b": 1.0, "c": 2.0}
    ).fit(X, WORDS),
    "weighted": lambda: fixed(IVMClassifier, RBF(1.5, 4.0), class_weight={"a": 3.0, "b": 1.0, "c": 1.0}).fit(X, WORDS),
    "softmax": lambda: fixed(IVMClassifier, RBF(1.5, 4.0), multi_class="softmax").fit(X, WORDS),
    "dense": lambda: GPClassifier(kernel=RBF(1.5, 4.0), learn=None, inference="laplace").fit(X, WORDS),
}


@pytest.mark.parametrize("name", list(MODELS))
def test_the_mean_over_rows_is_that_of_predictions(name):
    model, rows = MODELS[name](), X[:9].copy()
    rows[:, 1] = 0.3
    found = partial_dependence(model, X[:9], 1, np.array([0.3]), draws=50)
    known = model.predict_proba(rows) if hasattr(model, "classes_") else model.predict(rows)[:, None]
    np.testing.assert_allclose(found.mean[0], known.mean(axis=0), rtol=1e-9, atol=1e-12)
    if name == "dense":
        assert found.low is None  # its functions are not independent
    else:
        assert np.all(found.low <= found.high)
        assert found.low.shape == found.mean.shape


def test_dependence_takes_frames_and_names_as_models_do():
    frame = pd.DataFrame(
        {"a": X[:, 0], "word": WORDS, "day": np.datetime64("2021-01-01") + np.arange(120), "b": X[:, 1]}
    )
    frame.loc[::7, "a"] = np.nan
    model = IVMRegressor(n_active=25, learn=None, random_state=0).fit(frame, F)
    encoded, last = TableEncoder.from_model(model).transform(frame[:9]), ["c", "a"]
    expected = model.predict(frame[:9].assign(word="c")).mean()
    for rows in (frame[:9], pl.from_pandas(frame[:9]), encoded):
        for column, values in (("word", last), (1, last), (1, np.array([2.0, 0.0]))):
            found = partial_dependence(model, rows, column, values, draws=20)
            assert (found.column, found.words) == (1, ("c", "a"))
            assert found.mean[0, 0] == pytest.approx(expected, rel=1e-9)
    day = model.predict(frame[:9].assign(day=np.datetime64("2021-02-01"))).mean()
    for values in (["2021-02-01"], np.array(["2021-02-01"], dtype="datetime64[D]")):
        assert partial_dependence(model, frame[:9], "day", values).mean[0, 0] == pytest.approx(day, rel=1e-9)
    numbers = fixed(IVMRegressor, RBF(1.5, 4.0) + Bias()).fit(frame[["b"]], F)
    mean = numbers.predict(pd.DataFrame({"b": [0.5]}))
    for rows in (frame[["b"]], frame[["b"]].to_numpy()):
        assert partial_dependence(numbers, rows, "b", [0.5]).mean[0] == pytest.approx(mean)
    for rows, column, values, message in (
        (frame, "c", [0.0], "no column 'c'; there are 'a', 'word'"),
        (frame, "word", ["d"], "'d' is no category of column 'word'"),
        (frame.to_numpy(), 0, [0.0], "holds more than numbers, and X is of type ndarray: give a DataFrame"),
    ):
        with pytest.raises(ParameterError, match=message):
            partial_dependence(model, rows, column, values)


def test_covariances_have_the_variances_of_predictions():
    for approximation in ("projected", "factorised"):
        model = fixed(IVMClassifier, RBF(1.5, 4.0) + Polynomial(2), approximation=approximation).fit(X, F > 0)
        found = covariance(model.posterior_, X[:40])
        np.testing.assert_allclose(np.diag(found), model.posterior_.predict(X[:40])[1], rtol=1e-6, atol=1e-9)
        assert np.linalg.eigvalsh(found).min() > -1e-8


def test_simple_models_to_compare_with():
    model = fixed(IVMClassifier, RBF(1.5, 4.0) + Bias()).fit(X[:60], WORDS[:60])
    found = judge(model, X[60:], WORDS[60:])
    own = np.searchsorted(model.classes_, WORDS[:60])
    linear, constant = baselines(found, X[60:], (X[:60], own))
    share = np.bincount(found.own) / 60
    assert constant.loss.mean() == pytest.approx(-share @ np.log(share))
    assert constant.wrong.mean() == pytest.approx(1 - share.max())
    line = make_pipeline(StandardScaler(), LogisticRegression(max_iter=200)).fit(X[:60], own)
    np.testing.assert_allclose(linear.loss, -line.predict_log_proba(X[60:])[np.arange(60), found.own], atol=5e-6)
    assert losses(found, 60).loss.mean() == pytest.approx(found.figures()["log_loss"]["value"])
    folded = baselines(found, X[60:])[0]
    assert folded.loss.mean() < constant.loss.mean()
    few = ClassPredictions(found.own[:10], found.log_proba[:10])
    assert [one.name for one in baselines(few, X[60:70])] == ["class frequencies"]  # too few rows for folds


def test_simple_models_of_numbers():
    model = fixed(IVMRegressor, RBF(1.5, 4.0) + Bias()).fit(X[:60], F[:60])
    found = judge(model, X[60:], F[60:])
    linear, constant = baselines(found, X[60:], (X[:60], F[:60]))
    assert constant.loss.mean() == pytest.approx(np.var(F[60:]))
    slope = np.linalg.lstsq(np.column_stack([X[:60], np.ones(60)]), F[:60], rcond=None)[0]
    plain = (F[60:] - np.column_stack([X[60:], np.ones(60)]) @ slope) ** 2
    assert linear.loss.mean() == pytest.approx(plain.mean(), rel=0.05)


def test_log_odds_do_not_run_together():
    log_proba = log_softmax(np.array([[60.0, 0.0, 0.0], [80.0, 0.0, 0.0], [-60.0, 0.0, 0.0], [70.0, 0.0, 0.0]]), axis=1)
    assert np.exp(log_proba[:2, 0]).tolist() == [1.0, 1.0]
    assert logsumexp(log_proba, axis=1) == pytest.approx(0.0, abs=1e-12)
    assert area_under_curve(np.array([0, 1, 0, 1]), log_proba[:, [1, 0]]).value == 1.0


def test_the_root_of_the_mean_squared_error_and_how_far_it_varies():
    """It is in the unit of the target, and its standard error is how it varies from test set to test set."""
    rng = np.random.default_rng(0)
    off = rng.standard_t(9, size=(800, 250))
    found = [regression_figures(row, np.zeros(250), np.ones(250), np.zeros(250)) for row in off[:2]]
    roots = np.array([root_figure(mean_figure(row**2)) for row in off])
    assert found[0]["rmse"] == {"value": roots[0, 0], "standard_error": roots[0, 1]}
    assert found[0]["mae"]["value"] == pytest.approx(np.mean(np.abs(off[0])))
    np.testing.assert_allclose(roots[:, 0], np.sqrt(np.mean(off**2, axis=1)))
    assert np.mean(roots[:, 1]) == pytest.approx(np.std(roots[:, 0]), rel=0.1)
    scaled = root_figure(mean_figure((1000.0 * off[0]) ** 2))
    np.testing.assert_allclose(scaled, 1000.0 * roots[0])
    assert root_figure(mean_figure(np.zeros(3))) == (0.0, 0.0)
    assert found[0]["error_reject"][0]["rmse"] == found[0]["rmse"]
