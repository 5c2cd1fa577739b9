"""How certain predictions are where few rows tell."""

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, log_expit
from scipy.stats import norm

from infovec import IVMClassifier
from infovec.inference import LeftOut, best_spread, calibrated
from infovec.likelihoods import Probit
from infovec.likelihoods.classes import MultivariateProbit, OneAgainstRest
from infovec.machines import classes as class_training
from infovec.numerics.certainty import Belief, equivalent

WIDE = Belief(0.5, 1.0, -4.0, 4.0)


def slope(z):
    """Two classes whose log odds are a number times z."""
    return lambda t: np.column_stack([log_expit(-t * z), log_expit(t * z)])


@pytest.mark.parametrize("weight", [1.0, 2.5])
def test_predictions_are_nearest_to_the_average_over_the_posterior(weight):
    """One row seen, so that the average is that of its own probability: the number is in closed form."""
    z, belief = 1.3, WIDE

    def density(log):
        return norm.pdf(log, belief.mean, belief.std) * expit(np.exp(log) * z) ** weight

    total = quad(density, -4.0, 4.0)[0]
    average = quad(lambda log: density(log) * expit(np.exp(log) * z), -4.0, 4.0)[0] / total
    found = equivalent(slope(np.array([z])), np.array([1]), np.array([weight]), belief)
    assert found == pytest.approx(np.log(average / (1.0 - average)) / z, rel=5e-3)


def test_rows_that_are_all_right_do_not_ask_for_certainty_without_end():
    z, own = np.linspace(0.5, 3.0, 8), np.ones(8, dtype=np.intp)
    found = equivalent(slope(z), own, np.ones(8), WIDE)
    best = max(np.linspace(-4.0, 4.0, 801), key=lambda t: log_expit(np.exp(t) * z).sum() + WIDE.log_density(t))
    assert np.exp(WIDE.mean) < found < 0.9 * np.exp(best)


def test_many_rows_say_it_themselves():
    rng = np.random.default_rng(0)
    z = rng.normal(0.0, 2.0, 5000)
    own = (rng.random(5000) < expit(0.7 * z)).astype(np.intp)
    found = equivalent(slope(z), own, np.ones(5000), WIDE)
    at = np.linspace(0.6, 0.8, 2001)
    best = at[np.argmax([log_expit(t * np.where(own, z, -z)).sum() + WIDE.log_density(np.log(t)) for t in at])]
    assert found == pytest.approx(best, abs=2e-3)


def test_the_average_and_the_most_probable_number_meet_where_one_takes_over():
    """The number hardly moves when rows become enough for the most probable one to do."""
    z = np.tile([2.0, 1.0, -1.5, 0.5], 500)
    own = np.tile([1, 1, 1, 0, 1, 1, 0, 1], 250)
    numbers = [equivalent(slope(z[:n]), own[:n], np.ones(n), WIDE) for n in range(40, 400, 8)]
    assert np.max(np.abs(np.diff(np.log(numbers)))) < 0.02


def test_without_rows_that_tell_the_variance_is_taken_several_times():
    y, known = np.array([1.0, -1.0]), np.array([[0.0, 0.0], [9.0, 9.0]])
    assert 2.0 < best_spread(Probit(0.5), y, known).share < 20.0
    rows = LeftOut(np.stack([np.zeros((3, 3)), np.full((3, 3), 9.0)]), np.arange(3))
    assert calibrated(MultivariateProbit(np.array([0.5, 0.0, 0.0])), [rows]).power < 0.7
    assert calibrated(OneAgainstRest(np.array([0.5, 0.0, 0.0])), [rows]).spread > 2.0


@pytest.fixture
def small(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2])
    from benchmarks import small

    return small


@pytest.mark.parametrize("n", [10, 20])
def test_with_few_rows_nobody_is_worse_than_the_frequencies(small, n):
    """Mean log loss over draws, as `python -m benchmarks.small` has it with more of them and other problems."""
    mean = {}
    for kind in small.KINDS:
        found = [small.losses("plane2", kind, n, seed, gp=False) for seed in range(12)]
        mean[kind] = {side: np.mean([one[side] for one in found]) for side in found[0]}
        assert mean[kind]["infovec"] < 1.03 * mean[kind]["frequencies"], kind
    average = {side: np.mean([one[side] for one in mean.values()]) for side in mean["clean"]}
    assert average["infovec"] < average["uncalibrated"]
    assert mean["clean"]["infovec"] < 0.6 * mean["clean"]["frequencies"]


def test_three_classes_that_are_noise_are_not_told_apart(small):
    found = [small.losses("clouds2", "noise", 9, seed, gp=False) for seed in range(4)]
    mean = {side: np.mean([one[side] for one in found]) for side in found[0]}
    assert mean["infovec"] < 1.03 * mean["frequencies"]


@pytest.mark.parametrize("multi_class", ["ovr", "probit"])
def test_rows_left_out_choose_length_scales_of_many_classes_where_there_are_enough(monkeypatch, multi_class):
    asked = []
    monkeypatch.setattr(class_training, "refine_scales", lambda objective, model, *_: asked.append(model) or model)
    X, y = np.random.default_rng(0).normal(size=(50, 2)), np.arange(50) % 3
    for n in (49, 50):
        IVMClassifier(random_state=0, multi_class=multi_class).fit(X[:n], y[:n])
        assert len(asked) == n - 49


@pytest.mark.parametrize("classes", [2, 3])
def test_a_row_of_each_class_is_enough_to_say_that_little_is_known(classes):
    X, y = np.eye(classes), np.arange(classes)
    proba = IVMClassifier(random_state=0).fit(X, y).predict_proba(X)
    assert np.all(proba.argmax(axis=1) == y)
    assert np.all(proba > 0.02)
