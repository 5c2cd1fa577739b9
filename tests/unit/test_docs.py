"""The documents tell the truth: formulas resolve, the README's code prints what it says."""

import ast
import contextlib
import doctest
import importlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = [
    [cell.strip() for cell in line.strip("|\n").split("|")]
    for line in (ROOT / "docs" / "formulas.md").read_text().splitlines()
    if line.startswith("|") and "`infovec." in line
]


def resolve(home):
    module, _, path = home.strip("`").partition(":")
    thing = importlib.import_module(module)
    for part in path.split("."):
        thing = getattr(thing, part)
    return thing


def test_the_table_is_there():
    assert len(ROWS) > 30
    assert all(len(row) == 4 for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_every_formula_has_its_home_and_its_test(row):
    formula, source, home, test = row
    assert formula
    assert source
    assert resolve(home) is not None
    file, name = test.strip("`").split("::")
    functions = {n.name for n in ast.walk(ast.parse((ROOT / file).read_text())) if isinstance(n, ast.FunctionDef)}
    assert name in functions


def test_readme_code_prints_what_the_readme_shows():
    blocks = re.findall(r"```(\w+)\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.S)
    code = next(text for language, text in blocks if language == "python")
    shown = next(text for language, text in blocks if language == "text")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue().strip() == shown.strip()


def test_version_stands_in_the_changelog_and_the_citation():
    import infovec

    assert f"## {infovec.__version__}" in (ROOT / "CHANGELOG.md").read_text()
    assert f"version: {infovec.__version__}" in (ROOT / "CITATION.cff").read_text()


def test_nothing_large_and_no_data_is_committed():
    sizes = {p: p.stat().st_size for p in (ROOT / "docs").rglob("*") if p.is_file()}
    assert max(sizes.values()) < 400_000


@pytest.mark.parametrize(
    "module",
    [
        "infovec.estimators.classifier",
        "infovec.estimators.regressor",
        "infovec.estimators.ordinal",
        "infovec.likelihoods.base",
        "infovec.likelihoods.weighted",
    ],
)
def test_examples_in_docstrings(module):
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted > 0
    assert result.failed == 0
