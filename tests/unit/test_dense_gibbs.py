"""The Gibbs sampler of the dense multinomial probit: its draws, its diagnostics, evidence, kernel parameters."""

import json
from pathlib import Path

import numpy as np
import pytest
from oracles import MarkovRace, gaussian_log_density
from scipy.special import log_ndtr
from scipy.stats import chi2, multivariate_normal

from infovec.dense import (
    annealed_evidence,
    draw_in_cone,
    effective_sample_size,
    gibbs,
    gibbs_kernel,
    gibbs_kernel_proba,
    gibbs_proba,
    prior_evidence,
    spectrum,
    split_r_hat,
)
from infovec.dense import leaps as of_leaps
from infovec.dense.annealing import _bennett, _log_ratio
from infovec.dense.kernel_sampler import _Chain, _Model
from infovec.dense.leaps import Base, Leaps, State
from infovec.dense.sampler import latent_given
from infovec.errors import NotConverged, NotPositiveDefinite
from infovec.kernels import RBF, Matern
from infovec.runtime import work_within

ROWS, LABELS = np.array([-1.0, 1.4, -0.2, 0.5]), np.array([0, 2, 1, 1])
KERNEL = Matern(1.0, 3.0, nu=0.5)
GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "mcmc.json").read_text())["cases"]


def p_value_of_uniform(u, bins=25):
    counts = np.histogram(u, bins=bins, range=(0.0, 1.0))[0]
    expected = len(u) / bins
    return chi2.sf(((counts - expected) ** 2 / expected).sum(), bins - 1)


def winner_distribution(mean):
    """Distribution function of the own variable of class 0, by sums on a fine grid about the mode."""
    gap = mean[1:] - mean[0]

    def log_density(t):
        return -0.5 * t**2 + log_ndtr(t[:, None] - gap).sum(axis=1)

    wide = np.linspace(0.0, max(gap.max(), 0.0) + 10.0, 20001)
    peak = wide[np.argmax(log_density(wide))]
    t = np.linspace(peak - 9.0, peak + 9.0, 60001)
    mass = np.exp(log_density(t) - log_density(t).max())
    below = np.concatenate([[0.0], np.cumsum(0.5 * (mass[1:] + mass[:-1]))])
    return lambda value: np.interp(value - mean[0], t, below / below[-1])


@pytest.mark.parametrize(
    "mean",
    [
        (0.0, 0.0),
        (-8.0, 0.0),
        (0.0, 0.0, 0.0),
        (-8.0, 0.0, 0.0),
        (0.0, 8.0, -3.0),
        (2.0, -9.0, 1.0),
        (-40.0, 0.0, 1.0),
        (-1e4, 0.0, 0.5),
        (-12.0, 0.0, 0.3, -1.0, 0.1, -12.0),
    ],
    ids=str,
)
def test_draws_in_cones_have_their_distribution(mean):
    rng, mean = np.random.default_rng(3), np.array(mean)
    y = draw_in_cone(np.tile(mean, (20000, 1)), np.zeros(20000, dtype=int), rng)
    assert np.all(y[:, :1] >= y[:, 1:])
    own = winner_distribution(mean)(y[:, 0])
    assert p_value_of_uniform(own) > 1e-3
    for j in range(1, len(mean)):  # given the winner, every other class is a normal variable below it
        other = np.exp(log_ndtr(y[:, j] - mean[j]) - log_ndtr(y[:, 0] - mean[j]))
        assert p_value_of_uniform(other) > 1e-3
        assert abs(np.corrcoef(own, other)[0, 1]) < 4.0 / np.sqrt(20000)


@pytest.mark.parametrize("far", [0.0, 8.0, 1e3, 1e6, 1e9])
def test_draws_far_outside_the_cone_are_refused_seldom(far):
    class Counting:
        def __init__(self):
            self.rng, self.normals = np.random.default_rng(0), 0

        def standard_normal(self, size):
            self.normals += size
            return self.rng.standard_normal(size)

        def standard_exponential(self, size):
            return self.rng.standard_exponential(size)

    counting, C = Counting(), 4
    mean = np.zeros((5000, C))
    mean[:, 1:] = far
    y = draw_in_cone(mean, np.zeros(5000, dtype=int), counting)
    assert counting.normals < 1.1 * np.sqrt(C) * 5000
    if far == 1e9:  # all stand at the mean of the four means, the others as far below as an exponential variable is
        np.testing.assert_allclose(y[:, 0].mean(), 0.75 * far, rtol=1e-9)


def test_latent_values_given_auxiliary_variables():
    """Variables of N(0, I + K), moved and smoothed, are latent values of N(0, K), and what is left is N(0, I)."""
    rng = np.random.default_rng(0)
    K, k = KERNEL(ROWS[:, None]), 40000
    for stack in (K, np.stack([K, 2.0 * K, 0.5 * K])):
        spec = spectrum(stack)
        for c, own in enumerate(np.broadcast_to(stack, (3, 4, 4))):
            Y = np.stack([np.linalg.cholesky(np.eye(4) + S) @ rng.normal(size=(4, k))
                          for S in np.broadcast_to(stack, (3, 4, 4))], axis=2)  # fmt: skip
            M = latent_given(spec, Y, rng)[:, :, c]
            error = np.sqrt((own**2 + np.outer(np.diag(own), np.diag(own))) / k)
            assert np.max(np.abs(M @ M.T / k - own) / error) < 4.5


def test_gibbs_equals_brute_force():
    rng = np.random.default_rng(1)
    truth = MarkovRace(ROWS, LABELS, 3.0, 1.0)
    K, new = KERNEL(ROWS[:, None]), np.array([[0.9]])
    draws = gibbs(K, LABELS, 3, 100_000, rng, n_chains=400, burn_in=100)
    assert draws.auxiliary.shape == (400, 250, 4, 3)
    assert np.all(draws.error < 0.008)
    assert np.max(np.abs(draws.mean - truth.mean()) / draws.error) < 4.0
    assert np.all(draws.r_hat < 1.05)
    found = gibbs_proba(draws, KERNEL(new, ROWS[:, None]), KERNEL.diag(new))
    np.testing.assert_allclose(found.proba.sum(axis=1), 1.0, rtol=1e-9)
    assert np.all(found.error < 0.0015)
    assert np.max(np.abs(found.proba - truth.proba_at(0.9)) / found.error) < 4.0


def test_there_are_no_leaps_without_room_or_without_an_approximation(monkeypatch):
    spec = spectrum(KERNEL(ROWS[:, None]))
    with work_within(2.0**29):
        assert Leaps.where_there_is_room(spec, LABELS, 3) is None
        assert gibbs(spec, LABELS, 3, 8, np.random.default_rng(0), burn_in=2).auxiliary.shape == (4, 2, 4, 3)
    assert Leaps.where_there_is_room(spec, LABELS, 3) is not None
    assert np.all(np.isfinite(gibbs(spec.times(1e20), LABELS, 3, 8, np.random.default_rng(0), burn_in=2).mean))

    assert Leaps.where_there_is_room(spec.times(1e20), LABELS, 3) is None

    def fails(*_):
        raise NotConverged("no mode")

    monkeypatch.setattr(of_leaps, "laplace", fails)
    assert Leaps.where_there_is_room(spec, LABELS, 3) is None


@pytest.mark.parametrize("stacked", [False, True], ids=["shared", "separate"])
def test_leaps_alone_have_the_posterior(stacked):
    """Without any sweep; the latent values of rows forget what they were within a few leaps."""
    rng = np.random.default_rng(6)
    K, k = KERNEL(ROWS[:, None]), 500
    spec = spectrum(np.stack([K] * 3) if stacked else K)
    leaps = Leaps.where_there_is_room(spec, LABELS, 3)
    M, draws = np.sqrt(3.0) * rng.normal(size=(4, k, 3)), []
    for step in range(90):
        M = leaps(M, rng, learn=step < 30)
        if step >= 30:
            draws.append(M - M.mean(axis=2, keepdims=True))
    draws = np.stack(draws).transpose(2, 0, 1, 3)
    mean, error = draws.mean(axis=(0, 1)), draws.std(axis=(0, 1)) / np.sqrt(effective_sample_size(draws))
    assert np.all(error < 0.02)
    assert np.max(np.abs(mean - MarkovRace(ROWS, LABELS, 3.0, 1.0).mean()) / error) < 4.0


def test_the_base_of_leaps_is_the_normal_approximation():
    """Its covariance, draws from it, and that short steps keep the energy to their square."""
    rng, K = np.random.default_rng(0), np.stack([c * KERNEL(ROWS[:, None]) for c in (1.0, 4.0, 0.5)])
    base = Base.of(spectrum(K), LABELS, 3)
    W = np.zeros((12, 12))
    for n, p in enumerate(base.pi):
        W[n::4, n::4] = np.diag(p) - np.outer(p, p)
    prior = np.zeros((12, 12))
    for c in range(3):
        prior[4 * c : 4 * c + 4, 4 * c : 4 * c + 4] = K[c]
    cov = np.linalg.inv(np.linalg.inv(prior) + W)
    A = rng.normal(size=(4, 2, 3))
    flat = A.transpose(2, 0, 1).reshape(12, 2)
    np.testing.assert_allclose(base.covariance_times(A).transpose(2, 0, 1).reshape(12, 2), cov @ flat, atol=1e-10)
    np.testing.assert_allclose(base.curvature_times(A).transpose(2, 0, 1).reshape(12, 2), W @ flat, atol=1e-12)
    drawn = base.draw((4, 40000, 3), rng).transpose(2, 0, 1).reshape(12, -1)
    spread = np.sqrt((cov**2 + np.outer(np.diag(cov), np.diag(cov))) / 40000)
    assert np.max(np.abs(drawn @ drawn.T / 40000 - cov) / spread) < 4.8
    leaps, lost = Leaps(base, LABELS), []
    start = State(3.0 * rng.normal(size=(4, 50, 3)), rng.normal(size=(4, 50)))
    for count in (20, 40):
        chance = leaps.leap(start, np.full(50, 1.2 / count), count, np.random.default_rng(1))[1]
        lost.append(1.0 - chance.mean())
    assert lost[0] < 0.01
    assert lost[1] < 0.35 * lost[0]


@pytest.mark.parametrize("variance", [60.0, 1e4])
def test_chains_come_together_where_kernels_vary_much(variance):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.argmax(np.column_stack([X, np.full(60, 0.3)]), axis=1)
    K = RBF(1.5, variance)(X)
    found = [gibbs(K, y, 3, 1000, np.random.default_rng(1), burn_in=60, leap=leap) for leap in (True, False)]
    assert found[0].r_hat.max() < 1.1
    assert found[1].r_hat.max() > 1.2
    assert found[0].ess.min() > 4.0 * found[1].ess.min()


def test_classes_may_have_kernels_of_their_own():
    rng = np.random.default_rng(2)
    K, new = KERNEL(ROWS[:, None]), np.array([[0.9]])
    draws = gibbs(np.stack([K] * 3), LABELS, 3, 20_000, rng, n_chains=200, burn_in=60)
    truth = MarkovRace(ROWS, LABELS, 3.0, 1.0)
    contrast = draws.mean - draws.mean.mean(axis=1, keepdims=True)
    assert np.max(np.abs(contrast - truth.mean())) < 0.06
    cross = np.stack([KERNEL(new, ROWS[:, None])] * 3)
    found = gibbs_proba(draws, cross, np.full((3, 1), 3.0))
    assert np.max(np.abs(found.proba[0] - truth.proba_at(0.9)) / found.error) < 4.0


@pytest.mark.parametrize("case", ["probit", "probit_strong"])
def test_gibbs_equals_long_chains(case):
    golden = GOLDEN[case]
    kernel = RBF(golden["kernel"]["lengthscale"], golden["kernel"]["variance"])
    X, X_new, y = np.array(golden["X"]), np.array(golden["X_test"]), np.array(golden["y"])
    draws = gibbs(kernel(X), y, 3, 1200, np.random.default_rng(5), n_chains=24, burn_in=60, thin=4)
    error = np.hypot(draws.error, golden["standard_error"]["mean"])
    assert np.max(np.abs(draws.mean - golden["mean"]) / error) < 4.5
    np.testing.assert_allclose(draws.var, golden["var"], rtol=0.25)
    assert abs(np.mean(draws.var / golden["var"]) - 1.0) < 0.05
    found = gibbs_proba(draws, kernel(X_new, X), kernel.diag(X_new))
    error = np.hypot(found.error, golden["standard_error"]["proba"])
    assert np.max(np.abs(found.proba - golden["test_proba"]) / error) < 4.5
    assert found.error.max() < 0.02


def test_draws_have_the_room_they_are_given():
    K = KERNEL(ROWS[:, None])
    told = []
    draws = gibbs(
        K, LABELS, 3, 400, np.random.default_rng(0), n_chains=2, burn_in=10, max_bytes=16 * 2 * 12 * 50,
        on_sweep=lambda done, of: told.append((done, of)),
    )  # fmt: skip
    assert draws.auxiliary.shape == (2, 50, 4, 3)
    assert told[-1] == (210, 210)
    assert len(told) == 210


def test_the_same_generator_gives_the_same_draws():
    K = KERNEL(ROWS[:, None])
    one, two = (gibbs(K, LABELS, 3, 40, np.random.default_rng(7), burn_in=5).auxiliary for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_what_is_no_covariance_is_refused():
    with pytest.raises(NotPositiveDefinite, match="eigenvalue"):
        spectrum(np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert spectrum(np.ones((3, 3))).values.min() >= 0.0  # singular ones are fine


def ar1(rho, chains, n, rng):
    x = np.empty((chains, n))
    x[:, 0] = rng.normal(size=chains)
    noise = np.sqrt(1.0 - rho**2) * rng.normal(size=(chains, n))
    for t in range(1, n):
        x[:, t] = rho * x[:, t - 1] + noise[:, t]
    return x


@pytest.mark.parametrize("rho", [-0.5, 0.0, 0.5, 0.9, 0.97])
def test_effective_sample_size_of_an_autoregression(rho):
    x = ar1(rho, 8, 20000, np.random.default_rng(1))
    expected = x.size * (1.0 - rho) / (1.0 + rho)
    np.testing.assert_allclose(effective_sample_size(x), expected, rtol=0.12)
    both = effective_sample_size(np.stack([x, 5.0 - 3.0 * x], axis=2))  # whatever the unit
    np.testing.assert_allclose(both, expected, rtol=0.12)


def test_r_hat_of_chains_that_differ():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2, 40000))
    assert abs(split_r_hat(x) - 1.0) < 1e-3
    for delta in (0.3, 0.6):  # halves of chains have means 0, 0, delta, delta, whose variance is delta^2 / 3
        apart = x + np.array([[0.0], [delta]])
        np.testing.assert_allclose(split_r_hat(apart), np.sqrt(1.0 + delta**2 / 3.0), atol=3e-3)
    assert split_r_hat(x * np.array([[1.0], [3.0]])) > 1.1  # seen by their widths only
    assert split_r_hat(np.linspace(0.0, 9.0, 1000)[None]) > 1.5  # a chain that drifts
    assert effective_sample_size(np.stack([np.zeros(50), np.ones(50)])) < 3.0  # chains that never moved


@pytest.mark.parametrize("seed", [0, 1])
def test_evidence_equals_brute_force(seed):
    K, rng = KERNEL(ROWS[:, None]), np.random.default_rng(seed)
    truth = MarkovRace(ROWS, LABELS, 3.0, 1.0).log_evidence
    for found in (
        annealed_evidence(K, LABELS, 3, rng, n_chains=800, n_steps=30),
        annealed_evidence(np.stack([K] * 3), LABELS, 3, rng, n_chains=800, n_steps=30),
        prior_evidence(K, LABELS, 3, 20000, rng),
    ):
        assert found.error < 0.04
        assert abs(found.log_evidence - truth) < 4.0 * found.error


def test_annealing_sees_what_the_prior_does_not():
    x = np.arange(30) / 3.0
    y = np.digitize(np.sin(x), [-0.4, 0.4])
    kernel = Matern(2.0, 9.0, nu=0.5)
    truth = MarkovRace(x, y, 9.0, 2.0, 129).log_evidence
    spec = spectrum(kernel(x[:, None]))
    runs = [annealed_evidence(spec, y, 3, np.random.default_rng(s), n_chains=24, n_steps=100) for s in range(6)]
    off = np.array([(found.log_evidence - truth) / found.error for found in runs])
    assert max(found.error for found in runs) < 0.4
    assert np.max(np.abs(off)) < 4.0
    assert 0.3 < np.sqrt(np.mean(off**2)) < 1.9  # errors are as large as they are said to be
    poor = prior_evidence(kernel(x[:, None]), y, 3, 1000, np.random.default_rng(0))
    assert poor.log_evidence < truth - 2.0
    assert poor.ess < 10.0


def test_evidence_where_it_is_known():
    rng = np.random.default_rng(0)
    y = np.array([0, 1, 3, 3, 2])
    found = annealed_evidence(np.diag([0.5, 1.0, 4.0, 9.0, 25.0]), y, 4, rng, n_chains=500, n_steps=40)
    assert abs(found.log_evidence + 5 * np.log(4.0)) < 4.0 * found.error  # rows that know nothing of each other
    K = RBF(1.0, 2.0)(ROWS[:, None])
    labels, signs = np.array([1, 0, 1, 1]), np.array([1, -1, 1, 1])
    cov = signs[:, None] * (np.eye(4) + K) * signs  # two classes: the quadrant of a Gaussian, differences of y
    truth = np.log(multivariate_normal.cdf(np.zeros(4), np.zeros(4), cov, maxpts=200_000, abseps=1e-6))
    found = annealed_evidence(K, labels, 2, rng, n_chains=800, n_steps=30)
    assert found.error < 0.03
    assert abs(found.log_evidence - truth) < 4.0 * found.error


def test_both_directions_of_annealing_meet():
    """Normal log weights of variance v about F - v/2, and about -F - v/2 on the way back, are such a pair."""
    rng = np.random.default_rng(0)
    for F, v in ((3.0, 0.1), (-40.0, 2.0), (5.0, 9.0)):
        off = []
        for _ in range(40):
            ahead, back = (sign * F - 0.5 * v + np.sqrt(v) * rng.normal(size=64) for sign in (1.0, -1.0))
            found, error = _bennett(ahead, back)
            off.append((found - F) / error)
        assert abs(np.mean(off)) < 4.0 / np.sqrt(40)
        assert 0.7 < np.std(off) < 1.35


def test_weights_of_annealing_are_ratios_of_gaussians():
    rng = np.random.default_rng(0)
    K, Y = KERNEL(ROWS[:, None]), rng.normal(size=(4, 2, 3))
    spec = spectrum(np.stack([K] * 3))
    own = _log_ratio(spec, spec.turn(Y), 0.2, 0.7)

    def ratio(y):
        return gaussian_log_density(y, np.eye(4) + 0.7 * K) - gaussian_log_density(y, np.eye(4) + 0.2 * K)

    expected = [sum(ratio(Y[:, k, c]) for c in range(3)) for k in range(2)]
    np.testing.assert_allclose(own, expected, rtol=1e-10)
    two = Y @ MarkovRace._TWO.T  # differences of classes in orthonormal coordinates
    expected = [sum(ratio(two[:, k, c]) for c in range(2)) for k in range(2)]
    np.testing.assert_allclose(_log_ratio(spectrum(K), spectrum(K).turn(Y), 0.2, 0.7), expected, rtol=1e-10)


def log_prior(theta):
    return float(-0.5 * (((theta - [0.0, 0.5]) / [0.7, 1.0]) ** 2).sum())


def test_kernel_parameters_have_their_posterior():
    """Against evidence times prior on a grid of length scale and variance."""
    scales, variances = np.linspace(-2.6, 2.4, 13), np.linspace(-3.5, 4.5, 13)
    races = [[MarkovRace(ROWS, LABELS, np.exp(v), np.exp(s), 57) for v in variances] for s in scales]
    priors = [[log_prior(np.array([s, v])) for v in variances] for s in scales]
    logs = np.array([[race.log_evidence for race in row] for row in races]) + priors
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    draws = gibbs_kernel(
        KERNEL, ROWS[:, None], LABELS, 3, log_prior, 2400, np.random.default_rng(3), n_chains=8, burn_in=80
    )
    assert draws.theta.shape == (8, 300, 2)
    assert np.all((draws.accepted > 0.1) & (draws.accepted < 0.6))
    assert np.all(draws.r_hat < 1.1)
    for j, (grid, p) in enumerate(((scales, weights.sum(axis=1)), (variances, weights.sum(axis=0)))):
        mean = grid @ p
        std = np.sqrt((grid - mean) ** 2 @ p)
        error = std / np.sqrt(draws.ess[j])
        assert error < 0.06
        assert abs(draws.theta[..., j].mean() - mean) < 4.0 * error
        assert abs(draws.theta[..., j].std() / std - 1.0) < 0.12
    new = np.array([[0.9]])
    found = gibbs_kernel_proba(draws, KERNEL, ROWS[:, None], new, max_draws=400)
    coarse = [(a, b) for a in range(0, 13, 2) for b in range(0, 13, 2)]
    p = sum(weights[a, b] * races[a][b].proba_at(0.9) for a, b in coarse) / sum(weights[at] for at in coarse)
    assert np.max(np.abs(found.proba[0] - p) / found.error) < 4.0
    assert np.all(found.error < 0.015)


@pytest.mark.parametrize("which", [0, 1])
def test_each_of_the_two_proposals_leaves_the_posterior_as_it_is(which):
    """One row says nothing about the kernel: theta keeps its prior, whatever is proposed."""
    rng = np.random.default_rng(4)
    X, y = np.array([[0.0]]), np.array([1])
    scales = np.array([0.0, 0.0])
    scales[which] = 1.5
    chain = _Chain(_Model(RBF(1.0, 2.0), X, y, 3, log_prior), rng)
    theta = []
    for _ in range(1200):
        chain.sweep(np.eye(2), scales)
        theta.append(chain.prior.theta)
    theta = np.array(theta)[None]
    error = np.array([0.7, 1.0]) / np.sqrt(effective_sample_size(theta))
    assert np.all(error < 0.15)
    assert np.all(np.abs(theta.mean(axis=(0, 1)) - [0.0, 0.5]) < 4.0 * error)
    np.testing.assert_allclose(theta.std(axis=(0, 1)), [0.7, 1.0], rtol=0.2)
