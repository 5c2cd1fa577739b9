"""Measuring work in a process of its own: its seconds, and its memory on top of what was there before."""

import argparse
import contextlib
import ctypes
import gc
import importlib
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from .tasks import Task

__all__ = ["Cost", "arguments", "cpu_seconds", "medians", "run_alone", "significant", "watched"]

STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")


@dataclass(frozen=True)
class Cost:
    """What a piece of work took."""

    seconds: float
    peak_memory_mb: float


@contextlib.contextmanager
def cpu_seconds() -> Iterator[Callable[[], float]]:
    """Give a function that says how many seconds of the CPU went into the block; other programs change them little."""
    start, end = time.process_time(), list[float]()
    yield lambda: end[0] - start
    end.append(time.process_time())


def watched(work: Callable[[], Any]) -> Cost:
    """Run the work and return its seconds and its peak resident memory less that just before."""
    _give_back()
    before = _resident_before()
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    return Cost(seconds, max(0.0, _peak() - before))


def _give_back() -> None:
    """Hand freed memory back to the system: the work would use it again, and seem to need less than it does."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # there is no malloc_trim outside glibc
        ctypes.CDLL(None).malloc_trim(0)


def _resident_before() -> float:
    """Resident megabytes now, the peak so far forgotten; where there is no /proc, the peak so far."""
    try:
        CLEAR.write_text("5")
        return _status("VmRSS")
    except OSError:
        return _peak()


def _peak() -> float:
    try:
        return _status("VmHWM")
    except OSError:
        unit = 2**20 if sys.platform == "darwin" else 2**10
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def _status(field: str) -> float:
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) / 1024


def run_alone(work: Callable[..., dict[str, Any]], task: Task, *more: Any) -> dict[str, Any]:
    """Call ``work(task, *more)``, a function of a benchmark, in a new process; a failure is {"failed": reason}."""
    module = sys.modules[work.__module__].__spec__.name
    message = json.dumps({"module": module, "function": work.__name__, "task": asdict(task), "more": more})
    command = [sys.executable, "-m", __name__]
    done = subprocess.run(command, input=message, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return {"failed": f"exit code {done.returncode}" + (f": {lines[-1]}" if lines else "")}
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def _serve() -> None:
    """Do what ``run_alone`` asks for, in the new process."""
    message = json.load(sys.stdin)
    work = getattr(importlib.import_module(message["module"]), message["function"])
    print(json.dumps(work(Task(**message["task"]), *message["more"])))


def medians(results: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the median of every number over the repeats; what is None stays None."""
    repeats = list(results)
    return {
        key: None if value is None else value if isinstance(value, str) else median(r[key] for r in repeats)
        for key, value in repeats[0].items()
    }


def significant(value: Any, digits: int = 4) -> Any:
    """Return a result with its numbers rounded to some significant digits."""
    if isinstance(value, dict):
        return {key: significant(entry, digits) for key, entry in value.items()}
    if isinstance(value, list):
        return [significant(entry, digits) for entry in value]
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def arguments(description: str | None) -> argparse.ArgumentParser:
    """Return a parser of the options that all benchmarks have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--repeats", type=int, default=3, help="measurements of each kind; the median counts")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that everything runs")
    return parser


if __name__ == "__main__":
    _serve()
