"""
Regression with error bars
==========================

How diabetes goes on within a year, from the body mass index alone, in 442 patients. The band has two parts: uncertainty
about the curve, which more patients would reduce, and the spread of patients around it, which nothing would.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from infovec import IVMRegressor

data = load_diabetes(scaled=False)
bmi, y = data.data[:, [data.feature_names.index("bmi")]], data.target
model = IVMRegressor(n_active=25, random_state=0).fit(bmi, y)

# %%
# ``predict`` gives the deviation of the target, noise included; ``predict_latent`` that of the curve.

grid = np.linspace(bmi.min() - 4, bmi.max() + 4, 200)[:, None]
mean, std = model.predict(grid, return_std=True)
_, curve = model.predict_latent(grid)

fig, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
ax.fill_between(grid[:, 0], mean - 1.96 * std, mean + 1.96 * std, color="#bbdefb", label="95 % of patients")
ax.fill_between(grid[:, 0], mean - 1.96 * curve, mean + 1.96 * curve, color="#64b5f6", label="95 % for the curve")
ax.plot(bmi[:, 0], y, ".", color="0.45", ms=4, label="patients")
ax.plot(*np.column_stack([bmi, y])[model.active_].T, "o", mfc="none", color="#c62828", label="active")
ax.plot(grid[:, 0], mean, color="#0d47a1")
ax.set(xlabel="body mass index", ylabel="progression after a year")
ax.legend(frameon=False, ncols=2)
plt.show()

# %%
# Whether the bands are honest shows in how many patients they cover.

mean, std = model.predict(bmi, return_std=True)
for width in (1.0, 1.64, 1.96):
    print(f"within {width:.2f} deviations: {100 * np.mean(np.abs(y - mean) < width * std):.0f} % of the patients")
