"""Workers that are killed while a fit goes on, and clients: python -m benchmarks.faults [--times 10].

Every fit must end with the model of an undisturbed one. A worker process gets SIGKILL at a random moment of a random
exchange of selection or of a sweep; a client gets it at a random moment, and the fit is started again with its
checkpoint.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from infovec import IVMClassifier

N, SETTINGS = 10000, {"n_active": 150, "random_state": 0, "block_size": 20, "learn": None, "dtype": "float64"}


def rows(n=N):
    """Two classes that overlap."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    f = np.sin(2.0 * X[:, 0]) + X[:, 1] - 0.5 * X[:, 2] ** 2
    return X, (f + 0.5 * rng.normal(size=n) > 0.0).astype(int)


class Killer:
    """Kills a worker while some exchange goes on."""

    def __init__(self, client, at, delay, number):
        self.client, self.at, self.delay, self.number, self.count, self.killed = client, at, delay, number, 0, None

    def __call__(self, method):
        """Hear of an exchange that begins."""
        self.count += 1
        if self.count == self.at:
            pids = sorted(self.client.run(os.getpid).values())
            self.killed = method
            threading.Timer(self.delay, os.kill, (pids[self.number % len(pids)], signal.SIGKILL)).start()


def kill_workers(times, seed=0):
    """Fit with a worker killed each time; return how far predictions are from those of an undisturbed fit."""
    from infovec.shards import cluster as remote

    X, y = rows()
    rng, ask, found = np.random.default_rng(seed), remote.ClusterStore.each, []
    expected, counter, _ = _on_cluster(X, y, ask, 0, 0.0, 0)
    proba = expected.predict_proba(X[:2000])
    for number in range(times):
        at, start = int(rng.integers(8, counter.count)), time.perf_counter()
        model, killer, left = _on_cluster(X, y, ask, at, float(rng.random() * 0.03), number)
        error = float(np.abs(model.predict_proba(X[:2000]) - proba).max())
        same = bool(np.array_equal(model.active_, expected.active_))
        found.append((killer.killed, same, error))
        print(f"worker killed at exchange {at} of {counter.count} ({killer.killed}), {left} left: same active rows "
              f"{same}, probabilities within {error:.1e}, {time.perf_counter() - start:.1f} s", flush=True)  # fmt: skip
    return found


def _on_cluster(X, y, ask, at, delay, number):
    """Fit on two workers, one of which is killed at some exchange; say which message it was."""
    import dask.array as da
    from dask.distributed import Client, LocalCluster

    from infovec.shards import cluster as remote

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        before = set(client.run(os.getpid).values())
        killer = Killer(client, at, delay, number)
        _listening(remote.ClusterStore, ask, killer)
        try:
            model = IVMClassifier(**SETTINGS).fit(da.from_array(X, chunks=(2500, -1)), da.from_array(y, chunks=2500))
        finally:
            remote.ClusterStore.each = ask
        return model, killer, len(before & set(client.run(os.getpid, on_error="ignore").values()))


def _listening(store, ask, listener):
    def each(self, calls):
        listener(getattr(calls[0][1], "keywords", {}).get("method", "other") if calls else "none")
        return ask(self, calls)

    store.each = each


_CLIENT = """
import sys, numpy as np
from benchmarks.faults import rows, SETTINGS
from infovec import IVMClassifier
X, y = rows()
print("begin", flush=True)
model = IVMClassifier(**SETTINGS).fit(X, y, checkpoint=sys.argv[1])
np.savez(sys.argv[2], active=model.active_, proba=model.predict_proba(X[:2000]))
"""


def kill_clients(times, seed=1):
    """Kill the process of a fit each time, start it again, and compare."""
    X, y = rows()
    start = time.perf_counter()
    expected = IVMClassifier(**SETTINGS).fit(X, y)
    seconds, proba = time.perf_counter() - start, expected.predict_proba(X[:2000])
    rng, found = np.random.default_rng(seed), []
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            checkpoint, out = Path(folder) / "fit.ivm", Path(folder) / "out.npz"
            command = [sys.executable, "-c", _CLIENT, str(checkpoint), str(out)]
            process = subprocess.Popen(command, stdout=subprocess.PIPE)
            process.stdout.readline()
            time.sleep(float(rng.random()) * seconds)
            process.kill()
            process.wait()
            process.stdout.close()
            size = checkpoint.stat().st_size if checkpoint.exists() else 0
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            left = sorted(path.name for path in Path(folder).iterdir())
            with np.load(out) as result:
                error, same = (
                    float(np.abs(result["proba"] - proba).max()),
                    np.array_equal(result["active"], expected.active_),
                )
            found.append((size, bool(same), error, left))
            print(f"client killed with a checkpoint of {size} bytes: same active rows {bool(same)}, "
                  f"probabilities within {error:.1e}, files left {left}", flush=True)  # fmt: skip
    return found


def main():
    """Kill both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=10)
    times = parser.parse_args().times
    workers, clients = kill_workers(times), kill_clients(times)
    good = sum(same and error < 1e-9 for _, same, error in workers), sum(f[1] and f[2] < 1e-9 for f in clients)
    print(f"workers: {good[0]} of {times} the same; clients: {good[1]} of {times} the same")


if __name__ == "__main__":
    main()
