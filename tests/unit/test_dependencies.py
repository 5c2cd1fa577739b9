"""What is imported is declared, the oldest versions can be told, and what is pinned has hashes."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import oldest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
MODULES = {"scikit-learn": "sklearn", "scikit-activeml": "skactiveml"}
BROUGHT = {"PIL": "matplotlib"}  # by what needs it itself


def modules(requirements):
    names = {re.split(r"[<>=\[;]", one)[0] for one in requirements}
    return {MODULES.get(name, name) for name in names}


def test_every_import_is_declared():
    found = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add((node.module or "").partition(".")[0])
    found -= {*sys.stdlib_module_names, "infovec", "polars"}  # whoever gives a frame of polars has it
    extras = modules(
        one
        for extra in ("cli", "parquet", "plot", "onnx", "distributed", "activeml")
        for one in PROJECT["optional-dependencies"][extra]
    )
    assert {BROUGHT.get(name, name) for name in found} == modules(PROJECT["dependencies"]) | extras - {"onnxruntime"}


def test_every_dependency_has_a_lower_bound_and_the_same_everywhere():
    pins = oldest.oldest(ROOT / "pyproject.toml")
    listed = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["all"]]
    assert {f"{name}=={version}" for name, version in (one.split(">=") for one in listed)} <= set(pins)
    every = [one for extra in PROJECT["optional-dependencies"].values() for one in extra]
    bounds = {}
    for one in [*listed, *every]:
        name, _, version = one.partition(">=")
        if version:
            bounds.setdefault(name, set()).add(version)
    assert {name: found for name, found in bounds.items() if len(found) > 1} == {}


def test_pinned_files_have_hashes_and_no_hosts():
    for name in ("requirements.lock", "docs/requirements.lock"):
        text = (ROOT / name).read_text()
        entries = re.findall(
            r"^([\w.-]+)==[^\s]+ \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", text, flags=re.M
        )
        assert len(entries) == len(re.findall(r"^[\w.-]+==", text, flags=re.M)) > 20
        assert "://" not in text
        assert "index-url" not in text
