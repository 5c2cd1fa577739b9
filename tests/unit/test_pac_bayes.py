"""The theorems as functions of numbers, against their defining equations in many digits and brute force."""

from itertools import pairwise, product
from math import comb, exp, factorial, inf, log, sqrt

import mpmath
import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.stats import beta, norm

from infovec.errors import ParameterError
from infovec.pac_bayes import (
    Ball,
    bayes_upper,
    binomial_upper,
    bounded_loss,
    compression,
    compression_by_tail,
    confusion_ball,
    gibbs,
    gibbs_maurer,
    hoeffding_loss,
    log_arrangements,
    log_moment,
    log_moment_maurer,
    log_moment_of_outcomes,
    log_moment_of_types,
    margin_bound,
    margin_bound_meir_zhang,
    pay,
    relative_entropy,
    relative_entropy_lower,
    relative_entropy_upper,
    votes_of_classes,
    votes_of_ordered,
    votes_of_two,
)

SHARES = st.one_of(st.floats(0.0, 1.0), st.floats(-300.0, 0.0).map(lambda e: 10.0**e))
RADII = st.floats(-20.0, 4.0).map(lambda e: 10.0**e)


def many_digits(q, p):
    """Relative entropy of two coins, in 400 digits."""
    q, p = mpmath.mpf(q), mpmath.mpf(p)
    first = q * mpmath.log(q / p) if q else mpmath.mpf(0)
    return first + ((1 - q) * mpmath.log((1 - q) / (1 - p)) if q != 1 else 0)


@settings(max_examples=300, deadline=None)
@given(SHARES, SHARES)
def test_relative_entropy_in_many_digits(q, p):
    assume(0.0 < p < 1.0)
    with mpmath.workdps(400):
        exact = float(many_digits(q, p))
    assert relative_entropy(q, p) == pytest.approx(exact, rel=1e-12, abs=1e-320)


@settings(max_examples=300, deadline=None)
@given(SHARES, RADII)
@example(0.5, 1e-18)
@example(0.0, 1e4)
@example(1.0, 1e-9)
@example(1e-300, 1e-300)
def test_inversions_satisfy_their_equation(q, epsilon):
    """D = epsilon to 1e-12 of it between the two neighbours of the number: better a floating point number cannot be."""
    with mpmath.workdps(400):
        for p, sign in ((relative_entropy_upper(q, epsilon), 1), (relative_entropy_lower(q, epsilon), -1)):
            assert 0.0 <= p <= 1.0
            assert sign * (p - q) >= 0.0
            at_end = p in (0.0, 1.0)
            ends = [float(np.nextafter(np.nextafter(p, side), side)) for side in (0.0, 1.0)]
            near, far = ends if sign > 0 else ends[::-1]
            within = lambda x: many_digits(q, x) if 0.0 < x < 1.0 else (mpmath.inf if x != q else mpmath.mpf(0))  # noqa: E731
            inside = mpmath.mpf(0) if sign * (near - q) <= 0 else within(near)
            assert inside <= epsilon * (1 + 1e-12)
            assert within(far) >= epsilon * (1 - 1e-12) or (at_end and p == q) or far == p == q


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 0.1, 1.0, 3.0])
@pytest.mark.parametrize("q", [0.001, 0.0154, 0.3, 0.5, 0.9])
def test_inversions_to_twelve_digits_where_numbers_have_them(q, epsilon):
    for p in (relative_entropy_upper(q, epsilon), relative_entropy_lower(q, epsilon)):
        if 1e-300 < p < 1.0:  # else the end itself is no number
            rounding = abs(p - q) / (p * (1.0 - p)) * np.spacing(p)
            with mpmath.workdps(50):
                assert float(many_digits(q, p)) == pytest.approx(epsilon, abs=1e-12 + rounding)


def test_ends_of_the_inversions():
    assert relative_entropy_upper(0.0, 2.0) == pytest.approx(1.0 - exp(-2.0), rel=1e-15)
    assert relative_entropy_lower(1.0, 2.0) == pytest.approx(exp(-2.0), rel=1e-15)
    assert (relative_entropy_lower(0.0, 5.0), relative_entropy_upper(1.0, 5.0)) == (0.0, 1.0)
    assert relative_entropy_upper(0.3, 0.0) == relative_entropy_lower(0.3, 0.0) == 0.3
    assert (relative_entropy_upper(0.3, 1e6), relative_entropy_lower(0.3, 1e6)) == (1.0, 0.0)
    assert relative_entropy_upper(0.3, inf) == 1.0
    assert relative_entropy(0.2, 0.0) == inf
    for wrong in (lambda: relative_entropy_upper(1.1, 1.0), lambda: relative_entropy_upper(0.5, -1.0),
                  lambda: relative_entropy_upper(float("nan"), 1.0)):  # fmt: skip
        with pytest.raises(ParameterError):
            wrong()


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 3000), st.floats(0.0, 1.0), st.floats(-30.0, -0.01))
def test_binomial_tail_equals_that_of_the_beta_distribution(m, share, log_delta):
    k = int(share * m)
    assert binomial_upper(k, m, log_delta) == pytest.approx(
        beta.isf(exp(log_delta), k + 1, m - k) if k < m else 1.0, rel=1e-10
    )


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 300), st.floats(0.0, 0.99), st.floats(-5000.0, -500.0))
def test_binomial_tail_where_delta_is_no_number(m, share, log_delta):
    k = int(share * m)
    p = binomial_upper(k, m, log_delta)
    with mpmath.workdps(60):
        left = 1 - mpmath.mpf(p)
        assume(left > 1e-10)  # else one minus it has too few digits
        tail = mpmath.fsum(mpmath.binomial(m, j) * (1 - left) ** j * left ** (m - j) for j in range(k + 1))
        assert float(mpmath.log(tail)) == pytest.approx(log_delta, rel=1e-4 if left < 1e-8 else 1e-6)


@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_the_moment_is_that_of_a_coin_and_does_not_depend_on_it(n):
    for p in (0.1, 0.5, 0.97):
        moment = sum(comb(n, k) * p**k * (1 - p) ** (n - k) * exp(n * relative_entropy(k / n, p)) for k in range(n + 1))
        assert exp(log_moment(n)) == pytest.approx(moment, rel=1e-12)


@pytest.mark.parametrize("n", [8, 100, 5000, 10**6, 10**7])
def test_the_moment_is_below_the_constants_of_maurer_and_of_the_thesis(n):
    assert log(sqrt(n)) <= log_moment(n) <= log_moment_maurer(n) <= log(n + 1.0)
    with pytest.raises(ParameterError, match="8 rows"):
        log_moment_maurer(7)


@pytest.mark.parametrize(("n", "L"), [(1, 3), (4, 3), (6, 4), (5, 6)])
def test_the_moment_of_several_outcomes_equals_the_sum_over_all_counts(n, L):
    total = 0.0
    for counts in product(range(n + 1), repeat=L):
        if sum(counts) == n:
            ways = factorial(n)
            for k in counts:
                ways //= factorial(k)
            total += ways * float(np.prod([(k / n) ** k for k in counts]))
    assert exp(log_moment_of_outcomes(n, L)) == pytest.approx(total, rel=1e-12)
    assert log_moment_of_outcomes(n, L) <= log_moment_of_types(n, L)


def test_the_moment_of_few_outcomes():
    assert log_moment_of_outcomes(50, 1) == 0.0
    assert log_moment_of_outcomes(50, 2) == log_moment(50)


@settings(max_examples=100, deadline=None)
@given(st.floats(0.0, 1.0), st.floats(0.0, 1e4), st.integers(2, 10**5), st.floats(1e-6, 0.5), st.floats(0.0, 5.0))
def test_theorems_are_ordered_as_they_must_be(error, divergence, n, delta, choices):
    thesis, exact, loss, hoeffding = (
        theorem(error, divergence, n, delta, choices) for theorem in (gibbs, gibbs_maurer, bounded_loss, hoeffding_loss)
    )
    assert thesis.lower <= exact.lower <= error <= exact.upper <= thesis.upper
    assert thesis.upper <= loss.upper <= hoeffding.upper + 1e-12  # Pinsker
    if exact.upper < 1.0 - 1e-9:
        radius = (divergence + log_moment(n) + pay(delta, choices)) / n
        assert relative_entropy(error, exact.upper) == pytest.approx(radius, rel=1e-6, abs=1e-12)


def test_figures_of_the_thesis():
    """Tables 3.2 and 3.3: the bound and the empirical error give the relative entropy, a round trip; B.2 as printed."""
    assert compression(0, 5000, 500, 0.01, 500) == pytest.approx(0.3048, abs=4e-4)
    assert compression(0, 9000, 900, 0.01, 900) == pytest.approx(0.3041, abs=4e-4)
    assert compression_by_tail(0, 5000, 500, 0.01, 500) < compression(0, 5000, 500, 0.01, 500)
    assert bayes_upper(0.067) == 0.134
    assert bayes_upper(0.7) == 1.0


def test_payment_is_a_smaller_delta():
    assert gibbs(0.1, 3.0, 100, 0.05, log(7.0)) == pytest.approx(gibbs(0.1, 3.0, 100, 0.05 / 7.0), rel=1e-12)
    with pytest.raises(ParameterError):
        pay(0.1, -1.0)
    for delta in (0.0, 1.0, -1.0, "0.1"):
        with pytest.raises(ParameterError, match="delta"):
            gibbs(0.1, 3.0, 100, delta)
    for divergence in (inf, -1.0, float("nan")):
        with pytest.raises(ParameterError, match="relative entropy"):
            gibbs(0.1, divergence, 100, 0.1)


def by_optimiser(p, c, radius):
    """Largest c'q in the ball, by a general optimiser in logarithms of q, from several starts."""
    best, rng = -inf, np.random.default_rng(0)

    def shares(z):
        e = np.exp(z - z.max())
        return e / e.sum()

    def room(z):
        return radius - np.sum(p[p > 0] * np.log(p[p > 0] / np.maximum(shares(z)[p > 0], 1e-300)))

    for _ in range(6):
        start = np.log(np.maximum(p, 1e-3)) + 0.1 * rng.normal(size=len(p))
        found = minimize(
            lambda z: -c @ shares(z), start, method="SLSQP", constraints={"type": "ineq", "fun": room},
            options={"maxiter": 500, "ftol": 1e-14},
        )  # fmt: skip
        if room(found.x) > -1e-9:
            best = max(best, float(c @ shares(found.x)))
    return best


@pytest.mark.parametrize("seed", range(8))
def test_linear_functions_in_the_ball_equal_a_general_optimiser(seed):
    rng = np.random.default_rng(seed)
    p, c = rng.dirichlet(np.ones(4)), rng.normal(size=4) * 10.0 ** rng.integers(-2, 3)
    if seed % 2:
        p[rng.integers(4)] = 0.0
        p /= p.sum()
    ball = Ball(p, 10.0 ** rng.uniform(-3, 0))
    scale = np.ptp(c)
    assert ball.largest(c) == pytest.approx(by_optimiser(p, c, ball.radius), abs=2e-5 * scale)
    assert ball.smallest(c) == pytest.approx(-by_optimiser(p, -c, ball.radius), abs=2e-5 * scale)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=6), RADII, st.integers(0, 5))
def test_the_share_of_one_outcome_is_the_inversion_of_two(weights, radius, which):
    assume(sum(weights) > 1e-6)
    p = np.array(weights) / sum(weights)
    which %= len(p)
    c = np.eye(len(p))[which]
    low, high = Ball(p, radius).interval(c)
    assert high == pytest.approx(relative_entropy_upper(p[which], radius), abs=1e-9)
    assert low == pytest.approx(relative_entropy_lower(p[which], radius), abs=1e-9)


def test_the_solution_of_appendix_b1():
    p, radius = np.array([0.05, 0.5, 0.35, 0.1]), 0.02
    q1 = Ball(p, radius).largest(np.array([1.0, 0.0, 0.0, 0.0]))
    lam = next(
        x for x in np.geomspace(1e-3, 1e3, 2_000_000)
        if sqrt(x * p[0] + 0.25 * (x - 1) ** 2) - 0.5 * (x - 1) <= q1
    )  # fmt: skip
    q = np.array([q1, *(lam / (lam + q1) * p[1:])])
    assert q.sum() == pytest.approx(1.0, abs=1e-5)
    assert float(p @ np.log(p / q)) == pytest.approx(radius, abs=1e-5)


def test_ratios_lie_between_those_of_the_corners():
    """The rate of one confusion among its class, against a walk over the ball."""
    p, radius = np.array([0.4, 0.1, 0.05, 0.45]), 0.03
    low, high = Ball(p, radius).ratio(np.array([0, 1, 0, 0]), np.array([1, 1, 0, 0]))
    rng = np.random.default_rng(0)
    q = rng.dirichlet(200 * p, size=200_000)
    inside = q[np.sum(p * np.log(p / q), axis=1) <= radius]
    rates = inside[:, 1] / (inside[:, 0] + inside[:, 1])
    assert low <= rates.min() <= 1.25 * low
    assert 0.96 * high <= rates.max() <= high
    assert Ball(np.array([0.0, 0.0, 0.5, 0.5]), 0.1).ratio([0, 1, 0, 0], [1, 1, 0, 0]) == (0.0, 1.0)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.floats(-6.0, -1.0))
def test_shares_that_are_wrong_by_the_slack_are_paid_for(seed, log_slack):
    rng, slack = np.random.default_rng(seed), 10.0**log_slack
    p, c, radius = rng.dirichlet(np.ones(4)), rng.normal(size=4), 10.0 ** rng.uniform(-4, 0)
    moved = (1 - slack) * p + slack * rng.dirichlet(np.ones(4) * 0.3)  # at most so far in total variation
    exact = Ball(p, radius).interval(c)
    wide = Ball(moved, radius, slack).interval(c)
    assert wide.lower <= exact.lower + 1e-12
    assert exact.upper <= wide.upper + 1e-12


def test_balls_are_checked():
    for wrong in ([0.5, 0.4], [1.2, -0.2]):
        with pytest.raises(ParameterError):
            Ball(np.array(wrong), 0.1)
    with pytest.raises(ParameterError, match="one for each outcome"):
        Ball(np.array([0.5, 0.5]), 0.1).largest([1.0, 0.0, 0.0])
    assert Ball(np.array([0.5, 0.5]), 0.1).interval([3.0, 3.0]) == (3.0, 3.0)
    assert Ball(np.array([0.5, 0.5]), 0.1, slack=0.6).interval([3.0, 4.0]) == (3.0, 4.0)
    ball = confusion_ball(np.array([[0.5, 0.1], [0.0, 0.4]]), 7.0, 50, 0.1, log(3.0))
    assert ball.radius == pytest.approx((7.0 + log_moment_of_outcomes(50, 4) + log(30.0)) / 50, rel=1e-14)


def test_margin_bounds_equal_their_formulas_at_every_margin():
    rng = np.random.default_rng(0)
    margins, D, delta, n = np.clip(0.9 + 0.2 * rng.normal(size=4000), -1, 1), 3.4, 0.05, 4000
    phi = lambda kappa: np.mean(np.clip(1.0 - margins / kappa, 0.0, 1.0))  # noqa: E731
    ours, theirs = [], []
    for k in range(690):
        kappa = 1.01**-k
        ours.append(phi(kappa) + 2 / kappa * sqrt(8.0 / n) + sqrt(log((k + 1) * (k + 2) * 20.0 / delta) / (2 * n)))
    for kappa in np.geomspace(1.0, 1e-3, 400):
        grid = sqrt(log(log(2 / kappa) / log(1.01)) / n)
        theirs.append(phi(kappa) + 4.04 / kappa * sqrt(8.0 / n) + grid + sqrt(log(2 * 20.0 / delta) / (2 * n)))
    assert margin_bound(margins, D, delta) == pytest.approx(min(ours), rel=1e-12)
    assert margin_bound_meir_zhang(margins, D, delta) == pytest.approx(min(theirs), rel=1e-12)
    assert margin_bound(margins, D, delta) < margin_bound_meir_zhang(margins, D, delta) < 1.0
    assert margin_bound(margins[:50], 300.0, delta) == 1.0
    with pytest.raises(ParameterError):
        margin_bound(np.array([1.5]), 1.0, 0.1)


@pytest.mark.parametrize(("n", "d"), [(6, 3), (7, 1), (5, 4)])
def test_arrangements_are_counted(n, d):
    """All ordered choices, those that differ in the order of the last rows only taken as one."""
    from itertools import permutations

    for unordered in range(d + 1):
        kinds = {(rows[: d - unordered], frozenset(rows[d - unordered :])) for rows in permutations(range(n), d)}
        assert exp(log_arrangements(n, d, unordered)) == pytest.approx(len(kinds), rel=1e-12)
    with pytest.raises(ParameterError):
        log_arrangements(n, n + 1, 0)
    with pytest.raises(ParameterError):
        compression(0, n, n, 0.1, n)


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 2000), st.floats(0.01, 0.9), st.floats(0.0, 1.0), st.floats(1e-4, 0.5))
def test_compression_by_the_tail_is_never_larger(n, share, wrong, delta):
    d = max(1, min(n - 1, int(share * n)))
    k = int(wrong * (n - d))
    assert compression_by_tail(k, n, d, delta, d) <= compression(k, n, d, delta, d) + 1e-12


def integral(mean, sd, c):
    """Probability that class c has the largest value, by adaptive quadrature in many pieces."""

    def integrand(t):
        rest = np.delete(np.arange(len(mean)), c)
        return norm.pdf(t, mean[c], sd[c]) * np.prod(norm.cdf((t - mean[rest]) / sd[rest]))

    ends = np.unique(np.concatenate([m + s * np.array([-9, -3, 0, 3, 9]) for m, s in zip(mean, sd, strict=True)]))
    ends = np.unique(np.clip(ends, mean[c] - 9 * sd[c], mean[c] + 9 * sd[c]))
    return sum(quad(integrand, a, b, epsabs=1e-13, epsrel=1e-12, limit=200)[0] for a, b in pairwise(ends))


@pytest.mark.parametrize("spread", [0.0, 1.0, 3.0])
def test_votes_of_classes_are_wrong_by_no_more_than_they_say(spread):
    rng = np.random.default_rng(1)
    mean, var = 2.0 * rng.normal(size=(6, 4)), np.exp(spread * rng.normal(size=(6, 4)))
    found = votes_of_classes(mean, var)
    assert found.error.max() < 1e-11
    for i in range(6):
        for c in range(4):
            assert abs(found.probability[i, c] - integral(mean[i], np.sqrt(var[i]), c)) <= found.error[i] + 1e-12


def test_votes_say_that_they_are_wrong_where_nodes_are_too_few():
    mean, var = np.array([[0.0, 0.1, -1.0]]), np.array([[1.0, 1e-12, 4.0]])
    found = votes_of_classes(mean, var)
    exact = np.array([integral(mean[0], np.sqrt(var[0]), 0), 0.0, integral(mean[0], np.sqrt(var[0]), 2)])
    exact[1] = 1.0 - exact.sum()
    assert found.error[0] == 1.0
    assert np.all(np.abs(found.probability[0] - exact) <= 1.0)
    assert np.all(votes_of_classes(np.array([[0.0, 5.0]]), np.zeros((1, 2))).error == 1.0)


def test_votes_of_two_and_of_ordered_classes():
    mean, var = np.array([0.3, -50.0, 0.0, 2.0]), np.array([2.0, 1.0, 1.0, 0.0])
    two = votes_of_two(mean, var).probability
    assert two[:, 1] == pytest.approx([norm.cdf(0.3 / sqrt(2.0)), norm.cdf(-50.0), 0.5, 1.0], rel=1e-12)
    classes = votes_of_classes(np.column_stack([np.zeros(3), mean[:3]]), np.column_stack([np.full(3, 1e-4), var[:3]]))
    ordered = votes_of_ordered(mean, var, np.array([0.0])).probability
    assert ordered == pytest.approx(two, rel=1e-12)
    assert classes.probability[0, 1] == pytest.approx(norm.cdf(0.3 / sqrt(2.0001)), abs=1e-10)
    far = votes_of_ordered(np.array([-30.0]), np.ones(1), np.array([-1.0, 1.0])).probability[0]
    assert far[2] == pytest.approx(norm.sf(31.0), rel=1e-9)
    assert far[1] == pytest.approx(norm.sf(29.0), rel=1e-9)
