"""Labels of many classes that may be wrong: moments, predictions, and when a fit takes them for that."""

from dataclasses import replace

import numpy as np
import pytest
from oracles import class_moments_by_product, fd_gradient, tilted_by_panels
from scipy.special import log_ndtr, log_softmax
from sklearn.metrics import log_loss

import infovec
from infovec import IVMClassifier
from infovec.active_learning.classes import class_information
from infovec.errors import NotConverged, ParameterError
from infovec.inference import LeftOut, calibrated
from infovec.inference.bound import as_race
from infovec.learning import Learning, Model, still_pays
from infovec.likelihoods import OneOfMany, Probit, weighted, with_spare
from infovec.likelihoods.classes import MultivariateProbit, NullAgainstRest, OneAgainstRest, Softmax
from infovec.machines.bound_fit import fit_variational
from infovec.machines.pairs import fit_factorised

BIAS = np.array([0.3, -0.2, 0.1])
FORMS = [OneAgainstRest, MultivariateProbit, Softmax]
each_form = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)


def rows(n, C=3, seed=0, spread=3.0, var=3.0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, C, n), spread * rng.normal(size=(n, C)), rng.uniform(0.1, var, (n, C))


@pytest.mark.parametrize("classes", [2, 3, 10])
def test_one_of_many_is_what_exchanged_labels_leave_of_a_class(classes):
    """By the matrix of all labels: each is exchanged for any other with the same probability."""
    lapse = 0.3
    exchanged = np.full((classes, classes), lapse / (classes - 1))
    np.fill_diagonal(exchanged, 1.0 - lapse)
    one, f = OneOfMany(0.4, 1.7, lapse=lapse, classes=classes), np.linspace(-5.0, 5.0, 11)
    yes, no = (np.exp(one.log_prob(np.full(11, y), f)) for y in (1.0, -1.0))
    right = np.exp(log_ndtr(1.7 * (f + 0.4)))
    others = (1.0 - right) / (classes - 1)  # whichever share each has of the others
    meant = np.column_stack([right, *[others] * (classes - 1)])
    np.testing.assert_allclose(yes, (meant @ exchanged)[:, 0], rtol=1e-12)
    np.testing.assert_allclose(yes + no, 1.0, rtol=1e-12)
    if classes == 2:
        two = Probit(0.4, 1.7, lapse=lapse)
        np.testing.assert_allclose(one.tilted(np.ones(11), f, f**2), two.tilted(np.ones(11), f, f**2), rtol=1e-12)


@pytest.mark.parametrize("w", [0.3, 2.0, 60.0])
def test_powers_of_one_of_many_equal_brute_force(w):
    likelihood = OneOfMany(0.3, 2.0, lapse=0.1, classes=5)
    for y in (-1.0, 1.0):
        for mean, var in ((-3.0, 0.5), (0.5, 40.0), (30.0, 300.0), (-9.0, 1e-3)):
            found = weighted(likelihood, np.array([w])).tilted(np.array([y]), np.array([mean]), np.array([var]))
            expected = tilted_by_panels(lambda f, y=y: w * likelihood.log_prob(y, f), mean, var, [-0.3])
            np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-6, atol=1e-7 / var)


@each_form
@pytest.mark.parametrize("lapse", [1e-4, 0.1, 0.6])
def test_moments_of_classes_equal_product_quadrature(form, lapse):
    likelihood, (labels, mean, var) = form(BIAS, lapse=lapse), rows(6, spread=1.5, var=1.2)
    got, order = likelihood.tilted(labels, mean, var), 24 if form is MultivariateProbit else 40
    for i, y in enumerate(labels):
        want = class_moments_by_product(
            lambda f, y=y: likelihood.log_prob(np.full(len(f), y), f), mean[i], var[i], order
        )
        for found, expected in zip(got, want, strict=True):
            np.testing.assert_allclose(found[i], expected, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("form", [MultivariateProbit, Softmax])
@pytest.mark.parametrize("lapse", [1e-12, 1e-3, 0.3])
def test_moments_far_out_are_those_of_a_mixture(form, lapse):
    """From the parts alone: a constant, and a multiple of the density of labels that are right."""
    labels, mean, var = rows(200, spread=20.0, var=50.0)
    right, found = form(BIAS).tilted(labels, mean, var), form(BIAS, lapse=lapse).tilted(labels, mean, var)
    a, k = lapse / 2.0, 1.0 - 1.5 * lapse
    right_z, z = np.exp(np.longdouble(right.log_z)), np.longdouble(a) + k * np.exp(np.longdouble(right.log_z))
    slope = k * right_z[:, None] * right.g / z[:, None]
    curve = slope**2 - k * right_z[:, None] * (right.g**2 - right.nu) / z[:, None]
    np.testing.assert_allclose(found.log_z, np.log(z).astype(float), rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(found.g, slope.astype(float), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.nu, curve.astype(float), rtol=1e-7, atol=1e-9)


@each_form
@pytest.mark.parametrize("weight", [None, np.array([0.0, 1.0, 2.5, 1.0, 0.7, 1.0])], ids=["once", "weighted"])
def test_slopes_in_the_parameters_equal_differences(form, weight):
    likelihood, (labels, mean, var) = form(BIAS, lapse=0.2).weigh(weight), rows(6)
    found = likelihood.d_log_z(labels, mean, var, likelihood.tilted(labels, mean, var))
    expected = fd_gradient(lambda theta: likelihood.with_theta(theta).tilted(labels, mean, var).log_z, likelihood.theta)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-6)


@each_form
def test_predictions_are_of_labels_as_they_come(form):
    _, mean, var = rows(20)
    right = form(BIAS, power=0.8, spread=0.7)
    found = np.exp(right.with_lapse(0.1).log_proba(mean, var))
    np.testing.assert_allclose(found, 0.9 * (p := np.exp(right.log_proba(mean, var))) + 0.05 * (1.0 - p), rtol=1e-10)
    known = np.exp(right.with_lapse(0.1).when_known(mean))
    meant = np.exp(right.log_proba(mean, np.full(mean.shape, 1e-12)))
    np.testing.assert_allclose(known, 0.9 * meant + 0.05 * (1.0 - meant), rtol=1e-4, atol=1e-6)


def test_theta_has_the_lapse_last_and_zero_stays_zero():
    some, none = Softmax(BIAS, lapse=0.2), Softmax(BIAS)
    assert some.parameter_names == (*none.parameter_names, "lapse")
    assert some.with_theta(some.theta).lapse == pytest.approx(0.2)
    assert with_spare(some, 0.0) == none
    assert repr(some).endswith("lapse=0.2)")
    for lapse in (-0.1, 0.67, np.nan, "many"):
        with pytest.raises(ParameterError, match=r"lapse must be a number from 0 to below 0\.6666"):
            Softmax(BIAS, lapse=lapse)
    with pytest.raises(ParameterError, match="NullAgainstRest has no lapse"):
        NullAgainstRest(BIAS, lapse=0.1)
    with pytest.raises(ParameterError, match="classes must be a whole number from 2"):
        OneOfMany(lapse=0.1, classes=1)


def test_what_a_label_of_many_tells_that_may_be_wrong():
    nodes, weights = np.polynomial.hermite_e.hermegauss(24)
    grid = np.stack([g.ravel() for g in np.meshgrid(nodes, nodes, nodes, indexing="ij")], axis=1)
    w = np.prod(np.meshgrid(*[weights / weights.sum()] * 3, indexing="ij"), axis=0).ravel()
    likelihood = Softmax(BIAS, lapse=0.15)
    for mean, var in ((np.zeros(3), np.ones(3)), (np.array([1.0, -1.0, 0.5]), np.array([0.3, 2.0, 1.0]))):
        right = np.exp(log_softmax(mean + np.sqrt(var) * grid + BIAS, axis=1))
        p = 0.85 * right + 0.075 * (1.0 - right)
        total = w @ p
        wanted = -np.sum(total * np.log(total)) + w @ np.sum(p * np.log(p), axis=1)
        assert class_information(likelihood, mean[None], var[None])[0] == pytest.approx(wanted, rel=0.05)


def flipped(n, share, seed=0):
    """Rows of two columns of four classes, labels some of which are exchanged, and those that were meant."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, size=(n, 2))
    meant = 2 * (np.sin(3.0 * X[:, 0]) + X[:, 1] > 0.0) + (np.sin(2.0 * X[:, 1]) > X[:, 0])
    return X, np.where(rng.random(n) < share, (meant + rng.integers(1, 4, n)) % 4, meant), meant


@pytest.mark.parametrize("form", ["ovr", "probit"])
def test_wrong_labels_of_many_classes_are_found_and_clean_ones_are_left_alone(form, tmp_path):
    X, y, meant = flipped(700, 0.15)
    train, test, common = slice(0, 300), slice(300, None), {"n_active": 50, "random_state": 0, "multi_class": form}
    model = IVMClassifier(**common).fit(X[train], y[train])
    found = model.likelihood_.lapse
    assert 0.09 < found < 0.22
    sure = model.predict_proba(X[test])
    assert sure.min() > 0.9 * found / 3.0  # nothing is more certain than labels are
    assert np.mean(model.predict(X[test]) == meant[test]) > 0.88
    without = IVMClassifier(**common, likelihood=type(model.likelihood_)(np.zeros(4))).fit(X[train], y[train])
    assert without.likelihood_.lapse == 0.0
    assert log_loss(y[test], sure) < 0.97 * log_loss(y[test], without.predict_proba(X[test]))
    theta = model.history_["theta"]
    assert np.isfinite(theta).all()
    assert len(theta) == len(model.history_["criterion"])
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(infovec.load(tmp_path / "m").predict_proba(X), model.predict_proba(X))
    clean = IVMClassifier(**common).fit(X[train], meant[train])
    assert clean.likelihood_.lapse == 0.0


def test_softmax_with_a_lapse_is_sure_of_what_most_labels_say():
    X, y, meant = flipped(200, 0.15)
    kernel = infovec.kernels.RBF(0.8, 100.0)
    common = {"n_active": 30, "random_state": 0, "multi_class": "softmax", "learn": None, "kernel": kernel}
    doubting, none = (IVMClassifier(**common, likelihood=Softmax(np.zeros(4), lapse=e)).fit(X, y) for e in (0.15, 0.0))
    assert doubting.converged_
    assert doubting.log_evidence_ > none.log_evidence_ + 5.0
    assert np.mean(doubting.predict(X) == meant) > np.mean(none.predict(X) == meant)


@pytest.mark.parametrize(
    ("told", "wanted"),
    [((-90.0, 0.4), True), ((-98.0, 0.4), False), ((-90.0, 0.6), False), (NotConverged("lost"), False)],
)
def test_wrong_labels_must_pay_in_evidence_and_in_rows_left_out(told, wanted):
    class Told:
        def left_out(self, model):
            if model == "clean":
                return -100.0, 0.5
            if isinstance(told, Exception):
                raise told
            return told

    assert still_pays(Told(), Model.begin(infovec.kernels.RBF(), Softmax(BIAS, lapse=0.1)), "clean") is wanted


@pytest.mark.parametrize("shared", [True, False])
def test_a_lapse_that_is_given_is_learned_or_held(shared):
    X, y, _ = flipped(200, 0.1)
    common = {"n_active": 40, "random_state": 0, "shared_kernel": shared}
    given = IVMClassifier(**common, likelihood=OneAgainstRest(np.zeros(4), lapse=0.3)).fit(X, y).likelihood_
    assert 0.02 < given.lapse < 0.25 if shared else given.lapse == 0.3  # of kernels that learn apart it is held
    held = Learning(fixed=["likelihood.lapse"])
    one = IVMClassifier(**common, likelihood=OneAgainstRest(np.zeros(4), lapse=0.2), learn=held).fit(X, y)
    assert one.likelihood_.lapse == pytest.approx(0.2)


def test_where_labels_cannot_be_wrong():
    X, y, _ = flipped(60, 0.0)
    for form, approximation in (
        ("variational", "projected"), ("variational", "factorised"), ("ovr", "factorised"), ("probit", "factorised"),
    ):  # fmt: skip
        kind = OneAgainstRest if form == "ovr" else MultivariateProbit
        model = IVMClassifier(multi_class=form, approximation=approximation, likelihood=kind(np.zeros(4), lapse=0.1))
        with pytest.raises(ParameterError, match="labels that may be wrong, lapse, are for"):
            model.fit(X, y)
    noisy, kernel = MultivariateProbit(np.zeros(4), lapse=0.1), infovec.kernels.RBF()
    with pytest.raises(ParameterError, match="without lapse"):
        fit_factorised(X, y, kernel, noisy, 5)
    with pytest.raises(ParameterError, match="without lapse"):
        fit_variational(X, y, kernel, 5, likelihood=noisy)
    with pytest.raises(ParameterError, match="without a lapse"):
        as_race(noisy)


def test_calibration_is_that_of_labels_that_are_right():
    rng, truth = np.random.default_rng(0), OneAgainstRest(np.zeros(4), power=0.6, spread=0.5, lapse=0.1)
    known = np.stack([rng.normal(size=(20_000, 4)) * 3.0, rng.uniform(0.0, 5.0, size=(20_000, 4))])
    proba = np.exp(truth.log_proba(*known))
    labels = (rng.uniform(size=(20_000, 1)) > np.cumsum(proba, axis=1)).sum(axis=1)
    found = calibrated(replace(truth, power=1.0, spread=1.0), [LeftOut(known, labels)])
    assert found.power == pytest.approx(0.6, rel=0.07)
    assert found.spread == pytest.approx(0.5, rel=0.25)
    assert found.lapse == 0.1
