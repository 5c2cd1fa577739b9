"""Model files of every kind of wrong contents: one clear error, or a model that works.

A trial alters a file, loads it, and where that succeeds predicts, fits again, and asks the command line. It is a
fault when anything but an error of infovec comes of it, a warning, a prediction that is not finite, or more memory than
twenty times the size of the file and 50 MB. In half of the trials the predictions kept in the file are taken to be
those of the altered model, as one who forges a file would make them: so the checks before them are tried as well.
"""

import os
import signal
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from infovec import load
from infovec.errors import InfovecError
from infovec.estimators import files as estimator_files

from .models import Case, make_cases
from .mutations import members, mutated

__all__ = ["Trials", "run"]

_BATCH = 100  # trials of one process
_LIMIT, _ANYWAY = 20, 50e6
_SLOW = 10.0  # seconds that no trial may take


class Trials:
    """Alters the files of some cases and says what comes of it.

    Parameters
    ----------
    folder : Path
        Where altered files go.
    cases : list of Case
    """

    def __init__(self, folder: Path, cases: list[Case]) -> None:
        self.folder, self.cases = folder, cases
        self.parts = [members(case.path.read_bytes()) for case in cases]

    def trial(self, seed: int, deep: bool = True) -> tuple[str, str]:
        """Return what was done, and ``rejected``, ``loaded`` or what is wrong.

        Parameters
        ----------
        seed : int
        deep : bool
            Whether to fit again, and to ask the command line.
        """
        rng = np.random.default_rng([seed, 20])
        k, other = rng.integers(len(self.cases), size=2)
        done, raw = mutated(self.parts[k], self.parts[other], rng)
        path = self.folder / f"altered{os.getpid()}.ivm"
        path.write_bytes(raw)
        try:
            with warnings.catch_warnings(record=True) as told, _forged(bool(rng.random() < 0.5)):
                warnings.simplefilter("always")
                result = self._outcome(path, self.cases[k], deep)
            return done, result if not told else f"warning: {told[0]}"
        finally:
            path.unlink()

    def _outcome(self, path: Path, case: Case, deep: bool) -> str:
        start, before = time.perf_counter(), _reset_peak()
        try:
            model = load(path)
        except InfovecError as error:
            clear = str(error).startswith(f"{path} cannot be loaded: ") and "\n" not in str(error)
            result = "rejected" if clear and len(str(error)) < 1000 else f"unclear: {error}"
        except BaseException:
            return "raised: " + traceback.format_exc(limit=-3)
        else:
            result = "loaded"
        took = _peak() - before
        if took > _LIMIT * path.stat().st_size + _ANYWAY:
            return f"memory: {took / 1e6:.0f} MB for {path.stat().st_size} bytes ({result})"
        if result == "loaded" and not _agrees_with_itself(model):
            return "a loaded model contradicts itself"
        if result == "loaded":
            result = _predicts(model, case)
        if deep and (case.table is not None or result == "loaded"):
            result = _on_command_line(path, case, result)
        if deep and result == "loaded" and case.estimator is type(model):
            result = _fits(model, case)
        return result if time.perf_counter() - start < _SLOW else f"slow: {time.perf_counter() - start:.1f} s"


@contextmanager
def _forged(forged: bool) -> Iterator[None]:
    """Take the predictions that are kept in a file for those of its model, as long as they are finite."""
    agree = estimator_files._agree
    if forged:
        estimator_files._agree = _plausible
    try:
        yield
    finally:
        estimator_files._agree = agree


def _plausible(now: dict[str, Any], then: dict[str, Any]) -> bool:
    """Whether predictions would pass for kept ones."""
    return all(np.all(np.isfinite(now[k])) for k in ("mean", "var")) and not np.any(np.isnan(now.get("log_proba", 0.0)))


def _agrees_with_itself(model: Any) -> bool:
    """Whether what a model says of its active rows and classes goes together, looked at in the simplest way."""
    try:
        rows, vectors, history = model.active_.tolist(), model.active_vectors_, model.history_
        kernels = model.kernel_ if isinstance(model.kernel_, list) else [model.kernel_]
        classes = list(getattr(model, "classes_", "ab"))
        return all([
            all(type(row) is int and 0 <= row < model.n_samples_fit_ for row in rows),
            len(rows) == vectors.shape[0] == model.posterior_.X.shape[0] == len(model.site_mean_),
            vectors.ndim == 1 or vectors.shape[1] == model.n_features_in_,
            all(len(history[name]) == len(rows) for name in ("row", "score", "seconds")),
            len(set(classes)) == len(classes) == getattr(model, "n_classes_", len(classes)),
            kernels[0] == model.posterior_.kernel,
            type(model.log_evidence_) in (int, float, np.float64) and type(model.stop_reason_) is str,
            model.fit_seconds_ >= 0.0 and model.converged_ in (True, False),
        ])  # fmt: skip
    except Exception:  # it cannot even be looked at
        return False


def _predicts(model: Any, case: Case) -> str:
    X = case.X if case.X is not None else model.posterior_.X
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*feature names.*")
            mean, std = model.predict_latent(X)
            proba = model.predict_proba(X) if hasattr(model, "predict_proba") else np.zeros(1)
            model.predict(X)
    except InfovecError:
        return "loaded"
    except ValueError as error:  # of scikit-learn: the rows have other columns
        return "loaded" if "features" in str(error) else "raised: " + traceback.format_exc(limit=-3)
    except BaseException:
        return "raised: " + traceback.format_exc(limit=-3)
    finite = np.all(np.isfinite(mean)) and np.all(np.isfinite(std)) and not np.any(np.isnan(proba))
    return "loaded" if finite else "a prediction is not finite"


def _fits(model: Any, case: Case) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a fit may have its reasons to warn
            model.set_params(max_time=0.5).fit(case.X, case.y)
    except InfovecError:
        pass
    except BaseException:
        return "fit raised: " + traceback.format_exc(limit=-3)
    return "loaded"


def _on_command_line(path: Path, case: Case, result: str) -> str:
    from click.testing import CliRunner

    from infovec.cli.commands import infovec

    table = str(case.table) if case.table is not None else str(path)
    commands = [["inspect", str(path), "--json"], ["inspect", str(path)]]
    if result == "loaded" and case.table is not None:
        commands += [["predict", str(path), table], ["evaluate", str(path), table, "--json"]]
    for command in commands:
        done = CliRunner().invoke(infovec, command)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            trace = "".join(traceback.format_exception(*done.exc_info, limit=-3))
            return f"{command[0]} raised: {trace}"
    return result


def _reset_peak() -> float:
    """Forget the largest memory so far, where the system can; return what is used now."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _peak() -> float:
    return _status("VmHWM")


def _status(name: str) -> float:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return 1024.0 * int(next(line for line in lines if line.startswith(name)).split()[1])
    except (OSError, StopIteration):
        return 0.0


def run(seconds: float, seed: int = 0, trials: int = 5000) -> dict[str, Any]:
    """Return how often what came of it, and all faults; a process that dies is one."""
    end, outcomes, faults = time.monotonic() + seconds, Counter(), list[str]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tries = Trials(folder, make_cases(folder))
        first = 0
        while first < trials and time.monotonic() < end:
            for number, done, result in _batch(tries, seed * trials + first, min(_BATCH, trials - first), folder):
                outcomes[result if result in ("rejected", "loaded") else "fault"] += 1
                if result not in ("rejected", "loaded"):
                    faults.append(f"{number} ({done}): {result}")
            first += _BATCH
    return {"trials": sum(outcomes.values()), "outcomes": dict(outcomes), "faults": faults}


def _batch(tries: Trials, first: int, count: int, folder: Path) -> Iterator[tuple[int, str, str]]:
    """Yield number, what was done, and outcome of some trials, made in a process of their own."""
    log = folder / "log"
    at = first
    while at < first + count:
        log.write_text("")
        child = os.fork()
        if child == 0:
            with suppress(BaseException), log.open("a") as out:
                for number in range(at, first + count):
                    done, result = tries.trial(number)
                    print(repr((number, done, result)), file=out, flush=True)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        for line in log.read_text().splitlines():
            found = eval(line, {})  # written above
            at = found[0] + 1
            yield found
        if os.WIFSIGNALED(status):
            yield at, "?", f"killed by {signal.Signals(os.WTERMSIG(status)).name}"
            at += 1
        elif at < first + count:
            yield at, "?", "the process ended"
            at += 1
