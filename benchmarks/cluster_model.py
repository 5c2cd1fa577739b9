"""A fit on a cluster, simulated: python -m benchmarks.cluster_model [--rows 400000].

Real fits with one worker process, to a quarter of the rows and to all of them, are recorded exchange by exchange:
what the shard took, what the client took between two exchanges, and the bytes. Of each kind of exchange one part of
the seconds grows with the rows of a shard and one does not; of what the client does, one with all rows. The
simulation replays the exchanges with any number of workers, rows, latency and bandwidth: shards have their share of
the rows, messages go out one after the other and sums come back in a tree. Workers on the cores of one machine slow
each other down, by as much as processes do that multiply matrices at the same time. It is checked against real fits
with 1, 2 and 4 worker processes, and extrapolated.
"""

import argparse
import multiprocessing
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


class Fit(NamedTuple):
    """A recorded fit."""

    rows: int
    seconds: float
    exchanges: list[Exchange]


def record(X, y, workers):
    """Fit on so many worker processes."""
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    from infovec.shards import cluster as remote

    exchanges, ask = [], remote.ClusterStore.ask

    def noted(self, shards, method, args):
        begin = time.perf_counter()
        answers = ask(self, shards, method, args)
        end, (_, out, back) = time.perf_counter(), self.traffic[-1]
        exchanges.append(Exchange(method, end - begin, begin - last[0], out // len(shards), back // len(shards)))
        last[0] = end
        return answers

    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as c:
        dX = da.from_array(X, chunks=(-(-len(X) // (2 * workers)), -1)).persist()
        wait(dX)
        c.rebalance()
        start, last, remote.ClusterStore.ask = time.perf_counter(), [time.perf_counter()], noted
        try:
            IVMClassifier(**SETTINGS).fit(dX, y)
        finally:
            remote.ClusterStore.ask = ask
        return Fit(len(X), time.perf_counter() - start, exchanges)


def outside(fit):
    """Seconds that belong to no exchange."""
    return fit.seconds - sum(e.seconds + e.client for e in fit.exchanges)


def fixed_shares(few, many):
    """Share of the seconds of each kind of exchange that does not grow with the rows; its own, and the client's."""
    shares = {"outside": fixed_share(few, many, outside(few), outside(many))}
    for method in {e.method for e in many.exchanges}:
        for side in ("seconds", "client"):
            small, large = (
                np.median([getattr(e, side) for e in fit.exchanges if e.method == method] or [0.0])
                for fit in (few, many)
            )
            shares[method, side] = fixed_share(few, many, small, large)
    return shares


def fixed_share(few, many, small, large):
    """Share of the larger number of seconds that does not grow with the rows."""
    slope = max(large - small, 0.0) / (many.rows - few.rows)
    return max(1.0 - slope * many.rows / large, 0.0) if large > 0.0 else 1.0


def busy_seconds(number):
    """Seconds of products like those of a shard; the number is that of the process."""
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng(number)
    V, X = rng.random((4096, 300), dtype=np.float32), rng.random((4096, 20), dtype=np.float32)
    with threadpool_limits(1):
        start = time.perf_counter()
        for _ in range(100):
            np.exp(-(X @ X[:300].T))
            V.T @ V
    return time.perf_counter() - start


def crowding(cores):
    """How many times longer a process takes while all cores are busy."""
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        alone, together = [], []
        for _ in range(5):
            alone.append(pool.map(busy_seconds, [0], chunksize=1)[0])
            together.append(float(np.mean(pool.map(busy_seconds, range(cores), chunksize=1))))
    return max(float(np.median(together) / np.median(alone)), 1.0)


def simulate(fit, shares, workers, rows=None, cores=None, latency=0.0, bandwidth=1e9, crowd=1.0):
    """Seconds of a fit: what was recorded, with other workers, rows and network.

    Parameters
    ----------
    fit : Fit
        With one worker.
    shares : dict
        Of ``fixed_shares``.
    workers : int
    rows : int, optional
    cores : int, optional
        That workers share; as many as there are workers unless given.
    latency, bandwidth : float
        Beyond what was there when it was recorded.
    crowd : float
        How many times longer a worker takes beside others on the same machine.
    """
    busy = min(workers, cores or workers)
    more = (rows or fit.rows) / fit.rows
    grown = {"seconds": more / busy * (crowd if busy > 1 else 1.0), "client": more}
    hop = float(np.median([e.seconds for e in fit.exchanges if e.method == "traits"])) + latency
    depth = np.ceil(np.log2(workers)) if workers > 2 else 0.0
    total = outside(fit) * (shares["outside"] + (1.0 - shares["outside"]) * more)
    for e in fit.exchanges:
        for side in ("seconds", "client"):
            fixed = shares[e.method, side]
            total += getattr(e, side) * (fixed + (1.0 - fixed) * grown[side])
        total += latency + depth * hop + (workers * e.out + max(depth, 1.0) * e.back) / bandwidth
    return total


def main():
    """Compare with real fits, and extrapolate."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=400_000)
    n = parser.parse_args().rows
    warnings.simplefilter("ignore")
    X, y = make(0, n)
    few, many = record(X[: n // 4], y[: n // 4], 1), record(X, y, 1)
    shares = fixed_shares(few, many)
    print(f"{n} rows, d = 300, {len(many.exchanges)} exchanges, "
          f"{sum(e.out + e.back for e in many.exchanges) / 1e6:.1f} MB to and from a worker")  # fmt: skip
    cores = os.cpu_count() or 1
    crowd = crowding(cores)
    print(f"a process takes {crowd:.2f} times as long while all {cores} cores are busy")
    print("workers  measured s (three fits)  simulated s")
    for workers in (1, 2, 4):
        real = " ".join(f"{record(X, y, workers).seconds:7.1f}" for _ in range(3))
        guess = simulate(many, shares, workers, cores=cores, crowd=crowd)
        print(f"{workers:7d}  {real}  {guess:11.1f}", flush=True)
    for rows, workers in ((10**8, 10), (10**9, 100)):
        guess = simulate(many, shares, workers, rows, latency=1e-3, bandwidth=1.25e9)
        print(f"{rows:.0e} rows on {workers} machines of one core each: {guess / 3600:.2f} hours; "
              f"{guess / 16 / 3600:.2f} with 16 cores each, if they are as fast")  # fmt: skip


if __name__ == "__main__":
    main()
