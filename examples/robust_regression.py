"""
Regression that stands mistakes
===============================

The diabetes set again, all ten columns, after somebody mistyped one target in twenty: its decimal point is a place too
far to the right. Gaussian noise has to believe such rows; Student's t noise lets them go.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from infovec import IVMRegressor

X, Z, y, t = train_test_split(*load_diabetes(return_X_y=True), test_size=0.4, random_state=0)
wrong = np.random.default_rng(0).random(len(y)) < 0.05
mistyped = np.where(wrong, 10 * y, y)

# %%
# The test targets are as they were measured.

predicted = {}
print(f"{'trained on':12s} {'noise':10s} {'mean absolute error':>20s} {'mean log density':>17s}")
for data, targets in (("clean", y), ("mistyped", mistyped)):
    for noise in ("gaussian", "student_t"):
        model = IVMRegressor(likelihood=noise, n_active=40, random_state=0).fit(X, targets)
        predicted[data, noise] = model.predict(Z)
        density = model.log_density(Z, t).mean()
        print(f"{data:12s} {noise:10s} {np.mean(np.abs(predicted[data, noise] - t)):20.1f} {density:17.2f}")

# %%
# Mistakes pull the predictions of the Gaussian model up.

fig, axes = plt.subplots(1, 2, figsize=(8.8, 4.2), layout="constrained", sharex=True, sharey=True)
for ax, noise in zip(axes, ("gaussian", "student_t"), strict=True):
    ax.plot(t, predicted["mistyped", noise], ".", color="#1565c0", alpha=0.7)
    ax.plot([0, 350], [0, 350], color="0.6", zorder=0)
    ax.set(title=noise, xlabel="measured")
axes[0].set_ylabel("predicted after training on mistyped targets")
plt.show()
