import numpy as np
import pytest
from oracles import fd_gradient

from infovec.numerics.transforms import IDENTITY, INCREASING, INVERSE_SQUARE, LOG, SIGMOID, SOFTPLUS, Above, Interval

FREE = np.array([-30.0, -3.0, -0.1, 0.0, 0.7, 4.0, 25.0])
ELEMENTWISE = [IDENTITY, LOG, SOFTPLUS, SIGMOID, Interval(2.0), INVERSE_SQUARE]


@pytest.mark.parametrize("transform", ELEMENTWISE, ids=lambda t: type(t).__name__)
def test_there_and_back_and_slope(transform):
    value = transform.value(FREE)
    assert transform.admits(value)
    np.testing.assert_allclose(transform.free(value), FREE, rtol=1e-9, atol=1e-4 if transform.high < 3 else 1e-9)
    slope = np.diagonal(fd_gradient(transform.value, FREE))
    np.testing.assert_allclose(transform.pullback(value, np.ones(7)), slope, rtol=1e-6, atol=1e-10)
    assert np.all(np.diff(value) * (-1 if transform is INVERSE_SQUARE else 1) > 0)


def test_positive_transforms_do_what_their_names_say():
    np.testing.assert_allclose(LOG.value(FREE), np.exp(FREE))
    np.testing.assert_allclose(SOFTPLUS.value(FREE), np.log1p(np.exp(FREE)), rtol=1e-12)
    np.testing.assert_allclose(SIGMOID.value(FREE), 1 / (1 + np.exp(-FREE)))
    for transform in (LOG, SOFTPLUS):
        assert not transform.admits(np.array([0.0]))
        assert not transform.admits(np.array([np.inf]))
        tiny, huge = transform.free(np.array([1e-10])), transform.free(np.array([1e10]))
        np.testing.assert_allclose(transform.value(np.concatenate([tiny, huge])), [1e-10, 1e10])


@pytest.mark.parametrize("low", [-7.0, 0.0, 2.0])
def test_above_a_number(low):
    transform, free = Above(low), np.array([*Above(low).free_bounds, -2.0, 0.0, 0.7, 4.0, 25.0])
    value = transform.value(free)
    assert transform.admits(value)
    np.testing.assert_allclose(transform.free(value), free, rtol=1e-9, atol=1e-9)
    slope = np.diagonal(fd_gradient(transform.value, free[2:]))
    np.testing.assert_allclose(transform.pullback(value[2:], np.ones(5)), slope, rtol=1e-6)
    assert not transform.admits(np.array([low]))
    assert not transform.admits(np.array([np.inf]))
    assert f"above {low:g}" in transform.requirement


@pytest.mark.parametrize("unit", [1e-30, 1.0, 1e30])
def test_positive_parameters_may_be_in_any_unit(unit):
    """How far learning goes is counted from where it begins."""
    low, high = LOG.free_bounds
    assert low + 12.0 < LOG.free(np.array(unit)) < high - 12.0
    assert np.isfinite(LOG.value(np.array(high)) ** 2)
    assert LOG.value(np.array(low)) ** 2 > 0.0


def test_increasing_sequences():
    cuts = np.array([-2.0, -1.5, 0.0, 7.0])
    free = INCREASING.free(cuts)
    np.testing.assert_allclose(INCREASING.value(free), cuts)
    jacobian = fd_gradient(INCREASING.value, free)
    gradient = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.0], [-2.0, 1.0]])
    np.testing.assert_allclose(INCREASING.pullback(cuts, gradient), jacobian @ gradient, rtol=1e-6, atol=1e-9)
    assert not INCREASING.admits(np.array([0.0, 0.0]))
