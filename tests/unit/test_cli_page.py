"""The page of the command line and the README: what they show runs, and no option is left out."""

import re
import shlex
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

from infovec.cli.commands import infovec

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guide" / "command_line.md").read_text()
README = (ROOT / "README.md").read_text()
RNG = np.random.default_rng(0)


def commands(page):
    """Lines of the blocks for a shell that run the program."""
    blocks = re.findall(r"^```sh\n(.*?)^```", page, flags=re.S | re.M)
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("infovec ")]
    return [shlex.split(line, comments=True)[1:] for line in lines]


@pytest.fixture
def tables(tmp_path, monkeypatch):
    for name, n in (("train", 80), ("test", 40), ("unseen", 40), ("pool", 40), ("new", 40)):
        a, b = RNG.normal(size=n).round(4), RNG.normal(size=n).round(4)
        outcome = np.where(a + 0.3 * RNG.normal(size=n) > 0, "good", "bad")
        cells = zip(range(n), [f"name {k}" for k in range(n)], a, b, outcome, strict=True)
        columns = "a,b,outcome" if name == "train" else "id,name,a,b,outcome"
        rows = [row if name != "train" else row[2:] for row in cells]
        (tmp_path / f"{name}.csv").write_text(f"{columns}\n" + "".join(",".join(map(str, r)) + "\n" for r in rows))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("INFOVEC_DATA", raising=False)
    return tmp_path


def test_what_the_readme_shows_is_understood():
    shown = commands(README)
    assert len(shown) >= 5
    for name, *arguments in shown:
        infovec.commands[name].make_context(name, arguments)


def test_what_the_page_shows_runs(tables):
    shown = commands(PAGE)
    assert len(shown) >= 10
    for arguments in shown:
        quick = ["--time", "0.3s"] if arguments[0] == "fit" else []
        result = CliRunner().invoke(infovec, [*arguments, *quick])
        assert result.exit_code == 0, (arguments, result.output)
    assert (tables / "predictions.csv").read_text().count("\n") == 41


def test_every_command_and_every_option_of_fit_is_on_the_page():
    for name, command in infovec.commands.items():
        assert f"infovec {name}" in PAGE, name
        for parameter in command.params:
            if isinstance(parameter, click.Option) and name == "fit" and parameter.opts != ["--output"]:
                assert any(option in PAGE for option in parameter.opts), parameter.opts


def test_every_option_of_the_page_exists():
    known = {option for command in infovec.commands.values() for p in command.params for option in p.opts}
    known |= {"--help"}
    for text in (PAGE, README[README.index("## Command line") : README.index("## Digits")]):
        assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) <= known


def test_options_say_what_they_are():
    for name, command in infovec.commands.items():
        assert command.help, name
        for parameter in command.params:
            assert not isinstance(parameter, click.Option) or parameter.help or name == "fit", (name, parameter.name)
