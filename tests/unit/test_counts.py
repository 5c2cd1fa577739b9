"""Counts of every size end in a model, and large ones tell their rates."""

from math import factorial
from pathlib import Path

import numpy as np
import pytest

from infovec import IVMRegressor
from infovec.likelihoods import Poisson

ROOT = Path(__file__).parents[2]


@pytest.fixture
def counts(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks import counts

    return counts


@pytest.mark.parametrize("seed", [209, 220, 222, 224, 227, 232, 239, 243, 252, 254, 262, 292])
def test_fits_end_well_and_rates_are_near(counts, seed):
    """Clean counts, outliers and many zeros, with medians from 26 to 429262; more of them: benchmarks.counts."""
    found = counts.fit_once(counts.draw(seed), n_active=30)
    assert found["error"] is None
    assert not [w for w in found["warnings"] if not w.startswith("ConvergenceWarning: the sites")]
    assert (found["noise"] == "poisson") == (found["off_percent"] is not None)
    assert (found["off_percent"] or 0.0) < 2.0


def test_the_summary_counts_what_went_wrong(counts):
    line = {"median_count": 40.0, "error": None, "warnings": [], "off_percent": 1.0}
    lines = [line, {**line, "error": "ValueError: no", "off_percent": None}, {**line, "warnings": ["UserWarning: so"]}]
    lines.append({**line, "median_count": 0.0, "warnings": ["ConvergenceWarning: the sites"], "off_percent": None})
    found = counts.summary(lines)["summary"]
    assert list(found) == ["1e-1", "1e1"]
    assert (found["1e1"]["problems"], found["1e1"]["errors"], found["1e1"]["leaked"]) == (3, 1, 1)
    assert (found["1e-1"]["unsettled"], found["1e-1"]["off_percent"]) == (1, None)


@pytest.mark.parametrize("rate", [1e-3, 1e12])
def test_hardly_any_and_astronomic_counts(rate):
    rng = np.random.default_rng(0)
    x = rng.uniform(-2.0, 2.0, (60, 1))
    y = rng.poisson(rate * np.exp(np.sin(2.0 * x[:, 0]))).astype(float)
    model = IVMRegressor(likelihood="poisson", n_active=20, random_state=0, dtype="float64").fit(x, y)
    mean, std = model.predict(x, return_std=True)
    latent, latent_std = model.predict_latent(x)
    log_normal = np.exp(latent + model.likelihood_.bias + 0.5 * latent_std**2)
    np.testing.assert_allclose(mean, log_normal, rtol=1e-10)
    np.testing.assert_allclose(std**2, mean + mean**2 * np.expm1(latent_std**2), rtol=1e-10)
    if rate < 1.0:
        assert np.all(mean < 0.01)
    else:
        np.testing.assert_allclose(mean, rate * np.exp(np.sin(2.0 * x[:, 0])), rtol=1e-3)


def test_log_probabilities_near_the_mode_of_large_counts():
    """They fall by y (e^t - 1 - t) at a distance t, of which a difference of terms like y log y keeps little."""
    y = np.array([1.0, 50.0, 1e6, 1e12])[:, None]
    t = np.linspace(0.5, 2.0, 50) / np.sqrt(y)
    fall = Poisson(bias=0.3).log_prob(y, np.log(y) - 0.3) - Poisson(bias=0.3).log_prob(y, np.log(y) - 0.3 + t)
    exact = y * np.sum([t**k / factorial(k) for k in range(2, 20)], axis=0)
    np.testing.assert_allclose(fall, exact, atol=1e-3)
    np.testing.assert_allclose(Poisson().log_prob(np.zeros(2), np.array([-1.0, 2.0])), -np.exp([-1.0, 2.0]))
