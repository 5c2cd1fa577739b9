"""Expectation propagation that cannot run away: any likelihood, any scale, any sites to start from."""

import numpy as np
import pytest
from contracts.test_likelihoods import CASES

from infovec.inference import Sweep, astray, infer, infer_coupled, make_basis
from infovec.kernels import RBF
from infovec.likelihoods import Poisson, StudentT
from infovec.likelihoods.classes import MultivariateProbit, Softmax
from infovec.machines.result import Result, not_converged
from infovec.shards import CoupledShard, ProjectedShard

N = 80


def projected(kernel, likelihood, y, dtype="float64", p=1, n_active=15, seed=0):
    X = np.random.default_rng(seed).standard_normal((len(y), p))
    shard = ProjectedShard(np.arange(len(y)), X.astype(dtype), y, kernel, likelihood, dtype)
    shard.project(make_basis(kernel, np.arange(n_active), X[:n_active].astype(dtype), dtype))
    return shard


def is_sound(found, shard):
    numbers = [*found.beliefs, shard.precision, shard.b, found.log_evidence]
    return all(np.all(np.isfinite(v)) for v in numbers) and np.all(np.diagonal(found.beliefs.Q) > 0)


@pytest.mark.parametrize("variance", [1e-4, 1.0, 1e4, 1e8])
@pytest.mark.parametrize("likelihood", [case[0] for case in CASES], ids=str)
def test_there_is_a_posterior_whatever_the_scale_and_the_sites_to_start_from(likelihood, variance):
    targets = next(case[1] for case in CASES if case[0] is likelihood)
    rng = np.random.default_rng(1)
    y = rng.choice(targets, N)
    for dtype, sites in (("float64", None), ("float32", None), ("float64", 1e3), ("float64", 1e9)):
        shard = projected(RBF(0.7, variance), likelihood, y, dtype)
        if sites is not None:
            shard.precision[:], shard.b[:] = sites * rng.random(N), sites * rng.standard_normal(N)
        found = infer([shard], max_sweeps=60, rescue=True)
        assert is_sound(found, shard), (dtype, sites)
        assert found.converged or found.sweeps[-1].change > 1e-4 or found.sweeps[-1].rows < N, (dtype, sites)
        mean, var = shard.features(slice(0, N)) @ np.linalg.solve(found.beliefs.Q.T, found.beliefs.beta), variance
        assert np.all(np.abs(mean) < 60.0 * np.sqrt(var) + 1e3), (dtype, sites)


@pytest.mark.parametrize("rate", [0.1, 10.0, 1e3, 1e5, 1e6])
@pytest.mark.parametrize("off", [-6.0, 0.0, 4.0])
def test_counts_of_every_size_settle_from_far_away(rate, off):
    """From far below Newton steps overshoot by rate over guess, which has no exponential; from above they creep."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((N, 1))
    y = rng.poisson(rate * np.exp(np.sin(2.0 * X[:, 0]))).astype(float)
    likelihood, kernel = Poisson(np.log(rate)), RBF(0.7, 1.0)
    shard = ProjectedShard(np.arange(N), X, y, kernel, likelihood, "float64")
    shard.project(make_basis(kernel, np.arange(15), X[:15], "float64"))
    guess = rate * np.exp(off)  # sites as they would be if all counts were as many
    shard.precision[:], shard.b[:] = guess, guess * off
    found = infer([shard], tolerance=1e-6)
    assert found.converged
    assert len(found.sweeps) < 40
    V = shard.features(slice(0, N))  # the dense formulas of a fixed point
    cov = np.linalg.inv(np.eye(15) + V.T @ (shard.precision[:, None] * V))
    mean, var = V @ cov @ (V.T @ shard.b), np.einsum("ij,jk,ik->i", V, cov, V)
    left = 1.0 / var - shard.precision
    m, q = (mean / var - shard.b) / left, 1.0 / left + shard.blur_var
    _, g, nu = likelihood.tilted(y, m, q)
    np.testing.assert_allclose(m + g / left, mean, atol=1e-4 * np.sqrt(var).max())
    np.testing.assert_allclose((1.0 - nu / left) / left, var, rtol=1e-4)
    if rate >= 1e3:
        assert np.median(np.abs(np.exp(mean) * rate / np.exp(np.sin(2.0 * X[:, 0])) / rate - 1.0)) < 0.03


def test_sites_that_leave_no_posterior_are_no_reason_to_give_up():
    """Negative ones, as Student's t noise has, that were found for other parameters or another active set."""
    y = np.sin(np.arange(N)) + np.where(np.arange(N) % 7, 0.0, 8.0)
    shard = projected(RBF(0.7, 4.0), StudentT(0.3, 3.0), y)
    shard.precision[:], shard.b[:] = np.where(np.arange(N) % 2, -3.0, 2.0), 0.5
    V = shard.features(slice(0, N))
    assert np.linalg.eigvalsh(np.eye(15) + V.T @ (shard.precision[:, None] * V))[0] < 0.0
    found = infer([shard])
    assert is_sound(found, shard)
    assert found.converged
    shard.precision[:], shard.b[:] = np.nan, np.inf
    assert is_sound(infer([shard]), shard)


def hopeless(rng):
    """Noise said to be a hundredth of what it is."""
    y = np.sin(np.arange(N) / 9.0) + 0.5 * rng.standard_t(2.0, N)
    return projected(RBF(0.7, 100.0), StudentT(0.005, 4.0), y)


def test_without_negative_precisions_where_these_lead_nowhere():
    """Then a row that disagrees with its neighbours has its say on the mean alone, and means still match."""
    rescued = 0
    for seed in range(8):
        plain, shard = (hopeless(np.random.default_rng(seed)) for _ in range(2))
        lost = not infer([plain], max_sweeps=60).converged
        found = infer([shard], max_sweeps=60, rescue=True)
        assert is_sound(found, shard)
        assert shard.proper == lost
        if lost:
            assert np.all(shard.precision >= 0.0)
            assert abs(found.log_evidence) < 1e6
            rescued += found.converged
        if shard.proper and found.converged:
            V = shard.features(slice(0, N))
            cov = np.linalg.inv(np.eye(15) + V.T @ (shard.precision[:, None] * V))
            mean, var = V @ cov @ (V.T @ shard.b), np.einsum("ij,jk,ik->i", V, cov, V)
            left = 1.0 / var - shard.precision
            _, g, nu = shard.likelihood.tilted(shard.y, (mean / var - shard.b) / left, 1.0 / left + shard.blur_var)
            m = (mean / var - shard.b) / left
            np.testing.assert_allclose(m + g / left, mean, atol=1e-2 * np.sqrt(var).max())
            bent = shard.precision > 0.0
            np.testing.assert_allclose(((1.0 - nu / left) / left)[bent], var[bent], rtol=1e-2)
            assert not bent.all()
    assert rescued


@pytest.mark.parametrize(
    ("change", "before", "expected"),
    [
        (0.5, 1e-3, False),
        (11.0, 1.0, True),
        (9.0, 1.0, False),
        (np.inf, 3.0, True),
        (np.nan, 3.0, True),
        (5.0, np.inf, False),
    ],
)
def test_what_counts_as_astray(change, before, expected):
    """Not what is less than a deviation, nor the first sweep, which has none before it."""
    assert astray(change, before) is expected


@pytest.mark.parametrize("variance", [1e-4, 1e8])
@pytest.mark.parametrize("Likelihood", [MultivariateProbit, Softmax])
def test_coupled_classes_have_a_posterior_whatever_the_scale(Likelihood, variance):
    rng, n = np.random.default_rng(2), 20
    X, labels, kernel = rng.standard_normal((n, 2)), rng.integers(0, 3, n), RBF(0.7, variance)
    for sites in (0.0, 1e3, 1e9):
        shard = CoupledShard(np.arange(n), X, labels, kernel, Likelihood(np.zeros(3)), "float64")
        shard.project(make_basis(kernel, np.arange(10), X[:10], "float64"))
        shard.precision[:], shard.b[:] = sites * rng.random((n, 3)), sites * rng.standard_normal((n, 3))
        found = infer_coupled([shard], max_sweeps=20)
        for number in (*found.beliefs, found.log_evidence, shard.precision, shard.b):
            assert np.all(np.isfinite(number)), sites


def test_coupled_sites_that_are_none_are_no_reason_to_give_up():
    rng, n, kernel = np.random.default_rng(2), 20, RBF(0.7, 1.0)
    X, labels = rng.standard_normal((n, 2)), rng.integers(0, 3, n)
    found = []
    for precision, b in ((0.0, 0.0), (np.nan, 0.0), (1.0, np.inf)):
        shard = CoupledShard(np.arange(n), X, labels, kernel, MultivariateProbit(np.zeros(3)), "float64")
        shard.project(make_basis(kernel, np.arange(10), X[:10], "float64"))
        shard.precision[::2], shard.b[::2] = precision, b
        found.append(infer_coupled([shard], tolerance=1e-8))
    for other in found:
        assert other.converged
        assert other.log_evidence == pytest.approx(found[0].log_evidence, rel=1e-8)


def test_coupled_classes_without_active_rows_have_the_prior():
    rng, n, kernel = np.random.default_rng(2), 20, RBF(0.7, 1.0)
    X, labels, nothing = rng.standard_normal((n, 2)), rng.integers(0, 3, n), np.empty(0, dtype=np.intp)
    shard = CoupledShard(np.arange(n), X, labels, kernel, MultivariateProbit(np.zeros(3)), "float64")
    shard.project(make_basis(kernel, nothing, X[nothing], "float64"))
    found = infer_coupled([shard])
    assert found.converged
    assert found.beliefs.beta.shape == (3, 0)
    assert found.log_evidence == pytest.approx(-n * np.log(3.0))


def test_coupled_classes_that_only_tremble_are_left_alone(monkeypatch):
    """Changes that no longer fall lead to smaller steps, and then to the end, but not at once."""
    rng, n, kernel = np.random.default_rng(2), 20, RBF(0.7, 1.0)
    shard = CoupledShard(
        np.arange(n),
        rng.standard_normal((n, 2)),
        rng.integers(0, 3, n),
        kernel,
        MultivariateProbit(np.zeros(3)),
        "float64",
    )
    shard.project(make_basis(kernel, np.arange(10), shard.X[:10], "float64"))
    sweep = shard.sweep
    monkeypatch.setattr(shard, "sweep", lambda *args: trembling(sweep(*args), rng.uniform(0.1, 0.3)))
    found = infer_coupled([shard], max_sweeps=300)
    assert not found.converged
    damping = [sweep.damping for sweep in found.sweeps]
    assert 60 < len(damping) < 150
    assert damping[0] == 0.7  # from nothing
    assert min(damping[2:31]) == 1.0
    assert min(damping[31:]) < 0.3


def trembling(swept, change):
    return swept._replace(steps=swept.steps._replace(largest=change, along=0.9 * swept.steps.before))


def test_the_warning_says_what_was_done_and_what_helps():
    def result(likelihood, change):
        sweeps = [Sweep(0.0, change, 1.0, 9)]
        return Result(None, likelihood, np.arange(3), np.ones(3), np.ones(3), 0.0, False, sweeps)

    mild, strong = (not_converged(result(StudentT(), change)) for change in (1e-3, 3.0))
    assert "noise of larger scale" in mild
    assert "move the mean only" in strong
    assert "move the mean only" not in mild
    plain = not_converged(result(Poisson(), np.inf))
    assert "more than can be told" in plain
    assert "smaller variance" in plain
    assert "noise" not in plain
    assert "smaller variance" in not_converged(result(Softmax(np.zeros(3)), 0.2))
