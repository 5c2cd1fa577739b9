"""
Rows without label
==================

Six labels for two crescents, and 294 rows without one. With ``likelihood="null_category"`` the boundary keeps away from
all rows: it goes where there are none. Whether that helps is checked by labels left out, and said.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from infovec import IVMClassifier

X, truth = make_moons(300, noise=0.1, random_state=1)
rng, y = np.random.default_rng(1), np.full(300, -1)
for c in (0, 1):
    y[rng.permutation(np.flatnonzero(truth == c))[:3]] = c
known = y >= 0

alone = IVMClassifier(random_state=0).fit(X[known], y[known])
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # rows go on taking sides for long
    model = IVMClassifier(likelihood="null_category", n_active=100, random_state=0).fit(X, y)
for name, one in (("labelled rows alone", alone), ("with the others", model)):
    print(f"{name:20s} error {100 * (1 - one.score(X, truth)):4.1f} %")
print(f"log loss of labels left out: {model.unlabelled_['supervised_loss']:.2f} alone,", end=" ")
print(f"{model.unlabelled_['loss']:.2f} with the others")

# %%
# The colours are the probability of one class, the line is the boundary.

across, up = np.meshgrid(np.linspace(-1.5, 2.5, 80), np.linspace(-1.0, 1.5, 60))
grid = np.column_stack([across.ravel(), up.ravel()])
fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
for ax, one, title in zip(axes, (alone, model), ("6 labelled rows", "and 294 without label"), strict=True):
    proba = one.predict_proba(grid)[:, 1].reshape(across.shape)
    ax.contourf(across, up, proba, levels=np.linspace(0, 1, 11), cmap="RdBu", alpha=0.5)
    ax.contour(across, up, proba, levels=[0.5], colors="k", linewidths=1.5)
    ax.plot(*X[~known].T, ".", color="0.45", markersize=3)
    for c, color in ((0, "#b2182b"), (1, "#2166ac")):
        ax.plot(*X[y == c].T, "o", color=color, markeredgecolor="k", markersize=8)
    ax.set(title=f"{title}: error {100 * (1 - one.score(X, truth)):.1f} %", xticks=[], yticks=[])
plt.show()
