"""The shape of the code: what keeps a stranger's way through it short. Every number here is a budget, not an aim."""

import ast
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import connected_components

SRC = Path(__file__).parents[2] / "src" / "infovec"
ENGINE = (
    "machines",
    "dense",
    "learning",
    "criteria",
    "selection",
    "inference",
    "shards",
    "posterior",
    "runtime",
    "numerics",
)
OF_USERS = {"Learning"}  # what a user says by name is as long as there is to say
MODES = {
    "projected",
    "factorised",
    "ovr",
    "probit",
    "softmax",
    "variational",
    "refilled",
    "shrinking",
    "projected_gain",
}


@cache
def trees():
    return {path.relative_to(SRC): ast.parse(path.read_text()) for path in sorted(SRC.rglob("*.py"))}


def of(*rooms):
    return {path: tree for path, tree in trees().items() if path.parts[0] in rooms}


def functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def lines(function):
    """Lines of the body, without the docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def module_of(path):
    parts = path.with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def imported(path, tree):
    """Modules of the package that a file imports, at its top, inside functions or for types only."""
    here, known = module_of(path), {module_of(other): other for other in trees()}
    package = here if path.name == "__init__.py" else here[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1] + tuple(
                (node.module or "").split(".") if node.module else ()
            )
            for name in node.names:
                target = known.get((*base, name.name)) or known.get(base)
                if target is not None:
                    yield target


def test_no_file_imports_itself_by_way_of_others():
    paths = list(trees())
    number = {path: k for k, path in enumerate(paths)}
    up = {(Path("estimators/reporting.py"), Path("report/__init__.py"))}  # model.report: a layer above writes it
    edges = [(a, b) for a, tree in trees().items() for b in imported(a, tree) if a != b and (a, b) not in up]
    rows, columns = zip(*((number[a], number[b]) for a, b in edges), strict=True)
    graph = sparse.coo_matrix((np.ones(len(edges)), (rows, columns)), shape=(len(paths), len(paths)))
    _, part = connected_components(graph, directed=True, connection="strong")
    cycles = [[str(paths[k]) for k in np.flatnonzero(part == c)] for c in np.flatnonzero(np.bincount(part) > 1)]
    assert not cycles


def test_most_functions_are_short():
    sizes = [lines(function) for tree in trees().values() for function in functions(tree)]
    assert np.quantile(sizes, 0.9) <= 15


@pytest.mark.parametrize("room", ENGINE)
def test_what_is_made_in_the_engine_is_made_of_few_things(room):
    for path, tree in of(room).items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name not in OF_USERS:
                made = [
                    len(f.args.args) + len(f.args.kwonlyargs) - 1
                    for f in node.body
                    if getattr(f, "name", "") == "__init__"
                ]
                data = any("dataclass" in ast.unparse(d) for d in node.decorator_list)
                fields = sum(isinstance(f, ast.AnnAssign) and "ClassVar" not in ast.unparse(f) for f in node.body)
                assert max([*made, fields if data else 0]) <= 8, f"{path}: {node.name}"


def test_types_are_known():
    count = {
        room: sum(
            ast.unparse(node) == "Any"
            for tree in of(*rooms).values()
            for node in ast.walk(tree)
            if isinstance(node, ast.Name)
        )
        for room, rooms in (("estimators", ("estimators",)), ("engine", ENGINE))
    }
    assert count["estimators"] < 60
    assert count["engine"] < 15


def test_modes_are_told_by_name_at_the_boundary_only():
    found = []
    for path, tree in of(*ENGINE).items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare):
                sides = [s for s in chain([node.left], node.comparators) if isinstance(s, ast.Constant | ast.Tuple)]
                words = {c.value for s in sides for c in ast.walk(s) if isinstance(c, ast.Constant)}
                if words & MODES:
                    found.append(f"{path}:{node.lineno} {ast.unparse(node)}")
    assert not found, "\n".join(found)
