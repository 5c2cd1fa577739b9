"""The normal distribution against arbitrary precision, deep into both tails."""

import mpmath as mp
import numpy as np
import pytest

from infovec.numerics.normal import beyond, hazard, hazard_excess, log_half_transform, log_ndtr, truncated

mp.mp.dps = 60
ARGUMENTS = np.concatenate([-np.logspace(4, -6, 40), [0.0], np.logspace(-6, 4, 40)])


def cdf(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def log_cdf(x):
    return mp.log(cdf(x)) if x < 0 else mp.log1p(-cdf(-x))


def assert_relative(ours, exact, case, tol=1e-10):
    if abs(exact) > mp.mpf("1e-300"):  # representable
        assert abs(mp.mpf(float(ours)) - exact) <= tol * abs(exact), case
    else:
        assert abs(ours) <= 1e-300, case


@pytest.mark.parametrize(
    ("function", "exact"),
    [
        (log_ndtr, log_cdf),
        (hazard, lambda x: mp.npdf(x) / cdf(x)),
        (hazard_excess, lambda x: mp.npdf(x) / cdf(x) + x),
    ],
)
def test_relative_error_in_both_tails(function, exact):
    for x, value in zip(ARGUMENTS, function(ARGUMENTS), strict=True):
        assert_relative(value, exact(mp.mpf(float(x))), x)


def test_interval_probabilities_and_moments_in_both_tails():
    centres = np.concatenate([-np.logspace(4, -3, 11), [0.0], np.logspace(-3, 4, 11)])
    widths = np.logspace(-8, 4.3, 14)
    lower = (centres[:, None] - widths / 2).ravel()
    upper = (centres[:, None] + widths / 2).ravel()
    log_z, mean, shrinkage = truncated(lower, upper)
    for i in range(len(lower)):
        a, b = mp.mpf(float(lower[i])), mp.mpf(float(upper[i]))
        sign = 1
        if a + b > 0:
            a, b, sign = -b, -a, -1
        z = cdf(b) - cdf(a)
        exact_log = mp.log(z) if z < 0.5 else mp.log1p(-cdf(a) - cdf(-b))
        first = (mp.npdf(a) - mp.npdf(b)) / z
        case = lower[i], upper[i]
        assert_relative(log_z[i], exact_log, case)
        if abs(first) > 1e-9 * max(abs(a), abs(b)):  # else the interval is symmetric up to rounding
            assert_relative(mean[i], sign * first, case)
        assert_relative(shrinkage[i], first**2 + (b * mp.npdf(b) - a * mp.npdf(a)) / z, case)


def test_infinite_ends():
    log_z, mean, shrinkage = truncated(np.array([-np.inf, -np.inf, 2.0]), np.array([np.inf, -3.0, np.inf]))
    np.testing.assert_allclose(log_z, [0.0, log_ndtr(-3.0), log_ndtr(-2.0)], rtol=1e-12)
    np.testing.assert_allclose(mean, [0.0, -hazard(-3.0), hazard(-2.0)], rtol=1e-12)
    expected = [0.0, hazard(-3.0) * hazard_excess(-3.0), hazard(-2.0) * hazard_excess(-2.0)]
    np.testing.assert_allclose(shrinkage, expected, rtol=1e-10)


def test_moments_of_one_tail():
    lower = np.concatenate([-np.logspace(2, -3, 11), [0.0], np.logspace(-3, 4, 15)])
    for a, *found in zip(lower, *beyond(lower), strict=True):
        end = mp.mpf(float(a))
        z = cdf(-end)
        first = mp.npdf(end) / z
        for value, exact in zip(found, (mp.log(z), first, first**2 - end * first), strict=True):
            if abs(exact) > 1e-300:
                assert_relative(value, exact, a)


def test_nothing_warns_or_turns_into_nan_beyond_reason():
    x = np.array([-1e200, -1e20, 1e20, 1e200, -np.inf, np.inf])
    for function in (log_ndtr, hazard, hazard_excess):
        assert not np.isnan(function(x)).any()
    assert not np.isnan(truncated(x[:4], x[:4] + np.abs(x[:4]))[0]).any()


@pytest.mark.parametrize("rate", [0.0, 0.3, 1.0, 24.0, 1e3])
def test_half_transform(rate):
    means, variances = [-30.0, -1.0, 0.0, 2.0, 30.0], [1e-6, 0.1, 1.0, 1e3, 1e6]
    for mean in means:
        for var in variances:
            m, v, r = mp.mpf(mean), mp.mpf(var), mp.mpf(rate)
            exact = -r * m + r**2 * v / 2 + log_cdf((m - r * v) / mp.sqrt(v))
            ours = float(log_half_transform(rate, np.array([mean]), np.array([var]))[0])
            assert ours == pytest.approx(float(exact), rel=1e-12, abs=1e-12), (rate, mean, var)
