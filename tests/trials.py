"""Trials of model files that need a process of their own: limited memory, or a sudden death.

``python tests/trials.py corrupt FILE INPUTS`` loads 2000 corruptions of a file, ``... kill FOLDER MODEL`` kills 50
processes while they save. Both print what happened as JSON.
"""

import json
import os
import random
import resource
import signal
import sys
import time
import warnings
from pathlib import Path

import hostile
import numpy as np

import infovec
from infovec.errors import ModelFileError

GIGABYTE = 10**9


def predictions(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [*model.predict_latent(X), model.predict_proba(X), model.predict(X)]


def outcome(path, X, expected, exact):
    """Say in a word what loading a file comes to."""
    try:
        model = infovec.load(path)
    except ModelFileError as error:
        return "rejected" if str(error).startswith(f"{path} cannot be loaded: ") else f"unclear: {error}"
    except BaseException as error:
        return f"crash: {type(error).__name__}: {error}"
    found = predictions(model, X)
    if exact:
        return "same" if all(map(np.array_equal, found, expected)) else "different"
    close = all(np.allclose(a, b, rtol=1e-3, atol=1e-3) for a, b in zip(found[:3], expected[:3], strict=True))
    return "same" if close and np.array_equal(found[3], expected[3]) else "different"


def corrupt(path, X):
    """Load every corruption within one gigabyte more than there is at the start."""
    raw, X = Path(path).read_bytes(), np.load(X)
    expected, target = predictions(infovec.load(path), X), f"{path}.corrupt"
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + GIGABYTE
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    told, slowest = {}, (0.0, "", 0)
    for kind, number in hostile.CORRUPTIONS.items():
        for seed in range(number):
            text = kind(raw, np.random.default_rng([seed, number]))
            Path(target).write_bytes(text)
            start = time.perf_counter()
            result = "unchanged" if text == raw else outcome(target, X, expected, kind is not hostile.edited_json)
            took = time.perf_counter() - start
            slowest = max(slowest, (took, kind.__name__, seed))
            counts = told.setdefault(kind.__name__, {})
            counts[result] = counts.get(result, 0) + 1
    os.unlink(target)
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"outcomes": told, "slowest": slowest, "peak": peak}


def kill(folder, path):
    """Kill processes that save again and again, at random moments, and look at what they leave."""
    model, target = infovec.load(path), Path(folder) / "model.ivm"
    random.seed(0)
    filling = np.arange(300_000.0)  # so that writing takes a while
    model.save(target, extra={"number": -1, "filling": filling})
    start = time.perf_counter()
    for _ in range(3):
        model.save(target, extra={"number": -1, "filling": filling})
    usual = (time.perf_counter() - start) / 3.0
    seen, broken, interrupted = [], [], 0
    for number in range(50):
        child = os.fork()
        if child == 0:
            while True:
                model.save(target, extra={"number": number, "filling": filling})
        time.sleep(3.0 * usual * random.random())
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        interrupted += any(name.endswith(".tmp") for name in os.listdir(folder))
        try:
            seen.append(infovec.load_with_extra(target).extra["number"])
        except ModelFileError as error:
            broken.append(str(error))
    model.save(target, extra={"number": -1})
    return {"seen": seen, "broken": broken, "interrupted": interrupted, "left": len(os.listdir(folder)) - 1}


if __name__ == "__main__":
    print(json.dumps({"corrupt": corrupt, "kill": kill}[sys.argv[1]](*sys.argv[2:])))
