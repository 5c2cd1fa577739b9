"""Scores against the entropies of the one-dimensional marginals before and after."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import gaussian_entropy, gaussian_relative_entropy

from infovec.likelihoods import Probit
from infovec.scores import SCORES, entropy_reduction, information_gain, surprise


@given(st.floats(-20, 20), st.floats(1e-4, 1e4), st.sampled_from([-1.0, 1.0]))
def test_scores_equal_their_definitions(mean, var, y):
    h, a = np.array([mean]), np.array([var])
    log_z, g, nu = Probit(bias=0.2).tilted(np.array([y]), h, a)
    after_mean, after_var = h + a * g, a * (1 - a * nu)
    fall = gaussian_entropy(a[:, None]) - gaussian_entropy(after_var[:, None])
    gain = gaussian_relative_entropy(after_mean, after_var[:, None], h, a[:, None])
    assert entropy_reduction(log_z, g, nu, h, a)[0] == pytest.approx(fall, rel=1e-6, abs=1e-9)
    assert information_gain(log_z, g, nu, h, a)[0] == pytest.approx(gain, rel=1e-6, abs=1e-9)
    assert surprise(log_z, g, nu, h, a)[0] == -log_z[0]


def test_larger_is_better():
    """A wrong prediction teaches more than a right one, an uncertain one more than a certain one."""
    mean, var = np.array([2.0, -2.0, 0.0, 0.0]), np.array([1.0, 1.0, 1e-3, 1.0])
    tilted = Probit().tilted(np.ones(4), mean, var)
    for name in ("entropy", "information_gain", "predictive"):
        value = SCORES[name](*tilted, mean, var)
        assert value[1] > value[0], name
        assert value[3] >= value[2], name
    assert np.all(SCORES["random"](*tilted, mean, var) == 0)
