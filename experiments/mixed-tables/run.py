"""Mixed tables as they come, beside boosting, and beside one-hot columns and medians with the same estimator."""

import sys
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from experiments.report import claim, compare
from infovec import IVMClassifier

from .sets import SETS, knocked_out

__all__ = ["FULL", "QUICK", "Sizes", "run"]

GOALS = ("adult", "ship", "german")
Row = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    splits: int
    rows: int  # to train, at most
    test_rows: int
    active: int
    shares: tuple[float, ...]  # of all cells that are knocked out
    sets: tuple[str, ...]


FULL = Sizes(3, 2000, 4000, 300, (0.0, 0.1, 0.3), GOALS)
QUICK = Sizes(1, 200, 200, 40, (0.0, 0.3), ("german",))


def run(quick: bool, sizes: Sizes | None = None) -> list[Row]:
    """Fit every set in every way, with some of its cells knocked out."""
    sizes = sizes or (QUICK if quick else FULL)
    rows, as_good, better = list[Row](), list[bool](), list[bool]()
    for name in sizes.sets:
        losses = {share: _set(name, share, sizes) for share in sizes.shares}
        for share, by_way in losses.items():
            rows += [compare(f"{name}, {share:.0%} missing, {way}", None, loss) for way, loss in by_way.items()]
        mean = {way: float(np.mean([by_way[way] for by_way in losses.values()])) for way in losses[sizes.shares[0]]}
        as_good.append(mean["infovec"] <= mean["boosting"])
        better.append(mean["infovec"] < mean["one-hot, median"])
    wanted = min(2, len(sizes.sets))
    rows.append(claim("sets no worse than boosting", f">= {wanted}", sum(as_good), sum(as_good) >= wanted))
    rows.append(claim("sets better than one-hot and median", f"{len(better)}", sum(better), all(better)))
    return rows


def _set(name: str, share: float, sizes: Sizes) -> dict[str, float]:
    """Mean log loss over the splits, in every way."""
    table, y = SETS[name]()
    found: dict[str, list[float]] = {}
    for split in range(sizes.splits):
        order = np.random.default_rng(split).permutation(len(y))
        n = min(sizes.rows, 2 * len(y) // 3)
        train, test = order[:n], order[n : n + sizes.test_rows]
        gappy = knocked_out(table, share, split)
        for way, model in _ways(gappy, sizes.active).items():
            start = time.process_time()
            loss = _loss(model, gappy.iloc[train], y[train], gappy.iloc[test], y[test])
            found.setdefault(way, []).append(loss)
            seconds = time.process_time() - start
            print(f"{name} {share:.0%} split {split} {way}: {loss:.4f} ({seconds:.1f} s)", file=sys.stderr, flush=True)
    return {way: float(np.mean(losses)) for way, losses in found.items()}


def _ways(table: pd.DataFrame, active: int) -> dict[str, Any]:
    machine = IVMClassifier(n_active=active, random_state=0)
    hot = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), make_column_selector(dtype_include="category")),
        remainder=SimpleImputer(strategy="median"),
    )
    filled = make_pipeline(_Commonest(), hot, IVMClassifier(n_active=active, random_state=0))
    boosting = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
    return {"infovec": machine, "boosting": boosting, "one-hot, median": filled}


class _Commonest:
    """Puts the commonest category where one is missing, as is done beside medians."""

    def fit(self, X: pd.DataFrame, y: object = None) -> "_Commonest":
        self.words = {c: X[c].mode().iloc[0] for c in X.columns if X[c].dtype.name == "category"}
        return self

    def fit_transform(self, X: pd.DataFrame, y: object = None) -> pd.DataFrame:
        return self.fit(X).transform(X)

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        return X.fillna(self.words)


def _loss(model: Any, X: pd.DataFrame, y: np.ndarray, X_test: pd.DataFrame, y_test: np.ndarray) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        proba = model.fit(X, y).predict_proba(X_test)
    own = proba[np.arange(len(y_test)), np.searchsorted(model.classes_, y_test)]
    return float(-np.mean(np.log(np.maximum(own, 1e-12))))
