"""
Which label to ask for next
===========================

Labels cost money, rows do not. A model of 12 labels of two moons asks for 30 more: rows whose label it expects to learn
most from, six at a time, and none of a batch tells what another one does. Beside it the same number of labels is
bought at random.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from infovec import IVMClassifier

X, y = make_moons(1500, noise=0.25, random_state=3)
X, y, Z, t = X[:750], y[:750], X[750:], y[750:]
first = np.concatenate([np.flatnonzero(y == c)[:6] for c in (0, 1)])

curves, asked = {}, first
for way in ("random", "information"):
    rng, known, curve = np.random.default_rng(0), first, []
    while True:
        model = IVMClassifier(random_state=0).fit(X[known], y[known])
        curve.append(model.score(Z, t))
        if len(known) == len(first) + 30:
            break
        others = np.setdiff1d(np.arange(len(X)), known)
        new = rng.permutation(len(others))[:6] if way == "random" else model.suggest(X[others], 6)
        known = np.append(known, others[new])
    curves[way], asked = curve, known
    print(f"{way:12s} accuracy with 12, 18, ... labels:", *(f"{a:.3f}" for a in curve))

# %%
# What the last model would learn from a label, everywhere, and which labels it has asked for.

fig, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.0), layout="constrained")
u, v = np.meshgrid(np.linspace(-2, 3, 120), np.linspace(-1.6, 2.1, 100))
grid = np.column_stack([u.ravel(), v.ravel()])
shade = left.contourf(u, v, model.score_candidates(grid).reshape(u.shape), levels=12, cmap="Blues")
left.contour(u, v, model.predict_proba(grid)[:, 1].reshape(u.shape), levels=[0.5], colors="0.2", linewidths=1.2)
left.scatter(*X.T, s=3, color="0.6", linewidths=0)
for c, marker in ((0, "o"), (1, "s")):
    bought = asked[len(first) :]
    left.scatter(*X[bought[y[bought] == c]].T, marker=marker, s=28, color="#c62828", edgecolors="white", linewidths=0.5)
    left.scatter(*X[first[y[first] == c]].T, marker=marker, s=28, color="black", edgecolors="white", linewidths=0.5)
left.set(title="black: first labels, red: asked for")
fig.colorbar(shade, ax=left, label="expected information, nats")
for way, color in (("random", "0.5"), ("information", "#c62828")):
    right.plot(12 + 6 * np.arange(6), curves[way], "o-", color=color, label=way)
right.set(xlabel="labels", ylabel="accuracy of test rows")
right.legend(frameon=False, loc="lower right")
plt.show()
