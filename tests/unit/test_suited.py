"""Kernels that are given in other units than those of the rows: learning finds its way, or says that it has not."""

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes, load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from infovec import GPClassifier, IVMClassifier, IVMOrdinalClassifier, IVMRegressor
from infovec.estimators.unexplained import _other
from infovec.kernels import (
    MLP,
    RBF,
    Bias,
    Exponential,
    Kernel,
    Linear,
    Matern,
    On,
    Polynomial,
    RationalQuadratic,
    Relevance,
    Standardised,
    White,
)
from infovec.learning import Learning, Model, elsewhere
from infovec.likelihoods import Gaussian, Laplace, Likelihood, StudentT
from infovec.machines.defaults import REAL_LIKELIHOODS, default_kernel, latent_variance, noise_beside
from infovec.machines.suited import suited
from tests.oracles import fd_gradient

UNITS, ORIGIN = np.array([1.0, 100.0, 1e4, 0.01]), np.array([0.0, 1e3, 0.0, 5.0])


def rows(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return raw columns, and prices in dollars of which most can be known."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 4))
    f = np.sin(1.5 * Z[:, 0]) + 0.5 * Z[:, 1] * Z[:, 2]
    return ORIGIN + UNITS * Z, 2e5 + 4e4 * (f + 0.1 * rng.normal(size=n))


ONES = np.ones(4)
KERNELS = {
    "rbf": RBF(ONES) + Bias(),
    "no bias": RBF(ONES),
    "matern": Matern(ONES) + Bias(),
    "exponential": Exponential(ONES) + Bias(),
    "rational quadratic": RationalQuadratic(ONES) + Bias(),
    "sum": 3.0 * RBF(ONES) + Linear() + Bias() + White(),
    "product": RBF(ONES) * Matern(ONES, nu=2.5) + Bias(),
    "on columns": On(RBF(), [0]) + On(RBF(np.ones(3)), [1, 2, 3]) + Bias(),
    "relevance": Relevance(RBF(), np.full(4, 0.5), transform="log") + Bias(),
    "mlp": MLP(relevance=ONES) + Bias(),
    "standardised": Standardised(RBF(), ORIGIN, UNITS) + Bias(),
}


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_a_kernel_of_ones_learns_dollars_and_raw_columns(kernel: Kernel) -> None:
    (X, y), (X_test, y_test) = rows(300), rows(300, seed=1)
    model = IVMRegressor(kernel=kernel, n_active=100, random_state=0).fit(X, y)
    assert model.score(X_test, y_test) > 0.85


@pytest.mark.parametrize("settings", [{"approximation": "factorised"}, {"likelihood": "student_t"}], ids=str)
def test_so_it_does_in_other_ways_of_learning(settings: dict[str, object]) -> None:
    (X, y), (X_test, y_test) = rows(300), rows(300, seed=1)
    model = IVMRegressor(kernel=RBF(ONES) + Bias(), n_active=100, random_state=0, **settings).fit(X, y)
    assert model.score(X_test, y_test) > 0.85


def test_a_unit_of_targets_is_no_matter_to_a_kernel_that_is_learned() -> None:
    X, y = rows(200)
    Z = (X - ORIGIN) / UNITS
    found = []
    for unit in (1e-4, 1e6):
        model = IVMRegressor(kernel=RBF(ONES) + Bias(), n_active=100, random_state=0).fit(Z, unit * y)
        assert model.score(Z, unit * y) > 0.9
        found.append(model.predict(Z) / unit)
    assert_allclose(found[0], found[1], atol=0.05 * np.std(y))


@pytest.mark.parametrize("n", [300, 600])
def test_a_weak_signal_in_raw_columns_is_found_too(n: int) -> None:
    """The magnitude of length scales that suits best at first may be one where every row is on its own."""
    rng = np.random.default_rng(2)

    def rows(n: int) -> tuple[np.ndarray, np.ndarray]:
        X = np.column_stack([np.exp(rng.normal(7.5, 0.45, n)), np.exp(rng.normal(8.8, 0.9, n)), rng.uniform(size=n)])
        return X, np.log(X[:, 0]) / 0.45 + 2.0 * X[:, 2] + 2.0 * rng.normal(size=n)

    (X, y), (Z, t), ones = rows(n), rows(1000), RBF(np.ones(3)) + Bias()
    given, default = (IVMRegressor(kernel=k, n_active=60, random_state=0).fit(X, y) for k in (ones, None))
    assert given.score(Z, t) > default.score(Z, t) - 0.02 > 0.1


@pytest.mark.parametrize(
    "estimator",
    [
        IVMClassifier(n_active=100, random_state=0),
        IVMClassifier(n_active=60, random_state=0, approximation="factorised"),
        IVMOrdinalClassifier(n_active=100, random_state=0),
        GPClassifier(random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_classes_of_raw_columns_are_learned_with_a_kernel_of_ones(estimator: IVMClassifier) -> None:
    (X, y), (X_test, y_test) = rows(250), rows(300, seed=1)
    cut = np.median(y)
    model = estimator.set_params(kernel=RBF(ONES) + Bias()).fit(X, y > cut)
    assert model.score(X_test, y_test > cut) > 0.8


@pytest.mark.parametrize("multi_class", ["ovr", "softmax"])
def test_so_are_several_classes(multi_class: str) -> None:
    X, y = load_wine(return_X_y=True)
    settings = {"multi_class": multi_class, "n_active": 60, "random_state": 0}
    given = IVMClassifier(kernel=RBF(np.ones(13)) + Bias(), **settings).fit(X[::2], y[::2])
    assert given.score(X[1::2], y[1::2]) > 0.9
    assert not np.allclose(given.kernel_.get_params()["left__length_scale"][-1], 1.0)


def test_one_length_scale_is_enough_where_columns_are_alike() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = IVMRegressor(kernel=RBF() + Bias(), n_active=100, random_state=0).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.3


def test_what_is_fixed_stays_and_what_is_bounded_stays_within() -> None:
    X, y = rows(200)
    kernel = RBF(ONES) + Bias(7.0)
    fixed = ["kernel.left.length_scale*", "kernel.right.*"]
    model = IVMRegressor(kernel=kernel, learn=Learning(fixed=fixed), n_active=50, random_state=0).fit(X, y)
    found = model.kernel_.get_params()
    assert_allclose(found["left__length_scale"], 1.0, rtol=1e-12)
    assert_allclose(found["right__variance"], 7.0, rtol=1e-12)
    within = Learning(bounds={"kernel.right.variance": (1e-3, 1e3)})
    model = IVMRegressor(kernel=kernel, learn=within, n_active=50, random_state=0).fit(X, y)
    assert 1e-3 <= model.kernel_.get_params()["right__variance"] <= 1e3
    assert model.score(X, y) > 0.9


def test_nothing_of_it_is_done_where_units_are_right_or_come_from_the_data() -> None:
    X, y = rows(300)
    Z = (X - ORIGIN) / UNITS
    for kernel in KERNELS.values():
        if not isinstance(getattr(kernel, "left", kernel), Standardised | MLP):
            model = Model.begin(kernel, Gaussian())
            assert not elsewhere(model, suited(kernel, Z, 3.0)), kernel
            assert elsewhere(model, suited(kernel, X, 3.0 * float(np.var(y)))), kernel
    for kernel in (None, "rbf", "matern + linear"):
        assert not IVMRegressor(kernel=kernel)._prepare(X, y, None).choices.doubt.suited
    assert not IVMRegressor(kernel=RBF(), learn=None)._prepare(X, y, None).choices.doubt.suited


def test_terms_share_the_variance_and_length_scales_are_those_of_the_default_kernel() -> None:
    X, _ = rows(500)
    louder, whole = suited(RBF(ONES) + 2.0 * Linear() + Bias(), X, 12.0)
    for kernel in (louder, whole):
        terms = [kernel.left.left, kernel.left.right, kernel.right]
        assert_allclose([np.mean(term.diag(X)) for term in terms], [6.0, 6.0, 1.2])
    assert_allclose(louder.left.left.length_scale, 1.0)
    assert_allclose(whole.left.left.length_scale, default_kernel(X, 1.0).left.length_scale)
    one = suited(Matern() + Bias(), X, 12.0)[1]
    assert_allclose(one.left.length_scale, np.sqrt(np.var(X, axis=0).sum()))
    part = suited(On(RBF(), [1]) + Polynomial(), X, 1.0)[1]
    assert_allclose(part.left.kernel.length_scale, np.std(X[:, 1]))
    assert_allclose(part.right.offset, np.mean(X**2))


def test_steps_are_counted_from_the_kernel_that_was_given_and_priors_are_around_the_other() -> None:
    X, y = rows(100)
    model = Model.begin(RBF(ONES) + Bias(), Gaussian(), learning=Learning(fixed=["kernel.right.variance"]))
    kernel = suited(model.kernel, X, float(np.var(y)))[1]
    other = model.elsewhere(kernel)
    assert_allclose(other.theta, other.begun)
    assert_allclose(other.kernel.theta[:-1], kernel.theta[:-1])
    assert other.kernel.theta[-1] == model.kernel.theta[-1]
    assert_allclose(other.kernel.theta[:-1] - model.kernel.theta[:-1], other.theta[:-2])
    assert other.log_prior()[0] == 0.0
    at = other.theta + np.linspace(-1.0, 1.0, other.size)
    slope = fd_gradient(lambda theta: other.with_theta(theta).log_prior()[0], at)
    assert_allclose(other.with_theta(at).log_prior()[1], slope, rtol=1e-6, atol=1e-8)
    low, high = other.bounds.T
    assert np.all(low < other.theta)
    assert np.all(other.theta < high)


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame], ids=["array", "frame"])
def test_a_constant_model_is_told_of_where_the_default_kernel_is_none(form: Callable[..., Any]) -> None:
    X, y = rows(300)
    remedy = r"default kernel does not.*kernel=None.*RBF\(np.ones\(4\)\).*StandardScaler"
    with pytest.warns(UserWarning, match=remedy):
        model = IVMRegressor(kernel=RBF() + Bias(), n_active=100, random_state=0).fit(form(X), y)
    assert model.score(form(X), y) < 0.3
    far = X * np.array([1.0, 1.0, 1e3, 1e3])
    with pytest.warns(UserWarning, match=remedy):
        IVMClassifier(kernel=RBF(), n_active=50, random_state=0).fit(form(far), y > np.median(y))


def test_columns_that_are_scaled_are_not_to_be_scaled() -> None:
    X, y = rows(300)
    kernel = RBF(30.0) + Bias()
    for scale, said in ((1.0, False), (100.0, True)):
        model = IVMRegressor(kernel=kernel, n_active=20, learn=None, random_state=0)
        model.fit(StandardScaler().fit_transform(X) * scale, y / 4e4)
        assert ("StandardScaler" in _other(model)) == said


def test_nothing_is_told_where_there_is_nothing_to_explain_or_it_was_asked_for_or_all_is_well() -> None:
    X, y = rows(200)
    noise = np.random.default_rng(5).permutation(y)
    settings = {"n_active": 50, "random_state": 0}
    fixed = Learning(fixed=["kernel.left.length_scale"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings(
            "ignore", "columns of very different units"
        )  # which is so, whatever there is to explain
        IVMRegressor(kernel=RBF() + Bias(), **settings).fit(X, noise)
        IVMRegressor(kernel=RBF(ONES) + Bias(), **settings).fit(X, y)
        IVMClassifier(kernel=RBF() + Bias(), **settings).fit(X, noise > np.median(y))
        IVMRegressor(kernel=RBF() + Bias(), learn=None, **settings).fit(X, y / 4e4)
        IVMRegressor(kernel=RBF() + Bias(), learn=None, **settings).fit(X, noise)
        IVMRegressor(kernel=RBF() + Bias(), learn=fixed, **settings).fit(X, y)


def test_a_kernel_that_cannot_explain_targets_in_their_unit_is_told_of_with_what_to_search_over() -> None:
    """As in a search over length scales, where every candidate said the same of every row."""
    X, y = rows(200)
    Z = (X - ORIGIN) / UNITS
    settings: dict[str, Any] = {"n_active": 50, "random_state": 0}
    with pytest.warns(UserWarning, match=r"With learn=None the variance .* vary by 0\.\d+, and targets by") as told:
        constant = IVMRegressor(kernel=RBF(2.0) + Bias(), learn=None, **settings).fit(Z, y)
    assert constant.score(Z, y) < 0.01
    pasted = re.search(r"Learning\(fixed=.*?\)", str(told[0].message))
    assert pasted is not None
    learn = eval(pasted[0], {"Learning": Learning})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert IVMRegressor(kernel=RBF(2.0) + Bias(), learn=learn, **settings).fit(Z, y).score(Z, y) > 0.8
        in_unit = RBF(2.0, 2e9) + Bias(4e10)
        assert IVMRegressor(kernel=in_unit, learn=None, **settings).fit(Z, y).score(Z, y) > 0.8
        IVMRegressor(kernel=RBF(2.0) + Bias(), learn=None, target="log", **settings).fit(Z, y)


def test_notes_of_relevances_lead_to_relevances() -> None:
    X, y = rows(300)
    note = IVMRegressor(kernel="rbf", learn=None, n_active=50, random_state=0).fit(X, y).relevances().note
    pasted = eval(note.partition("kernel=")[2].partition(", or --ard")[0], {"RBF": RBF, "Bias": Bias, "np": np})
    model = IVMRegressor(kernel=pasted, n_active=100, random_state=0).fit(X, y)
    assert model.relevances().columns[:3] != ()
    assert model.relevances().columns[-1] == "column 3"  # of which the targets know nothing
    assert model.relevances().note == ""
    for learn, remedy in (
        (None, "learn='ep'"),
        (Learning(fixed=["kernel.left.*"]), "leaves kernel.left.* as they are"),
    ):
        found = IVMRegressor(kernel=pasted, learn=learn, n_active=50, random_state=0).fit(X, y / 4e4).relevances()
        assert len(found) == 0
        assert remedy in found.note
        assert "np.ones" not in found.note


def test_length_scales_are_searched_for_where_they_are_fixed() -> None:
    X, y = rows(150)
    Z, t = (X - ORIGIN) / UNITS, y / 1e4
    scores = {}
    for name, learn in (("fixed", Learning(fixed=["kernel.left.length_scale"])), ("learned", "ep")):
        model = IVMRegressor(kernel=RBF() + Bias(), learn=learn, n_active=40, random_state=0)
        search = GridSearchCV(model, {"kernel__left__length_scale": [0.02, 0.3, 2.0]}, cv=3).fit(Z, t)
        scores[name] = search.cv_results_["mean_test_score"]
    assert np.ptp(scores["fixed"]) > 0.3
    assert np.ptp(scores["learned"]) < 0.05


@pytest.mark.parametrize("likelihood", [Gaussian(), Laplace(), StudentT()], ids=lambda v: type(v).__name__)
@pytest.mark.parametrize("kernel", [None, RBF(ONES) + Bias()], ids=["default", "ones"])
def test_noise_that_is_given_in_another_unit_is_learned(likelihood: Likelihood, kernel: Kernel | None) -> None:
    (X, y), (X_test, y_test) = rows(300), rows(300, seed=1)
    model = IVMRegressor(kernel=kernel, likelihood=likelihood, n_active=100, random_state=0).fit(X, y)
    assert model.score(X_test, y_test) > 0.85
    noise = np.sqrt(model.likelihood_.variance) if isinstance(likelihood, Gaussian) else model.likelihood_.scale
    assert 1e3 < noise < 1.5e4  # of dollars, 4000 of which are noise


def test_noise_that_is_fixed_or_right_stays() -> None:
    X, y = rows(200)
    fixed = Learning(fixed=["likelihood.variance"])
    model = IVMRegressor(kernel="rbf", likelihood=Gaussian(1e8), learn=fixed, n_active=50, random_state=0).fit(X, y)
    assert_allclose(model.likelihood_.variance, 1e8, rtol=1e-9)
    model = Model.begin(RBF(ONES), Gaussian(0.3))
    assert not elsewhere(model, [model.kernel], 0.1)
    (other,) = elsewhere(model, [model.kernel], 1e-6)
    assert_allclose(other.likelihood.variance, 1e-6)
    (other,) = elsewhere(Model.begin(RBF(ONES), Laplace(1.0)), [RBF(ONES)], 1e6)
    assert_allclose(other.likelihood.scale, 1e3)
    assert_allclose(noise_beside(latent_variance(Gaussian(), y)), REAL_LIKELIHOODS["gaussian"](y, None).variance)


def test_length_scales_of_one_in_many_columns_make_no_rows_strangers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 20))
    y = X[:, 0] + np.sin(2.0 * X[:, 1]) + X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=700)
    model = IVMRegressor(kernel=RBF(np.ones(20)) + Bias(), n_active=100, random_state=0).fit(X[:350], y[:350])
    assert model.score(X[350:], y[350:]) > 0.9
    few = Model.begin(RBF(np.ones(4)) + Bias(), Gaussian())
    assert not elsewhere(few, suited(few.kernel, X[:, :4], float(np.var(y))))  # where rows are near enough
