"""A fit on a cluster, simulated: python -m benchmarks.cluster_model [--rows 50000].

A real fit with one worker process is recorded, exchange by exchange: what its shard took, what the client took between
two of them, and the bytes. The simulation replays these with any number of workers, rows, latency and bandwidth: shards
have their share of the rows, the client does what it did, messages go out one after the other and sums come back in a
tree. It is checked against real fits with 1, 2 and 4 worker processes, and extrapolated.
"""

import argparse
import os
import time
import warnings
from typing import NamedTuple

import numpy as np

from infovec import IVMClassifier

from .rows import make

SETTINGS = {"n_active": 300, "random_state": 0, "learn": None}


class Exchange(NamedTuple):
    """One question to all shards."""

    method: str
    seconds: float  # until the answer of the only shard
    client: float  # seconds before it
    out: int  # bytes to a shard
    back: int  # bytes from it
    rows: int  # of the shard


def record(X, y, workers):
    """Fit on so many worker processes; return seconds and the exchanges."""
    import dask.array as da
    from distributed import Client, LocalCluster

    from infovec.shards import cluster as remote

    exchanges, last, ask, add = [], [time.perf_counter()], remote.ClusterStore.ask, remote.ClusterStore.add

    def noted(verb):
        def each(self, shards, method, args):
            begin = time.perf_counter()
            before = len(self.traffic)
            answer = verb(self, shards, method, args)
            if len(self.traffic) == before + 1 and (verb is add or workers > 1 or method):
                _, out, back = self.traffic[-1]
                exchanges.append(Exchange(method, time.perf_counter() - begin, begin - last[0], out // len(shards),
                                          back // (len(shards) if verb is ask else 1), self.n))  # fmt: skip
                last[0] = time.perf_counter()
            return answer

        return each

    with LocalCluster(workers, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        dX = da.from_array(X, chunks=(-(-len(X) // (2 * workers)), -1)).persist()
        remote.ClusterStore.ask = noted(ask)
        start = last[0] = time.perf_counter()
        try:
            IVMClassifier(**SETTINGS).fit(dX, y)
        finally:
            remote.ClusterStore.ask, remote.ClusterStore.add = ask, add
        return time.perf_counter() - start, exchanges


def simulate(exchanges, whole, workers, rows=None, cores=None, latency=1e-3, bandwidth=1e9):
    """Seconds of a fit: what was recorded, with other workers, rows and network.

    Parameters
    ----------
    exchanges : of one worker
    whole : float
        Seconds of the recorded fit; those outside of exchanges stay, in proportion to the rows.
    workers : int
    rows : int, optional
    cores : int, optional
        That workers share; as many as there are workers unless given.
    latency, bandwidth : float
        Beyond what was there when it was recorded.
    """
    known = exchanges[0].rows
    scale = (rows or known) / known
    busy = min(workers, cores or workers)
    total = (whole - sum(e.seconds + e.client for e in exchanges)) * scale
    for e in exchanges:
        depth = np.ceil(np.log2(workers)) if workers > 1 else 0.0
        arriving = workers * e.out / bandwidth + max(depth, 1.0) * e.back / bandwidth
        total += e.client + e.seconds * scale / busy + (1.0 + depth) * latency + arriving
    return total


def main():
    """Compare with real fits, and extrapolate."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    n = parser.parse_args().rows
    warnings.simplefilter("ignore")
    X, y = make(0, n)
    seconds, exchanges = record(X, y, 1)
    print(f"{n} rows, d = 300, {len(exchanges)} exchanges, "
          f"{sum(e.out + e.back for e in exchanges) / 1e6:.1f} MB to and from a worker")  # fmt: skip
    print("workers  measured s  simulated s")
    for workers in (1, 2, 4):
        real = seconds if workers == 1 else record(X, y, workers)[0]
        guess = simulate(exchanges, seconds, workers, cores=os.cpu_count(), latency=0.0)
        print(f"{workers:7d}  {real:10.1f}  {guess:11.1f}", flush=True)
    for rows, workers in ((10**8, 10), (10**9, 100)):
        guess = simulate(exchanges, seconds, workers, rows, latency=1e-3, bandwidth=1.25e9)
        print(f"{rows:.0e} rows on {workers} machines of one core each: {guess / 3600:.1f} hours; "
              f"{guess / 16 / 3600:.2f} with 16 cores each, if they are as fast")  # fmt: skip


if __name__ == "__main__":
    main()
