"""Equal rows: found by keys, for any number of rows, and taken together."""

import numpy as np
import pytest
from scipy import sparse

from infovec.kernels import RBF, White
from infovec.likelihoods import Probit, weighted
from infovec.machines.equal_rows import first_equal, row_keys
from infovec.machines.sample import Sample


def brute_force(X):
    """First row with the same values, by comparing all of them."""
    seen = {}
    return np.array([seen.setdefault(tuple(row), i) for i, row in enumerate((X + 0.0).tolist())])


@pytest.mark.parametrize("p", [1, 3, 40])
def test_equal_rows_are_those_of_brute_force(p):
    rng = np.random.default_rng(p)
    X = rng.integers(-1, 2, size=(3000, p)).astype(float)
    X[2000:] = X[rng.integers(0, 2000, size=1000)]
    X[X == 0.0] *= rng.choice([-1.0, 1.0], size=np.sum(X == 0.0))
    expected = brute_force(X)
    for whole in (True, False):
        np.testing.assert_array_equal(first_equal(X, row_keys(X, whole)), expected)
    held = sparse.csr_array(X)
    np.testing.assert_array_equal(row_keys(held), row_keys(X))
    np.testing.assert_array_equal(first_equal(held, row_keys(held)), expected)
    np.testing.assert_array_equal(row_keys(X.astype(np.float32)), row_keys(X))


def test_keys_differ_where_values_change_places_or_signs():
    values = np.array([0.0, 1.0, -1.0, 2.0, 0.5, 1e-300, 1e300, 3.0, 255.0])
    X = np.stack(np.meshgrid(values, values, values, values), axis=-1).reshape(-1, 4)
    assert len(np.unique(row_keys(X))) == len(X)


def test_rows_that_share_a_key_by_chance_are_told_apart():
    X = np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 2.0], [4.0, 0.0]])
    np.testing.assert_array_equal(first_equal(X, np.zeros(4, dtype=np.uint64)), [0, 1, 0, 3])
    np.testing.assert_array_equal(first_equal(sparse.csr_array(X), np.zeros(4, dtype=np.uint64)), [0, 1, 0, 3])


def test_few_columns_are_looked_at_where_they_tell_all_rows_apart(monkeypatch):
    from infovec.machines import equal_rows

    seen, values = [], equal_rows._values
    monkeypatch.setattr(equal_rows, "_values", lambda v, salt: seen.append(v.shape[1]) or values(v, salt))
    row_keys(np.random.default_rng(0).normal(size=(100, 500)), whole=False)
    assert seen == [8]


def test_any_number_of_rows_is_taken_together():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8000, 3)), rng.integers(0, 2, size=8000)
    again = rng.permutation(np.append(np.arange(8000), np.arange(8000)))
    sample = Sample.of(X[again], y[again]).merged(None, "probit")
    assert len(sample.rows) == 8000
    np.testing.assert_array_equal(sample.weight, 2.0)
    np.testing.assert_array_equal(sample.X[sample.place], X[again])
    assert Sample.of(X, y).merged(None, "probit").weight is None


def test_groups_are_rows_of_equal_inputs_whatever_their_labels():
    X, y = np.array([[0.0], [1.0], [0.0], [1.0], [2.0]]), np.array([0, 1, 1, 1, 0])
    sample = Sample.of(X, y).merged(RBF(), "probit")
    assert len(sample.rows) == 4
    for i in range(4):
        np.testing.assert_array_equal(sample.group == sample.group[i], (sample.X[i] == sample.X)[:, 0])
    each = Sample.of(X, y).merged(RBF(), weighted(Probit(), np.arange(1.0, 6.0)))
    assert len(each.rows) == 5  # rows differ, inputs do not
    np.testing.assert_array_equal(each.group, [0, 1, 0, 1, 4])
    assert Sample.of(X, y).merged(RBF() + White(), "probit").group is None
    assert Sample.of(X[[0, 1, 4]], y[[0, 1, 4]]).merged(RBF(), "probit").group is None
