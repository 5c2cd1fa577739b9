"""Mixed tables: raw ones put together from coded files, and one that is made."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from experiments.data import stored

__all__ = ["SETS", "knocked_out"]

Table = tuple[pd.DataFrame, np.ndarray]

_ADULT = {"age": 5, "workclass": 8, "fnlwgt": 5, "education": 16, "education_num": 5, "marital": 7, "occupation": 14,
          "relationship": 6, "race": 5, "sex": 2, "gain": 2, "loss": 2, "hours": 5, "country": 41}  # fmt: skip
_BINS = ("age", "fnlwgt", "education_num", "gain", "loss", "hours")


def adult() -> Table:
    """The 14 columns of adult from the 123 binary ones of a9a: bins as numbers, missing where no bit is set."""
    file = stored("a9a")
    X, y = (np.concatenate([file[f"{part}_train"], file[f"{part}_test"]]) for part in "Xy")
    columns, start = {}, 0
    for name, size in _ADULT.items():
        bits = X[:, start : start + size]
        code, known = bits.argmax(axis=1), bits.any(axis=1)
        words = pd.Series(np.where(known, np.char.add(f"{name} ", code.astype(str)), None), dtype="category")
        columns[name] = np.where(known, code.astype(float), np.nan) if name in _BINS else words
        start += size
    return pd.DataFrame(columns), np.where(y > 0, "more", "less")


def german() -> Table:
    """German credit: the codes of its columns, four of which are put together again from their binary ones."""
    file = stored("german")
    X = file["X"].astype(np.float64)
    numbers = {"months": 1, "amount": 3, "residence": 7, "age": 9, "credits": 11, "liable": 12}
    codes = {"account": 0, "history": 2, "savings": 4, "employed": 5, "status": 6, "property": 8, "plans": 10,
             "telephone": 13, "foreign": 14}  # fmt: skip
    groups = {"purpose": [15, 16], "debtors": [17, 18], "housing": [19, 20], "job": [21, 22, 23]}
    words = {name: np.unique(X[:, j], return_inverse=True)[1] for name, j in codes.items()}
    words |= {name: (X[:, j] > 0) @ (1 + np.arange(len(j))) for name, j in groups.items()}
    table = pd.DataFrame({name: X[:, j] for name, j in numbers.items()})
    for name, code in words.items():
        table[name] = pd.Categorical([f"{name} {c}" for c in code])
    return table, np.where(file["y"] > 0, "bad", "good")


def ship(n: int = 1300, seed: int = 1912) -> Table:
    """Passengers of a ship that never was: a made table in the manner of that of the Titanic.

    Survival hangs on sex, class, age of children and deck, not additively; the deck is known of few, of survivors
    rather than of others; ages are missing more often in the third class; fares are those of groups.
    """
    rng = np.random.default_rng(seed)
    klass = rng.choice([1, 2, 3], n, p=[0.25, 0.2, 0.55])
    sex = np.where(rng.random(n) < 0.36, "female", "male")
    age = np.clip(rng.gamma(6.0, 5.0, n) + np.array([0.0, 9.0, 3.0, -1.0])[klass], 0.5, 80.0)
    kin = rng.poisson(np.where(age < 14, 2.0, 0.5))
    port = rng.choice(["south", "west", "north"], n, p=[0.7, 0.2, 0.1])
    fare = np.exp(rng.normal(np.array([0.0, 4.1, 2.9, 2.2])[klass], 0.4)) * (1.0 + 0.5 * kin)
    deck = np.where(klass == 1, rng.choice(list("ABCDE"), n), rng.choice(list("DEFG"), n))
    woman = sex == "female"
    latent = -1.4 + np.where(woman, np.array([0.0, 4.6, 3.8, 1.3])[klass], np.array([0.0, 0.9, -0.4, -0.5])[klass])
    latent += np.where((age < 12) & (kin < 4), 2.0, 0.0) - np.where(kin > 3, 1.5, 0.0) - 0.01 * (age - 30)
    latent += np.where(port == "west", 0.4, 0.0) + np.where(np.isin(deck, list("BDE")), 0.5, 0.0)
    survived = rng.random(n) < 1.0 / (1.0 + np.exp(-latent))
    known = rng.random(n) < np.where(klass == 1, 0.75, 0.06) + 0.1 * survived
    age[rng.random(n) < np.array([0.0, 0.1, 0.1, 0.3])[klass]] = np.nan
    table = pd.DataFrame({
        "class": pd.Categorical(klass.astype(str)), "sex": pd.Categorical(sex), "age": np.round(age),
        "kin": kin.astype(float), "fare": np.round(fare, 2), "port": pd.Categorical(port),
        "deck": pd.Categorical(np.where(known, deck, None)),
    })  # fmt: skip
    return table, np.where(survived, "yes", "no")


def heart() -> Table:
    """Heart disease: five numbers and eight columns of codes."""
    file = stored("heart")
    return _of_codes(file["X"], (1, 2, 5, 6, 8, 10, 11, 12)), file["y"]


def australian() -> Table:
    """Australian credit: six numbers and eight columns of codes."""
    file = stored("australian")
    return _of_codes(file["X"], (0, 3, 4, 5, 7, 8, 10, 11)), file["y"]


def abalone() -> Table:
    """Abalone, whose sex is a category: more than nine rings or not."""
    file = stored("abalone")
    return _of_codes(file["X"], (0,)), file["y"] > 9


def autompg() -> Table:
    """Cars, with cylinders, year and origin as categories: more than 22 miles to the gallon or not."""
    file = stored("autompg")
    return _of_codes(file["X"], (0, 5, 6)), file["y"] > 22


def _of_codes(X: np.ndarray, codes: tuple[int, ...]) -> pd.DataFrame:
    table = pd.DataFrame({f"c{j}": X[:, j].astype(np.float64) for j in range(X.shape[1])})
    for j in codes:
        table[f"c{j}"] = pd.Categorical([f"{v:g}" for v in X[:, j]])
    return table


SETS: dict[str, Callable[[], Table]] = {
    "adult": adult, "german": german, "ship": ship,
    "heart": heart, "australian": australian, "abalone": abalone, "autompg": autompg,
}  # fmt: skip


def knocked_out(table: pd.DataFrame, share: float, seed: int) -> pd.DataFrame:
    """Return a table in which a share of all cells is missing, at random."""
    gone = np.random.default_rng(seed).random(table.shape) < share
    return table.mask(gone) if share else table
