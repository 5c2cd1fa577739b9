"""Texts that are numbers or dates to people only."""

import warnings

import numpy as np
import pandas as pd
import pytest

from infovec import IVMRegressor
from infovec.errors import ParameterError

RNG = np.random.default_rng(0)
PRICES = RNG.integers(100, 140, 300) * 100.0


def column(form):
    return [form(v) for v in PRICES]


@pytest.mark.parametrize(
    ("texts", "remedy"),
    [
        (column(lambda v: f"${v:,.0f}"), r"pandas\.to_numeric\(X\['t'\]\.str\.replace"),
        (column(lambda v: f"{v:,.2f}"), r"pandas\.to_numeric\(X\['t'\]\.str\.replace"),
        (column(lambda v: f"{v / 100:.0f},5"), r"pandas\.to_numeric\(X\['t'\]\.str\.replace"),
        (column(lambda v: f"{v:.0f}"), r"pandas\.to_numeric\(X\['t'\]\)"),
        (column(lambda v: f"{int(v / 100) % 28 + 1:02d}.03.2023"), r"pandas\.to_datetime\(X\['t'\], dayfirst=True\)"),
    ],
)
def test_texts_that_people_read_as_numbers_are_told_of(texts, remedy):
    X, y = pd.DataFrame({"t": texts, "a": RNG.normal(size=300)}), PRICES / 1000.0
    model = IVMRegressor(learn=None, n_active=20, random_state=0)
    with pytest.warns(UserWarning, match=rf"'t' holds texts such as .*{remedy}"):
        model.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X.astype({"t": "category"}), y)


@pytest.mark.parametrize("texts", [["1", "2", "3"] * 100, ["red", "blue", "7 up"] * 100, ["A1", "B2", "$"] * 100])
def test_words_and_codes_are_no_numbers(texts):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        IVMRegressor(learn=None, n_active=20).fit(pd.DataFrame({"t": texts, "a": RNG.normal(size=300)}), PRICES)


def test_the_remedy_for_prices_gives_the_prices():
    X = pd.DataFrame({"t": column(lambda v: f"${v:,.2f}")})
    found = pd.to_numeric(X["t"].str.replace(r"[^0-9.-]", "", regex=True))
    np.testing.assert_array_equal(found, PRICES)


def test_targets_with_currency_signs_are_no_classes():
    y = pd.Series(column(lambda v: f"${v:,.2f}"))
    with pytest.raises(ParameterError, match=r"currency signs or thousands separators become numbers by pandas"):
        IVMRegressor().fit(RNG.normal(size=(300, 2)), y)
    with pytest.raises(ParameterError, match="for classes use IVMClassifier"):
        IVMRegressor().fit(RNG.normal(size=(300, 2)), ["low", "high", "middle"] * 100)
