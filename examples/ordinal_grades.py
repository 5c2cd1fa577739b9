"""
Ordered grades
==============

The progression of diabetes in five grades, on a curve: a tenth of the patients in the lowest and in the highest, a fifth
next to them, the others in the middle. An ordinal model has one function and four cut points. It is compared with a
regression on the numbers of the grades, which takes all steps to be of one size, and with the frequencies of the grades
alone. Where steps are of one size, as in bins of equal length, the regression is as good.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from infovec import IVMOrdinalClassifier, IVMRegressor

X, y = load_diabetes(return_X_y=True)
grade = np.digitize(y, np.quantile(y, [0.1, 0.3, 0.7, 0.9]))
X, Z, g, t = train_test_split(X, grade, test_size=0.4, random_state=0)

ordinal = IVMOrdinalClassifier(n_active=40, random_state=0).fit(X, g)
real = IVMRegressor(n_active=40, random_state=0).fit(X, g.astype(float))

# %%
# The regression has a probability for each grade, too: that its target rounds to it.

mean, std = real.predict(Z, return_std=True)
edges = norm.cdf((np.array([-np.inf, 0.5, 1.5, 2.5, 3.5, np.inf]) - mean[:, None]) / std[:, None])
frequencies = np.tile(np.bincount(g) / len(g), (len(t), 1))
rows = {"ordinal": ordinal.predict_proba(Z), "regression": np.diff(edges), "frequencies": frequencies}
print(f"{'':12s} {'log loss':>9s} {'error %':>8s} {'mean distance of grades':>24s}")
for name, p in rows.items():
    loss, best = -np.mean(np.log(p[np.arange(len(t)), t])), p.argmax(axis=1)
    print(f"{name:12s} {loss:9.3f} {100 * np.mean(best != t):8.1f} {np.mean(np.abs(best - t)):24.2f}")

# %%
# The learned cut points, and the probability of each grade between them.

f = np.linspace(ordinal.likelihood_.thresholds[0] - 3, ordinal.likelihood_.thresholds[-1] + 3, 300)
proba = np.exp(ordinal.likelihood_.log_proba(f, np.full(len(f), 1e-9)))
fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
for k, line in enumerate(proba.T):
    ax.plot(f, line, color=plt.get_cmap("viridis")(0.9 * k / 4), label=f"grade {k}")
for cut in ordinal.likelihood_.thresholds:
    ax.axvline(cut, color="0.7", linewidth=0.8, zorder=0)
ax.set(xlabel="latent function", ylabel="probability", ylim=(0, 1.02))
ax.legend(frameon=False, ncols=5, loc="lower center", bbox_to_anchor=(0.5, 1.0))
plt.show()
