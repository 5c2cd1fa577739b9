"""What the benchmarks make of their measurements."""

import json
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks import learn, table

    return table, learn


def test_ranks_share_ties(benchmarks):
    table, _ = benchmarks
    assert table.ranks({"a": 0.3, "b": 0.1, "c": 0.3, "d": 0.5}) == {"a": 2.5, "b": 1.0, "c": 2.5, "d": 4.0}


def test_summary_counts_the_sets_a_side_took_part_in(benchmarks):
    table, _ = benchmarks

    def line(**losses):
        sides = {side: {"log_loss": loss, "error_percent": 10 * loss, "seconds": 2.0} for side, loss in losses.items()}
        return {"sides": sides, "rank": {key: table.ranks(losses) for key in ("log_loss", "error_percent")}}

    found = table.summary([line(infovec=0.1, svc=0.2, gp=0.3), line(infovec=0.4, svc=0.2)])["summary"]
    assert found["infovec"]["mean_rank_log_loss"] == 1.5
    assert (found["infovec"]["times_worst_log_loss"], found["svc"]["times_worst_log_loss"]) == (1, 0)
    assert (found["gp"]["mean_rank_log_loss"], found["gp"]["sets"], found["svc"]["seconds"]) == (3.0, 1, 4.0)


def test_sides_of_the_table_learn_from_the_same_rows(benchmarks, dataset):
    dataset("heart")
    table, _ = benchmarks
    task = table.Task("heart", "heart", 0, 0, 0.0, 0.0, 0.0, 0.0)
    X, y, _, t = table.rows_of("heart", 0, True)
    assert (len(y), len(t)) == (140, 60)
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1.0)
    base = np.mean(y) * np.log(np.mean(y)) + np.mean(1 - y) * np.log(np.mean(1 - y))
    for side in ("infovec", "svc", "gp"):
        found = table.fit_once(task, side, 0, True)
        assert found["log_loss"] < -0.9 * base, side
        assert found["error_percent"] < 30.0, side


def test_times_above_the_limit_are_named(benchmarks):
    from benchmarks import caps_time

    limit = caps_time.allowed(2.0)
    assert limit == 1.1 * 2.0 + 0.5
    common = {"allowed": limit, "finite": True}
    good, slow = ({"fit": name, "cpu_seconds": s, **common} for name, s in (("good", 2.0), ("slow", 3.2)))
    strange, failed = {"fit": "strange", "cpu_seconds": 1.0, **common, "finite": False}, {"fit": "lost", "failed": "no"}
    found = caps_time.summary([good, slow, strange, failed])
    assert found["fits"] == 4
    np.testing.assert_allclose(found["worst_excess"], 3.2 - limit)
    assert (found["above"], found["unusable"]) == ({"slow": 3.2}, ["strange", "lost"])
    once = caps_time.fit_once("many-ovr-factorised-fixed", 300, 5.0, 3, 20)
    assert (once["finite"], once["stop_reason"]) == (True, "the active set has the size asked for")


def test_first_point_that_is_good_enough(benchmarks):
    _, learn = benchmarks
    own = [{"seconds": s, "loss": loss} for s, loss in ((1.0, 0.5), (4.0, 0.2), (2.0, 0.2))]
    assert learn.first_at_most(own, 0.2) == 2.0
    assert learn.first_at_most(own, 0.1) is None
    peer = [{"seconds": 5.0, "loss": 0.6}, {"seconds": 10.0, "loss": 0.3}]
    assert learn.sooner({"infovec": own, "svgp": peer})["svgp"] == {
        "loss": 0.3, "seconds": 10.0, "infovec_seconds": 2.0, "ratio": 5.0,
    }  # fmt: skip
    assert learn.sooner({"infovec": own, "svc": [{"seconds": 5.0, "loss": 0.1}]})["svc"]["ratio"] is None


def test_names_of_curves_are_a_gap_apart_and_move_little(benchmarks):
    from benchmarks.drawing import curves, spread

    assert spread([], 1.0) == []
    np.testing.assert_allclose(spread([5.0, 0.0, 2.0], 1.0), [5.0, 0.0, 2.0])
    np.testing.assert_allclose(spread([3.0, 3.0, 3.2, 9.0], 1.0), [3.2 - 3.4 / 3, 3.2 - 0.4 / 3, 3.2 + 2.6 / 3, 9.0])
    lines = [{"n": n, "sides": {"svc": {"cpu_seconds": n / 10}}} for n in (20, 10)]
    assert curves(lines, "n") == {"svc": ([10, 20], [1.0, 2.0])}


def test_sizes_take_the_first_rows_of_the_same_problem(benchmarks):
    from benchmarks import defaults, speed

    X, y, Z, t = speed.rows_of(200, 5)
    few = speed.rows_of(50, 5)
    assert (X.shape, Z.shape, set(t)) == ((200, 20), (5000, 20), set(range(5)))
    for found, expected in zip(few, (X[:50], y[:50], Z, t), strict=True):
        np.testing.assert_array_equal(found, expected)
    part = [[side for side in defaults.SIDES if defaults.takes_part(side, n, C)] for n, C in ((1000, 2), (20_001, 3))]
    assert part == [list(defaults.SIDES), ["infovec", "boosting", "nystroem"]]


def test_speed_is_measured_and_drawn_beside_another_version(benchmarks, tmp_path, monkeypatch, capsys):
    from benchmarks import speed

    other = tmp_path / "src" / "infovec"
    other.mkdir(parents=True)
    text = "def IVMClassifier(random_state):\n    return DummyClassifier(strategy='uniform')\n"
    (other / "__init__.py").write_text(f"from sklearn.dummy import DummyClassifier\n\n\n{text}")
    figure = tmp_path / "speed.svg"
    options = ["--against", str(other.parent), "--figure", str(figure)]
    monkeypatch.setattr("sys.argv", ["speed", "--quick", "--threads", "1", "--sides", "infovec", *options])
    for name in ("OMP_WAIT_POLICY", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "")  # so that it is put back
    monkeypatch.chdir(ROOT)
    speed.main()
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["n"], line["classes"]) for line in lines] == [(60, 2), (120, 2), (120, 3)]
    for line in lines:
        assert (list(line["sides"]), line["skipped"]) == (["infovec", "infovec before"], {})
        own, before = (line["sides"][side] for side in ("infovec", "infovec before"))
        np.testing.assert_allclose(before["log_loss"], np.log(line["classes"]), rtol=1e-3)
        assert own["log_loss"] < 0.95 * before["log_loss"]
        np.testing.assert_allclose(
            line["ratio_seconds"]["infovec before"], before["seconds"] / own["seconds"], rtol=1e-2
        )
    assert figure.read_text().count("<svg") == 1
