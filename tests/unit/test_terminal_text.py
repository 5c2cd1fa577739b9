"""Names of anybody's making: on terminals, in reports, pictures and spreadsheets they are shown, and do nothing."""

import csv
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import infovec as library
from infovec.cli.commands import infovec
from infovec.cli.model import load_model, save_model
from infovec.kernels import RBF, Bias
from infovec.plain import printable, without_formula
from infovec.plots import plot_active_set, plot_classifier, plot_decision_boundary, plot_relevances

ROOT = Path(__file__).parents[2]
TITLE, CLIPBOARD, CLEAR = "\x1b]0;owned\x07", "\x1b]52;c;ZXZpbA==\x07", "\x1b[2J\x1b[H"
CLASSES = [f"{CLIPBOARD}ham", f"spam{CLEAR}", "\x9b31mred\x9b0m", "\u202egpj.exe", "two\nprovenance:\n  lines"]
COLUMNS = [f"{TITLE}a", "b\rc\x08\x7f", "line\nprovenance:"]
FORMULA = r"$\frac{1}$"
RNG = np.random.default_rng(0)


def run(*arguments, code=0):
    result = CliRunner().invoke(infovec, [str(a) for a in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def harmless(text):
    """Whether a text has nothing in it but what is shown, spaces and ends of lines."""
    return all(c.isprintable() or c in "\n\N{NO-BREAK SPACE}" for c in text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table whose names are hostile, and a model file of it whose origin is."""
    folder = tmp_path_factory.mktemp("hostile")
    X = RNG.normal(size=(80, 3)).round(3)
    with (folder / "t.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*COLUMNS, "kind"])
        writer.writerows([*x, CLASSES[i % 5]] for i, x in enumerate(X.tolist()))
    run("fit", folder / "t.csv", "-t", "kind", "-o", folder / "m.ivm", "--active", 9, "--kernel", "linear", "--ard")
    model = load_model(str(folder / "m.ivm"))
    origin = {"data": f"t.csv{CLIPBOARD}", f"key{TITLE}": [CLEAR], "command": "one\nkernel  none"}
    save_model(model._replace(provenance=origin), str(folder / "m.ivm"))
    return folder


def test_nothing_that_is_shown_steers_the_terminal(folder, tmp_path):
    other = (folder / "t.csv").read_bytes().replace(b"spam", b"eggs\x1b[1m")
    (tmp_path / "other.csv").write_bytes(other)
    lines = "".join(f'{i},"a{i % 3}\x1b[2J",{i % 2}\n' for i in range(30))
    (tmp_path / "words.csv").write_text("x,w,y\n" + lines)
    (tmp_path / "unseen.csv").write_text('x,w\n1,"new\nError: none\x1b[2J"\n')
    commands = [
        (("fit", folder / "t.csv", "-t", "kind", "-o", tmp_path / "m.ivm", "--active", 5), 0),
        (("fit", folder / "t.csv", "-o", tmp_path / "m.ivm"), 2),
        (("fit", folder / "t.csv", "-t", "absent", "-o", tmp_path / "m.ivm"), 1),
        (("inspect", folder / "m.ivm"), 0),
        (("inspect", folder / "m.ivm", "--json"), 0),
        (("evaluate", folder / "m.ivm", folder / "t.csv"), 0),
        (("evaluate", folder / "m.ivm", tmp_path / "other.csv"), 1),
        (("predict", folder / "m.ivm", folder / "t.csv", "--json", "--proba"), 0),
        (("fit", tmp_path / "words.csv", "-t", "y", "-o", tmp_path / "w.ivm", "--active", 5), 0),
        (("predict", tmp_path / "w.ivm", tmp_path / "unseen.csv", "--json"), 0),
        (("predict", folder / "m.ivm", tmp_path / f"absent{TITLE}.csv"), 1),
    ]
    for command, code in commands:
        done = run(*command, code=code)
        assert harmless(done.stdout + done.stderr), repr(done.output)
        assert code or "Error" not in [line[:5] for line in done.stderr.splitlines()]


def test_names_do_not_begin_lines_of_their_own(folder):
    lines = run("inspect", folder / "m.ivm").stdout.splitlines()
    assert lines.count("provenance:") == 1
    assert sum(line.startswith("  kernel") for line in lines) == 1
    assert any(r"\x1b]52;c;ZXZpbA==\x07ham, spam\x1b[2J\x1b[H" in line for line in lines)  # all of it is shown
    assert any(r"line\nprovenance:" in line for line in lines)
    assert json.loads(run("inspect", folder / "m.ivm", "--json").stdout)["classes"] == sorted(CLASSES)


def test_predictions_are_exact_in_files_and_printable_on_terminals(folder, tmp_path):
    run("predict", folder / "m.ivm", folder / "t.csv", "-o", tmp_path / "p.csv", "--quiet")
    with (tmp_path / "p.csv").open(newline="", encoding="utf-8") as file:
        found = {row["prediction"] for row in csv.DictReader(file)}
    assert found <= set(CLASSES)
    assert len(found) > 1
    master, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "infovec.cli", "predict", "m.ivm", "t.csv", "--proba", "--quiet"], cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "TERM": "xterm"}, stdout=terminal, stderr=terminal,
    )  # fmt: skip
    os.close(terminal)
    shown = b""
    while True:
        try:
            shown += os.read(master, 65536)
        except OSError:  # the other end is closed
            break
    os.close(master)
    assert process.wait(timeout=60) == 0
    assert harmless(shown.decode().replace("\r\n", "\n"))
    assert rb"proba_\x1b]52;c;ZXZpbA==\x07ham" in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("größer, 大, ±1 💡", "größer, 大, ±1 💡"),
        ("a\tb\\n", r"a\tb\n"),
        ("\x1b[2J\x00\x9b", r"\x1b[2J\x00\x9b"),
        ("\u202e\u2066\u200f\u2028", r"\u202e\u2066\u200f\u2028"),
        ("half \ud800", r"half \ud800"),
        ("\U000e0041", r"\U000e0041"),
        (3.5, "3.5"),
    ],
)
def test_printable(text, shown):
    assert printable(text) == shown
    printable(text).encode("utf-8")
    assert printable("a\nb\x1b", lines=True) == "a\nb\\x1b"


@pytest.mark.parametrize("word", ["=1+1", "+x", "-x", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1", "=HYPERLINK()"])
def test_spreadsheets_see_no_formulas(word):
    assert without_formula(word) == f"'{word}"


@pytest.mark.parametrize("word", ["", "spam", "-1", "+2.5", "-inf", "a=b", "1-2", "'=1"])
def test_other_words_stay(word):
    assert without_formula(word) == word


def test_formulas_only_by_a_flag(tmp_path):
    classes = ["=cmd|'/C calc'!A0", "+plus", "plain"]
    rows = "".join(f"{i % 3 + 0.1 * (i % 7)},{classes[i % 3]}\n" for i in range(60))
    (tmp_path / "t.csv").write_text("a,kind\n" + rows)
    run("fit", tmp_path / "t.csv", "-t", "kind", "-o", tmp_path / "m.ivm", "--active", 20, "--quiet")
    command = ("predict", tmp_path / "m.ivm", tmp_path / "t.csv", "--proba")
    exact = list(csv.DictReader(run(*command).stdout.splitlines()))
    kept = list(csv.DictReader(run(*command, "--no-formulas").stdout.splitlines()))
    assert {row["prediction"] for row in exact} == set(classes)
    assert {row["prediction"] for row in kept} == {f"'{classes[0]}", "'+plus", "plain"}
    assert [row["proba_plain"] for row in kept] == [row["proba_plain"] for row in exact]


@pytest.mark.filterwarnings("ignore:Glyph")
def test_names_are_no_formulas_in_pictures(tmp_path):
    """Two dollars and what TeX does not know between them would end in an error."""
    names = [FORMULA, rf"\$ {FORMULA} {'x' * 40}"]
    X = RNG.normal(size=(60, 2))
    y = np.array([FORMULA, "one $ only", "\x1b half \ud800", r"a\$b$\nothing$"])[np.digitize(X[:, 0], [-0.7, 0.0, 0.7])]
    frame = pd.DataFrame(X, columns=names)
    kernel = RBF([1.0, 1.5], 9.0) + Bias()
    model = library.IVMClassifier(kernel=kernel, n_active=20, learn=None, random_state=0).fit(frame, y)
    for draw in (plot_active_set, plot_relevances, lambda m: plot_classifier(m, X, y), plot_decision_boundary):
        ax = draw(model)
        ax.figure.savefig(tmp_path / "p.svg")
        plt.close(ax.figure)
    assert ax.xaxis.label._preprocess_math(ax.get_xlabel()) == (FORMULA, False)  # drawn as it is written
    assert ax.yaxis.label._preprocess_math(ax.get_ylabel()) == (names[1], False)
    model.report(tmp_path / "r.html", frame, y)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert harmless(text)
    assert FORMULA in text


def test_names_are_no_tags_in_reports(folder, tmp_path):
    run("evaluate", folder / "m.ivm", folder / "t.csv", "--report", tmp_path / "r.html", "--quiet")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert harmless(text)
    assert r"\x1b]52;c;ZXZpbA==\x07ham" in text
    X = pd.DataFrame(RNG.normal(size=(40, 3)), columns=["<b>", "--><script>", "\"'&"])
    y = np.where(X["<b>"] > 0, "<script>alert(1)</script>", "&lt;")
    model = library.IVMClassifier(n_active=9, learn=None, random_state=0).fit(X, y)
    model.report(tmp_path / "s.html", X, y)
    text = (tmp_path / "s.html").read_text(encoding="utf-8")
    assert "<script" not in text
    body = text[text.index("<body>") : text.index("</body>") + 7].replace("<br>", "")
    tree = ElementTree.fromstring(re.sub(r"<img ([^>]*)>", r"<img \1/>", body).replace("xlink:href", "href"))
    assert "<script>alert(1)</script>" in "".join(tree.itertext())
