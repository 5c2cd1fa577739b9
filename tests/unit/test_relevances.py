"""Which columns a model looks at."""

import numpy as np
import pandas as pd
import pytest

from infovec import IVMClassifier, IVMRegressor, load
from infovec.errors import ParameterError
from infovec.estimators.relevances import model_relevances
from infovec.kernels import (
    MLP,
    RBF,
    Bias,
    Categorical,
    Exponential,
    FromFunction,
    Linear,
    Matern,
    On,
    Periodic,
    Polynomial,
    Relevance,
    Standardised,
    White,
)
from infovec.kernels.relevances import column_weights

RNG = np.random.default_rng(0)
L = np.array([0.5, 3.0, 1.2])
R = np.array([0.3, 0.9, 0.05])
KERNELS = {
    "rbf": RBF(L, 2.0) + Bias(),
    "matern": 0.5 * Matern(L),
    "product": Exponential(L) * (Bias(2.0) + Bias(1.0)),
    "shared": Relevance(RBF(0.7), R) + White(0.1),
    "shared over relevances": Relevance(RBF(L), R),
    "twice": Relevance(Relevance(RBF(0.7), R), L, "log"),
    "linear": Linear(1.3, R),
    "mlp": MLP(1.0, 2.0, 0.5, R),
    "standardised": Standardised(RBF(L), 0.0, R),
    "shared polynomial": Relevance(Polynomial(2, 1.0), R, "log"),
}


@pytest.mark.parametrize("name", KERNELS)
def test_steps_of_one_over_the_root_of_the_weight_change_the_kernel_alike(name):
    """The unit of a weight is that of 1 / column^2: steps of 1 / sqrt(weight) from the origin look alike."""
    kernel = KERNELS[name]
    steps = np.diag(0.37 / np.sqrt(column_weights(kernel, 3)))
    values = kernel(steps, np.zeros((1, 3))), kernel(steps, 2.0 * steps).diagonal(), kernel.diag(steps)
    for value in values:
        np.testing.assert_allclose(value, np.ravel(value)[0], rtol=1e-10)


def test_the_part_that_looks_closest_counts():
    kernel = RBF(np.array([1.0, 4.0])) + Matern(np.array([2.0, 0.5]))
    np.testing.assert_allclose(column_weights(kernel, 2), [1.0, 4.0])


@pytest.mark.parametrize("kernel", [Bias(), Linear(), Periodic(RBF(), 2.0), MLP() + White()], ids=repr)
def test_some_kernels_say_nothing(kernel):
    assert column_weights(kernel, 3) is None


def fitted(X, kernel, **options):
    y = np.sin(2.0 * np.asarray(X)[:, 1]) + 0.1 * RNG.normal(size=len(X))
    return IVMRegressor(kernel=kernel, n_active=40, random_state=0, **options).fit(X, y)


def test_learned_relevances_have_names_and_are_sorted():
    X = pd.DataFrame(RNG.normal(size=(120, 3)), columns=["noise", "signal", "chaff"])
    found = fitted(X, RBF(np.ones(3)) + Bias()).relevances()
    assert found.columns[0] == "signal"
    assert found.relevance[0] == 1.0
    assert found.relevance[1] < 0.1
    assert np.all(np.diff(found.relevance) <= 0.0)
    assert found.note == ""
    lines = str(found).splitlines()
    assert len(lines) == 4
    assert lines[1].split() == ["1.0000", f"{found.length_scale[0]:.4g}", "signal"]


def test_units_of_columns_do_not_matter():
    X, unit = RNG.normal(size=(80, 3)), np.array([1.0, 1e4, 1e-3])
    plain, scaled = (fitted(X * u, RBF(L * u), learn=None, initial=np.arange(40)) for u in (1.0, unit))
    a, b = plain.relevances(), scaled.relevances()
    assert a.columns == b.columns
    np.testing.assert_allclose(a.relevance, b.relevance, rtol=1e-6)
    order = [int(name.removeprefix("column ")) for name in a.columns]
    expected = (X[:40].std(axis=0) / L) ** 2
    np.testing.assert_allclose(a.relevance, expected[order] / expected.max(), rtol=1e-9)
    np.testing.assert_allclose(b.length_scale, (L * unit)[order], rtol=1e-9)
    in_units = model_relevances(plain, ("a", "b", "c"), unit)
    np.testing.assert_allclose(in_units.length_scale, (L * unit)[order], rtol=1e-9)
    assert set(in_units.columns) == {"a", "b", "c"}
    with pytest.raises(ParameterError, match="3 columns, but there are 2 names"):
        plain.relevances(["a", "b"])


@pytest.mark.parametrize(("learn", "learned"), [("ep", True), (None, False)])
def test_the_default_kernel_does_not_claim_proportions_that_it_gave_up(learn, learned):
    found = fitted(RNG.normal(size=(120, 3)), None, learn=learn).relevances()
    assert (len(found) == 3 and found.relevance[1] < 0.1) == learned
    assert ("share one length scale" in found.note) != learned


def test_what_shares_a_length_scale_has_no_relevances():
    X, y = RNG.normal(size=(130, 3)) * [1.0, 5.0, 25.0], np.arange(130) % 3
    both = {"learn": None, "n_active": 10}
    for target in (y, y > 0):
        found = IVMClassifier(**both).fit(X, target).relevances()
        assert len(found) == 0
        assert "share one length scale" in found.note


def mixed(n=240):
    rng = np.random.default_rng(0)
    age, plan, visits = rng.normal(40, 12, n).round(), rng.choice(["a", "b", "c"], n), rng.poisson(3, n)
    day = pd.Timestamp("2022-01-01") + pd.to_timedelta(rng.integers(0, 700, n), unit="D")
    table = pd.DataFrame({"visits": visits, "age": age, "plan": pd.Categorical(plan), "since": day})
    signal = 0.05 * (age - 40) + (plan == "a") + 0.8 * rng.normal(size=n)
    table.loc[rng.random(n) < 0.2, "age"] = np.nan
    return table, signal


def test_length_scales_that_were_tried_and_not_kept_rank_no_columns(tmp_path):
    table, signal = mixed()
    model = IVMClassifier(n_active=30, random_state=0).fit(table, signal > 0.3)
    assert len(np.unique(model.history_["theta"][:, 0])) > 1
    assert np.ndim(model.kernel_.left.right.kernel.relevance) == 0  # shared, and separate ones were tried
    model.save(tmp_path / "m.ivm")
    for one in (model, load(tmp_path / "m.ivm"), model.compress(20)):
        found = one.relevances()
        assert len(found) == 0
        assert "share one length scale" in found.note


def test_kernels_of_a_mixed_table_rank_the_columns_that_have_scales_of_their_own():
    table, signal = mixed(80)
    numbers, codes = ["visits", "age", "since"], ["plan", "age is missing"]
    for scale, relevance, columns, note in (
        (2.0, 1.0, 0, "one length scale for all columns of a kind"),
        (2.0, [1.0, 2.0], 0, "one length scale"),
        ([1.0, 2.0, 300.0], 1.0, 4, "share one relevance"),
        ([1.0, 2.0, 300.0], [1.0, 2.0], 4, ""),
    ):
        kernel = On(RBF(scale), numbers) * On(Categorical(relevance), codes) + Bias()
        found = IVMRegressor(kernel=kernel, n_active=20, learn=None).fit(table, signal).relevances()
        assert len(found) == columns
        assert note in found.note
        assert bool(note) == bool(found.note)


def test_kernels_without_relevances_say_so():
    X = RNG.normal(size=(60, 3))
    assert "one length scale for all" in fitted(X, RBF(), learn=None).relevances().note
    assert "share one length scale" in fitted(X, None, learn=None).relevances().note
    nothing = fitted(X, Linear(), learn=None).relevances()
    assert len(nothing) == 0
    assert "does not tell columns apart" in str(nothing)
    assert "np.ones(3)" in nothing.note
    words = np.array([["a"], ["b"], ["ab"], ["ba"]] * 5, dtype=object)[:, 0]
    kernel = FromFunction(lambda A, B: np.array([[1.0 + len(set(a) & set(b)) for b in B] for a in A]))
    model = IVMClassifier(kernel=kernel, learn=None, n_active=4).fit(words, [0, 1, 0, 1] * 5)
    assert "not a kernel of columns" in model.relevances().note
