import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infovec.errors import NotPositiveDefinite
from infovec.numerics.cholesky import append, downdate, inverse_lower, row_solver, solve_lower, update


def spd(d, seed, scale=1.0):
    A = np.random.default_rng(seed).normal(size=(d, d + 3))
    return scale * (A @ A.T + 0.1 * np.eye(d))


@given(st.integers(0, 8), st.integers(1, 5), st.integers(0, 99), st.sampled_from([1e-6, 1.0, 1e6]))
def test_append_equals_the_factor_of_the_grown_matrix(d, k, seed, scale):
    A = spd(d + k, seed, scale)
    L = np.linalg.cholesky(A[:d, :d]) if d else np.zeros((0, 0))
    np.testing.assert_allclose(append(L, A[d:, :d], A[d:, d:]), np.linalg.cholesky(A), rtol=1e-8, atol=1e-12)


@given(st.integers(1, 8), st.integers(0, 99), st.sampled_from([1e-3, 1.0, 1e3]))
def test_rank_one_revisions_equal_the_factor_of_the_revised_matrix(d, seed, size):
    A = spd(d, seed)
    x = size * np.random.default_rng(seed + 1).normal(size=d)
    L = np.linalg.cholesky(A)
    up = update(L, x)
    np.testing.assert_allclose(up @ up.T, A + np.outer(x, x), rtol=1e-9, atol=1e-9)
    assert np.all(np.diagonal(up) > 0)
    assert np.array_equal(up, np.tril(up))
    down = downdate(np.linalg.cholesky(A + np.outer(x, x)), x)
    np.testing.assert_allclose(down @ down.T, A, rtol=1e-4, atol=1e-8 * max(1.0, size**2))


def test_what_cannot_be_done_is_said():
    L = np.linalg.cholesky(spd(4, 0))
    with pytest.raises(NotPositiveDefinite, match="pivot 0"):
        downdate(L, 2.0 * L[:, 0])
    with pytest.raises(NotPositiveDefinite, match="duplicates"):
        append(L, (L @ L.T)[:1], (L @ L.T)[:1, :1] - 1.0)


def test_inverse_lower():
    L = np.linalg.cholesky(spd(6, 3))
    np.testing.assert_allclose(inverse_lower(L) @ L, np.eye(6), atol=1e-12)


@pytest.mark.parametrize("d", [0, 1, 127, 128, 129, 400])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_are_solved_by_products(d, dtype):
    rng = np.random.default_rng(d)
    A = rng.normal(size=(d, d + 5))
    L = np.linalg.cholesky(A @ A.T / (d + 5) + 0.1 * np.eye(d))
    V = rng.normal(size=(7, d))
    got = row_solver(L, dtype)(V.astype(dtype))
    assert got.dtype == dtype
    want = np.linalg.solve(L, V.T).T if d else V
    np.testing.assert_allclose(
        got, want, rtol=1e-3 if dtype == "float32" else 1e-9, atol=1e-4 if dtype == "float32" else 1e-10
    )


@pytest.mark.parametrize("d", [0, 1, 5])
def test_solving_by_a_factor_that_may_be_empty(d):
    L, rng = np.linalg.cholesky(spd(d, 0)) if d else np.zeros((0, 0)), np.random.default_rng(1)
    for B in (rng.normal(size=d), rng.normal(size=(d, 3)), rng.normal(size=(d, 0))):
        np.testing.assert_allclose(solve_lower(L, B), np.linalg.inv(L) @ B, atol=1e-10)
        np.testing.assert_allclose(solve_lower(L, B, transposed=True), np.linalg.inv(L).T @ B, atol=1e-10)
