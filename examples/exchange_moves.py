"""
Exchanging active rows
======================

Greedy selection goes after surprise, and where labels are noisy the most surprising rows are the mislabelled ones. The
factorised posterior believes them: all it knows are the labels of its active rows. Exchange moves give such a row away
for another one whenever that raises the evidence of all rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.metrics import log_loss

from infovec import IVMClassifier

X, y = make_moons(600, noise=0.25, random_state=0)
rng = np.random.default_rng(0)
noisy = np.where(rng.random(600) < 0.1, 1 - y, y)  # every tenth label is wrong
Z, t = make_moons(2000, noise=0.25, random_state=1)
t = np.where(rng.random(2000) < 0.1, 1 - t, t)

# %%
# Both have the same kernel, learned for the first; ``refine=None`` is the machine of the papers.

plain = IVMClassifier(approximation="factorised", n_active=25, refine=None, random_state=0).fit(X, noisy)
settings = plain.get_params() | {"kernel": plain.kernel_, "likelihood": plain.likelihood_, "learn": None}
exchanged = IVMClassifier(**settings | {"refine": "exchange"}).fit(X, noisy)

fig, axes = plt.subplots(1, 2, figsize=(9.6, 4.0), layout="constrained", sharex=True, sharey=True)
grid = np.stack(np.meshgrid(np.linspace(-2.0, 3.0, 120), np.linspace(-1.6, 2.1, 100)), axis=-1)
for ax, (name, model) in zip(axes, {"as selected": plain, "exchanged": exchanged}.items(), strict=True):
    proba = model.predict_proba(grid.reshape(-1, 2))[:, 1].reshape(grid.shape[:2])
    ax.contourf(grid[..., 0], grid[..., 1], proba, np.linspace(0.0, 1.0, 11), cmap="RdBu_r", alpha=0.5)
    ax.contour(grid[..., 0], grid[..., 1], proba, [0.5], colors="k", linewidths=1.2)
    for label, colour in ((0, "#1565c0"), (1, "#c62828")):
        ax.plot(*X[noisy == label].T, ".", color=colour, ms=3)
        ax.plot(*X[model.active_][noisy[model.active_] == label].T, "o", color=colour, mec="k", ms=7)
    wrong = np.mean(noisy[model.active_] != y[model.active_])
    ax.set_title(f"{name}: {100 * wrong:.0f} % of the active labels are wrong")
plt.show()

# %%
# The evidence never falls; ``history_`` has every move.

for name, model in {"as selected": plain, "exchanged": exchanged}.items():
    proba = model.predict_proba(Z)
    error = np.mean(model.predict(Z) != t)
    print(f"{name:11s} log evidence {model.log_evidence_:7.1f}, error {error:.3f}, log loss {log_loss(t, proba):.3f}")
print(f"{len(exchanged.history_['exchange_gain'])} moves")
