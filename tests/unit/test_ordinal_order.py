"""Ordered words say what their ranks say: ``classes_`` are sorted as elsewhere, ``categories_`` go from low to high."""

import copy
import pickle

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from fixed import IVMClassifier, IVMOrdinalClassifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import KFold, cross_val_score

from infovec import load
from infovec.errors import ParameterError
from infovec.estimators.relevances import model_relevances
from infovec.evaluation import judge
from infovec.kernels import RBF
from infovec.plots import plot_classifier
from infovec.report.dependences import dependences

mpl.use("agg")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(160, 2))
RANK = np.digitize(np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.2 * RNG.normal(size=160), [-0.7, 0.1, 0.6])
NAMES = ["low", "middle", "high", "extreme"]
WORDS = np.array(NAMES)[RANK]
BY_CLASS = [3, 2, 0, 1]  # extreme, high, low, middle
WEIGHT = np.array([0.5, 1.0, 3.0, 2.0])
common = {"kernel": RBF(1.0, 4.0), "n_active": 30, "random_state": 0}
weights = pytest.mark.parametrize("weighted", [False, True])


def words(**given):
    return IVMOrdinalClassifier(**{"categories": NAMES, **common, **given})


def pair(weighted=False, n=160, **given):
    """The same model of words and of ranks."""
    by_name = dict(zip(NAMES, WEIGHT.tolist(), strict=True)) if weighted else None
    by_rank = dict(enumerate(WEIGHT.tolist())) if weighted else None
    named = words(class_weight=by_name, **given).fit(X[:n], WORDS[:n])
    return named, IVMOrdinalClassifier(**common, class_weight=by_rank, **given).fit(X[:n], RANK[:n])


@weights
def test_words_are_told_as_their_ranks_are(weighted):
    named, ranks = pair(weighted)
    assert named.classes_.tolist() == sorted(NAMES) == np.array(NAMES)[BY_CLASS].tolist()
    assert named.categories_.tolist() == NAMES
    assert ranks.classes_.tolist() == ranks.categories_.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(named.likelihood_.thresholds, ranks.likelihood_.thresholds)
    np.testing.assert_array_equal(named.class_shift_, ranks.class_shift_[BY_CLASS])
    np.testing.assert_allclose(named.predict_log_proba(X), ranks.predict_log_proba(X)[:, BY_CLASS], rtol=1e-12)
    np.testing.assert_array_equal(named.predict(X), np.array(NAMES)[ranks.predict(X)])
    np.testing.assert_array_equal(named.predict(X), named.classes_[named.predict_proba(X).argmax(axis=1)])
    np.testing.assert_array_equal(named.sample_y(X[:9], 5, 1), np.array(NAMES)[ranks.sample_y(X[:9], 5, 1)])
    for one, other in zip(named.predict_uncertainty(X), ranks.predict_uncertainty(X), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(named.suggest(X, 5), ranks.suggest(X, 5))
    assert named.score(X, WORDS) == ranks.score(X, RANK)


def test_draws_and_certificates_of_words_are_those_of_ranks():
    named, ranks = pair()
    draw, other = named.gibbs(0), ranks.gibbs(0)
    np.testing.assert_array_equal(draw.predict_proba(X), other.predict_proba(X)[:, BY_CLASS])
    np.testing.assert_array_equal(draw.vote(X), np.array(NAMES)[other.vote(X)])
    np.testing.assert_array_equal(draw.predict(X), np.array(NAMES)[other.predict(X)])
    found, same = named.certify(X, WORDS), ranks.certify(X, RANK)
    assert found.classes == tuple(NAMES)  # by which its confusion goes
    assert (found.gibbs_error, found.best_bound) == (same.gibbs_error, same.best_bound)
    assert found.confusion_bounds("low", "high") == same.confusion_bounds(0, 2)
    first, second = pair(n=100)
    held = first.certify(X[100:], WORDS[100:], held_out=True)
    assert held.test_bound == second.certify(X[100:], RANK[100:], held_out=True).test_bound
    assert held.bayes_error == pytest.approx(np.mean(first.gibbs().vote(X[100:]) != WORDS[100:]))


@pytest.mark.parametrize("loaded", [False, True])
def test_told_rows_have_their_ranks(loaded, tmp_path):
    named, ranks = pair(n=100)
    if loaded:  # the rows before are known by the sum of their sites alone
        for model in (named, ranks):
            model.save(tmp_path / "m.ivm")
        named.save(tmp_path / "n.ivm")
        named, ranks = load(tmp_path / "n.ivm"), load(tmp_path / "m.ivm")
    before = named.predict_proba(X)
    named.tell(X[100:], WORDS[100:])
    ranks.tell(X[100:], RANK[100:])
    assert named.categories_.tolist() == NAMES
    assert abs(named.predict_proba(X) - before).max() > 0.01
    np.testing.assert_array_equal(named.predict_proba(X), ranks.predict_proba(X)[:, BY_CLASS])


@pytest.mark.parametrize("scoring", ["neg_log_loss", "roc_auc_ovr", "roc_auc_ovo", "neg_brier_score", "accuracy"])
def test_scores_of_words_are_those_of_ranks(scoring):
    named, ranks = (
        cross_val_score(model, X, y, cv=KFold(3), scoring=scoring)
        for model, y in ((words(), WORDS), (IVMOrdinalClassifier(**common), RANK))
    )
    np.testing.assert_allclose(named, ranks, rtol=1e-12)


def test_metrics_need_no_list_of_labels():
    model = words().fit(X[:100], WORDS[:100])
    proba = model.predict_proba(X[100:])
    own = np.log([proba[k, list(model.classes_).index(word)] for k, word in enumerate(WORDS[100:])])
    assert log_loss(WORDS[100:], proba) == pytest.approx(-own.mean())
    assert roc_auc_score(WORDS[100:], proba, multi_class="ovr") > 0.8


def test_a_meta_estimator_that_numbers_the_labels_is_named():
    voting = VotingClassifier([("one", words()), ("other", IVMClassifier(**common))], voting="soft")
    with pytest.raises(ParameterError, match=r"missing: \[0, 1, 2, 3\].*VotingClassifier.*categories=\[2, 3, 1, 0\]"):
        voting.fit(X, WORDS)
    with pytest.raises(ParameterError, match=r"missing: \['odd'\]$"):
        words().fit(X, np.where(RANK == 0, "odd", WORDS))
    with pytest.raises(ParameterError, match=r"missing: \[1, 2, 3, 4\]$"):
        words().fit(X, RANK + 1)
    coded = words(categories=[2, 3, 1, 0])
    voting = VotingClassifier([("one", coded), ("other", coded)], voting="soft").fit(X, WORDS)
    alone = words().fit(X, WORDS)
    np.testing.assert_array_equal(voting.classes_, alone.classes_)
    np.testing.assert_allclose(voting.predict_proba(X), alone.predict_proba(X))
    np.testing.assert_array_equal(voting.predict(X), alone.predict(X))


def test_calibrated_and_stacked_models_take_the_columns_rightly():
    frequencies = np.bincount(RANK) / len(RANK)
    constant = -frequencies @ np.log(frequencies)
    calibrated = CalibratedClassifierCV(words(), cv=3).fit(X, WORDS)
    assert log_loss(WORDS, calibrated.predict_proba(X)) < 0.7 * constant
    stacked = StackingClassifier([("one", words(categories=None))], cv=3).fit(X, RANK)
    assert log_loss(RANK, stacked.predict_proba(X)) < 0.7 * constant


@pytest.mark.parametrize(
    ("labels", "given"),
    [([7, 5, 3, 1], [7, 5, 3, 1]), ([2.0, 0.0, 1.0, 3.0], [2.0, 0.0, 1.0, 3.0]), (NAMES, None)],
    ids=["descending", "numbers", "a Categorical"],
)
def test_any_order_of_any_labels(labels, given):
    own = np.array(labels)
    y = own[RANK] if given else pd.Series(pd.Categorical.from_codes(RANK, NAMES, ordered=True))
    model, ranks = words(categories=given).fit(X, y), words(categories=None).fit(X, RANK)
    assert model.classes_.tolist() == sorted(labels)
    assert model.categories_.tolist() == labels
    np.testing.assert_array_equal(model.predict_proba(X), ranks.predict_proba(X)[:, np.argsort(own)])


@weights
def test_files_keep_the_order(weighted, tmp_path):
    model = pair(weighted)[0]
    model.save(tmp_path / "m.ivm")
    back = load(tmp_path / "m.ivm")
    assert back.classes_.tolist() == sorted(NAMES)
    assert back.categories_.tolist() == NAMES
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))


@weights
def test_pickles_whose_classes_go_by_rank_predict_rightly(weighted):
    model = pair(weighted)[0]
    old = copy.copy(model)
    del old.categories_
    old.classes_, old.class_shift_ = model.categories_, model.class_shift_[[2, 3, 1, 0]]
    back = pickle.loads(pickle.dumps(old))
    for name in ("classes_", "categories_", "class_shift_"):
        np.testing.assert_array_equal(getattr(back, name), getattr(model, name))
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))


def test_predictions_are_shown_by_rank():
    named, ranks = pair()
    found, same = judge(named, X, WORDS), judge(ranks, X, RANK)
    np.testing.assert_array_equal(named.classes_[found.own], WORDS)
    np.testing.assert_array_equal(found.by_rank(named).own, RANK)
    np.testing.assert_array_equal(found.by_rank(named).log_proba, same.log_proba)
    np.testing.assert_array_equal(found.by_rank(named).confusion(4), same.confusion(4))
    np.testing.assert_array_equal(same.by_rank(ranks).log_proba, same.log_proba)
    assert found.figures()["log_loss"] == same.figures()["log_loss"]
    legends = [plot_classifier(*given).get_legend().get_texts() for given in ((named, X, WORDS), (ranks, X, RANK))]
    assert [text.get_text() for text in legends[0]][:4] == NAMES
    assert len(legends[0]) == len(legends[1])


@weights
def test_what_columns_do_is_reported_by_rank(weighted):
    named, ranks = pair(weighted)
    found, same = (dependences(model, X, model_relevances(model), ("a", "b")) for model in (named, ranks))
    assert len(found) == len(same) == 2
    for one, other in zip(found, same, strict=True):
        assert one.column == other.column
        for part in ("mean", "low", "high"):
            np.testing.assert_allclose(getattr(one, part), getattr(other, part), rtol=1e-9, atol=1e-12)


def test_regions_have_the_colours_of_their_ranks():
    pictures = [plot_classifier(*given) for given in ((pair()[0], X, WORDS), (pair()[1], X, RANK))]
    faces = [[c.get_facecolor().tolist() for c in ax.collections] for ax in pictures]
    paths = [[p.vertices.tolist() for c in ax.collections for p in c.get_paths()] for ax in pictures]
    assert faces[0] == faces[1]
    assert paths[0] == paths[1]
