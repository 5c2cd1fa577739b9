"""The documents tell the truth: formulas resolve, code prints what the page says."""

import ast
import contextlib
import doctest
import importlib
import inspect
import io
import itertools
import re
import sys
import tomllib
from functools import cache
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


def unwrapped(thing):
    """The function of a property."""
    return getattr(thing, "fget", None) or getattr(thing, "func", None) or thing


def formulas():
    """Module and name of every function, method and class of the library whose docstring has a formula."""
    for file in sorted((ROOT / "src").rglob("*.py")):
        module = ".".join(file.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
        ahead = [((), ast.parse(file.read_text()))]
        while ahead:
            path, node = ahead.pop()
            if path and ".. math::" in (ast.get_docstring(node) or ""):
                yield module, ".".join(path)
            inside = (ast.FunctionDef, ast.ClassDef)
            ahead += [((*path, n.name), n) for n in ast.iter_child_nodes(node) if isinstance(n, inside)]


def test_every_formula_of_a_docstring_is_in_the_table():
    homes = {(thing.__module__, thing.__qualname__)
             for thing in (unwrapped(resolve(row[2])) for row in ROWS) if hasattr(thing, "__qualname__")}  # fmt: skip
    found = set(formulas())
    assert len(found) > 60
    assert sorted(found - homes) == []


HOUSE = (ROOT / "docs" / "architecture.md").read_text()
LAYERS = [
    {room.strip() for room in layer.split("|")}
    for layer in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]["layers"]
]


def walk(title):
    """The steps of a table of the page, such as "6.2", with the code of what they name."""
    part = HOUSE.split(f"through `{title}`")[1].split("\n\n##")[0].split("\n\n")
    table = next(block for block in part if block.startswith("| step"))
    rows = re.findall(r"^\| ([\d.]+) \|.*`(infovec\.[\w.]+:[\w.]+)` \|$", table, flags=re.M)
    assert len(rows) == len(table.splitlines()) - 2
    return {step: inspect.unwrap(unwrapped(resolve(home))).__code__ for step, home in rows}


def first_calls(work, steps):
    """When each step is taken first inside the steps that its number names, and no others."""
    number, chain, first, count = {code: step for step, code in steps.items()}, [], {}, itertools.count()

    def note(frame, event, _):
        step = number.get(frame.f_code)
        if event == "call" and step:
            inside = step.rpartition(".")[0] == (chain[-1] if chain else "")
            if inside:
                first.setdefault(step, next(count))
            chain.append(step if inside else "elsewhere")
        elif event == "return" and step:
            chain.pop()

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return first


def test_a_row_goes_the_way_that_the_page_tells():
    import numpy as np

    from infovec import IVMClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=120) > 0, "b", "a")
    model = IVMClassifier(n_active=10, n_jobs=1, random_state=0)
    for title, work in (("fit", lambda: model.fit(X, y)), ("predict_proba", lambda: model.predict_proba(X[:1]))):
        steps = walk(title)
        first = first_calls(work, steps)
        assert sorted(first, key=first.get) == list(steps)


def test_files_and_tests_that_the_architecture_names_are_there():
    files = {name for name in re.findall(r"`([\w/]+\.(?:py|toml))`", HOUSE) if "yours" not in name}
    assert len(files) > 20
    for name in files:
        assert any((folder / name).is_file() for folder in (ROOT, ROOT / "src" / "infovec")), name
    for file, name in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", HOUSE):
        assert f"def {name}(" in (ROOT / file).read_text(), name
    for name in re.findall(r"`([A-Z]\w+)` \|", HOUSE.split("**One way")[0]):
        assert any(f"class {name}(" in path.read_text() for path in (ROOT / "src/infovec/machines").glob("*.py")), name


def test_the_layers_of_the_page_are_those_that_are_enforced():
    begin, end = re.findall(r"<!-- .*layers -->", HOUSE)
    table = (ROOT / "CONTRIBUTING.md").read_text().split(begin)[1].split(end)[0].strip().splitlines()[2:]
    assert [set(re.findall(r"`(\w+)`", row.split("|")[1])) for row in table] == LAYERS


def blocks(page):
    return re.findall(r"^```(\w+)\n(.*?)^```", page.read_text(), flags=re.S | re.M)


PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if any(language == "python" for language, _ in blocks(page))
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_prints_what_the_page_shows(page, tmp_path, monkeypatch):
    if "sklearn.callback" in page.read_text():
        pytest.importorskip("sklearn.callback", reason="needs scikit-learn 1.9")
    monkeypatch.chdir(tmp_path)
    names = {}
    for (language, code), (after, shown) in itertools.pairwise([*blocks(page), ("", "")]):
        if language == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(code, str(page), "exec"), names)
            assert printed.getvalue().strip() == (shown.strip() if after == "text" else "")


def test_pages_of_the_guide_have_code():
    assert {"README.md", "quick_start.md", "from_svc.md", "learning.md", "ordinal.md"} <= {page.name for page in PAGES}


def templates():
    """All texts of the library, with … for what is put in."""

    def text(node):
        if isinstance(node, ast.JoinedStr):
            return "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
        return node.value

    for file in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
                yield text(node)


def test_messages_of_the_page_of_troubles_are_said_somewhere():
    page = (ROOT / "docs" / "guide" / "troubleshooting.md").read_text()
    messages = re.findall(r"^\| `([^`]+)` \|", page, flags=re.M)
    assert len(messages) > 20
    said = [" ".join(one.split()) for one in templates()]
    assert [message for message in messages if not any(message in one for one in said)] == []


def first_parameters(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    return importlib.import_module("parameters")


@pytest.mark.parametrize("name", ["IVMClassifier", "IVMRegressor", "IVMOrdinalClassifier", "GPClassifier"])
def test_a_page_of_an_estimator_begins_with_six_parameters_and_loses_none(name, monkeypatch):
    import infovec

    ext = first_parameters(monkeypatch)
    lines = inspect.getdoc(getattr(infovec, name)).splitlines()
    like = inspect.getdoc(infovec.IVMClassifier).splitlines()
    found = ext.sorted_parameters(lines, ext.FIRST[name], like)
    begin, others = found.index("Parameters") + 2, found.index("Other Parameters")

    def names(part):
        return [one for line in part if line[:1].strip() for one in line.partition(" :")[0].split(", ")]

    end = next(k for k in range(others + 2, len(found)) if found[k] and set(found[k]) == {"-"}) - 1
    assert tuple(names(found[begin:others])) == ext.FIRST[name]
    assert len(ext.FIRST[name]) == 6
    told = names(found[begin:others]) + names(found[others + 2 : end])
    assert len(told) == len(set(told))
    before = names(lines[slice(*ext._section(lines))])
    assert set(told) == set(before)
    for one in ext.FIRST[name]:  # with their texts
        assert found[next(k for k, line in enumerate(found) if line.startswith(f"{one} :")) + 1].startswith("    ")


def test_advanced_parameters_stand_before_the_attributes(monkeypatch):
    lines = [
        ":Parameters:",
        "",
        "    **a**",
        "",
        ":Attributes:",
        "",
        "    **b_**",
        "",
        ":Other Parameters:",
        "",
        "    **c**",
        "",
    ]
    first_parameters(monkeypatch)._rename(None, "class", "", None, None, lines)
    assert [line for line in lines if line] == [
        ":Parameters:", "    **a**", ":Advanced:", "    **c**", ":Attributes:", "    **b_**",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("SLH 6.1, Thesis 4.8.4", ["SLH 6.1", "Thesis 4.8.4"]),
        ("of the machine (LSH05), see Thesis C.3.3.", ["LSH05", "Thesis C.3.3"]),
        (
            "NIPS03 eq. 4; GR06 appendix C; SLH section 4, for the probit",
            ["NIPS03 eq. 4", "GR06 appendix C", "SLH section 4"],
        ),
        ("no hypothesis of a Synthesis", []),
    ],
)
def test_sections_of_papers_are_found_in_texts(text, places, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    assert [match.group() for match in importlib.import_module("places").PLACE.finditer(text)] == places


def test_every_paper_that_is_named_has_its_anchor():
    source = (ROOT / "docs" / "_ext" / "places.py").read_text()
    (names,) = re.findall(r"\\b\(([\w|]+)\)\\b", source)
    anchors = set(re.findall(r"^\(paper-(\w+)\)=", (ROOT / "docs" / "papers.md").read_text(), flags=re.M))
    assert {name.lower() for name in names.split("|")} == anchors


def test_every_experiment_is_among_the_reproductions():
    text = (ROOT / "docs" / "reproduction.md").read_text()
    found = re.findall(r"\{include\} \.\./experiments/(.+)/README\.md", text)
    assert sorted(found) == sorted(path.parent.name for path in (ROOT / "experiments").glob("*/run.py"))


def test_version_stands_in_the_changelog_and_the_citation():
    import infovec

    assert f"## {infovec.__version__}" in (ROOT / "CHANGELOG.md").read_text()
    assert f"version: {infovec.__version__}" in (ROOT / "CITATION.cff").read_text()


def test_nothing_large_and_no_data_is_committed():
    made = {"auto_examples", "generated"}  # by make docs
    files = [p for p in (ROOT / "docs").rglob("*") if p.is_file() and not made & set(p.parts)]
    sizes = {p: p.stat().st_size for p in files}
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


GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "theta": "θ", "lambda": "λ", "mu": "μ",
    "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "phi": "φ", "Delta": "Δ", "Gamma": "Γ", "Pi": "Π",
    "Phi": "Φ", "ell": "ℓ",
}  # fmt: skip


def letters_of(formula):
    """The letters of a formula, without what is set in words and the names of functions."""
    formula = re.sub(r"\\(mathrm|text)\s*\{[^}]*\}", " ", formula)
    named = {GREEK[word] for word in re.findall(r"\\([A-Za-z]+)", formula) if word in GREEK}
    return named | set(re.findall(r"[A-Za-z]", re.sub(r"\\(begin|end)\{\w+\}|\\[A-Za-z]+", " ", formula)))


def test_letters_of_formulas():
    assert letters_of(r"\log \tilde Z_i = \tfrac12 \mathrm{tr} \, \Pi K \begin{pmatrix} A \end{pmatrix}") == set(
        "ZiΠKA"
    )


@cache
def listed_letters():
    """First cells of the tables, whose first rows are titles."""
    tables = (ROOT / "docs" / "notation.md").read_text().split("## Letters")[1]
    rows = re.findall(r"^\| ([^|]+) \|.*$(?!\n\|---)", tables, flags=re.M)
    cells = {cell for row in rows for cell in row.split(", ")}
    assert max(map(len, cells)) <= 6, "a cell is a letter, with an index perhaps"
    return {cell[0] for cell in cells}


@pytest.mark.parametrize("path", sorted((ROOT / "src").rglob("*.py")), ids=lambda path: path.stem)
def test_every_letter_of_a_formula_is_listed(path):
    known = listed_letters()
    blocks = re.findall(r"^( *)\.\. math::(.*\n(?:(?:\1 +.*)?\n)*)", path.read_text(), flags=re.M)
    for _, formula in blocks:
        assert letters_of(formula) <= known, (formula, letters_of(formula) - known)
