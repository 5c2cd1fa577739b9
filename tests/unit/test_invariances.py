"""Images of active rows: what they look like, that a row and its images are one observation, and what a fit keeps."""

import numpy as np
import pytest
from oracles import gaussian_log_density
from scipy import sparse
from sklearn.datasets import load_digits

from infovec import IVMClassifier, IVMOrdinalClassifier, IVMRegressor, load
from infovec.errors import ParameterError
from infovec.estimators import images
from infovec.invariances import Jitter, Permutations, Rotations, Scalings, Shifts, Signs, Thickness
from infovec.kernels import RBF
from infovec.likelihoods import Gaussian, Probit
from infovec.machines import class_by_class
from infovec.machines.sample import Sample


def test_shifts_are_those_of_the_pixels():
    picture = np.arange(1.0, 13.0).reshape(3, 4)
    up, down, left, right = Shifts((3, 4))(picture.reshape(1, -1)).reshape(4, 3, 4)
    np.testing.assert_array_equal(up[:2], picture[1:])
    np.testing.assert_array_equal(down[1:], picture[:2])
    np.testing.assert_array_equal(left[:, :3], picture[:, 1:])
    np.testing.assert_array_equal(right[:, 1:], picture[:, :3])
    assert all(edge.min() == edge.max() == 1.0 for edge in (up[2], down[0], left[:, 3], right[:, 0]))
    assert Shifts((3, 4), pixels=2, diagonal=True)(np.ones((5, 12))).shape == (8, 5, 12)


def test_a_quarter_turn_is_one():
    picture = np.random.default_rng(0).normal(size=(5, 5))
    turned = Rotations((5, 5), degrees=(90.0, 360.0))(picture.reshape(1, -1)).reshape(2, 5, 5)
    quarter = [np.rot90(picture, k) for k in (1, 3)]
    assert min(np.abs(turned[0] - one).max() for one in quarter) < 1e-9
    np.testing.assert_allclose(turned[1], picture, atol=1e-9)


def test_scaling_keeps_the_middle_and_thickness_is_between_neighbours():
    picture = np.zeros((7, 7))
    picture[2:5, 2:5] = 1.0
    small, large = Scalings((7, 7), (0.5, 2.0))(picture.reshape(1, -1)).reshape(2, 7, 7)
    assert small[3, 3] == large[3, 3] == 1.0
    assert small.sum() < picture.sum() < large.sum()
    thick, thin = Thickness((7, 7), 1.0)(picture.reshape(1, -1)).reshape(2, 7, 7)
    assert thick.sum() == 9 + 12
    assert thin.sum() == 1
    half = Thickness((7, 7))(picture.reshape(1, -1)).reshape(2, 7, 7)
    np.testing.assert_allclose(half, 0.5 * (picture + np.stack([thick, thin])))


def test_tables():
    X = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(Signs((1,))(X), X * [1.0, -1.0, 1.0])
    np.testing.assert_array_equal(Signs()(X), -X)
    np.testing.assert_array_equal(Permutations(((2, 0, 1),))(X)[0], X[:, [2, 0, 1]])
    jittered = Jitter((0.0, 0.1, 10.0), copies=2000)(X)
    np.testing.assert_allclose(jittered.std(axis=0), np.tile([0.0, 0.1, 10.0], (2, 1)), rtol=0.1)
    np.testing.assert_array_equal(jittered, Jitter((0.0, 0.1, 10.0), copies=2000)(X))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Shifts((3, 3))(np.ones((2, 8))), "9 pixels"),
        (lambda: Permutations(((0, 0),))(np.ones((2, 2))), "no order of 2 columns"),
        (lambda: Scalings((2, 2), (0.0,)), "factors must be positive"),
        (lambda: Thickness((2, 2), 2.0), "amount must be"),
        (lambda: IVMRegressor(invariances=3).fit(np.eye(4), np.arange(4.0)), "invariances must be a function"),
        (lambda: IVMRegressor(invariances=Signs(), rounds=0).fit(np.eye(4), np.arange(4.0)), "rounds must be"),
        (lambda: IVMRegressor(invariances=lambda X: X[:, :1]).fit(np.eye(4), np.arange(4.0)), "returned rows of shape"),
        (lambda: IVMClassifier(invariances=Signs(), multi_class="softmax", n_active=3, learn=None).fit(
            np.eye(6), [0, 1, 2] * 2), "multi_class='ovr'"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


def test_a_row_and_its_images_share_its_weight():
    sample = Sample.of(np.eye(3), np.array([1, 2, 3]), np.array([1.0, 3.0, 2.0]))
    both = sample.with_images(np.ones((3, 3)), np.array([1, 1, 2]))
    assert both.rows.tolist() == [0, 1, 2, 1, 1, 2]
    assert both.y.tolist() == [1, 2, 3, 2, 2, 3]
    np.testing.assert_allclose(both.weight, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    assert both.virtual.tolist() == [False] * 3 + [True] * 3
    some = both.take(np.array([0, 4]))
    assert some.kin.tolist() == [0, 1]
    assert some.virtual.tolist() == [False, True]


def test_evidence_is_that_of_noise_shared_by_a_row_and_its_images():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(15, 1)), rng.normal(size=15)
    settings = {"kernel": RBF(1.0), "likelihood": Gaussian(0.5), "learn": None, "n_active": 30, "random_state": 0}
    model = IVMRegressor(**settings, invariances=Signs()).fit(X, y)
    both, targets = np.concatenate([X, -X]), np.tile(y, 2)
    noise = 0.5
    K = RBF(1.0)(both, both) + 2.0 * noise * np.eye(30)  # p(y | f)^(1/2) has twice the variance, and another constant
    constant = 0.5 * np.log(2.0 * np.pi * 2.0 * noise) - 0.25 * np.log(2.0 * np.pi * noise)
    want = gaussian_log_density(targets, K) + 30 * constant
    assert model.log_evidence_ == pytest.approx(want, abs=1e-5)
    mean = RBF(1.0)(X, both) @ np.linalg.solve(K, targets)
    np.testing.assert_allclose(model.predict(X), mean, atol=1e-5)
    np.testing.assert_allclose(model.predict(X), model.predict(-X), atol=1e-5)
    assert model.virtual_.sum() == 15


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


@pytest.fixture(scope="module")
def fitted(digits):
    X, y = digits
    return IVMClassifier(n_active=60, invariances=Shifts((8, 8)), random_state=0).fit(X[:250], y[:250] % 2)


def test_images_become_active_and_say_where_they_come_from(digits, fitted):
    X, _ = digits
    virtual, plain = fitted.virtual_, ~fitted.virtual_
    assert virtual.any()
    assert plain.any()
    np.testing.assert_allclose(fitted.active_vectors_[plain], X[fitted.active_[plain]])
    for row, vector in zip(fitted.active_[virtual], fitted.active_vectors_[virtual], strict=True):
        assert any(np.allclose(vector, image) for image in Shifts((8, 8))(X[row : row + 1])[:, 0])
    assert "learning_seconds" in fitted.history_
    assert fitted.likelihood_.spread != 1.0


def test_they_are_kept_in_files_and_marked_in_reports(digits, fitted, tmp_path):
    X, _ = digits
    fitted.save(tmp_path / "model.ivm")
    back = load(tmp_path / "model.ivm")
    np.testing.assert_array_equal(back.virtual_, fitted.virtual_)
    np.testing.assert_array_equal(back.predict_proba(X[:50]), fitted.predict_proba(X[:50]))
    fitted.report(tmp_path / "report.html", X[:100], digits[1][:100] % 2)
    assert ", image" in (tmp_path / "report.html").read_text()


def test_ten_classes_with_images_are_told_apart_better(digits):
    X, y = digits
    settings = {"kernel": RBF(30.0, 100.0), "learn": None, "n_active": 150, "random_state": 0}
    errors = [
        1.0 - IVMClassifier(**settings, invariances=functions).fit(X[:300], y[:300]).score(X[300:], y[300:])
        for functions in (None, [Shifts((8, 8))])
    ]
    assert errors[1] < errors[0]


@pytest.mark.parametrize("approximation", ["projected", "factorised"])
def test_certainty_is_told_by_so_many_rows_that_are_no_images(digits, approximation, monkeypatch):
    X, y = digits[0][:200], digits[1][:200] % 3
    asked = []
    monkeypatch.setattr(class_by_class, "MOST_ROWS", 60)
    before = class_by_class.calibrated
    monkeypatch.setattr(class_by_class, "calibrated", lambda like, told, left: asked.append(told) or before(like, told))
    settings = {"kernel": RBF(30.0, 100.0), "learn": None, "n_active": 80, "approximation": approximation}
    model = IVMClassifier(**settings, invariances=Shifts((8, 8)), random_state=0).fit(X, y)
    assert model.virtual_.any()
    assert [len(told[0].labels) for told in asked] == [60, 60]  # with images, too, of which there are more than rows
    assert asked[1][0].weight is None or np.all(asked[1][0].weight == 1.0)


def test_classes_with_sites_on_active_rows_alone_select_images_of_their_own_active_rows(digits):
    X, y = digits[0][:300], digits[1][:300] % 3
    settings = {"kernel": RBF(30.0, 100.0), "learn": None, "n_active": 40, "approximation": "factorised"}
    first, model = (
        IVMClassifier(**settings, invariances=functions, random_state=0).fit(X, y)
        for functions in (None, Shifts((8, 8)))
    )
    others = 0
    for c in range(3):
        own, now = (one.site_precision_[:, c] > 0.0 for one in (first, model))
        assert own.sum() == now.sum() == 40
        assert set(model.active_[now & model.virtual_]) <= set(first.active_[own])
        others += len(set(model.active_[now & ~model.virtual_]) - set(first.active_[own]))
    assert model.virtual_.any()
    assert others > 0  # rows that were not active may still become so


def test_a_row_and_the_images_that_a_class_selects_from_are_one_observation_of_the_class(digits):
    X, y = digits[0][:200], digits[1][:200] % 3
    settings = {"kernel": RBF(30.0, 100.0), "learn": None, "n_active": 30, "approximation": "factorised"}
    model = IVMClassifier(**settings, random_state=0).fit(X, y)
    weight = np.where(np.arange(200) < 50, 3.0, 1.0)
    machine = images._machine(model, X, y, weight, [Shifts((8, 8))])
    rows, sizes = machine.data.kin, set()
    for c in range(3):
        one = machine.machine(c)
        here = one.data.first_in_line(machine.data.n, np.empty(0, dtype=int))
        np.testing.assert_allclose(np.bincount(rows[here], weights=one.likelihood.weight[here]), weight, rtol=1e-12)
        sizes |= set(np.bincount(rows[here]))
    assert sizes == {1, 5}


def test_other_machines_and_rounds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.digitize(np.abs(X[:, 0]), [0.4, 1.0])
    settings = {"kernel": RBF(0.8, 5.0), "learn": None, "n_active": 30, "random_state": 0, "invariances": Signs((0,))}
    ordered = IVMOrdinalClassifier(**settings, rounds=2).fit(X, y)
    assert ordered.score(X * [-1.0, 1.0], y) > 0.8
    binary = IVMClassifier(**settings, likelihood=Probit(), approximation="factorised").fit(X, y > 0)
    assert binary.score(X * [-1.0, 1.0], y > 0) > 0.8
    thin = IVMClassifier(**{**settings, "invariances": lambda Z: -Z}).fit(sparse.csr_matrix(X), y > 0)
    assert thin.score(sparse.csr_matrix(-X), y > 0) > 0.8
    assert sparse.issparse(thin.active_vectors_)
