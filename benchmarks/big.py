"""A million rows, against other methods: python -m benchmarks.big [--rows 1000000] [--only NAME ...].

Log loss on 200 000 new rows, and seconds to fit, of the clock and of all threads together, all with two threads in one
run. HIGGS-like synthetic rows (``benchmarks.rows``). LightGBM and GPyTorch take part where they are installed.
``--out-of-core FOLDER`` fits infovec to a folder of Parquet files with ``--memory``, and prints the peak of the
process; ``--dask`` compares a fit in this process, with two threads, with one on two worker processes of one thread
each, in turn; ``--disk`` compares ways to have projections that do not fit into memory.
"""

import argparse
import resource
import time
import warnings
from importlib.util import find_spec

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from infovec import IVMClassifier
from infovec.datasets import ParquetRows

from .rows import make, write

D, NEW = 300, 200_000


def infovec(X, y):
    """The machine of this library."""
    return IVMClassifier(n_active=D, random_state=0, n_jobs=2).fit(X, y)


def boosting(X, y):
    """scikit-learn's gradient boosting."""
    return HistGradientBoostingClassifier(random_state=0).fit(X, y)


def lightgbm(X, y):
    """LightGBM with its defaults."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=2, verbose=-1, random_state=0).fit(X, y)


def nystroem(X, y):
    """As many basis functions, and a linear model by stochastic gradients."""
    sgd = SGDClassifier(loss="log_loss", alpha=1e-6, random_state=0)
    basis = Nystroem(gamma=1.0 / X.shape[1], n_components=D, random_state=0)
    return make_pipeline(StandardScaler(), basis, sgd).fit(X, y)


class SVGP:
    """GPyTorch's variational Gaussian process in minibatches, three epochs."""

    def fit(self, X, y):
        """Fit."""
        import gpytorch
        import torch

        torch.manual_seed(0)
        torch.set_num_threads(2)
        self.scaler = StandardScaler().fit(X)
        Z = torch.tensor(self.scaler.transform(X), dtype=torch.float32)
        t = torch.tensor(y, dtype=torch.float32)

        class Model(gpytorch.models.ApproximateGP):
            def __init__(self, inducing):
                q = gpytorch.variational.CholeskyVariationalDistribution(len(inducing))
                super().__init__(gpytorch.variational.VariationalStrategy(self, inducing, q))
                self.mean = gpytorch.means.ConstantMean()
                kernel = gpytorch.kernels.RBFKernel(ard_num_dims=inducing.shape[1])
                self.kernel = gpytorch.kernels.ScaleKernel(kernel)
                self.kernel.base_kernel.lengthscale = inducing.shape[1] ** 0.5

            def forward(self, x):
                return gpytorch.distributions.MultivariateNormal(self.mean(x), self.kernel(x))

        self.model, self.likelihood = Model(Z[:D].clone()), gpytorch.likelihoods.BernoulliLikelihood()
        bound = gpytorch.mlls.VariationalELBO(self.likelihood, self.model, len(y))
        optimiser = torch.optim.Adam(self.model.parameters(), lr=0.01)
        for _ in range(3):
            for at in torch.randperm(len(y)).split(1024):
                optimiser.zero_grad()
                (-bound(self.model(Z[at]), t[at])).backward()
                optimiser.step()
        return self

    def predict_proba(self, X):
        """Probabilities of both classes."""
        import torch

        self.model.eval()
        Z = torch.tensor(self.scaler.transform(X), dtype=torch.float32)
        with torch.no_grad():
            p = np.concatenate([self.likelihood(self.model(z)).mean.numpy() for z in Z.split(10000)])
        return np.column_stack([1.0 - p, p])


METHODS = {
    "infovec": infovec,
    "HistGradientBoosting": boosting,
    "LightGBM": lightgbm,
    "Nystroem + SGD": nystroem,
    "GPyTorch SVGP": lambda X, y: SVGP().fit(X, y),
}
NEEDED = {"LightGBM": "lightgbm", "GPyTorch SVGP": "gpytorch"}


def log_loss(model, X, y):
    """Mean log loss."""
    proba = np.clip(model.predict_proba(X)[np.arange(len(y)), y], 1e-15, 1.0)
    return float(-np.mean(np.log(proba)))


def compare(n, names):
    """Print a table of all methods."""
    X, y = make(0, n)
    new = make(0, NEW, seed=1)
    print(
        f"{n} rows, {X.shape[1]} columns\n| method | log loss | seconds | CPU seconds |\n|---|---|---|---|", flush=True
    )
    for name in names:
        if name in NEEDED and find_spec(NEEDED[name]) is None:
            print(f"| {name} | not installed | | |")
            continue
        start, before = time.perf_counter(), time.process_time()
        model = METHODS[name](X, y)
        seconds, cpu = time.perf_counter() - start, time.process_time() - before
        print(f"| {name} | {log_loss(model, *new):.4f} | {seconds:.1f} | {cpu:.1f} |", flush=True)


def out_of_core(folder, n, memory):
    """Fit to files larger than memory."""
    table = ParquetRows(write(folder, n), target="label")
    start = time.perf_counter()
    model = IVMClassifier(n_active=D, random_state=0, n_jobs=2, max_memory=memory).fit(table, table.column("label"))
    seconds, peak = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loss = log_loss(model, *make(0, NEW, seed=1))
    print(f"{n} rows from {folder} within {memory}: {seconds:.1f} s, {1e6 * seconds / n:.1f} us a row, "
          f"peak {peak:.0f} MB, log loss {loss:.4f}")  # fmt: skip
    start = time.perf_counter()
    model.predict(table)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"predictions of all rows: {time.perf_counter() - start:.1f} s, peak {peak:.0f} MB")


def dask(n, turns=2):
    """Fit here and on a cluster of this machine, in turn; say what goes over the network."""
    import dask.array as da
    from distributed import Client, LocalCluster

    from infovec.shards import cluster as remote

    X, y = make(0, n)
    seconds, models, stores, made = {"here": [], "two workers": []}, {}, [], remote.ClusterStore.__init__

    def init(self, *arguments):
        made(self, *arguments)
        stores.append(self)

    remote.ClusterStore.__init__ = init
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        dX = client.persist(da.from_array(X, chunks=(-(-n // 8), -1)))
        client.rebalance()
        for _ in range(turns):
            for side, rows in (("here", X), ("two workers", dX)):
                start = time.perf_counter()
                model = IVMClassifier(n_active=D, random_state=0, n_jobs=2).fit(rows, y)
                seconds[side].append(time.perf_counter() - start)
                models[side] = model
                print(f"{side}: {seconds[side][-1]:.1f} s, evidence {model.log_evidence_:.1f}", flush=True)
    median = {side: float(np.median(each)) for side, each in seconds.items()}
    print(f"{n} rows: {median['here']:.1f} s here, {median['two workers']:.1f} s on two workers, "
          f"{median['two workers'] / median['here']:.2f} times")  # fmt: skip
    new = make(0, NEW, seed=1)[0]
    apart = np.abs(np.subtract(*[model.predict_proba(new) for model in models.values()])).max()
    same = np.array_equal(*[model.active_ for model in models.values()])
    print(f"active rows {'the same' if same else 'differ'}, probabilities of {NEW} new rows within {apart:.1e}")
    log = stores[-1].traffic
    for method in ("candidates", "absorb", "sweep", "marginals"):
        sizes = [out + back for name, out, back in log if name == method]
        print(f"{method}: {len(sizes)} exchanges, {max(sizes, default=0) / 2e6:.3f} MB to and from a worker at most")


def disk(n=200_000):
    """Projections that do not fit into memory: made anew, or read from disk in half precision."""
    import tempfile

    from infovec.inference import make_basis
    from infovec.kernels import RBF
    from infovec.likelihoods import Probit
    from infovec.shards import ProjectedShard

    X, y = make(0, n)
    X = X.astype(np.float32)
    kernel = RBF(np.sqrt(X.shape[1]), 10.0)
    shard = ProjectedShard(np.arange(n), X, 2.0 * y - 1.0, kernel, Probit(), "float32", True, 0)
    shard.project(make_basis(kernel, np.arange(D), X[:D], "float32"))
    start = time.perf_counter()
    for chunk in shard.chunks:
        shard.features(chunk)
    anew = time.perf_counter() - start
    with tempfile.TemporaryFile() as file:
        for chunk in shard.chunks:
            shard.features(chunk).astype(np.float16).tofile(file)
        file.seek(0)
        start = time.perf_counter()
        for chunk in shard.chunks:
            np.fromfile(file, np.float16, (chunk.stop - chunk.start) * D).astype(np.float32)
        read = time.perf_counter() - start
    print(f"projections of {n} rows on {D}: made anew {anew:.2f} s, read in half precision {read:.2f} s (one thread, "
          "files in the cache of the system)")  # fmt: skip


def main():
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--out-of-core", metavar="FOLDER")
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--dask", action="store_true")
    parser.add_argument("--disk", action="store_true")
    arguments = parser.parse_args()
    if arguments.disk:
        disk()
    elif arguments.dask:
        dask(arguments.rows)
    elif arguments.out_of_core:
        out_of_core(arguments.out_of_core, arguments.rows, arguments.memory)
    else:
        compare(arguments.rows, arguments.only)


if __name__ == "__main__":
    main()
