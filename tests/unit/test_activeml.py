"""The query strategy for scikit-activeml."""

import sys

import numpy as np
import pytest

from infovec import IVMClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 2))
TRUTH = (X[:, 0] > 0).astype(float)
Y = np.where(np.arange(80) < 12, TRUTH, np.nan)


def test_without_scikit_activeml_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "skactiveml.base", None)
    monkeypatch.delitem(sys.modules, "infovec.activeml", raising=False)
    with pytest.raises(ImportError, match="needs scikit-activeml"):
        import infovec.activeml  # noqa: F401


def test_batches_are_those_of_suggest():
    pytest.importorskip("skactiveml")
    from infovec.activeml import InformationSampling

    strategy, estimator = InformationSampling(), IVMClassifier(n_active=20, learn=None, random_state=0)
    rows, utilities = strategy.query(X, Y, estimator, batch_size=3, return_utilities=True)
    model = IVMClassifier(n_active=20, learn=None, random_state=0).fit(X[:12], TRUTH[:12])
    assert np.array_equal(rows, 12 + model.suggest(X[12:], 3))
    assert np.array_equal(np.isnan(utilities).sum(axis=1), [12, 13, 14])
    np.testing.assert_allclose(utilities[0, 12:], model.score_candidates(X[12:]))
    given = strategy.query(X, Y, model, fit_estimator=False, candidates=X[50:], batch_size=2)
    assert np.array_equal(given, model.suggest(X[50:], 2))
    numbers = strategy.query(X, Y, model, fit_estimator=False, candidates=np.arange(50, 80), batch_size=2)
    assert np.array_equal(numbers, 50 + given)
    with pytest.raises(ValueError, match="score must be one of"):
        InformationSampling(score="surprise").query(X, Y, model, fit_estimator=False)
