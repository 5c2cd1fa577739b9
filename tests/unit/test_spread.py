"""How much of the latent variance counts in predictions of two classes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

import infovec
from infovec import IVMClassifier
from infovec.errors import ParameterError
from infovec.inference import best_spread, spreads
from infovec.kernels import RBF, Bias
from infovec.likelihoods import Gaussian, Logit, Ordinal, Probit, weighted


def rows(share: float, n: int = 20_000, scale: float = 1.0):
    """Latent means and variances, and labels for which that share of the variances is right."""
    rng = np.random.default_rng(0)
    mean, var = scale * rng.normal(0.0, 3.0, n), scale**2 * rng.gamma(2.0, 4.0, n)
    p = norm.cdf((mean + 0.3) / np.sqrt(1.0 + share * var))
    return np.where(rng.random(n) < p, 1.0, -1.0), np.stack([mean, var])


@pytest.mark.parametrize("likelihood", [Probit(0.2, 1.5), Logit(0.2), Ordinal([-0.5, 0.8])], ids=repr)
def test_the_variance_of_new_rows_is_scaled_and_that_of_training_rows_is_not(likelihood):
    mean, var = np.array([-3.0, 0.1, 8.0]), np.array([0.5, 4.0, 40.0])
    wide = likelihood.with_spread(0.25)
    assert_allclose(wide.log_proba(mean, var), likelihood.log_proba(mean, 0.25 * var), rtol=1e-12)
    assert_allclose(np.exp(wide.log_proba(mean, var)).sum(axis=1), 1.0, rtol=1e-8)
    y = likelihood.labels[[0, 1, 1]]
    assert_allclose(wide.tilted(y, mean, var).log_z, likelihood.tilted(y, mean, var).log_z)
    assert "spread" in repr(wide)
    assert "spread" not in repr(likelihood)


@pytest.mark.parametrize("spread", [0.0, -1.0, np.inf, np.nan, "wide"])
def test_it_must_be_a_positive_number(spread):
    with pytest.raises(ParameterError, match="spread must be a positive number"):
        Probit(spread=spread)


@pytest.mark.parametrize("scale", [1.0, 10.0])
@pytest.mark.parametrize("share", [0.05, 0.4, 1.0, 3.0])
def test_the_share_that_made_the_labels_is_found(share, scale):
    y, left_out = rows(share, scale=scale)
    found = best_spread(Probit(0.3), y, left_out)
    assert found.share == pytest.approx(share, rel=0.15, abs=0.02)
    z = y * (left_out[0] + 0.3) / np.sqrt(1.0 + found.share * left_out[1])
    assert found.loss == pytest.approx(-np.mean(norm.logcdf(z)), rel=1e-10)


def test_few_rows_say_little():
    y, left_out = rows(0.01, n=12)
    assert 0.05 < best_spread(Probit(0.3), y, left_out).share < 3.0


def test_weights_count():
    y, left_out = rows(0.2, n=400)
    twice, weight = np.repeat(np.arange(400), 2), np.full(400, 2.0)
    weight[:100], twice = 0.0, twice[200:]
    one = best_spread(weighted(Probit(0.3), weight), y, left_out)
    other = best_spread(Probit(0.3), y[twice], left_out[:, twice])
    assert_allclose(one, other, rtol=1e-3)


def test_there_is_no_spread_but_for_two_classes():
    assert spreads(Probit())
    assert spreads(weighted(Logit(), 2.0))
    assert not spreads(Gaussian())
    assert not spreads(Ordinal([0.0, 1.0]))
    y, left_out = rows(0.2, n=50)
    found = best_spread(Gaussian(0.5), y, left_out)
    density = norm.logpdf(y, left_out[0], np.sqrt(left_out[1] + 0.5))
    assert found == pytest.approx((1.0, -np.mean(density)))


@pytest.fixture(scope="module")
def classes():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 6))
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * X[:, 2] > 0.0, "yes", "no")


def test_learning_finds_it_and_nothing_else_does(classes, tmp_path):
    X, y = classes
    for settings in ({"kernel": RBF(1.0, 30.0) + Bias(3.0), "learn": None}, {"approximation": "factorised"}):
        assert IVMClassifier(n_active=60, random_state=0, **settings).fit(X, y).likelihood_.spread == 1.0
    model = IVMClassifier(n_active=60, random_state=0).fit(X[:300], y[:300])
    assert 1e-3 < model.likelihood_.spread < 10.0
    assert model.likelihood_.spread != 1.0
    mean, std = model.predict_latent(X[300:])
    z = (mean + model.likelihood_.bias) / np.sqrt(1.0 + model.likelihood_.spread * std**2)
    assert_allclose(model.predict_proba(X[300:])[:, 1], norm.cdf(z), rtol=1e-8)
    model.save(tmp_path / "m.ivm")
    assert infovec.load(tmp_path / "m.ivm").likelihood_ == model.likelihood_
