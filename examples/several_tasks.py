"""
Several tasks
=============

Three sensors see the same thing, each in its own way, and one of them was off for a while. With ``Tasks`` the sensors
share what kind of function to expect, and nothing else. With ``Coregion`` it is learned how much they have in common:
two that agree fill each other's gaps, and so does one that sees everything the other way round.
"""

import matplotlib.pyplot as plt
import numpy as np

from infovec import IVMRegressor
from infovec.kernels import RBF, Coregion, Tasks

rng = np.random.default_rng(1)
time = np.sort(rng.uniform(0.0, 20.0, size=(150, 1)), axis=0)
sensor = rng.choice(["attic", "cellar", "garden"], size=150)
swing = np.sin(time[:, 0]) + 0.5 * np.sin(2.3 * time[:, 0])
gain = {"attic": 1.5, "cellar": -0.7, "garden": 1.0}
reading = np.array([gain[s] for s in sensor]) * swing + 0.15 * rng.normal(size=150)

# %%
# The garden is not seen between 8 and 15. ``groups`` are the labels of the tasks, for ``fit`` as for predictions.

off = (sensor == "garden") & (time[:, 0] > 8.0) & (time[:, 0] < 15.0)
models = {
    "Tasks: independent": IVMRegressor(kernel=Tasks(RBF()), random_state=0),
    "Coregion: correlated": IVMRegressor(kernel=Coregion(RBF()), random_state=0),
}
new = np.linspace(0.0, 20.0, 300)[:, None]
fig, axes = plt.subplots(1, 2, figsize=(9.6, 3.6), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(time[~off], reading[~off], groups=sensor[~off])
    mean, std = model.predict(new, return_std=True, groups=["garden"] * len(new))
    ax.fill_between(new[:, 0], mean - 2 * std, mean + 2 * std, color="#bbdefb", label="two deviations")
    ax.plot(new[:, 0], mean, color="#0d47a1", label="garden, expected")
    seen = (sensor == "garden") & ~off
    ax.plot(time[seen], reading[seen], ".", color="0.3", ms=5, label="garden")
    ax.plot(time[off], reading[off], "x", color="#c62828", ms=5, label="garden, left out")
    ax.set(title=name, xlabel="time")
    loss = -model.log_density(time[off], reading[off], groups=sensor[off]).mean()
    print(f"{name:21s} log evidence {model.log_evidence_:.1f}, loss of the rows left out {loss:.2f}")
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
plt.show()

# %%
# The correlations that were learned; ``tasks_`` has the labels in their order.

correlated = models["Coregion: correlated"]
print(correlated.tasks_)
print(correlated.kernel_.correlation.round(2))
