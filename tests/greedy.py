"""Model files that cost a few bytes to declare and much to load; ``python tests/greedy.py FOLDER`` loads each.

Prints, as JSON, the size of every file, the most memory that loading it took, the seconds, and what came of it.
"""

import io
import json
import os
import resource
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from hostile import members, pack
from scipy import sparse

import infovec
from infovec.errors import InfovecError
from infovec.kernels import RBF, Bias


def models(folder):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y, common = np.sin(X[:, 0]), {"n_active": 20, "random_state": 0, "learn": None, "kernel": RBF(2.0) + Bias()}
    infovec.IVMRegressor(**common).fit(X, y).save(folder / "dense.ivm")
    thin = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    infovec.IVMRegressor(**common).fit(thin, y).save(folder / "thin.ivm")
    many = sum([RBF(100.0 + i) for i in range(120)], Bias())
    wide = np.hstack([X] * 2500)
    infovec.IVMRegressor(**{**common, "kernel": many}).fit(wide[:24], y[:24]).save(folder / "wide.ivm")
    infovec.IVMClassifier(multi_class="probit", **common).fit(X, np.digitize(y, [-0.5, 0.5])).save(folder / "three.ivm")


def fitted(tree):
    return tree["model"]["fields"]["model"]["fields"]["fitted"]["items"]


def kernels(tree):
    """Where the kernel of the model stands, twice."""
    return [(fitted(tree), "kernel_"), (fitted(tree)["posterior_"]["fields"], "kernel")]


def npy(parts, name, array):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=(1, 0))
    parts[name] = out.getvalue()
    shape = list(array.shape)
    return {"kind": "array", "member": name, "dtype": array.dtype.str, "shape": shape, "order": "C"}


def columns(parts, tree):
    for place in (fitted(tree), fitted(tree)["posterior_"]["fields"], tree["model"]["fields"]):
        for value in place.values():
            if isinstance(value, dict) and value.get("kind") == "csr":
                value["shape"][1] = 2 * 10**8
    fitted(tree)["n_features_in_"] = 2 * 10**8


def chain(n, length_scale=1.0):
    kernel = {"kind": "object", "class": "RBF", "fields": {"length_scale": length_scale, "variance": 1.0}}
    found = [kernel] * n
    while len(found) > 1:
        pairs = [found[i : i + 2] for i in range(0, len(found), 2)]
        found = [
            p[0] if len(p) == 1 else {"kind": "object", "class": "Sum", "fields": {"left": p[0], "right": p[1]}}
            for p in pairs
        ]
    return found[0]


def sum_of_kernels(parts, tree):
    for holder, name in kernels(tree):
        holder[name] = chain(8_000)


def many_kernels_that_are_right(parts, tree):
    """Nothing is altered: all parts look at inputs of many columns."""


def one_array_many_times(parts, tree):
    scales = npy(parts, "arrays/700.npy", np.ones(100_000))
    for holder, name in kernels(tree):
        holder[name] = chain(200, scales)


def keys(parts, tree):
    tree["extra"]["items"] = {f"{i:x}": 1 for i in range(500_000)}


def texts(parts, tree):
    tree["extra"]["items"] = {"a": [f"{i % 1000:03d}" for i in range(1_000_000)]}


def lists(parts, tree):
    tree["extra"]["items"] = {"a": [[[]]] * 60_000}


def numbers(parts, tree):
    tree["extra"]["items"] = {"a": [0.5] * 1_000_000}


def classes(parts, tree):
    C = 200_000
    posterior, three = fitted(tree)["posterior_"]["fields"], fitted(tree)
    X = npy(parts, "arrays/700.npy", np.zeros((1, 4)))
    posterior["X"] = three["active_vectors_"] = tree["model"]["fields"]["inputs"] = X
    posterior["L"] = npy(parts, "arrays/701.npy", np.ones((1, 1)))
    posterior["Q"] = npy(parts, "arrays/702.npy", np.full((C, 1, 1), 2.0))
    posterior["beta"] = npy(parts, "arrays/703.npy", np.zeros((C, 1)))
    three["classes_"], three["n_classes_"] = npy(parts, "arrays/704.npy", np.arange(C)), C
    three["likelihood_"]["fields"]["bias"] = npy(parts, "arrays/705.npy", np.zeros(C))


def strange_members(parts, tree):
    for i in range(20_000):
        parts[f"arrays/{1000 + i}.npy"] = b""


GREEDY = {
    columns: "thin", sum_of_kernels: "dense", many_kernels_that_are_right: "wide", one_array_many_times: "dense",
    keys: "dense", texts: "dense", lists: "dense", numbers: "dense", classes: "three", strange_members: "dense",
}  # fmt: skip


def write(folder):
    models(folder)
    for make, base in GREEDY.items():
        parts = members((folder / f"{base}.ivm").read_bytes())
        tree = json.loads(parts["model.json"])
        make(parts, tree)
        parts["model.json"] = json.dumps(tree).encode()
        used = parts["model.json"].decode()
        keep = {n: t for n, t in parts.items() if not n.startswith("arrays/") or f'"{n}"' in used or not t}
        (folder / f"{make.__name__}.ivm").write_bytes(pack(keep))


def measure(path):
    """Load a file in a process of its own."""
    start = time.perf_counter()
    child = os.fork()
    if child == 0:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                infovec.load(path)
            said = "loaded"
        except InfovecError as error:
            said = f"rejected: {error}"
        except BaseException as error:
            said = f"raised {type(error).__name__}: {error}"
        took = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        Path(f"{path}.said").write_text(json.dumps([took, said[:300]]))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    took, said = json.loads(Path(f"{path}.said").read_text()) if status == 0 else (0, f"died: {status}")
    return {"size": os.path.getsize(path), "took": took, "seconds": time.perf_counter() - start, "said": said}


def main(folder):
    folder = Path(folder)
    pid = os.fork()  # what making them takes is not to be counted
    if pid == 0:
        write(folder)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    infovec.load(folder / "dense.ivm")  # and what is imported first
    infovec.load(folder / "thin.ivm")
    infovec.load(folder / "three.ivm")
    return {make.__name__: measure(folder / f"{make.__name__}.ivm") for make in GREEDY}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
