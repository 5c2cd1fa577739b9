"""
Ordered grades
==============

The progression of diabetes in five grades, on a curve: a tenth of the patients in the lowest and in the highest, a
fifth next to them, the others in the middle. An ordinal model has one function and four cut points. It is compared with
a regression on the numbers of the grades, which takes all steps to be of one size, and with the frequencies of grades
alone. Where steps are of one size, as in bins of equal length, the regression is as good.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm
from sklearn.datasets import load_diabetes
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold

from infovec import IVMOrdinalClassifier, IVMRegressor

X, y = load_diabetes(return_X_y=True)
grade = np.digitize(y, np.quantile(y, [0.1, 0.3, 0.7, 0.9]))

# %%
# Probabilities for patients that were not seen, in three folds. The regression has one for each grade, too: that its
# target rounds to it.

proba = {name: np.empty((len(y), 5)) for name in ("ordinal", "regression", "frequencies")}
for train, test in KFold(3, shuffle=True, random_state=0).split(X):
    ordinal = IVMOrdinalClassifier(n_active=40, random_state=0).fit(X[train], grade[train])
    proba["ordinal"][test] = ordinal.predict_proba(X[test])
    real = IVMRegressor(n_active=40, random_state=0).fit(X[train], grade[train].astype(float))
    mean, std = (part[:, None] for part in real.predict(X[test], return_std=True))
    proba["regression"][test] = np.diff(norm.cdf(([-np.inf, 0.5, 1.5, 2.5, 3.5, np.inf] - mean) / std))
    proba["frequencies"][test] = np.bincount(grade[train]) / len(train)

print(f"{'':12s} {'log loss':>9s} {'error %':>8s} {'mean distance of grades':>24s}")
for name, p in proba.items():
    best = p.argmax(axis=1)
    figures = log_loss(grade, p), 100 * np.mean(best != grade), np.mean(np.abs(best - grade))
    print(f"{name:12s} {figures[0]:9.3f} {figures[1]:8.1f} {figures[2]:24.2f}")

# %%
# The learned cut points, and the probability of each grade between them.

f = np.linspace(ordinal.likelihood_.thresholds[0] - 3, ordinal.likelihood_.thresholds[-1] + 3, 300)
curves = np.exp(ordinal.likelihood_.log_proba(f, np.full(len(f), 1e-9)))
fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
for k, line in enumerate(curves.T):
    ax.plot(f, line, color=plt.get_cmap("viridis")(0.9 * k / 4), label=f"grade {k}")
for cut in ordinal.likelihood_.thresholds:
    ax.axvline(cut, color="0.7", linewidth=0.8, zorder=0)
ax.set(xlabel="latent function", ylabel="probability", ylim=(0, 1.02))
ax.legend(frameon=False, ncols=5, loc="lower center", bbox_to_anchor=(0.5, 1.0))
plt.show()
