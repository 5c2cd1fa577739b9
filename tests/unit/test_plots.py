"""Pictures show what they say."""

import numpy as np
import pandas as pd
import pytest

from infovec import IVMClassifier, IVMOrdinalClassifier, IVMRegressor, demo, plots
from infovec.errors import ParameterError
from infovec.evaluation import Dependence, coverage, judge, learning_curve, partial_dependence
from infovec.kernels import RBF, Bias

plt = pytest.importorskip("matplotlib.pyplot")
RNG = np.random.default_rng(0)
X, RING = demo.two_rings(120, seed=0)
LEVEL = np.digitize(X[:, 0], [-0.7, 0.7])
LINE = RNG.uniform(-3, 3, size=(80, 1))
WAVE = np.sin(2.0 * LINE[:, 0]) + 0.1 * RNG.normal(size=80)
KERNEL = RBF(1.2, 5.0) + Bias()


@pytest.fixture(autouse=True)
def _closed():
    plt.switch_backend("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def two():
    return IVMClassifier(kernel=KERNEL, learn=None, n_active=15, random_state=0).fit(X, RING)


@pytest.fixture(scope="module")
def three():
    return IVMOrdinalClassifier(kernel=KERNEL, learn=None, n_active=15, random_state=0).fit(X, LEVEL)


@pytest.fixture(scope="module")
def line():
    frame = pd.DataFrame(LINE, columns=["time"])
    return IVMRegressor(kernel=RBF(1.0), n_active=15, random_state=0).fit(frame, WAVE)


@pytest.fixture(scope="module")
def plane():
    return IVMRegressor(kernel=KERNEL, learn=None, n_active=15, random_state=0).fit(X, X[:, 0] * X[:, 1])


def uneven():
    """A model whose kernel tells columns apart."""
    return IVMRegressor(RBF(np.array([1.0, 2.0])), learn=None, n_active=15, random_state=0).fit(X, X[:, 0])


def test_every_function_takes_and_returns_axes(two, three, line, plane, tmp_path):
    numbers = judge(line, pd.DataFrame(LINE, columns=["time"]), WAVE)
    calls = {
        "plot_active_set": lambda ax: plots.plot_active_set(two, X, ax=ax),
        "plot_classifier": lambda ax: plots.plot_classifier(three, X, LEVEL, ax=ax),
        "plot_coverage": lambda ax: plots.plot_coverage(numbers, ax=ax),
        "plot_decision_boundary": lambda ax: plots.plot_decision_boundary(three, ax=ax),
        "plot_dependence": lambda ax: plots.plot_dependence(
            partial_dependence(two, X[:5], 0, np.linspace(-1, 1, 3), draws=20), "width", ["in", "out"], ax=ax
        ),
        "plot_evidence_history": lambda ax: plots.plot_evidence_history(line, ax=ax),
        "plot_inclusions": lambda ax: plots.plot_inclusions(two, ax=ax),
        "plot_learning_curve": lambda ax: plots.plot_learning_curve(learning_curve(two, X, RING, 4), ax=ax),
        "plot_predictions": lambda ax: plots.plot_predictions(numbers, ax=ax),
        "plot_regression": lambda ax: plots.plot_regression(plane, X, X[:, 0], ax=ax),
        "plot_relevances": lambda ax: plots.plot_relevances(uneven(), ax=ax),
        "plot_selection_movie": lambda ax: plots.plot_selection_movie(
            plane, X, X[:, 0] * X[:, 1], tmp_path / "m.gif", frames=2, fps=1, ax=ax
        ),
    }
    elsewhere = {"plot_error_reject", "plot_reliability"}  # tests/unit/test_metrics.py
    assert set(calls) | elsewhere == set(plots.__all__)
    for name, draw in calls.items():
        for ax in (plt.figure().subplots(), None):
            drawn = draw(ax)
            assert ax is None or drawn is ax, name
            assert drawn.has_data(), name
            drawn.figure.canvas.draw()
            plt.close("all")


def test_boundary_is_where_the_probability_is_a_half(two):
    ax = plots.plot_decision_boundary(two, X)
    solid = next(c for c in ax.collections if list(c.levels) == [0.5])
    points = np.concatenate([path.vertices for path in solid.get_paths()])
    np.testing.assert_allclose(two.predict_proba(points[::10])[:, 1], 0.5, atol=0.02)


def test_regions_of_many_classes_end_where_two_of_them_are_equally_probable(three):
    ax = plots.plot_decision_boundary(three, X)
    edges = [c for c in ax.collections if list(c.levels) == [0.0]]
    assert len(edges) == 3
    for edge in edges:
        points = np.concatenate([path.vertices for path in edge.get_paths()])
        best = np.sort(three.predict_proba(points[::10]), axis=1)
        np.testing.assert_allclose(best[:, -1], best[:, -2], atol=0.02)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", "2"]


def test_active_rows_are_in_order_of_inclusion(two):
    ax = plots.plot_active_set(two, X, columns=(1, 0))
    np.testing.assert_array_equal(ax.collections[0].get_offsets(), X[two.active_][:, ::-1])
    np.testing.assert_array_equal(ax.collections[0].get_array(), np.arange(1, 16))
    with pytest.raises(ParameterError, match="two of the 2 columns"):
        plots.plot_active_set(two, columns=(0, 2))


def test_line_has_its_error_bars_and_names(line):
    ax = plots.plot_regression(line, LINE, WAVE)
    by_name = {artist.get_label(): artist for artist in (*ax.lines, *ax.collections)}
    xs, mean = by_name["mean"].get_xydata().T
    frame = pd.DataFrame(xs[:, None], columns=["time"])
    expected, std = line.predict(frame, return_std=True)
    np.testing.assert_allclose(mean, expected)
    band = by_name["target, ± 2 std"].get_paths()[0].vertices
    assert band[:, 1].max() == pytest.approx((mean + 2.0 * std).max())
    latent, own = line.predict_latent(frame)
    inner = by_name["function, ± 2 std"].get_paths()[0].vertices
    assert inner[:, 1].max() == pytest.approx((latent + 2.0 * own).max() + line.likelihood_.bias)
    np.testing.assert_allclose(by_name["active (15)"].get_xdata(), LINE[line.active_, 0])
    assert ax.get_xlabel() == "time"


def test_surface_has_contours_of_the_deviation(plane):
    ax = plots.plot_regression(plane)
    dashed = ax.collections[1]
    level = dashed.levels[2]
    points = dashed.get_paths()[2].vertices
    np.testing.assert_allclose(plane.predict(points[::5], return_std=True)[1], level, rtol=0.1)


def test_history_and_inclusions_are_those_of_the_fit(line):
    ax = plots.plot_evidence_history(line)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), line.history_["criterion"])
    with pytest.raises(ParameterError, match="no history of sweeps"):
        plots.plot_evidence_history(IVMClassifier(approximation="factorised", n_active=5).fit(X, RING), "sweeps")
    with pytest.raises(ParameterError, match="'learning' or 'sweeps'"):
        plots.plot_evidence_history(line, "steps")
    np.testing.assert_array_equal(plots.plot_inclusions(line).lines[0].get_ydata(), line.history_["score"])


def test_steps_far_below_are_left_out_and_counted():
    model = IVMRegressor(n_active=5, learn=None).fit(LINE, WAVE)
    model.history_ = {"criterion": np.array([-500.0, *np.linspace(-10.0, -5.0, 19)])}
    ax = plots.plot_evidence_history(model)
    assert ax.get_ylim()[0] > -20.0
    assert "1 lies below" in ax.get_xlabel()


def test_coverage_and_predictions(line):
    found = judge(line, pd.DataFrame(LINE, columns=["time"]), WAVE)
    levels, inside = plots.plot_coverage(found).lines[1].get_xydata().T
    inside_half = np.mean(np.abs(found.y - found.mean) < 0.6744897501960817 * found.std)
    assert inside[np.argmin(np.abs(levels - 0.5))] == pytest.approx(inside_half)
    np.testing.assert_allclose(coverage(np.array([0.0, 5.0]), np.array([0.5])), [0.5])
    ax = plots.plot_predictions(found)
    np.testing.assert_allclose(ax.lines[1].get_xydata(), np.column_stack([found.mean, found.y]))


def test_relevances_as_bars():
    found = uneven().relevances(["wide $x$", "a name much too long for the edge of a picture"])
    ax = plots.plot_relevances(found)
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], found.relevance)
    assert {len(label.get_text()) for label in ax.get_yticklabels()} == {28, 10}
    with pytest.raises(ParameterError, match="no relevances to draw"):
        plots.plot_relevances(IVMClassifier(kernel=Bias(), learn=None, n_active=5).fit(X, RING))


def test_film_grows_to_the_whole_model(two, tmp_path):
    image = pytest.importorskip("PIL.Image")
    ax = plots.plot_selection_movie(two, X, RING, tmp_path / "m.gif", frames=3, fps=2)
    with image.open(tmp_path / "m.gif") as film:
        assert film.n_frames >= 3  # the last one may be shown once, for longer
    assert ax.get_title() == "15 of 15 active rows"
    np.testing.assert_array_equal(ax.lines[2].get_xydata(), two.active_vectors_)
    with pytest.raises(ParameterError, match=r"\.gif"):
        plots.plot_selection_movie(two, X, RING, tmp_path / "m.mp4")


def test_what_cannot_be_drawn(two, line):
    with pytest.raises(ParameterError, match="2 columns"):
        plots.plot_classifier(two, np.zeros((3, 4)), [0, 1, 0])
    with pytest.raises(ParameterError, match="no classes"):
        plots.plot_decision_boundary(line, X)
    with pytest.raises(ParameterError, match="plot_classifier"):
        plots.plot_regression(two)


def test_dependences_show_the_mean_and_the_band(two):
    found = partial_dependence(two, X[:5], 0, np.linspace(-1, 1, 20), draws=20)
    ax = plots.plot_dependence(found, "width", ["in", "out"])
    np.testing.assert_allclose(ax.lines[0].get_xydata(), np.column_stack([found.values, found.mean[:, 1]]))
    assert "probability of out" in ax.get_ylabel()
    assert len(ax.collections) == 1
    moves = np.linspace(0.0, 1.0, 3)[:, None] * np.arange(6.0)  # of six classes the last four move most
    ax = plots.plot_dependence(Dependence(0, np.arange(3.0), moves, None, None), "w", list("abcdef"), ax=new_ax())
    assert [line.get_label() for line in ax.lines] == list("cdef")
    assert not ax.collections


def new_ax():
    import matplotlib.pyplot as plt

    return plt.figure().subplots()
