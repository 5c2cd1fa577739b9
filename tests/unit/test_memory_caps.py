"""max_memory is kept by every form of every estimator, or refused by the number that was given."""

import re
import sys
import tracemalloc
import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from infovec import IVMClassifier, IVMRegressor
from infovec.errors import ParameterError
from infovec.machines.budget import Need, Sizes, learning_sizes, rounded_up, shown_bytes
from infovec.runtime import at_once, for_each, limit, pieces, work_within
from infovec.selection import Schedule

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
try:
    from benchmarks.forms import forms, problem
finally:
    sys.path.remove(str(ROOT))

ROWS, ACTIVE, SECONDS = 20_000, 60, 0.15
CAPS = {"two": 10e6, "many": 30e6, "ordered": 10e6, "real": 10e6, "counts": 10e6}
"""Below what the loops of each kind of targets would take if they took as many rows at once as they usually do."""


@lru_cache(maxsize=1)
def rows_of(targets):
    return problem(targets, ROWS)


@pytest.fixture(scope="module", autouse=True)
def made_once():
    """Imports and tables that a process makes once."""
    for targets, name in (("two", "logit"), ("many", "many-probit")):
        form = next(form for form in forms() if form.name == f"{name}-projected-learned")
        X, y = problem(targets, 100)
        form.make(n_active=10).fit(X, y)


def peak_of(work):
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("form", sorted(forms(), key=lambda form: form.targets), ids=lambda form: form.name)
def test_every_form_keeps_to_the_limit(form):
    X, y = rows_of(form.targets)
    cap = CAPS[form.targets]
    model = form.make(n_active=ACTIVE, max_memory=cap, max_time=SECONDS, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there is too little time to converge
        peak = peak_of(lambda: model.fit(X, y))
    assert peak < 1.05 * cap, f"{peak / 1e6:.1f} MB"
    assert len(model.active_) > 0


@pytest.mark.parametrize(
    "form", [form for form in sorted(forms(), key=lambda form: form.targets) if form.name.endswith("fixed")],
    ids=lambda form: form.name,
)  # fmt: skip
def test_every_form_refuses_by_the_number_that_was_given(form):
    X, y = rows_of(form.targets)
    with pytest.raises(
        ParameterError, match=r"max_memory of 1\.5 MB is not enough for 20000 rows and 60 active"
    ) as told:
        form.make(n_active=ACTIVE, max_memory="1.5MB").fit(X, y)
    words = re.search(r"at least ([0-9.]+ MB) are needed", str(told.value))
    assert words is not None
    needed = float(words[1].split()[0])
    assert needed > 1.5
    enough = form.make(n_active=ACTIVE, max_memory=words[1], random_state=0)
    with work_within(1e6 * needed), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # double precision, where it would be needed, takes more
        assert enough._prepare(X, y, None).work.wanted == ACTIVE  # nothing is refused


def test_a_limit_changes_no_model_that_fits_in_it():
    X, y = rows_of("real")
    free, capped = (
        IVMRegressor(n_active=40, learn=None, max_memory=cap, random_state=0).fit(X[:3000], y[:3000])
        for cap in (None, "200MB")
    )
    np.testing.assert_array_equal(free.active_, capped.active_)
    np.testing.assert_array_equal(free.predict(X[:100]), capped.predict(X[:100]))


def test_a_limit_that_changes_the_work_hardly_changes_the_model():
    X, y = rows_of("two")
    settings = {"n_active": 50, "learn": None, "random_state": 0}
    free = IVMClassifier(**settings).fit(X, y)
    capped = IVMClassifier(max_memory="8MB", **settings).fit(X, y)
    assert capped.score(X, y) > free.score(X, y) - 0.02


def test_what_loops_take_at_once():
    assert limit() == np.inf
    assert at_once(1000, 1e300) == 1000
    with work_within(8e6):
        assert at_once(1000, 10.0) == 1000
        assert at_once(10**6, 10.0) == 100_000
        assert at_once(10**6, 1e9, least=64) == 64
        assert at_once(10, 1e9, least=64) == 10
        assert [s.stop - s.start for s in pieces(250_000, 10.0)] == [100_000, 100_000, 50_000]
        seen = []
        for_each(lambda _: seen.append(limit()), range(8))
        assert set(seen) == {8e6}
    assert limit() == np.inf


def test_shares_of_a_stage():
    need = Need(fixed=100.0, each=2.0, rows=50, numbers=1000, fewest=10, fewest_rows=5, itemsize=4)
    assert need.least == 150.0
    assert need.share(1e9) == (50, 1000)
    assert need.share(100.0 + 100.0 + 80.0) == (50, 20)  # fewer numbers
    assert need.share(100.0 + 120.0) == (30, 15)  # fewer rows too
    assert need.used(*need.share(220.0)) == 220


@pytest.mark.parametrize(
    ("size", "text", "above"),
    [(1e6, "1 MB", "1 MB"), (1.5e6, "1.5 MB", "1.5 MB"), (4.123e6, "4.12 MB", "4.13 MB"), (41.2e6, "41 MB", "42 MB"),
     (1e8, "100 MB", "100 MB"), (1.234e9, "1.23 GB", "1.24 GB"), (2e9, "2.00 GB", "2.00 GB")],
)  # fmt: skip
def test_sizes_for_people(size, text, above):
    assert shown_bytes(size) == text
    assert shown_bytes(rounded_up(size)) == above


def test_rows_that_are_given_leave_room_to_learn_from_as_many_as_without_a_limit():
    ten_million = Sizes(10**7, 20, 300, 4, Schedule(), held=10**6)  # half of a gigabyte without their inputs
    assert learning_sizes(1e9, ten_million, 5000, 300) == (5000, 300)
    rows, active = learning_sizes(0.6e9, ten_million, 5000, 300)
    assert 300 <= rows < 5000
    assert 50 <= active <= 300
