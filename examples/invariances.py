"""
Digits that may be moved
========================

A digit is the same digit one pixel to the left. After the fit the images of the active rows enter, moved by a pixel
each way, and the active set is selected again from rows and images.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss

from infovec import IVMClassifier
from infovec.invariances import Shifts
from infovec.kernels import RBF

X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(y))
train, test = order[:400], order[400:]
settings = {"kernel": RBF(30.0, 100.0), "learn": None, "n_active": 150, "random_state": 0}

models = {}
for name, functions in (("as they are", None), ("moved by a pixel", Shifts((8, 8)))):
    models[name] = IVMClassifier(**settings, invariances=functions).fit(X[train], y[train])
    proba = models[name].predict_proba(X[test])
    print(f"{name:18s} error {100 * (1 - models[name].score(X[test], y[test])):.1f} %", end="  ")
    print(f"log loss {log_loss(y[test], proba):.3f}")

# %%
# Rows that became active, and some of the images of others that did, with the training row that each comes from.

model = models["moved by a pixel"]
some = np.concatenate([np.flatnonzero(model.virtual_ == kind)[:10] for kind in (False, True)])
fig, axes = plt.subplots(2, 10, figsize=(9, 2.4), layout="constrained")
for ax, k in zip(axes.ravel(), some, strict=True):
    ax.imshow(model.active_vectors_[k].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"{'image of ' if model.virtual_[k] else ''}{model.active_[k]}", fontsize=7)
    ax.set(xticks=[], yticks=[])
plt.show()
