"""
How many active rows
====================

More active rows cost more, and from some number on they gain nothing. The smooth and noisy function of the diabetes set
needs few; telling even digits from odd ones, where labels are clean and every digit has shapes of its own, gains from
every row. ``n_active="auto"`` holds back a tenth of the rows and stops when they are predicted no better.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes, load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from infovec import IVMClassifier, IVMRegressor
from infovec.kernels import RBF, Bias

patients, progression = load_diabetes(return_X_y=True)
images, digit = load_digits(return_X_y=True)
learned = IVMRegressor(n_active=50, random_state=0).fit(patients, progression)

# %%
# Kernel and noise stay the same, so that nothing but the number of rows changes.

tasks = {
    "diabetes": (IVMRegressor(learned.kernel_, learned.likelihood_, learn=None, random_state=0), patients, progression),
    "even digits": (IVMClassifier(RBF(25.0, 30.0) + Bias(), learn=None, random_state=0), images, digit % 2),
}


def loss(model, X, y):
    """Minus the mean log probability, or log density, of targets that were not seen."""
    return -model.log_density(X, y).mean() if hasattr(model, "log_density") else log_loss(y, model.predict_proba(X))


fig, axes = plt.subplots(1, 2, figsize=(9.6, 3.8), layout="constrained")
for ax, (name, (model, X, y)) in zip(axes, tasks.items(), strict=True):
    X, Z, y, t = train_test_split(X, y, train_size=400, random_state=0)
    sizes = [5, 10, 20, 40, 80, 160, 320]
    losses = [loss(model.set_params(n_active=d).fit(X, y), Z, t) for d in sizes]
    model.set_params(n_active="auto").fit(X, y)
    ax.plot(sizes, losses, ".-", color="#1565c0", label="given")
    ax.plot(len(model.active_), loss(model, Z, t), "o", mfc="none", ms=12, color="#c62828", label="auto")
    ax.set(title=name, xscale="log", xlabel="active rows", ylabel="loss of test rows")
    ax.legend(frameon=False)
    print(f"{name}: auto takes {len(model.active_)} of {len(X)} rows; {model.stop_reason_}")
plt.show()
