"""Calibration by rows left out."""

from dataclasses import replace

import numpy as np
import pytest

from infovec import IVMClassifier
from infovec.inference import LeftOut, calibrated, left_out_loss
from infovec.kernels import RBF, Bias
from infovec.learning import AgainstRest, Model, ProjectedEvidence
from infovec.likelihoods import Probit
from infovec.likelihoods.classes import MultivariateProbit, OneAgainstRest
from infovec.posterior import ProjectedPosterior

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


def test_machines_against_the_rest_know_what_they_would_say_without_a_row():
    rng = np.random.default_rng(3)
    y = np.arange(36) % 3
    X = rng.normal(size=(36, 2)) + 2.0 * np.column_stack([np.cos(2.1 * y), np.sin(2.1 * y)])
    kernel, rows = RBF(1.5, 9.0) + Bias(1.0), np.arange(36)
    settings = {"kernel": kernel, "learn": None, "n_active": 36, "random_state": 0}
    whole = IVMClassifier(**settings).fit(X, y)
    machines = [ProjectedEvidence(rows, X, np.where(y == c, 1.0, -1.0), rows, "float64", False, 1e-6) for c in range(3)]
    asked = []
    rest = AgainstRest(machines, y, lambda c, kernel: asked.append(c) or rows)
    evidence, loss = rest.left_out(Model.begin(kernel, OneAgainstRest(whole.likelihood_.bias)))
    assert asked == [0, 1, 2]
    assert evidence == pytest.approx(whole.log_evidence_, abs=1e-3)
    truth = []
    for i in rows:
        others, known = np.delete(rows, i), np.empty((2, 1, 3))
        for c, bias in enumerate(whole.likelihood_.bias):
            machine = ProjectedEvidence(
                rows[:-1], X[others], np.where(y[others] == c, 1.0, -1.0), rows[:-1], "float64", False
            )
            _, basis, found = machine.settle(kernel, Probit(bias))
            posterior = ProjectedPosterior(kernel, X[others], basis.L, *found.beliefs)
            known[:, :, c] = posterior.predict(X[[i]])
        truth.append(-whole.likelihood_.log_predictive(y[[i]], *known)[0])
    assert loss == pytest.approx(np.mean(truth), rel=0.2)  # the other sites stay: rows on the wrong side seem easier
    assert -np.mean(whole.predict_log_proba(X)[rows, y]) < 0.8 * loss
