"""Labels that may be wrong: moments, powers, and when a fit takes them for that."""

import mpmath
import numpy as np
import pytest
from oracles import fd_gradient, tilted_by_panels
from sklearn.metrics import log_loss

from infovec import IVMClassifier
from infovec.active_learning.discrete import discrete_information
from infovec.errors import ParameterError
from infovec.learning import Learning
from infovec.likelihoods import Logit, NullCategory, Ordinal, Probit, weighted, with_spare

CUTS = np.array([-1.0, 0.2, 2.0])
LAPSING = [Probit(0.3, 2.0, lapse=0.05), Logit(-0.4, lapse=0.2), Ordinal(CUTS, 1.5, lapse=0.1)]


def exact(mean, var, lapse):
    """Log Z, g and nu of a probit, as the definition has them, with many digits."""
    with mpmath.workdps(60):
        m, v, e = mpmath.mpf(mean), mpmath.mpf(var), mpmath.mpf(lapse)

        def log_z(at):
            return mpmath.log(e + (1 - 2 * e) * mpmath.ncdf(at / mpmath.sqrt(1 + v)))

        return [float(part) for part in (log_z(m), mpmath.diff(log_z, m), -mpmath.diff(log_z, m, 2))]


@pytest.mark.parametrize("lapse", [1e-12, 1e-3, 0.1, 0.499])
def test_moments_of_a_probit_far_out(lapse):
    for mean in (-40.0, -9.0, -3.0, -1.0, 0.0, 2.0, 12.0):
        for var in (1e-4, 1.0, 50.0):
            found = np.ravel(Probit(lapse=lapse).tilted(np.ones(1), np.array([mean]), np.array([var])))
            log_z, g, nu = exact(mean, var, lapse)
            np.testing.assert_allclose(found[0], log_z, rtol=1e-12, atol=1e-15)
            np.testing.assert_allclose(found[1:], (g, nu), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("likelihood", LAPSING, ids=str)
def test_the_definition(likelihood):
    f, labels, clean = np.linspace(-4.0, 4.0, 9), likelihood.labels, with_spare(likelihood, 0.0)
    right = np.exp([clean.log_prob(np.full(9, y), f) for y in labels])
    found = np.exp([likelihood.log_prob(np.full(9, y), f) for y in labels])
    others = right.sum(axis=0) - right
    np.testing.assert_allclose(found, (1 - likelihood.lapse) * right + likelihood.lapse * others / (len(labels) - 1))
    assert clean.theta.size == likelihood.theta.size - 1
    assert clean.log_concave
    assert not likelihood.log_concave


@pytest.mark.parametrize("likelihood", LAPSING, ids=str)
@pytest.mark.parametrize("w", [0.3, 2.0, 3.0, 4.0, 5.0, 60.0])
def test_powers_equal_brute_force(likelihood, w):
    centres = [*getattr(likelihood, "thresholds", [0.0]), -getattr(likelihood, "bias", 0.0)]
    for y in likelihood.labels:
        for mean, var in ((-3.0, 0.5), (0.5, 40.0), (30.0, 300.0), (-9.0, 1e-3), (5.0, 0.24)):
            row = np.array([y]), np.array([mean]), np.array([var])
            found = weighted(likelihood, np.array([w])).tilted(*row)
            expected = tilted_by_panels(lambda f, y=y: w * likelihood.log_prob(y, f), mean, var, centres)
            np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-6, atol=1e-7 / var)


@pytest.mark.parametrize("likelihood", LAPSING, ids=str)
def test_slopes_of_powers(likelihood):
    rng = np.random.default_rng(0)
    y, mean, var = rng.choice(likelihood.labels, 8), 2.0 * rng.normal(size=8), rng.uniform(0.1, 3.0, 8)
    some = weighted(likelihood, np.array([0.0, 1.0, 2.5, 2.0, 1.0, 3.0, 0.3, 7.0]))
    expected = fd_gradient(lambda theta: some.with_theta(theta).tilted(y, mean, var).log_z, some.theta)
    np.testing.assert_allclose(some.d_log_z(y, mean, var), expected, rtol=1e-5, atol=1e-6)


def test_a_change_of_the_lapse_keeps_the_weights():
    some = with_spare(weighted(Probit(0.2), np.array([1.0, 3.0])), 0.07)
    assert some == weighted(Probit(0.2, lapse=0.07), np.array([1.0, 3.0]))
    assert some.take(np.array([1])).likelihood.lapse == 0.07


@pytest.mark.parametrize(
    "make", [lambda e: Probit(lapse=e), lambda e: Logit(lapse=e), lambda e: Ordinal(CUTS, lapse=e)]
)
@pytest.mark.parametrize("lapse", [-0.1, 0.76, np.nan, "many"])
def test_impossible_lapses_are_named(make, lapse):
    with pytest.raises(ParameterError, match="lapse must be a number from 0"):
        make(lapse)


@pytest.mark.parametrize("likelihood", LAPSING, ids=str)
def test_what_a_label_tells_that_may_be_wrong(likelihood):
    for mean, var in ((-2.0, 0.3), (0.4, 5.0), (6.0, 200.0)):
        f = mean + np.sqrt(var) * np.linspace(-12.0, 12.0, 200_001)
        weight = np.exp(-0.5 * ((f - mean) ** 2 / var))
        given = np.exp([likelihood.log_prob(np.full(f.shape, y), f) for y in likelihood.labels])
        weight /= weight.sum()
        each, total = given @ weight, 0.0
        for p, share in zip(given, each, strict=True):
            total += weight @ (p * np.log(p / share))
        assert discrete_information(likelihood, np.array([mean]), np.array([var]))[0] == pytest.approx(total, abs=1e-6)


def flipped(n, share, seed=0):
    """Rows of two columns, labels some of which are exchanged, and those that were meant."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, size=(n, 2))
    meant = (np.sin(3.0 * X[:, 0]) + X[:, 1] > 0.0).astype(int)
    return X, np.where(rng.random(n) < share, 1 - meant, meant), meant


def test_wrong_labels_are_found_and_clean_ones_are_left_alone():
    X, y, meant = flipped(1000, 0.1)
    train, test = slice(0, 500), slice(500, None)
    model = IVMClassifier(n_active=50, random_state=0).fit(X[train], y[train])
    found = model.likelihood_.lapse
    assert 0.06 < found < 0.14
    assert model.converged_
    sure = model.predict_proba(X[test])
    assert sure.min() > 0.9 * found  # nothing is more certain than labels are
    assert np.mean(model.predict(X[test]) == meant[test]) > 0.94
    without = IVMClassifier(n_active=50, random_state=0, likelihood=Probit()).fit(X[train], y[train])
    assert without.likelihood_.lapse == 0.0
    assert log_loss(y[test], sure) < 0.95 * log_loss(y[test], without.predict_proba(X[test]))
    theta = model.history_["theta"]
    assert np.isfinite(theta).all()
    assert len(theta) == len(model.history_["criterion"])
    clean = IVMClassifier(n_active=50, random_state=0).fit(X[train], meant[train])
    assert clean.likelihood_.lapse == 0.0


def test_a_lapse_that_is_given_is_learned_or_held():
    X, y, _ = flipped(300, 0.1)
    given = IVMClassifier(n_active=60, random_state=0, likelihood=Probit(lapse=0.3)).fit(X, y).likelihood_
    assert 0.03 < given.lapse < 0.2
    held = Learning(fixed=["likelihood.lapse"])
    model = IVMClassifier(n_active=60, random_state=0, likelihood=Probit(lapse=0.3), learn=held).fit(X, y)
    assert model.likelihood_.lapse == pytest.approx(0.3)
    still = IVMClassifier(n_active=60, random_state=0, learn=Learning(fixed=["likelihood.*"])).fit(X, y)
    assert still.likelihood_.lapse == 0.0


def test_rows_without_label_have_no_lapse():
    assert not hasattr(NullCategory(), "lapse")
