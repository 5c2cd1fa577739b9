"""What a package index and conda are told agrees with the project, and what it says of installing is right."""

import importlib.util
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import BytesParser
from pathlib import Path

import click
import pytest
import yaml

import infovec
from infovec.cli.commands import infovec as program

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
FOR_DEVELOPERS = {"dev", "docs", "bench"}  # installed in a copy of the repository only
CONDA = {"matplotlib": "matplotlib-base"}


@pytest.fixture(scope="module")
def hook():
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Sdist, and the wheel that is built from it, without a network."""
    out = tmp_path_factory.mktemp("dist")
    build = "import sys, hatchling.build as b; print(getattr(b, sys.argv[1])(sys.argv[2]))"

    def run(what, folder):
        command = [sys.executable, "-c", build, what, str(out)]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.split()[-1]

    source = out / run("build_sdist", ROOT)
    with tarfile.open(source) as file:
        file.extractall(out, filter="data")
    return source, out / run("build_wheel", out / source.name.removesuffix(".tar.gz"))


def metadata(wheel):
    with zipfile.ZipFile(wheel) as file:
        name = next(name for name in file.namelist() if name.endswith(".dist-info/METADATA"))
        return BytesParser().parsebytes(file.read(name)), file.namelist()


def test_wheel_and_sdist(built):
    source, wheel = built
    found, names = metadata(wheel)
    assert (found["Name"], found["Version"]) == ("infovec", infovec.__version__)
    assert wheel.name == f"infovec-{infovec.__version__}-py3-none-any.whl"
    files = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src" / "infovec").rglob("*.py")}
    assert files <= set(names)
    assert "infovec/py.typed" in names
    assert all(name.startswith(("infovec/", f"infovec-{infovec.__version__}.dist-info/")) for name in names)
    with tarfile.open(source) as file:
        inside = {name.partition("/")[2] for name in file.getnames()}
    assert {"README.md", "LICENSE", "CITATION.cff", "hatch_build.py", "tests/unit/test_packaging.py"} <= inside
    assert not any(name.startswith((".venv", ".git/", "out/", "dist/")) for name in inside)
    assert source.stat().st_size < 10e6


def test_the_readme_of_an_index_has_no_dead_links(built, hook):
    found, _ = metadata(built[1])
    assert found["Description-Content-Type"] == "text/markdown"
    text = found.get_payload()
    links = re.findall(r"\]\(([^)]*)\)", text)
    address = hook.repository((ROOT / "CITATION.cff").read_text())
    assert all(link.startswith(("https://", "#")) for link in links)
    assert address is not None or not links
    assert "## Command line" in text
    assert "```sh" in text


def test_addresses_come_from_one_line_of_the_citation(hook):
    readme = "[a](docs/a.md), ![b c](docs/b.png), [d](https://x.example/d), [e](#e), `[0]`"
    assert hook.standalone(readme, None, "1.2") == "a, *b c*, [d](https://x.example/d), [e](#e), `[0]`"
    address = hook.repository('title: x\nrepository-code: "https://code.example/infovec/"\n')
    assert address == "https://code.example/infovec"
    assert hook.standalone(readme, address, "1.2") == (
        "[a](https://code.example/infovec/blob/v1.2/docs/a.md), "
        "![b c](https://code.example/infovec/raw/v1.2/docs/b.png), "
        "[d](https://x.example/d), [e](#e), `[0]`"
    )
    assert hook.urls(None) == {}
    assert all(url.startswith(address) for url in hook.urls(address).values())


def test_classifiers_say_what_is_tested():
    versions = {line.rpartition(" ")[2] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)}
    assert versions == {"3.11", "3.12", "3.13", "3.14"}
    assert PROJECT["requires-python"] == ">=3.11"
    assert {"Operating System :: OS Independent", "Typing :: Typed"} <= set(PROJECT["classifiers"])
    assert PROJECT["license"] == "BSD-3-Clause"
    assert not any(line.startswith("License ::") for line in PROJECT["classifiers"])  # refused beside an SPDX name
    assert len(set(PROJECT["classifiers"])) == len(PROJECT["classifiers"])


def requirements(listed):
    found = {re.match(r"[\w.-]+", one)[0]: re.sub(r"^[\w.-]+ *", "", one) for one in listed}
    return {CONDA.get(name, name): version for name, version in found.items()}


def test_the_conda_recipe_wants_the_same():
    recipe = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text())
    run, host = (requirements(recipe["requirements"][key]) for key in ("run", "host"))
    assert run.pop("python") == ">=${{ python_min }}"
    assert recipe["context"] == {"version": infovec.__version__, "python_min": PROJECT["requires-python"][2:]}
    assert run == requirements([*PROJECT["dependencies"], *EXTRAS["cli"]])
    more = [one for name, extra in EXTRAS.items() if name not in FOR_DEVELOPERS for one in extra]
    rest = {name: version for name, version in requirements(more).items() if name not in run}
    assert requirements(recipe["requirements"]["run_constraints"]) == rest
    assert host.keys() == {
        "python",
        "pip",
        *tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"],
    }
    entry = recipe["build"]["python"]["entry_points"]
    assert entry == [f"{name} = {place}" for name, place in PROJECT["scripts"].items()]
    assert recipe["about"]["summary"] == PROJECT["description"]
    assert recipe["about"]["license"] == PROJECT["license"]


def test_hints_name_extras_as_they_are_installed():
    pages = [
        ROOT / "README.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "src").rglob("*.py"),
        *(ROOT / "examples").rglob("*.py"),
    ]
    hints = [
        (path.name, hint)
        for path in pages
        if not {"auto_examples", "generated"} & set(path.parts)
        for hint in re.findall(r"""pip install ["'][^"'`]*["']""", path.read_text())
    ]
    assert len(hints) > 10
    for page, hint in hints:
        named = re.fullmatch(r"pip install '(?:infovec|\.)\[([a-z,]+)\]'", hint)
        assert named, (page, hint)
        assert set(named[1].split(",")) <= set(EXTRAS) - FOR_DEVELOPERS, (page, hint)
        assert "infovec[" in hint or named[1] == "all", (page, hint)  # of a copy of the repository, all there is


def test_all_has_every_extra_for_users_but_the_peer_interface():
    users = set(EXTRAS) - FOR_DEVELOPERS - {"all", "activeml"}
    assert set(EXTRAS["all"]) == {one for extra in users for one in EXTRAS[extra]}


def test_the_module_is_the_command(tmp_path):
    environment = {"PYTHONPATH": str(ROOT / "src"), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-m", "infovec", "--help"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert all(f"  {name} " in done.stdout for name in program.list_commands(click.Context(program)))
    assert done.stdout.startswith("Usage: infovec [OPTIONS] COMMAND")


def test_versions_of_the_page_of_changes_and_of_the_citation():
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {infovec.__version__}\n" in citation
