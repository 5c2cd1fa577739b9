"""Error-reject curves and calibration, against loops that say the same word for word, and scikit-learn."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from infovec.errors import ParameterError
from infovec.metrics import error_reject_curve, expected_calibration_error, reliability_table


def problem(n=400, C=4, seed=0):
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.full(C, 0.6), n)
    return np.array([rng.choice(C, p=p) for p in proba]), proba


def test_curve_is_the_error_of_the_rows_kept():
    y, proba = problem()
    curve = error_reject_curve(y, proba)
    top = proba.max(axis=1)
    assert len(curve.error) == 400
    for rejected, error in zip(*curve, strict=True):
        threshold = np.sort(top)[round(400 * rejected)]
        kept = top >= threshold
        assert np.mean(~kept) == pytest.approx(rejected)
        assert np.mean(proba[kept].argmax(axis=1) != y[kept]) == pytest.approx(error)
    assert curve.rejected[0] == 0.0
    assert curve.at(0.0) == pytest.approx(np.mean(proba.argmax(axis=1) != y))
    kept = np.argsort(top)[round(0.3 * 400) :]
    assert curve.at(0.3) == pytest.approx(np.mean(proba[kept].argmax(axis=1) != y[kept]))
    assert curve.at(1.0) == curve.error[-1]


def test_equal_certainties_are_rejected_together():
    y = np.array([0, 0, 1, 1, 1])
    p = np.array([0.1, 0.4, 0.4, 0.9, 0.6])  # certainty 0.9, 0.6, 0.6 (wrong), 0.9, 0.6
    curve = error_reject_curve(y, p)
    np.testing.assert_allclose(curve.rejected, [0.0, 0.6])
    np.testing.assert_allclose(curve.error, [0.2, 0.0])
    assert curve.at(0.1) == 0.0


def test_another_certainty_orders_the_rows():
    y, p = np.array([1, 1, 1]), np.array([0.9, 0.2, 0.8])
    np.testing.assert_allclose(error_reject_curve(y, p, certainty=[1.0, 2.0, 3.0]).error, [1 / 3, 1 / 2, 0.0])
    with pytest.raises(ParameterError, match="one for each row"):
        error_reject_curve(y, p, certainty=[1.0, np.nan, 3.0])


@pytest.mark.parametrize("equal", ["width", "count"])
def test_table_of_one_class_agrees_with_scikit_learn(equal):
    y, proba = problem(C=2)
    table = reliability_table(y, proba[:, 1], of=1, bins=8, equal=equal)
    strategy = "uniform" if equal == "width" else "quantile"
    observed, predicted = calibration_curve(y, proba[:, 1], n_bins=8, strategy=strategy)
    np.testing.assert_allclose(table.observed, observed)
    np.testing.assert_allclose(table.predicted, predicted)
    assert table.size.sum() == 400
    if equal == "count":
        assert np.ptp(table.size) <= 1


def test_table_of_the_largest_probability_and_its_error_word_for_word():
    y, proba = problem()
    table, total = reliability_table(y, proba, bins=5), 0.0
    rows = iter(zip(table.predicted, table.observed, table.size, strict=True))
    for low in np.arange(5) / 5:
        inside = [i for i in range(400) if low <= max(proba[i]) < low + 0.2]
        if inside:
            hits = sum(np.argmax(proba[i]) == y[i] for i in inside) / len(inside)
            mean = sum(max(proba[i]) for i in inside) / len(inside)
            np.testing.assert_allclose(next(rows), (mean, hits, len(inside)))
            total += len(inside) / 400 * abs(hits - mean)
    assert next(rows, None) is None
    assert expected_calibration_error(y, proba, bins=5) == pytest.approx(total)


def test_classwise_error_is_the_mean_over_classes_against_the_rest():
    y, proba = problem()
    each = [expected_calibration_error(y == c, proba[:, c], classes=[False, True], of=True) for c in range(4)]
    assert expected_calibration_error(y, proba, of="all") == pytest.approx(np.mean(each))
    pooled = reliability_table(y, proba, of="all")
    assert pooled.size.sum() == 4 * 400
    assert pooled.size @ pooled.predicted == pytest.approx(400)  # every row adds up to one
    assert pooled.size @ pooled.observed == pytest.approx(400)


def test_honest_probabilities_have_a_small_error_and_overconfident_ones_a_known_one():
    y, proba = problem(n=40_000)
    assert expected_calibration_error(y, proba) < 0.02
    sure = np.eye(4)[proba.argmax(axis=1)]
    error = np.mean(proba.argmax(axis=1) != y)
    assert expected_calibration_error(y, sure) == pytest.approx(error)


def test_the_interval_is_that_of_wilson():
    y, p = np.repeat([1, 0], [7, 3]), np.full(10, 0.6)
    low, high = reliability_table(y, p, of=1).interval(z=1.959964)
    np.testing.assert_allclose([low[0], high[0]], [0.39678, 0.89221], atol=1e-5)  # roots of (p - x)^2 = z^2 x (1-x) / n
    for x in (low[0], high[0]):
        assert (0.7 - x) ** 2 == pytest.approx(1.959964**2 * x * (1 - x) / 10)


def test_names_of_classes_and_what_is_refused():
    y, proba = problem(C=3)
    names = np.array(["ash", "elm", "oak"])
    assert expected_calibration_error(names[y], proba, names) == expected_calibration_error(y, proba)
    np.testing.assert_array_equal(
        reliability_table(names[y], proba, names, of="elm")[0], reliability_table(y, proba, of=1)[0]
    )
    with pytest.raises(ParameterError, match="is none of the classes"):
        expected_calibration_error(names[y], proba)
    with pytest.raises(ParameterError, match="decision function"):
        error_reject_curve(y, proba - 0.5)
    with pytest.raises(ParameterError, match="one row for each label"):
        error_reject_curve(y[:-1], proba)
    with pytest.raises(ParameterError, match="'top', 'all' or one of the classes"):
        reliability_table(y, proba, of="best")
    with pytest.raises(ParameterError, match="bins must be positive"):
        reliability_table(y, proba, bins=0)
    with pytest.raises(ParameterError, match="must name the 3 columns"):
        reliability_table(y, proba, classes=[0, 1])


@pytest.fixture
def plt():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    yield plt
    plt.close("all")


def test_pictures_show_the_curve_and_the_table(plt):
    from infovec.plots import plot_error_reject, plot_reliability

    y, proba = problem()
    curve, table = error_reject_curve(y, proba), reliability_table(y, proba, bins=8)
    ax = plot_error_reject({"one": curve, "other": error_reject_curve(y, proba, certainty=np.arange(400.0))})
    assert [line.get_label() for line in ax.lines] == ["one", "other"]
    np.testing.assert_allclose(ax.lines[0].get_xydata(), 100 * np.column_stack(curve))
    own = plt.figure().subplots()
    assert plot_reliability(table, ax=own) is own
    np.testing.assert_allclose(own.lines[1].get_xydata(), np.column_stack(table[:2]))
    bars = [np.array(bar) for bar in own.collections[0].get_segments()]
    np.testing.assert_allclose([bar[:, 1] for bar in bars], np.transpose(table.interval()))
    assert own.get_legend() is None


@pytest.mark.parametrize("unit", [1e-15, 1.0, 1e15])
def test_figures_are_short_in_any_unit(unit):
    from infovec.evaluation import shown

    text = shown({"value": 1.174 * unit, "standard_error": 0.1563 * unit})
    value, error = (float(part) for part in text.split(" ± "))
    assert len(text) <= 20
    assert value == pytest.approx(1.174 * unit, rel=0.01)
    assert error == pytest.approx(0.1563 * unit, rel=0.05)
