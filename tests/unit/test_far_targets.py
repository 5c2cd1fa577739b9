"""Few targets far from all others: told with their rows, the remedy helps, and ordinary skewed targets have none."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from infovec import IVMRegressor
from infovec.estimators.far_target import far_targets


def far(row: int, value: float, n: int = 700, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Prices, one of which is absurd."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = np.exp(12.0 + 0.5 * np.sin(X[:, 0]) + 0.25 * X[:, 1] + 0.15 * rng.normal(size=n))
    y[row] = value
    return X, y


@pytest.mark.parametrize("target", ["identity", "log"])
def test_one_target_far_from_all_others_is_told_of_and_the_remedy_helps(target: str) -> None:
    X, y = far(123, 99999999.0)
    Z, t = far(0, 2e5, seed=1)
    model = IVMRegressor(n_active=100, target=target, random_state=0)
    with pytest.warns(UserWarning, match=r"target of row 123 is 99999999, \d+ deviations .*likelihood='student_t'"):
        spoilt = model.fit(X, y).score(Z, t)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robust = clone(model).set_params(likelihood="student_t").fit(X, y).score(Z, t)
    assert robust > 0.7
    assert spoilt < robust - 0.2
    keep = np.arange(700) != 123
    weighed = clone(model).fit(X, y, sample_weight=keep.astype(float))  # a row without weight does not count
    assert_allclose(weighed.predict(Z), clone(model).fit(X[keep], y[keep]).predict(Z), rtol=0.05)


def test_the_row_and_the_distance_are_those_of_the_definition() -> None:
    """Against the definition, with other numbers and whatever the unit is."""
    y = np.random.default_rng(3).normal(size=200)
    for value, unit in ((1000.0, 1.0), (-1000.0, 1e300), (1000.0, 1e-300)):
        z = y.copy()
        z[7] = value
        found = far_targets(z * unit)
        others = np.abs(np.delete(z, 7) - np.median(z))
        assert found is not None
        assert found.rows.tolist() == [7]
        off = np.abs(value - np.median(z))
        assert_allclose(found.deviations, 2.0 * off / np.quantile(others, 0.95))
        assert_allclose(found.share, off**2 / (off**2 + np.sum(others**2)))
    twice = y.copy()
    twice[[8, 7]] = 1000.0, -1e6  # the farther one does not hide the nearer one
    found = far_targets(twice)
    assert found is not None
    assert found.rows.tolist() == [7, 8]
    others = np.abs(np.delete(twice, [7, 8]) - np.median(twice))
    assert_allclose(found.deviations, 2.0 * np.abs(1000.0 - np.median(twice)) / np.quantile(others, 0.95))
    part = y.copy()
    part[:5] = 1000.0  # more than 2 %
    assert far_targets(part) is None
    zero = 1000.0 + y
    zero[5] = 0.0  # whose logarithm is infinitely far
    found = far_targets(zero)
    assert found is not None
    assert found.rows.tolist() == [5]
    assert far_targets(np.append(y, 12.0)) is None
    assert far_targets(np.zeros(100)) is None
    assert far_targets(np.append(np.zeros(100), 1.0)) is None


SKEWED = {
    "log-normal": lambda rng, n: rng.lognormal(0.0, 1.0, n), "wide log-normal": lambda rng, n: rng.lognormal(0, 2.5, n),
    "counts": lambda rng, n: rng.poisson(0.3, n).astype(float), "gamma": lambda rng, n: rng.gamma(0.3, size=n),
    "laplace": lambda rng, n: rng.laplace(size=n), "exponential": lambda rng, n: -rng.exponential(size=n),
}  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([0, 1], "2 rows .row 0 with 99999999, 1 with 99999999."),
        ([1, 2, 3, 500, 600, 699], r"6 rows .row 1 with .*, 600 with 99999999, \.\.\.."),
    ],
)
def test_several_targets_far_from_all_others_are_told_of(rows: list[int], said: str) -> None:
    X, y = far(0, 2e5)
    y[rows] = 99999999.0
    with pytest.warns(UserWarning, match=rf"targets of {said} are at least \d+ deviations .*drop the rows"):
        IVMRegressor(n_active=20, learn=None).fit(X, y)


@pytest.mark.parametrize("name", SKEWED)
def test_ordinary_skewed_targets_are_not_far(name: str) -> None:
    found = [
        far_targets(SKEWED[name](np.random.default_rng(seed), n)) for seed in range(100) for n in (50, 60, 700, 3000)
    ]
    assert sum(one is not None for one in found) <= 1


def test_targets_of_real_sets_are_not_far() -> None:
    if "INFOVEC_DATA" not in os.environ:
        pytest.skip("INFOVEC_DATA does not say where the data sets are")
    sets = 0
    for path in sorted(Path(os.environ["INFOVEC_DATA"]).glob("*.npz")):
        with np.load(path) as file:
            if str(file["task"]) != "regression":
                continue
            y = np.asarray(file["y"] if "y" in file else file["y_train"], dtype=np.float64)
        assert far_targets(y.reshape(len(y), -1)[:, 0]) is None, path.name
        sets += 1
    assert sets > 10
