"""The experiments on many classes run, and what the papers say of them holds where so little is enough."""

from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def quick(monkeypatch, tmp_path, dataset):
    """Run an experiment quickly: ours and the verdict, by quantity; figures go to the folder that comes second."""
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.chdir(tmp_path)

    def run(name, *needs):
        from experiments.catalogue import load

        for data in needs:
            dataset(data)
        rows = load(name).run(True)
        return {row["quantity"]: (row["ours"], row["difference"]) for row in rows}, tmp_path / "out" / name

    return run


def test_informative_rows_beat_random_ones_on_the_rings(quick):
    rows, figures = quick("gr06-toy-sparse")
    assert rows["relevant inputs found"][0] == 2
    assert rows["random / informative rows, 30: error"][0] > 2.0
    assert rows["informative rows, 50: error %"][0] < 3.0
    assert (figures / "figure-5.png").stat().st_size > 10_000


def test_rings_are_those_of_the_paper(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    from experiments.catalogue import load

    X, y = load("gr06-toy-sparse").three_rings(3000, np.random.default_rng(0))
    square = np.sum(X[:, :2] ** 2, axis=1)
    for c, low, high in ((0, 0.1, 0.5), (1, 0.6, 1.0)):
        assert low <= square[y == c].min() < low + 0.02
        assert high - 0.02 < square[y == c].max() <= high
    np.testing.assert_allclose(X[y == 2, :2].std(axis=0), 0.1, rtol=0.1)
    assert np.ptp(np.bincount(y)) < 200


def test_informative_letters_beat_random_ones(quick):
    rows, figures = quick("gr06-isolet", "isolet")
    assert rows["random / predictive d=80: error"][0] > 1.3
    assert rows["predictive d=80: error %"][0] < 35.0
    assert rows["all rows through d=80: mean log probability"][0] > rows["predictive d=80: mean log probability"][0]
    assert (figures / "figure-6.png").stat().st_size > 10_000


def test_waveforms_are_told_apart_as_well_as_by_a_tuned_machine(quick):
    rows, _ = quick("gr06-svm-comparison", "waveform")
    svm = rows["waveform MWVS: error %"][0]
    assert rows["waveform evidence, one: error %"][0] < svm + 3.0
    assert rows["waveform VBGPS: error %"][0] < svm + 4.0


def test_more_pairs_tell_soils_apart_better(quick):
    rows, _ = quick("slh-satimage", "satimage")
    assert rows["probit 90 / 300 pairs: error"][1] == "holds"
    assert rows["probit 300 pairs: error %"][0] < 20.0
    assert rows["probit 300 pairs: mean log likelihood"][0] > rows["probit 90 pairs: mean log likelihood"][0]


def test_digits_are_combined_and_rejected(quick):
    rows, figures = quick("nips03-mnist", "mnist")
    assert rows["IVM combined: error %"][0] < 10.0
    for name in ("IVM", "SVM"):
        assert rows[f"{name} 9, 10 % rejected: error %"][0] < 0.6 * rows[f"{name} 9: error %"][0]
    assert (figures / "figure-1.png").stat().st_size > 10_000


def test_approximations_of_iris(quick):
    rows, _ = quick("gr06-approximations", "iris")
    for way in ("Laplace", "variational", "Gibbs"):
        assert rows[f"iris {way}: error, standard deviations off"][1] == "holds"
    assert rows["iris Laplace: test log likelihood"][0] < rows["iris Gibbs: test log likelihood"][0]
    assert rows["iris Gibbs: largest R-hat of all splits"][1] == "holds"


def test_rings_by_iteration(quick):
    rows, figures = quick("gr06-toy")
    assert rows["sampler: bound, last less first"][1] == "holds"
    assert rows["share of 1 draws with eight inputs switched off"][1] == "holds"
    assert rows["evidence of EP, EP: accuracy %, mean"][0] > 90.0
    assert (figures / "figure-2.png").stat().st_size > 10_000


def test_contours_of_the_variational_approximation_are_nearer_to_the_sampler(quick):
    rows, figures = quick("gr06-contours")
    assert rows["figure 4: Laplace farther than variational, nats"][1] == "holds"
    for name in ("figure-3.png", "figure-4.png"):
        assert (figures / name).stat().st_size > 10_000
