"""
A large set: the plan, and a cap on memory
==========================================

30000 rows of kin40k, the dynamics of a robot arm. ``plan`` says what a fit will take before it starts. ``max_memory``
is kept by considering fewer rows as selection goes on, and by making projections anew instead of keeping them. Needs
``kin40k.npz`` in the folder ``$INFOVEC_DATA``.
"""

import os
import time
from pathlib import Path

import numpy as np

from infovec import IVMRegressor
from infovec.kernels import RBF
from infovec.likelihoods import Gaussian

path = Path(os.environ.get("INFOVEC_DATA", "")) / "kin40k.npz"
if not path.is_file():
    raise SystemExit("this example needs kin40k.npz in the folder that the variable INFOVEC_DATA names")
data = np.load(path)
X, y = data["X_test"], data["y_test"]  # the larger part
Z, t = data["X_train"], data["y_train"]

# %%
# Kernel and noise are given; learning them takes a multiple of this, on at most 10000 of the rows.

print(f"{'max_memory':10s} {'planned':>18s} {'taken':>8s} {'rms error':>10s}")
for cap in ("2GB", "60MB", "40MB"):
    model = IVMRegressor(
        kernel=RBF(2.0, 1.5), likelihood=Gaussian(0.01), n_active=300, learn=None, max_memory=cap, random_state=0
    )
    plan = model.plan(X, y)
    start = time.perf_counter()
    model.fit(X, y)
    seconds, error = time.perf_counter() - start, np.sqrt(np.mean((model.predict(Z) - t) ** 2))
    print(f"{cap:10s} {plan.seconds:5.1f} s, {plan.memory / 1e6:5.0f} MB {seconds:6.1f} s {error:10.4f}")

# %%
# The plan in words:

print(plan)
