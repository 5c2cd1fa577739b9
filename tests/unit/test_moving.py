"""Active inputs that move, and models made smaller, as estimators have them."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

import infovec
from infovec import IVMClassifier, IVMOrdinalClassifier, IVMRegressor
from infovec.errors import ParameterError
from infovec.estimators import compressing
from infovec.kernels import RBF, Bias, Categorical, Coregion, FromFunction, On, Precomputed, Tasks
from infovec.kernels.moving import movable
from infovec.machines import moving, stages

N = 600
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N + 400, 2))
F = np.sin(2.5 * X[:, 0]) + np.cos(2.0 * X[:, 1])
NUMBERS = F + 0.05 * RNG.normal(size=len(F))
CLASSES = np.digitize(F + 0.1 * RNG.normal(size=len(F)), [-0.6, 0.8])
KINDS = {
    "numbers": (IVMRegressor, NUMBERS),
    "two": (IVMClassifier, CLASSES > 0),
    "many": (IVMClassifier, CLASSES),
    "ordered": (IVMOrdinalClassifier, CLASSES),
}


@pytest.fixture(autouse=True)
def few_evaluations(monkeypatch):
    monkeypatch.setattr(moving, "_MOST", 30)
    monkeypatch.setattr(stages, "has_spare", lambda model: False)  # or labels are wrong where inputs are few
    monkeypatch.setattr(compressing, "_ITERATIONS", 60)


each_kind = pytest.mark.parametrize("kind", list(KINDS))


def fitted(kind, move=True, d=12, **settings):
    Estimator, y = KINDS[kind]
    return Estimator(n_active=d, random_state=0, move=move, **settings).fit(X[:N], y[:N])


def loss(model, kind):
    y = KINDS[kind][1][N:]
    if kind == "numbers":
        mean, std = model.predict(X[N:], return_std=True)
        return float(np.mean(0.5 * ((y - mean) / std) ** 2 + np.log(std)))
    return -float(np.mean(np.log(model.predict_proba(X[N:])[np.arange(len(y)), np.searchsorted(model.classes_, y)])))


@each_kind
def test_moved_models_predict_better_and_are_whole(kind, tmp_path):
    stays, model = fitted(kind, False), fitted(kind)
    assert model.moved_
    assert not stays.moved_
    assert loss(model, kind) < loss(stays, kind)
    np.testing.assert_array_equal(model.active_vectors_, model.posterior_.X)
    assert len(model.active_) == len(model.active_vectors_) == len(model.site_precision_)
    assert np.max(np.abs(model.active_vectors_ - X[model.active_])) > 0.05
    assert np.max(np.abs(stays.active_vectors_ - X[stays.active_])) < 1e-6
    assert model.history_["move_criterion"].max() > model.history_["move_criterion"][0]
    model.save(tmp_path / "model.ivm")
    again = infovec.load(tmp_path / "model.ivm")
    assert again.moved_
    np.testing.assert_allclose(again.predict(X), model.predict(X))


@each_kind
def test_the_rule_moves_where_few_inputs_leave_much_open(kind):
    assert fitted(kind, "auto", 8).moved_


def test_the_rule_leaves_many_inputs_and_given_parameters_where_they_are():
    assert not fitted("two", "auto", 150).moved_
    given = IVMClassifier(RBF(0.7, 20.0), n_active=8, learn=None, random_state=0).fit(X[:N], F[:N] > 0)
    assert not given.moved_
    assert "move_loss" not in given.history_


def test_what_rows_left_out_do_not_confirm_does_not_count(monkeypatch):
    def no_better(self, model, held):
        return np.full((2, len(held)), np.abs(model.theta).sum())

    monkeypatch.setattr(moving._Search, "losses", no_better)
    model, stays = fitted("two", "auto", 8), fitted("two", False, 8)
    assert not model.moved_
    assert model.history_["move_loss"][1] > model.history_["move_loss"][0]
    np.testing.assert_array_equal(model.predict_proba(X), stays.predict_proba(X))


@pytest.mark.parametrize(
    ("loss", "error", "better"),
    [(-1.1, 0.0, True), (-0.9, 0.0, False), (0.5, -9.0, False), (-9.0, 1.9, True), (-9.0, 2.1, False)],
)
@pytest.mark.parametrize("n", [50, 1000])
def test_better_is_a_loss_that_surely_falls_and_no_error_that_surely_grows(loss, error, better, n):
    wave = np.sqrt(2.0 * n) * np.sin(2.0 * np.pi * np.arange(n) / n)  # whose mean has a standard error of one
    assert moving._better(np.stack([loss + wave, error + wave])) is better


def test_without_any_change_or_any_row_nothing_is_better():
    assert not moving._better(np.zeros((2, 50)))
    assert not moving._better(np.full((2, 1), np.nan))


@pytest.mark.parametrize("n_active", [10, 300])
def test_rows_that_were_active_do_not_tell(n_active):
    rng = np.random.default_rng(0)
    data = SimpleNamespace(held_back=np.arange(N) < 50, priority=rng.permutation(N), folds=None)
    active = rng.permutation(np.arange(50, N))[:n_active]
    rows, held = moving._parts(SimpleNamespace(data=data), active)
    assert not np.isin(held, active).any()
    assert len(held) == 55
    np.testing.assert_array_equal(np.sort(np.concatenate([rows, held])), np.arange(50, N))


def test_given_parameters_stay_when_asked_to_move():
    model = IVMClassifier(RBF(0.7, 20.0), n_active=8, learn=None, move=True, random_state=0).fit(X[:N], F[:N] > 0)
    assert model.moved_
    assert model.kernel_ == RBF(0.7, 20.0)


@pytest.mark.parametrize("scale", [1e-3, 1e4])
def test_units_do_not_matter(scale):
    model = fitted("numbers")
    other = IVMRegressor(n_active=12, random_state=0, move=True).fit(scale * X[:N] + 7.0, 3.0 + scale * NUMBERS[:N])
    mean, std = model.predict(X[N:], return_std=True)
    other_mean, other_std = other.predict(scale * X[N:] + 7.0, return_std=True)
    np.testing.assert_allclose((other_mean - 3.0) / scale, mean, atol=1e-2)
    np.testing.assert_allclose(other_std / scale, std, rtol=0.05)
    np.testing.assert_allclose(
        other.history_["move_loss"], model.history_["move_loss"] + np.log(scale), atol=0.02, rtol=1e-3
    )


def test_single_precision_around_a_centre_moves_in_the_units_of_the_user():
    kernel = RBF(np.array([0.8, 0.8]), 1.0) + Bias(1.0)
    settings = {"kernel": kernel, "n_active": 12, "random_state": 0, "move": True}
    model = IVMRegressor(**settings).fit(X[:N], NUMBERS[:N])
    far = IVMRegressor(**settings).fit(1000.0 + X[:N], NUMBERS[:N])
    assert model.moved_
    assert far.moved_
    np.testing.assert_allclose(far.score(1000.0 + X[N:], NUMBERS[N:]), model.score(X[N:], NUMBERS[N:]), atol=0.05)
    assert np.all(np.abs(far.active_vectors_ - 1000.0) < 10.0)


def test_categories_stay():
    color = RNG.integers(0, 3, size=N).astype(float)
    table = np.column_stack([X[:N], color])
    kernel = On(RBF(1.0), [0, 1]) * On(Categorical(1.0), [2]) + Bias()
    model = IVMRegressor(kernel, n_active=12, move=True, random_state=0).fit(table, NUMBERS[:N] + color)
    assert model.moved_
    np.testing.assert_array_equal(model.active_vectors_[:, 2], color[model.active_])
    assert np.max(np.abs(model.active_vectors_[:, :2] - table[model.active_, :2])) > 0.01


def test_columns_that_a_kernel_can_move():
    assert movable(On(RBF(), [0, -1]) + On(Categorical(), [1]), 3).tolist() == [True, False, True]
    assert not movable(Tasks(RBF(), 0), 3).any()
    assert not movable(Coregion(RBF(), 0), 3).any()
    assert not movable(Precomputed(np.eye(3)) + RBF(), 3).any()
    assert movable(2.0 * RBF() * RBF() + Bias(), 3).all()


@pytest.mark.parametrize(
    "settings",
    [
        {"approximation": "factorised"},
        {"kernel": FromFunction(lambda A, B: np.minimum.outer(np.ravel(A), np.ravel(B)) + 1.0)},
        {"invariances": lambda rows: rows + 0.01},
    ],
    ids=["factorised", "objects", "images"],
)
def test_what_cannot_move_is_refused_with_a_remedy(settings):
    with pytest.raises(ParameterError, match=r"move=True.*move='auto'"):
        IVMClassifier(n_active=8, move=True, **settings).fit(np.abs(X[:60]), F[:60] > 0)


def test_sparse_inputs_coupled_classes_and_other_words_are_refused():
    with pytest.raises(ParameterError, match="dense columns"):
        IVMClassifier(n_active=8, move=True).fit(sparse.csr_matrix(X[:60]), F[:60] > 0)
    with pytest.raises(ParameterError, match="multi_class='ovr'"):
        IVMClassifier(n_active=8, move=True, multi_class="softmax").fit(X[:60], CLASSES[:60])
    with pytest.raises(ParameterError, match="move must be one of"):
        IVMClassifier(move="far").fit(X[:60], F[:60] > 0)


def test_it_goes_on_and_is_told_more():
    y = NUMBERS
    model = IVMRegressor(n_active=8, move=True, warm_start=True, random_state=0).fit(X[:N], y[:N])
    before = loss(model, "numbers")
    model.grow(8)
    assert model.moved_
    assert len(model.active_vectors_) == 16
    assert loss(model, "numbers") < before
    inputs = model.active_vectors_.copy()
    model.tell(X[N : N + 50], y[N : N + 50])
    np.testing.assert_array_equal(model.active_vectors_[:16], inputs)


def test_a_checkpoint_changes_nothing(tmp_path):
    plain, noted = fitted("two"), IVMClassifier(n_active=12, random_state=0, move=True)
    noted.fit(X[:N], F[:N] * 0 + (CLASSES[:N] > 0), checkpoint=tmp_path / "fit")
    np.testing.assert_array_equal(noted.predict_proba(X), plain.predict_proba(X))


def test_a_callback_ends_moving():
    stages = []

    def callback(progress):
        moves = progress.included and progress.step > 0
        stages.append(bool(moves))
        return moves and progress.step == 4

    model = fitted("numbers", callback=callback)
    assert sum(stages) == len(model.history_["move_criterion"]) == 4
    assert model.moved_


def test_no_certificate_by_the_rows_that_inputs_have_moved_by():
    kernel, y = RBF(0.7, 20.0), F[:N] > 0
    model = IVMClassifier(kernel, n_active=8, learn=None, move=True, random_state=0).fit(X[:N], y)
    with pytest.raises(ParameterError, match="have moved"):
        model.certify(X[:N], y)
    model.certify(X[N:], F[N:] > 0, held_out=True)


FORMS = {
    **{kind: (*KINDS[kind], {}) for kind in KINDS},
    "factorised": (IVMClassifier, CLASSES > 0, {"approximation": "factorised"}),
    "softmax": (IVMClassifier, CLASSES, {"multi_class": "softmax", "kernel": RBF(0.8, 20.0), "learn": None}),
    "variational": (IVMClassifier, CLASSES, {"multi_class": "variational", "kernel": RBF(0.8, 20.0), "learn": None}),
    "pairs": (
        IVMClassifier, CLASSES,
        {"multi_class": "probit", "approximation": "factorised", "kernel": RBF(0.8, 20.0), "learn": None},
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", list(FORMS))
def test_smaller_models_predict_nearly_the_same(form, tmp_path):
    Estimator, y, settings = FORMS[form]
    model = Estimator(n_active=60, move=False, random_state=0, **settings).fit(X[:300], y[:300])
    before = model.predict(X)
    small = model.compress(0.4)
    np.testing.assert_array_equal(model.predict(X), before)
    assert type(small) is Estimator
    assert small.n_active == 24 or form == "pairs"  # which have more of one class than of another
    assert small.moved_
    assert small.log_evidence_ < model.log_evidence_
    np.testing.assert_array_equal(small.active_vectors_, small.posterior_.X)
    assert small.history_["move_criterion"].max() > small.history_["move_criterion"][0]
    if form == "numbers":
        assert np.mean((small.predict(X) - before) ** 2) < 0.01 * np.var(before)
    else:
        assert np.mean(np.abs(small.predict_proba(X) - model.predict_proba(X))) < 0.05
    small.save(tmp_path / "small.ivm")
    np.testing.assert_allclose(infovec.load(tmp_path / "small.ivm").predict(X), small.predict(X))
    with pytest.raises(ParameterError, match="warm_start"):
        small.grow(3)


def test_smaller_models_of_objects_keep_some_of_their_inputs():
    function = FromFunction(lambda A, B: np.exp(-(np.subtract.outer(*(np.array(V, dtype=float) for V in (A, B))) ** 2)))
    objects = np.array([*X[:200, 0], None], dtype=object)[:-1]
    model = IVMRegressor(function + Bias(), n_active=40, learn=None, random_state=0).fit(objects, F[:200])
    small = model.compress(12)
    assert not small.moved_
    np.testing.assert_array_equal(small.active_vectors_, model.active_vectors_[:12])
    np.testing.assert_array_equal(small.active_, model.active_[:12])
    assert np.mean((small.predict(objects) - model.predict(objects)) ** 2) < 0.05 * np.var(F[:200])


def test_a_smaller_model_needs_a_size():
    with pytest.raises(ParameterError, match="compress needs"):
        fitted("two", False).compress("auto")
