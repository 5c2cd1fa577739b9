"""Calibration by rows left out."""

from dataclasses import replace

import numpy as np
import pytest

from infovec.multiclass import LeftOut, MultivariateProbit, OneAgainstRest, calibrated, left_out_loss

BIAS = np.array([0.2, -0.3, 0.1, 0.0])


def drawn(likelihood, n=20_000):
    """Rows whose labels come from what the likelihood predicts for them."""
    rng = np.random.default_rng(0)
    rows = np.stack([rng.normal(size=(n, 4)) * 3.0, rng.uniform(0.0, 20.0, size=(n, 4))])
    proba = np.exp(likelihood.log_proba(*rows))
    return LeftOut(rows, (rng.uniform(size=(n, 1)) > np.cumsum(proba, axis=1)).sum(axis=1))


@pytest.mark.parametrize(("power", "spread"), [(0.5, 1.0), (2.0, 0.1), (1.0, 0.4)])
def test_power_and_spread_are_those_that_the_labels_were_drawn_with(power, spread):
    truth = OneAgainstRest(BIAS, power=power, spread=spread)
    found = calibrated(OneAgainstRest(BIAS), [drawn(truth)])
    assert found.power == pytest.approx(power, rel=0.06)
    assert found.spread == pytest.approx(spread, rel=0.2)


def test_the_power_of_coupled_classes_is_found_too():
    found = calibrated(MultivariateProbit(BIAS), [drawn(MultivariateProbit(BIAS, power=1.6), 3000)])
    assert found.power == pytest.approx(1.6, rel=0.1)
    assert found.spread == 1.0


def test_the_loss_is_the_mean_over_all_shards():
    likelihood = OneAgainstRest(BIAS)
    rows = drawn(replace(likelihood, power=0.7), 50)
    parts = [LeftOut(rows.left_out[:, at], rows.labels[at]) for at in (slice(0, 20), slice(20, 50))]
    own = [likelihood.log_proba(*rows.left_out)[i, c] for i, c in enumerate(rows.labels)]
    assert left_out_loss(likelihood, parts) == pytest.approx(-np.mean(own))
    assert left_out_loss(calibrated(likelihood, parts), parts) < left_out_loss(likelihood, parts)
    assert calibrated(likelihood, parts).power == pytest.approx(calibrated(likelihood, [rows]).power)
