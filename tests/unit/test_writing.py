"""Texts that are numbers or dates to people only."""

import warnings

import numpy as np
import pandas as pd
import pytest

from infovec import IVMRegressor
from infovec.errors import ParameterError
from infovec.tables.writing import odd_among_numbers

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
        (column(lambda v: f"{int(v / 100) % 28 + 1:02d}.03.2023"), r"to_datetime\(X\['t'\], format=\"%d.%m.%Y\"\)"),
        (column(lambda v: f"04/{int(v / 100) % 28 + 1:02d}/2011"), r"to_datetime\(X\['t'\], format=\"%m/%d/%Y\"\);"),
        (column(lambda v: f"04/{int(v / 100) % 12 + 1:02d}/201{int(v / 100) % 7}"), r"format=\"%d/%m/%Y\"\), or with"),
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


@pytest.mark.parametrize(
    "texts", [["1", "2", "3"] * 100, ["red", "blue", "7 up"] * 100, ["A1", "B2", "$"] * 100, [*"12345", "other"] * 50]
)
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


MIXED = {
    "a slip": (["oops"], lambda v: f"{v / 100:.0f}", 7),
    "several": (["oops", "?", "oops"], lambda v: f"{v / 100:.1f}", 7),
    "amounts": (["on request"], lambda v: f"${v:,.0f}", 7),
}


@pytest.mark.parametrize("name", MIXED)
def test_the_cell_that_makes_a_column_of_numbers_one_of_texts_is_named(name):
    words, form, row = MIXED[name]
    texts = column(form)
    texts[row : row + len(words)] = words
    X = pd.DataFrame({"t": texts, "a": RNG.normal(size=300)})
    model = IVMRegressor(learn=None, n_active=20, random_state=0)
    with pytest.warns(UserWarning, match=r"'t' is taken for categories") as raised:
        model.fit(X, PRICES)
    said = str(raised[0].message)
    n = len(words)
    assert f"{300 - n} of 300 cells are written as numbers, and {n} {'is' if n == 1 else 'are'} not: row 7 has" in said
    assert repr(words[0]) in said
    assert f"{n} will be missing after X['t'] = " in said
    assert ("str.replace" in said) == (name == "amounts")
    scope = {"X": X, "pandas": pd}
    exec(said[said.index("X['t'] = ") :].split(", which makes")[0], scope)  # as a user pastes it
    expected = [np.nan if text in words else float(text.strip("$").replace(",", "")) for text in texts]
    np.testing.assert_array_equal(scope["X"]["t"], expected)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X.astype({"t": "category"}), PRICES)


def test_words_of_which_no_more_than_half_are_numbers_are_words():
    assert odd_among_numbers([*"123456789", "a"]) == ["a"]
    assert odd_among_numbers(["1,200", "$5", "3.5", "7", "8", "9", "free"]) == ["free"]
    assert odd_among_numbers([*"1234567", *"abcdefg"]) == []
    assert odd_among_numbers([*"12345", "other"]) == []
    assert odd_among_numbers([*"123456789"]) == []
