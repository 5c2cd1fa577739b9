"""
Four ways of inference
======================

With few rows all of them can be kept. The same model and kernel by a variational bound, expectation propagation,
Laplace's approximation, and a Gibbs sampler that is exact but for its Monte Carlo errors: the probability of the first
of three classes along a line, each learned from 40 rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from infovec import GPClassifier
from infovec.kernels import RBF

rng = np.random.default_rng(0)
x = rng.uniform(-3, 3, 40)[:, None]
y = np.digitize(x[:, 0] + 0.4 * rng.normal(size=40), [-1.0, 1.0])
grid = np.linspace(-4, 4, 120)[:, None]
kernel = RBF(1.0, variance=4.0)

# %%
# The sampler says how far its averages may be off.

gibbs = GPClassifier(kernel, "gibbs", learn=None, n_samples=4000, random_state=0).fit(x, y)
truth, error = gibbs.predict_proba(grid, return_error=True)

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.fill_between(grid[:, 0], *(truth[:, 0] + k * error[:, 0] for k in (-2, 2)), color="0.8", label="gibbs, two errors")
print(f"{'':12s} log evidence  largest difference from the sampler")
for inference in ("variational", "ep", "laplace"):
    model = GPClassifier(kernel, inference, learn=None, likelihood="probit").fit(x, y)
    proba = model.predict_proba(grid)
    ax.plot(grid, proba[:, 0], label=inference)
    print(f"{inference:12s} {model.log_evidence_:12.2f}  {np.abs(proba - truth).max():.3f}")
print(
    f"{'gibbs':12s} {gibbs.log_evidence_:12.2f}  ({gibbs.diagnostics_['evidence_error']:.2f} the error of the evidence)"
)
ax.plot(x, np.where(y == 0, 1.02, -0.02), "k|")
ax.set(xlabel="x", ylabel="probability of the first class")
ax.legend(frameon=False)
plt.show()
