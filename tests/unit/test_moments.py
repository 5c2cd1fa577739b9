"""Moments of columns, from rows in blocks."""

import numpy as np
import pytest

from infovec.numerics.moments import Moments


@pytest.mark.parametrize("offset", [0.0, 1e9])
@pytest.mark.parametrize("cuts", [[], [1], [3, 4, 50], [0, 99]])
def test_merged_blocks_equal_the_moments_of_all_rows(offset, cuts):
    rng = np.random.default_rng(0)
    X = offset + rng.normal(size=(100, 4)) * [1.0, 1e-3, 50.0, 0.0]
    X[rng.random((100, 4)) < 0.1] = np.nan
    X[:, 3] = offset
    parts = [Moments.of(part) for part in np.split(X, cuts)]
    total = parts[0]
    for part in parts[1:]:
        total = total.merged(part)
    np.testing.assert_array_equal(total.count, np.sum(~np.isnan(X), axis=0))
    np.testing.assert_allclose(total.mean, np.nanmean(X, axis=0), rtol=1e-12)
    np.testing.assert_allclose(
        total.deviation, np.nanstd(X - offset, axis=0), rtol=1e-3 if offset else 1e-12, atol=1e-12
    )
    np.testing.assert_allclose(total.extent, np.nanmax(X, axis=0) - np.nanmin(X, axis=0))


def test_a_column_without_numbers_has_no_spread():
    moments = Moments.of(np.full((5, 1), np.nan)).merged(Moments.of(np.full((5, 1), np.nan)))
    assert moments.count == 0
    assert moments.deviation == 0
    assert moments.extent == 0
    one = moments.merged(Moments.of(np.array([[3.0]])))
    assert (one.mean, one.deviation, one.extent) == (3.0, 0.0, 0.0)


def test_blocks_of_a_large_matrix_equal_numpy():
    X = (7.0 + np.random.default_rng(1).normal(size=(3000, 700))).astype(np.float32)  # several blocks
    moments = Moments.of_rows(X)
    np.testing.assert_allclose(moments.deviation, np.std(X, axis=0, dtype=np.float64), rtol=1e-12)
    np.testing.assert_allclose(moments.mean, np.mean(X, axis=0, dtype=np.float64), rtol=1e-12)
    np.testing.assert_array_equal(moments.extent, X.max(axis=0).astype(float) - X.min(axis=0))
