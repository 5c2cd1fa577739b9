"""Ctrl-C at random moments of every form of every estimator: what is left, how soon, and what a refit makes of it.

An interrupted fit must leave a usable model that says it was cut short, soon after the signal, or KeyboardInterrupt
and the model that was there before, attribute for attribute. Fitted again, the same estimator is what an undisturbed
fit finds. Everything else is a fault.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from infovec import IVMClassifier
from infovec.learning import Learning

from .forms import Form, forms, problem
from .measure import significant

__all__ = ["Attempt", "Signal", "attempt", "differences", "every_form", "form_moments", "main", "old_model", "quietly"]

INTERRUPTED = "interrupted from the keyboard"
SOON = 2.0  # CPU seconds from the signal to the end of the fit
SHORTER, LONGER = 0.6, 2.0  # factors of the seconds that a fit is to take, between which it may
PAUSE = 0.002  # seconds between two looks at the clock
FEWEST, MOST = 100, 16_000  # rows
SHARE = 0.1  # of the rows that are active
OTHERS = ("cut short", "old model", "finished before")  # endings without a fault


def every_form() -> list[Form]:
    """Return the forms of ``forms()``, and those that have parts of their own: drivers, stages, restarts."""
    more = [
        Form("gain", partial(IVMClassifier, score="projected_gain", learn=None), "two"),
        Form("auto-projected", partial(IVMClassifier, n_active="auto", learn=None), "two"),
        Form("auto-factorised", partial(IVMClassifier, n_active="auto", learn=None, approximation="factorised"), "two"),
        Form("auto-many", partial(IVMClassifier, n_active="auto", learn=None), "many"),
        Form("restarts", partial(IVMClassifier, learn=Learning(restarts=2)), "two"),
        Form("kernel-of-each-class", partial(IVMClassifier, multi_class="ovr", shared_kernel=False), "many"),
        Form("refilled", partial(IVMClassifier, selection="refilled", approximation="factorised", learn=None), "two"),
        Form("one-row-at-a-time", partial(IVMClassifier, block_size=1, learn=None), "two"),
        Form("variance", partial(IVMClassifier, score="variance", learn=None), "many"),
    ]
    return [*forms(), *more]


def settings(form: Form, rows: int) -> dict[str, Any]:
    """Return the settings of a fit to so many rows."""
    asked = form.make().n_active
    return {"random_state": 0, "n_active": asked if asked == "auto" else max(20, int(SHARE * rows))}


class Signal:
    """Interrupts this very process after some CPU seconds, unless it is stopped before; notes when."""

    def __init__(self, seconds: float) -> None:
        self.sent: float | None = None
        self._seconds, self._over = seconds, threading.Event()
        self._thread = threading.Thread(target=self._wait, daemon=True)

    def start(self) -> None:
        """Let the clock run."""
        self._thread.start()

    def _wait(self) -> None:
        """Look at the CPU clock, which other work on the machine does not move, until it is time."""
        end = time.process_time() + self._seconds
        while time.process_time() < end:
            if self._over.wait(PAUSE):
                return
        self.sent = time.process_time()
        os.kill(os.getpid(), signal.SIGINT)

    def stop(self) -> float | None:
        """Wait until it was sent, or never will be; return when."""
        self._over.set()
        self._thread.join()
        return self.sent


class Attempt(NamedTuple):
    """How an interrupted fit ended."""

    ending: str  # one of OTHERS, or "fault"
    seconds: float | None  # of the CPU clock since the signal
    faults: list[str]


def old_model(form: Form, warm: bool) -> Any:
    """Return an estimator that has been fitted to something else."""
    X, y = problem(form.targets, 60, seed=1)
    model = form.make(random_state=0, warm_start=warm).set_params(n_active=10, learn=None)
    return quietly(lambda: model.fit(X, y))


def quietly(work: Callable[[], Any]) -> Any:
    """Return what the work returns, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return work()


def predictions(model: Any, X: Any) -> Any:
    """Return what a model says of some rows."""
    predict = getattr(model, "predict_proba", None) or model.predict
    return np.asarray(quietly(lambda: predict(X)))


def theta(model: Any) -> Any:
    """Return the parameters of the kernel, or of all of them."""
    kernels = model.kernel_ if isinstance(model.kernel_, list) else [model.kernel_]
    return np.concatenate([kernel.theta for kernel in kernels])


def differences(model: Any, whole: Any, X: Any) -> list[str]:
    """Return in what a refitted model differs from that of an undisturbed fit."""
    found = []
    if model.stop_reason_ != whole.stop_reason_:
        found.append(f"stop_reason_ {model.stop_reason_!r}")
    if not np.array_equal(model.active_, whole.active_):
        found.append("active_")
    if not np.array_equal(theta(model), theta(whole)):
        found.append("kernel_")
    if not np.array_equal(predictions(model, X), predictions(whole, X)):
        found.append("predictions")
    return found


def attempt(
    model: Any, X: Any, y: Any, whole: Any, begin: Callable[[], None], end: Callable[[], float | None]
) -> Attempt:
    """Fit and interrupt.

    Parameters
    ----------
    model : estimator
        With an old model, fitted to other rows.
    X, y
        What to fit.
    whole : estimator
        The same, fitted without a disturbance.
    begin : callable
        Starts what interrupts.
    end : callable
        Waits until nothing will interrupt any more, and returns the CPU clock of the signal, or None without one.
    """
    some, before = X[:20, :], dict(vars(model))
    said = predictions(model, some)
    error = raised = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            begin()
            model.fit(X, y)
            done = time.process_time()
        except KeyboardInterrupt as interrupt:
            done, raised = time.process_time(), interrupt
        except Exception:
            done, error = time.process_time(), traceback.format_exc(limit=-3)
        try:
            sent = end()
        except KeyboardInterrupt:  # it came just now
            sent = None
    if error is not None:
        return Attempt("fault", None, [error])
    if sent is None or sent > done or (raised is not None and _outside(raised)):
        return Attempt("finished before", None, differences(model, whole, some))
    if raised is not None:
        return Attempt("old model", done - sent, _changed(model, before, said, some))
    faults = [] if model.stop_reason_ == INTERRUPTED else [f"an interrupted fit says {model.stop_reason_!r}"]
    if not any("interrupted" in str(warning.message) for warning in caught):
        faults.append("no warning of the interruption")
    faults += [] if len(model.active_) else ["no active rows"]
    faults += [] if np.all(np.isfinite(predictions(model, some))) else ["predictions that are not finite"]
    return Attempt("cut short", done - sent, faults)


def _outside(raised: BaseException) -> bool:
    """Whether it was raised in this file: the fit had ended."""
    last = traceback.extract_tb(raised.__traceback__)[-1]
    return last.filename == __file__


def _changed(model: Any, before: dict[str, Any], said: Any, X: Any) -> list[str]:
    """Return what is not as it was."""
    now = vars(model)
    found = [name for name in sorted(before.keys() | now.keys()) if now.get(name) is not before.get(name)]
    found += [] if np.array_equal(predictions(model, X), said) else ["predictions"]
    return [f"not as before: {', '.join(found)}"] if found else []


def timed(form: Form, rows: int) -> tuple[Any, float, Any, Any]:
    """Return an undisturbed model, its CPU seconds, and the data."""
    X, y = problem(form.targets, rows)
    start = time.process_time()
    whole = quietly(lambda: form.make(**settings(form, rows)).fit(X, y))
    return whole, time.process_time() - start, X, y


def sized(form: Form, rows: int | None, wanted: float) -> tuple[Any, float, Any, Any]:
    """The same for so many rows that it takes as long as it should, if none are given."""
    n, tried = rows or 500, list[int]()
    while True:
        found = timed(form, n)
        seconds = found[1]
        tried.append(n)
        more = int(np.clip(n * np.clip(np.sqrt(wanted / max(seconds, 1e-3)), 0.25, 3.0), FEWEST, MOST))
        if rows or SHORTER * wanted <= seconds <= LONGER * wanted or more in tried or len(tried) == 5:
            return found
        n = more


def form_moments(form: Form, moments: int, rows: int | None, wanted: float, seed: int, refits: int) -> dict[str, Any]:
    """Interrupt a form at so many moments; every ``refits``-th one is followed by another fit, cold or warm in turn."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background may ignore it
    old_model(form, True)  # so that tables are made, and modules imported, before anything is timed
    whole, fit_seconds, X, y = sized(form, rows, wanted)
    rng = np.random.default_rng(seed)
    endings, faults, longest, fewest = Counter[str](), list[str](), 0.0, len(whole.active_)
    for number, moment in enumerate(rng.uniform(0.0, fit_seconds, size=moments)):
        warm = bool(number // refits % 2)
        model = old_model(form, warm).set_params(**settings(form, len(y)), learn=whole.learn)
        sender = Signal(moment)
        ending, seconds, wrong = attempt(model, X, y, whole, sender.start, sender.stop)
        if seconds is not None:
            longest = max(longest, seconds)
            wrong += [f"{seconds:.2f} s from signal to end"] if seconds > SOON else []
        if ending == "cut short":
            fewest = min(fewest, len(model.active_))
        if not wrong and number % refits == 0 and ending != "finished before":
            quietly(lambda model=model: model.fit(X, y))
            wrong += [f"refit, warm_start={warm}: {what} differs" for what in differences(model, whole, X[:20])]
            endings["refits"] += 1
        endings["FAULT" if wrong else ending] += 1
        faults += [f"moment {moment:.3f} of {fit_seconds:.3f}: {ending}: {text}" for text in wrong]
    return {
        "form": form.name, "rows": len(y), "fit_seconds": fit_seconds, **{name: endings[name] for name in OTHERS},
        "refits": endings["refits"], "FAULT": endings["FAULT"], "longest_seconds": longest, "fewest_active": fewest,
        "faults": faults,
    }  # fmt: skip


def main() -> int:
    """Print a JSON line for each form, and a summary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--forms", default="", help="part of the names of the forms to try")
    parser.add_argument("--moments", type=int, default=20, help="of each form")
    parser.add_argument("--rows", type=int, help="instead of as many as take so long")
    parser.add_argument("--seconds", type=float, default=1.5, help="that a fit takes, about, by the CPU clock")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--refits", type=int, default=1, help="one after every so many moments")
    parser.add_argument("--one", help=argparse.SUPPRESS)  # the process of a form
    chosen = parser.parse_args()
    if chosen.one:
        form = next(form for form in every_form() if form.name == chosen.one)
        found = form_moments(form, chosen.moments, chosen.rows, chosen.seconds, chosen.seed, chosen.refits)
        print(json.dumps(significant(found)), flush=True)
        return 0
    total, longest = Counter[str](), 0.0
    names = [form.name for form in every_form() if chosen.forms in form.name]
    for name in names:
        command = [sys.executable, "-m", "benchmarks.interruptions", *sys.argv[1:], "--one", name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            said = [f"the process failed: {done.stderr[-600:]}"]
            line: dict[str, Any] = {"form": name, "FAULT": 1, "longest_seconds": 0.0, "faults": said}
        else:
            line = json.loads(done.stdout)
        print(json.dumps(line), flush=True)
        total.update({key: line.get(key, 0) for key in (*OTHERS, "refits", "FAULT")})
        longest = max(longest, line["longest_seconds"])
    print(json.dumps({"summary": len(names), **total, "longest_seconds": longest}), flush=True)
    return int(total["FAULT"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
