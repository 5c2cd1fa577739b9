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


def _result(side, loss, split=0, name="heart"):
    measured = {"loss": loss, "error": 10 * loss, "calibration": 0.1, "seconds": 2.0}
    return {"kind": "classes", "set": name, "side": side, "split": split, "most": 9, "n": 9, "p": 1, **measured}


def test_summary_counts_the_sets_a_side_took_part_in(benchmarks):
    table, _ = benchmarks
    heart = {"infovec": 0.1, "svc": 0.2, "gp": 0.3, "svc-default": 0.05, "frequencies": 0.25}
    results = [_result(side, loss) for side, loss in heart.items()]
    results += [_result(side, loss, name="iris") for side, loss in {"infovec": 0.4, "svc": 0.2}.items()]
    found = table.summary(table.medians(results), "tuned")
    assert set(found) == {"infovec", "svc", "gp"}
    assert [found[side]["rank"] for side in ("infovec", "svc", "gp")] == [1.5, 1.5, 3.0]
    assert (found["infovec"]["worst"], found["svc"]["worst"], found["gp"]["behind"]) == (1, 0, 1)
    assert found["svc"]["seconds"] == 4.0
    default = table.summary(table.medians(results), "default")
    assert default["infovec"]["rank"] == 1.5  # second of three on heart, alone on iris
    assert default["svc-default"]["rank"] == 1.0


def test_medians_are_over_the_splits_that_all_have(benchmarks):
    table, _ = benchmarks
    runs = [_result("infovec", loss, split) for split, loss in enumerate((0.3, 0.1, 0.2))]
    runs += [_result("svc", loss, split) for split, loss in enumerate((0.5, 0.4, 0.6, 9.0))]
    runs += [_result("gp", 0.0, split) for split in range(2)]  # one is missing
    found = table.medians(runs)["heart"]
    assert (found["infovec"]["loss"], found["svc"]["loss"]) == (0.2, 0.5)
    assert "gp" not in found


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_every_side_of_the_table_is_judged(benchmarks, dataset, tmp_path, monkeypatch, capsys, kind):
    """All take part with few rows, none is worse than the frequencies by much, and results are kept."""
    name = {"classes": "wine", "numbers": "autompg"}[kind]
    dataset(name)
    table, _ = benchmarks
    store = tmp_path / "table.jsonl"
    command = ["table", kind, "--sets", name, "--splits", "1", "--rows", "60", "--store", str(store)]
    monkeypatch.setattr("sys.argv", command)
    table.main()
    results = [json.loads(line) for line in store.read_text().splitlines()]
    assert [one["side"] for one in results] == list(table.KINDS[kind][1])
    base = results[-1]["loss"]
    assert all(np.isfinite([one[key] for key in table.KEYS]).all() and one["loss"] < base for one in results[:-1])
    assert results[0]["error"] < {"classes": 10.0, "numbers": 40.0}[kind]
    monkeypatch.setattr(table, "run", None)  # nothing is made again
    monkeypatch.setattr("sys.argv", [*command, "--read"])
    table.main()
    assert capsys.readouterr().out.count("infovec") == 2 * (1 + 2 * 2 * 3)


def test_sets_of_the_table_are_split_fairly(benchmarks, dataset):
    dataset("heart")
    dataset("bike")
    from benchmarks.contest import rows_of

    X, y, _, t = rows_of("heart", 0, 100)
    assert (len(y), len(t)) == (100, 170)
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1.0)
    assert abs(y.mean() - t.mean()) < 0.02
    assert rows_of("bike", 0, 100)[0].shape == (100, 15)  # without the two whose sum is the target


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
