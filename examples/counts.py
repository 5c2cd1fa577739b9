"""
Counts
======

Disasters in British coal mines, year by year from 1851 to 1961 (Jarrett 1979). A count cannot be negative and scatters
more where it is larger: Poisson noise knows that, Gaussian noise does not.
"""

import matplotlib.pyplot as plt
import numpy as np

from infovec import IVMRegressor
from infovec.learning import Learning

text = """
    4 5 4 0 1 4 3 4 0 6 3 3 4 0 2 6 3 3 5 4 5 3 1 4 4 1 5 5 3 4 2 5 2 2 3 4 2 1 3 2 2 1 1 1 1 3 0 0 1 0 1 1 0 0 3 1
    0 3 2 2 0 1 1 1 0 1 0 1 0 0 0 2 1 0 0 0 1 1 0 2 3 3 1 1 2 1 1 1 1 2 4 2 0 0 1 4 0 0 0 1 0 0 0 0 0 1 0 0 1 0 1
"""
count = np.array(text.split(), dtype=float)
year = np.arange(1851.0, 1962.0)[:, None]

# %%
# Every fourth year is left out, to compare what both models expect of it. With Gaussian noise learning begins four
# times: from its first start it takes every rise and fall for part of the function, at a far lower evidence.

out = np.arange(len(year)) % 4 == 2
models = {
    "poisson": IVMRegressor(likelihood="poisson", n_active=30, random_state=0),
    "gaussian": IVMRegressor(likelihood="gaussian", n_active=30, learn=Learning(restarts=3), random_state=0),
}
fig, axes = plt.subplots(1, 2, figsize=(9.6, 3.8), layout="constrained", sharey=True)
for ax, (noise, model) in zip(axes, models.items(), strict=True):
    model.fit(year[~out], count[~out])
    mean, std = model.predict(year, return_std=True)
    ax.fill_between(year[:, 0], mean - std, mean + std, color="#bbdefb", label="one deviation")
    ax.plot(year[:, 0], mean, color="#0d47a1", label="expected")
    ax.plot(year[~out], count[~out], ".", color="0.4", ms=4)
    ax.plot(year[out], count[out], "x", color="#c62828", ms=5, label="left out")
    ax.set(title=noise, xlabel="year")
axes[0].set_ylabel("disasters")
axes[0].legend(frameon=False)
plt.show()

# %%
# The Gaussian density of a whole number stands for the unit interval around it, so that both are probabilities.

for noise, model in models.items():
    print(
        f"{noise:9s} mean log probability of the years left out {model.log_density(year[out], count[out]).mean():.3f}"
    )
