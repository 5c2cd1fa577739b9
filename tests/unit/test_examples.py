"""The examples run, and show something."""

import re
import runpy
from pathlib import Path

import pytest

matplotlib = pytest.importorskip("matplotlib")

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


def test_there_are_ten_at_least():
    assert len(EXAMPLES) >= 10


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_a_table_or_draws_a_picture(path, tmp_path, monkeypatch, capsys):
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plt, "show", lambda: [plt.figure(k).savefig(f"{k}.png") for k in plt.get_fignums()])
    plt.close("all")
    try:
        runpy.run_path(str(path), run_name="__main__")
    finally:
        plt.close("all")
    printed, pictures = capsys.readouterr().out.strip().splitlines(), list(tmp_path.glob("*.png"))
    assert len(printed) > 1 or pictures
    assert not re.search(r"\bnan\b", " ".join(printed))  # as malignant is not
    assert all(line.strip() for line in printed)


def test_every_card_of_the_gallery_has_a_picture_of_its_own():
    assert [path.stem for path in EXAMPLES if "plt.show()" not in path.read_text()] == []
