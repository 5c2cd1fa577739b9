"""The demonstration: numbers and a figure."""

import sys

import numpy as np
import pytest

from infovec import IVMClassifier, demo
from infovec.plots import plot_classifier


def test_demo_prints_a_table_and_draws_a_figure(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["demo", "--out", str(tmp_path / "new")])
    demo.main()
    printed = capsys.readouterr().out
    mean = next(line for line in printed.splitlines() if line.startswith("  mean")).split()[1:]
    error, loss, seconds = (float(v) for v in mean[:3])
    assert error < 1.0
    assert loss < 0.04
    assert seconds < 10.0
    assert (tmp_path / "new" / "classification.png").stat().st_size > 10_000


def test_figure_marks_both_classes_the_active_rows_and_three_contours():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    X, y = demo.two_rings(200, seed=0)
    model = IVMClassifier(n_active=30, random_state=0).fit(X, y)
    ax = plot_classifier(model, X, y)
    negative, positive, active = (line.get_xydata() for line in ax.lines)
    assert len(negative) + len(positive) == 200
    np.testing.assert_array_equal(active, X[model.active_])
    levels = sorted(level for contours in ax.collections for level in contours.levels)
    assert levels == [0.25, 0.5, 0.75]
    plt.close(ax.figure)
