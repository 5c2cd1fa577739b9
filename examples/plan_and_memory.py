"""
A large set: the plan, and a cap on memory
==========================================

30000 rows of a smooth function of five columns among ten. ``plan`` says what a fit will take before it starts.
``max_memory`` is kept by considering fewer rows as selection goes on, and by making projections anew instead of keeping
them.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1

from infovec import IVMRegressor
from infovec.kernels import RBF, Bias
from infovec.likelihoods import Gaussian

X, y = make_friedman1(33_000, n_features=10, noise=1.0, random_state=0)
X, Z, y, t = X[:30_000], X[30_000:], y[:30_000], y[30_000:]

# %%
# Kernel and noise are given; learning them takes a multiple of this, on at most 10000 of the rows.

scales = np.array([0.7] * 5 + [5.0] * 5)
caps, planned, errors = ("2GB", "60MB", "40MB"), [], []
print(f"{'max_memory':10s} {'planned':>18s} {'taken':>8s} {'rms error':>10s}")
for cap in caps:
    model = IVMRegressor(
        kernel=RBF(scales, 40.0) + Bias(200.0), likelihood=Gaussian(1.0), n_active=300, learn=None, max_memory=cap,
        random_state=0,
    )  # fmt: skip
    plan = model.plan(X, y)
    start = time.perf_counter()
    model.fit(X, y)
    seconds, error = time.perf_counter() - start, np.sqrt(np.mean((model.predict(Z) - t) ** 2))
    planned.append(plan.memory / 1e6)
    errors.append(error)
    print(f"{cap:10s} {plan.seconds:5.1f} s, {plan.memory / 1e6:5.0f} MB {seconds:6.1f} s {error:10.4f}")

# %%
# Less memory costs time and next to nothing else: the noise has a deviation of one.

fig, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.2), layout="constrained")
left.bar(caps, planned, color="#1565c0", width=0.55)
left.set(title="memory that is planned", xlabel="max_memory", ylabel="MB")
right.bar(caps, errors, color="#2e7d32", width=0.55)
right.axhline(1.0, color="0.4", ls=":")
right.set(title="error of new rows", xlabel="max_memory", ylabel="root mean square", ylim=0)
plt.show()

# %%
# The plan in words:

print(plan)
