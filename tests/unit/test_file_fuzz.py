"""Model files altered by chance in what they say, with right checksums: one clear error, or a model that works.

The long run is ``python -m benchmarks.fuzz files``.
"""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def trials(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT)
        from benchmarks.fuzzing.files import Trials, make_cases

        folder = tmp_path_factory.mktemp("fuzz")
        yield Trials(folder, make_cases(folder))


@settings(
    derandomize=True, max_examples=600, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)  # fmt: skip
@given(seed=st.integers(0, 2**32 - 1))
def test_altered_files_are_refused_or_work(trials, seed):
    done, result = trials.trial(seed, deep=seed % 4 == 0)
    assert result in ("rejected", "loaded"), f"{seed} ({done})"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_the_fuzzer_tells_faults(trials, tmp_path, monkeypatch):
    from benchmarks import fuzz
    from benchmarks.fuzzing import files

    def trial(number, deep=True):
        if number == 1:
            os.kill(os.getpid(), 9)
        return "nothing", {0: "loaded", 2: "rejected"}.get(number, "raised: it")

    monkeypatch.setattr(trials, "trial", trial)
    told = list(files._batch(trials, 0, 4, tmp_path))
    assert [result for _, _, result in told] == ["loaded", "killed by SIGKILL", "rejected", "raised: it"]
    for part, code in ((lambda seconds, seed: {"trials": 1, "faults": []}, 0), (lambda *_: {"faults": ["x"]}, 1)):
        monkeypatch.setitem(fuzz.PARTS, "files", part)
        assert fuzz.main(["files", "--minutes", "0.01"]) == code


def test_a_fault_is_found_where_there_is_one(trials, monkeypatch):
    """Without the check of a field the trials that alter it do not all end well."""
    from infovec.estimators import records as estimator_files

    monkeypatch.setattr(estimator_files, "check_model", lambda model: None)
    monkeypatch.setattr(estimator_files, "check_params", lambda model: None)
    results = {trials.trial(seed)[1] for seed in range(120)}
    assert {"rejected", "loaded"} < results
