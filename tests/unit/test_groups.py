"""Rows of a group, such as a speaker or a patient, are left out together wherever rows are left out."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import GroupKFold, cross_val_score

from infovec import IVMClassifier, IVMOrdinalClassifier, IVMRegressor
from infovec.errors import ParameterError
from infovec.estimators.tasks import grouped
from infovec.inference import Seen, infer, leave_out_together, make_basis, through, without_folds
from infovec.kernels import RBF, Bias, Tasks, White
from infovec.learning import LearnedRows, Learning, Model, ProjectedEvidence
from infovec.likelihoods import Probit
from infovec.machines.data import whole_folds
from infovec.machines.sample import Sample
from infovec.machines.targets import Trial
from infovec.numerics.monotone import YeoJohnson
from infovec.posterior import FactorisedPosterior, ProjectedPosterior
from infovec.shards import Beliefs, ProjectedShard


def without(K, precision, b, folds):
    """Dense formula: mean and variance of rows with prior covariance K given the sites of all other folds."""
    found = np.empty((2, len(folds)))
    for i, fold in enumerate(folds):
        rest = np.flatnonzero((folds != fold) & (precision > 0.0))
        gain = np.linalg.solve(K[np.ix_(rest, rest)] + np.diag(1.0 / precision[rest]), K[rest, i])
        found[:, i] = gain @ (b[rest] / precision[rest]), K[i, i] - gain @ K[rest, i]
    return found


def beliefs_of(V, precision, b):
    Q = np.linalg.cholesky(np.eye(V.shape[1]) + (V.T * precision) @ V)
    return Beliefs(Q, np.linalg.solve(Q, V.T @ b))


@pytest.mark.parametrize("scale", [1e-6, 1e-2, 1.0, 1e2, 1e5])
@pytest.mark.parametrize("d", [1, 4, 30])
def test_a_posterior_without_the_sites_of_a_group_is_the_dense_one(scale, d):
    rng = np.random.default_rng(d)
    n, folds = 40, rng.integers(0, 6, 40)
    folds[:3], folds[3:23] = [10, 11, 12], 7  # some alone, some many
    V, left = rng.normal(size=(n, d)), rng.uniform(size=n)
    precision, b = scale * rng.uniform(0.5, 2.0, n) * (rng.uniform(size=n) > 0.2), scale * rng.normal(size=n)
    b *= precision > 0.0
    got = leave_out_together(lambda at: Seen(V[at], left[at]), beliefs_of(V, precision, b), (precision, b), folds)
    want = without(V @ V.T, precision, b, folds)
    np.testing.assert_allclose(got[0], want[0], rtol=1e-6, atol=1e-7 * np.abs(want[0]).max())
    np.testing.assert_allclose(got[1], want[1] + left, rtol=1e-6, atol=1e-8)


def test_every_class_has_sites_of_its_own():
    rng = np.random.default_rng(0)
    n, d, C, folds = 30, 5, 3, np.repeat(np.arange(5), [1, 2, 9, 9, 9])
    V, precision, b = rng.normal(size=(n, d)), rng.uniform(0.1, 3.0, (n, C)), rng.normal(size=(n, C))
    each = [beliefs_of(V, precision[:, c], b[:, c]) for c in range(C)]
    beliefs = Beliefs(np.stack([one.Q for one in each]), np.stack([one.beta for one in each]))
    got = leave_out_together(lambda at: Seen(V[at], np.zeros(len(at))), beliefs, (precision, b), folds)
    for c in range(C):
        np.testing.assert_allclose(got[:, :, c], without(V @ V.T, precision[:, c], b[:, c], folds), rtol=1e-8)


def test_sites_of_negative_precision_leave_a_posterior():
    V, folds = np.array([[1.0], [1.0], [1.0]]), np.array([0, 0, 1])
    precision, b = np.array([2.0, 3.0, -0.9]), np.array([1.0, 1.0, 0.5])
    got = leave_out_together(
        lambda at: Seen(V[at], np.zeros(len(at))), beliefs_of(V, precision, b), (precision, b), folds
    )
    assert got[:, 0] == pytest.approx([0.5 / 0.1, 1.0 / 0.1])
    precision[2] = -1.5  # without the others there is none: little is known then
    got = leave_out_together(
        lambda at: Seen(V[at], np.zeros(len(at))), beliefs_of(V, precision, b), (precision, b), folds
    )
    assert np.all(np.isfinite(got))
    assert got[1, 0] > 1e6


@pytest.mark.parametrize("kernel", [RBF(0.9, 2.0), RBF(0.9, 2.0) + White(0.3)])
@pytest.mark.parametrize("d", [30, 6])
def test_sites_of_inference_without_a_group(kernel, d):
    rng = np.random.default_rng(1)
    X, rows = rng.normal(size=(30, 2)), np.arange(30)
    y, folds = np.sign(X[:, 0] + 0.5 * rng.normal(size=30)), np.repeat(np.arange(4), [1, 2, 10, 17])
    active = rows[:: 30 // d]
    basis = make_basis(kernel, active, X[active], "float64")
    shard = ProjectedShard(rows, X, y, kernel, Probit(0.2), "float64", blur=False)
    shard.project(basis)
    found = infer([shard], tolerance=1e-10)
    got = leave_out_together(through(kernel, rows, X, basis), found.beliefs, shard.sites(rows), folds)
    K = kernel(X, X)
    K[rows, rows] = kernel.diag(X)
    V = np.linalg.solve(basis.L, K[active]).T
    want = without(V @ V.T, *shard.sites(rows), folds)
    np.testing.assert_allclose(got, want + np.stack([np.zeros(30), np.diag(K - V @ V.T)]), rtol=1e-6, atol=1e-8)


def test_the_factorised_posterior_without_a_group_is_that_of_the_other_active_rows():
    rng = np.random.default_rng(2)
    X, kernel, active = rng.normal(size=(40, 2)), RBF(1.1, 3.0) + Bias(2.0), np.array([3, 30, 11, 7, 25, 39, 0])
    precision, mean = rng.uniform(0.1, 5.0, 7), rng.normal(size=7)
    precision[4] = 0.0  # a row that is active for another class
    posterior, folds = FactorisedPosterior.given(kernel, X[active], precision, mean), np.arange(40) // 8
    rows = np.array([0, 1, 2, 7, 9, 17, 31, 39])
    got = without_folds(posterior, active, X, rows, folds)
    for k, row in enumerate(rows):
        rest = folds[active] != folds[row]
        want = FactorisedPosterior.given(kernel, X[active[rest]], precision[rest], mean[rest]).predict(X[[row]])
        np.testing.assert_allclose(got[:, k], np.ravel(want), rtol=1e-9)


def test_targets_left_out_by_groups_equal_the_dense_formula():
    rng = np.random.default_rng(4)
    X, kernel, folds = rng.normal(size=(20, 1)), RBF(0.8), np.repeat(np.arange(4), 5)
    y, weight = np.sin(X[:, 0]) + 0.3 * rng.normal(size=20), rng.uniform(0.5, 2.0, 20)
    trial, same = Trial.of(X, y, weight, kernel, False, folds), YeoJohnson()
    level = trial.level(same)
    z = trial._centred(same)[0]
    K = kernel(X, X) / np.mean(np.diag(kernel(X, X))) + 10.0
    noise = level.ratio / weight
    error = np.empty(20)
    for i in range(20):
        rest = folds != folds[i]
        gain = np.linalg.solve(K[np.ix_(rest, rest)] + np.diag(noise[rest]), K[rest, i])
        error[i] = z[i] - gain @ z[rest]
    np.testing.assert_allclose(trial.left_out(same)[1], error**2, rtol=1e-6)


def speakers(rng, n_groups, each, shift=1.0, classes=2, noise=0.1):
    """Rows that come in groups of near duplicates: what a group says of its label is its own."""
    centre = rng.normal(size=(n_groups, 4))
    X = np.repeat(centre, each, axis=0) + noise * rng.normal(size=(n_groups * each, 4))
    score = centre[:, :classes] + shift * rng.normal(size=(n_groups, classes))
    label = (score[:, 0] > 0.0).astype(int) if classes == 2 else score.argmax(axis=1)
    return X, np.repeat(label, each), np.repeat(np.arange(n_groups), each)


def loss(model, X, y):
    return -np.mean(model.predict_log_proba(X)[np.arange(len(y)), y])


@pytest.mark.parametrize(
    ("classes", "settings", "share"),
    [
        (2, {}, 0.6),
        (3, {}, 0.8),
        (3, {"approximation": "factorised"}, 0.95),
        (3, {"multi_class": "softmax", "learn": Learning(minor_steps=5)}, 0.9),
    ],
)
def test_with_groups_the_default_is_better_on_new_ones(classes, settings, share):
    rng = np.random.default_rng(5)
    few = settings.get("multi_class") == "softmax"
    X, y, groups = speakers(rng, 20 if few else 40, 4 if few else 6, classes=classes, noise=0.3)
    new, truth, _ = speakers(rng, 600, 1, classes=classes)
    alone, grouped = (
        IVMClassifier(n_active=50, random_state=0, **settings).fit(X, y, groups=given) for given in (None, groups)
    )
    assert loss(grouped, new, truth) < share * loss(alone, new, truth)
    right = [np.mean(model.predict(new) == truth) for model in (alone, grouped)]
    too_sure = [
        model.predict_proba(new).max(axis=1).mean() - r for model, r in zip((alone, grouped), right, strict=True)
    ]
    assert abs(too_sure[1]) < abs(too_sure[0])
    if settings == {}:
        assert loss(grouped, new, truth) < 1.02 * np.log(classes)
        assert right[1] > right[0] - 0.02


def test_sites_that_settle_again_tell_more_than_those_that_stay():
    """What is known of a group is compared with a fit to all others."""
    rng = np.random.default_rng(5)
    X, y, groups = speakers(rng, 20, 6, noise=0.1)
    kernel, rows, target = RBF(1.0, 50.0) + Bias(1.0), np.arange(120), 2.0 * y - 1.0
    given = LearnedRows(rows, X, target, folds=groups % 5)
    objective = ProjectedEvidence(given, rows[::2], 1e-6)
    shards, basis, found = objective.settle(kernel, Probit(0.0))
    stay = given.left_out(shards, kernel, basis, found.beliefs)
    again, at = objective.without_folds(kernel, Probit(0.0), shards, basis, found)
    np.testing.assert_array_equal(at, rows)
    want = np.empty((2, 120))
    for fold in range(5):
        out, rest = np.flatnonzero(groups % 5 == fold), np.flatnonzero(groups % 5 != fold)
        shard = ProjectedShard(rows[rest], X[rest], target[rest], kernel, Probit(0.0), "float64", blur=True)
        shard.project(basis)
        posterior = ProjectedPosterior(kernel, X[rows[::2]], basis.L, *infer([shard], tolerance=1e-8).beliefs)
        want[:, out] = posterior.predict(X[out])
    np.testing.assert_allclose(again, want, rtol=0.1, atol=0.3)
    assert np.abs(again - want).max() < 0.2 * np.abs(stay - want).max()


def test_intervals_of_numbers_cover_new_groups():
    rng = np.random.default_rng(6)
    centre = rng.normal(size=(40, 3))
    X = np.repeat(centre, 10, axis=0) + 0.05 * rng.normal(size=(400, 3))
    y = np.repeat(centre[:, 0] + rng.normal(size=40), 10) + 0.05 * rng.normal(size=400)
    new = rng.normal(size=(2000, 3))
    truth, groups = new[:, 0] + rng.normal(size=2000), np.repeat(np.arange(40), 10)
    covered = []
    for given in (None, groups):
        model = IVMRegressor(n_active=100, random_state=0).fit(X, y, groups=given)
        low, high = model.predict_quantiles(new, [0.05, 0.95]).T
        covered.append(np.mean((low < truth) & (truth < high)))
    assert abs(covered[1] - 0.9) < abs(covered[0] - 0.9)


def drawn(seed=0, n=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + 0.7 * rng.normal(size=n) > 0.0).astype(int), rng.integers(0, 9, n)


FORMS = [
    (IVMClassifier, {}),
    (IVMClassifier, {"approximation": "factorised"}),
    (IVMClassifier, {"move": True}),
    (IVMOrdinalClassifier, {}),
    (IVMRegressor, {}),
    (IVMRegressor, {"target": "auto"}),
    (IVMRegressor, {"approximation": "factorised", "likelihood": "student_t"}),
]


@pytest.mark.parametrize(("kind", "settings"), FORMS)
def test_every_row_a_group_of_its_own_is_no_groups(kind, settings):
    X, y, _ = drawn()
    model = kind(n_active=20, random_state=0, **settings)
    proba = [model.fit(X, y, groups=given).predict_latent(X) for given in (None, np.arange(60))]
    np.testing.assert_allclose(*proba, atol=1e-6)


@pytest.mark.parametrize(("kind", "settings"), FORMS[:-1])
def test_names_of_groups_do_not_matter(kind, settings):
    X, y, groups = drawn()
    model = kind(n_active=20, random_state=0, **settings)
    words = np.array(list("abcdefghi"))[groups]
    mixed = [int(g) if g < 4 else f"speaker {g}" for g in groups]
    given = [words, words.tolist(), pd.Series(words, dtype="category"), pd.Series(groups, dtype="Int64"), mixed]
    given = given if settings == {} and kind is IVMClassifier else given[1:2]
    first = model.fit(X, y, groups=groups).predict_latent(X)
    for labels in given:
        np.testing.assert_allclose(model.fit(X, y, groups=labels).predict_latent(X), first, atol=1e-9)


def test_a_weight_is_a_repetition_within_a_group_and_equal_rows_of_others_stay_apart():
    X, y, groups = drawn(1)
    again, weight = np.append(np.arange(60), [0, 0, 5]), np.ones(60)
    weight[[0, 5]] = 3.0, 2.0
    model = IVMClassifier(n_active=63, random_state=0)
    proba = [
        model.fit(X[again], y[again], groups=groups[again]).predict_proba(X),
        model.fit(X, y, weight, groups=groups).predict_proba(X),
    ]
    np.testing.assert_allclose(*proba, atol=1e-5)
    sample = Sample.of(X[again], y[again], None, np.append(groups, [groups[0], 20, 21])).merged(RBF(), "probit")
    assert len(sample.y) == 62
    assert sample.folds.max() == 21


def test_rows_held_back_to_choose_the_active_set_are_whole_groups():
    X, y, groups = drawn(2, 400)
    model = IVMClassifier(n_active="auto", random_state=0)
    machine = model._prepare(grouped(X, groups), y, None)
    held = groups[machine.data.given.rows[machine.data.held_back]]
    assert 20 <= len(held) <= 100
    assert len(held) == np.isin(groups, held).sum()
    model.fit(X, y, groups=groups)


@pytest.mark.parametrize("size", [0, 1, 10, 30, 99])
def test_whole_folds_are_about_as_many_rows_and_never_all(size):
    rng = np.random.default_rng(size)
    line, folds = rng.permutation(100), rng.integers(0, 12, 100)
    rows = whole_folds(line, size, folds)
    assert np.isin(folds, folds[rows]).sum() == len(rows) < 100
    assert abs(len(rows) - size) <= np.bincount(folds).max()
    np.testing.assert_array_equal(whole_folds(line, size, None), line[:size])


def test_learning_has_groups_left_out():
    X, y, _ = drawn(3)
    rows, model = np.arange(60), Model.begin(RBF(0.3, 30.0), Probit(0.0))
    copies = np.repeat(rows[:30], 2)
    X, y = X[copies] + 1e-3 * np.random.default_rng(0).normal(size=X.shape), y[copies]
    given = LearnedRows(rows, X, 2.0 * y - 1.0)
    alone, grouped = (ProjectedEvidence(one, rows).left_out(model) for one in (given, given._replace(folds=copies)))
    assert alone[0] == pytest.approx(grouped[0])
    assert alone[1] < grouped[1] - 0.1


def test_groups_in_cross_validation():
    X, y, groups = drawn(4)
    model = IVMClassifier(n_active=20, random_state=0)
    by_hand = [model.fit(X[a], y[a], groups=groups[a]).score(X[b], y[b]) for a, b in GroupKFold(3).split(X, y, groups)]
    given = cross_val_score(model, X, y, groups=groups, cv=GroupKFold(3), params={"groups": groups})
    np.testing.assert_allclose(given, by_hand)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = model.set_fit_request(groups=True).set_score_request(groups=False)
        given = cross_val_score(routed, X, y, cv=GroupKFold(3), params={"groups": groups})
    np.testing.assert_allclose(given, by_hand)


def test_rows_told_later_are_left_out_one_at_a_time():
    X, y, groups = drawn(5)
    model = IVMClassifier(n_active=40, random_state=0).fit(X[:50], y[:50], groups=groups[:50])
    told = model.tell(X[50:], y[50:])
    assert told._rows.folds.tolist()[50:] == list(
        range(told._rows.folds[:50].max() + 1, told._rows.folds[:50].max() + 11)
    )
    assert np.isfinite(loss(told, X, y))


def test_several_targets_and_rows_without_label():
    X, y, groups = drawn(6)
    both = IVMRegressor(n_active=15, random_state=0).fit(X, np.column_stack([y, X[:, 1]]), groups=groups)
    assert both.predict(X).shape == (60, 2)
    some = np.where(np.arange(60) % 3 == 0, y, -1)
    model = IVMClassifier(likelihood="null_category", n_active=40, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, some, groups=groups)
    assert np.isfinite(model.unlabelled_["loss"])


def test_images_are_left_out_with_the_group_of_their_rows():
    X, y, groups = drawn(7)
    model = IVMClassifier(n_active=30, random_state=0, invariances=lambda X: -X).fit(X, y, groups=groups)
    assert model.virtual_.any()


def test_groups_stay_tasks_where_the_kernel_has_some():
    X, y, groups = drawn(8)
    model = IVMClassifier(kernel=Tasks(RBF()), n_active=20, random_state=0).fit(X, y, groups=groups)
    assert model.tasks_.tolist() == sorted(set(groups.tolist()))
    assert not hasattr(IVMClassifier(n_active=20, random_state=0).fit(X, y, groups=groups), "tasks_")


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (np.zeros(60), "one label only"),
        (np.arange(59), "60 rows, groups has 59 labels"),
        (np.where(np.arange(60) == 7, np.nan, 1.0), "no label for row 7"),
        ([None, *"ab" * 29, "c"], "no label for row 0"),
    ],
)
def test_what_are_no_groups_is_refused(groups, message):
    X, y, _ = drawn()
    with pytest.raises(ParameterError, match=message):
        IVMClassifier().fit(X, y, groups=groups)


@pytest.mark.parametrize("approximation", ["projected", "factorised"])
def test_auxiliary_variables_remember_groups(approximation):
    X, _, groups = drawn()
    model = IVMClassifier(multi_class="variational", approximation=approximation)
    with pytest.raises(ParameterError, match="not for multi_class='variational'"):
        model.fit(X, groups % 3, groups=groups)


def test_rows_elsewhere_and_predictions_have_no_groups():
    X, y, groups = drawn()
    da = pytest.importorskip("dask.array")
    with pytest.raises(ParameterError, match="for rows in memory"):
        IVMClassifier().fit(da.from_array(X), da.from_array(y), groups=groups)
    model = IVMClassifier(n_active=10, random_state=0).fit(X, y, groups=groups)
    with pytest.raises(ParameterError, match="say nothing of new rows"):
        model.predict(X, groups=groups)


@pytest.mark.parametrize(
    ("groups", "said"),
    [("site", "groups has only 'site'"), (["a", "b"], "groups has 2 labels"), (np.zeros((40, 2)), "shape (40, 2)")],
)
def test_groups_of_another_shape_are_refused_with_what_to_write(groups, said):
    X = pd.DataFrame({"a": np.arange(40.0), "site": np.arange(40.0) % 4})
    for model, y in ((IVMClassifier(n_active=5), np.arange(40) % 2), (IVMRegressor(n_active=5), np.arange(40.0))):
        with pytest.raises(ParameterError) as found:
            model.fit(X, y, groups=groups)
        assert said in str(found.value)
        assert str(found.value).endswith(
            "groups must have one label for each row; a column of a frame goes in as groups=X['site']"
        )
