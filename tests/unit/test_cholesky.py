import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infovec.errors import NotPositiveDefinite
from infovec.numerics.cholesky import beyond_identity, factorise, inverse_lower, row_solver, solve_lower


def spd(d, seed, scale=1.0):
    A = np.random.default_rng(seed).normal(size=(d, d + 3))
    return scale * (A @ A.T + 0.1 * np.eye(d))


@given(st.integers(0, 8), st.integers(0, 99), st.sampled_from([1e-6, 1.0, 1e6]))
def test_a_factor_is_that_of_the_matrix(d, seed, scale):
    A = spd(d, seed, scale)
    L, share = factorise(A, "none", (0.0, 1e-3))
    assert share == 0.0
    np.testing.assert_allclose(L @ L.T, A, rtol=1e-9, atol=1e-12 * scale)
    assert np.array_equal(L, np.tril(L))
    L = beyond_identity(A)
    np.testing.assert_allclose(L @ L.T, np.eye(d) + A, rtol=1e-9, atol=1e-12 * scale)


@pytest.mark.parametrize("by", [None, 7.0])
def test_the_first_share_that_is_enough_is_added(by):
    A = spd(5, 0)
    A -= (np.linalg.eigvalsh(A)[0] + 1e-5) * np.eye(5)  # a little below semidefinite
    given, shares = A.copy(), (0.0, 1e-9, 1e-1, 1.0)
    L, share = factorise(A, "none", shares, by)
    assert share == 1e-1
    raised = A + share * (np.diag(np.diagonal(A)) if by is None else by * np.eye(5))
    np.testing.assert_allclose(L @ L.T, raised, rtol=1e-10)
    np.testing.assert_array_equal(A, given)
    assert factorise(A, "none", shares, by, good=lambda L: L[0, 0] > 1.01 * np.sqrt(raised[0, 0])).share == 1.0
    stack, _ = factorise(np.stack([A, spd(5, 1)]), "none", shares, by)
    np.testing.assert_allclose(stack[0], L, rtol=1e-12)


def test_what_cannot_be_done_is_said():
    with pytest.raises(NotPositiveDefinite, match="there is none"):
        factorise(-np.eye(3), "there is none", (0.0, 1e-3))
    with pytest.raises(NotPositiveDefinite, match="reaches 2,"):
        beyond_identity(-2.0 * np.eye(3))


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
