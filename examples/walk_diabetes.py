"""
A walk: numbers, from a table to a report
=========================================

How far diabetes has gone on after a year, in 442 patients, from ten measurements in the units of a clinic. From the
table to a forecast with an interval, and to a report that others can read.

The table first. Years, sexes, millimetres of mercury: columns need no scaling, and the target has the unit it has.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import infovec
from infovec import IVMRegressor
from infovec.evaluation import partial_dependence
from infovec.plots import plot_dependence

frame, progression = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X, Z, y, t = train_test_split(frame, progression.to_numpy(), test_size=1 / 3, random_state=0)
print(X.iloc[:3].to_string(index=False, float_format="%.4g"))
print(f"target from {y.min():.0f} to {y.max():.0f}, mean {y.mean():.0f}, deviation {y.std():.0f}")

# %%
# Which noise? The evidence compares models on the training rows alone; the test rows stay where they are.

models = {kind: IVMRegressor(likelihood=kind, n_active=50, random_state=0).fit(X, y)
          for kind in ("gaussian", "student_t", "laplace")}  # fmt: skip
for kind, candidate in models.items():
    print(f"{kind:10s} log evidence {candidate.log_evidence_:.1f}")
model = max(models.values(), key=lambda one: one.log_evidence_)

# %%
# Is it any good? Beside ridge regression and the mean. An R² near one half is what these columns hold: what is left is
# not the model's fault, and the next steps say how large it is.

linear = make_pipeline(StandardScaler(), RidgeCV(np.logspace(-2, 3, 11))).fit(X, y)
for name, mean in (
    ("IVMRegressor", model.predict(Z)),
    ("ridge", linear.predict(Z)),
    ("mean", np.full(len(t), y.mean())),
):
    error = (t - mean) ** 2
    print(f"{name:13s} R² {1 - error.mean() / t.var():5.2f}, root mean square {np.sqrt(error.mean()):.0f}")

# %%
# A forecast is an interval. ``predict_quantiles`` is about the target of a new patient, and should hold as often as it
# says; ``predict_latent`` takes apart what more patients would tell from what they would not.

low, high = model.predict_quantiles(Z, [0.05, 0.95]).T
_, about, noise = model.predict_latent(Z, return_noise=True)
print(f"{100 * np.mean((t > low) & (t < high)):.0f} % of the targets are in their intervals of 90 %")
print(f"function known to ± {np.median(about):.0f}, patients scatter around it by ± {np.median(noise):.0f}")

order = np.argsort(model.predict(Z))
fig, ax = plt.subplots(figsize=(8.4, 3.8), layout="constrained")
ax.fill_between(np.arange(len(t)), low[order], high[order], alpha=0.25, lw=0, label="90 % of new patients")
ax.plot(np.arange(len(t)), model.predict(Z)[order], label="predicted")
ax.plot(np.arange(len(t)), t[order], "k.", ms=3.5, label="came true")
ax.set(xlabel="test patients, in order of what is predicted", ylabel="progression")
ax.legend(frameon=False, loc="upper left")
plt.show()

# %%
# What do the columns do? The mean prediction when one of them has the same value in all patients, with a band of 95 %
# of the functions that the model thinks possible. Correlated columns share what they know: read it as a description
# of the model, not as what a treatment would do.

names = ["bmi", "s5", "bp"]
fig, axes = plt.subplots(1, 3, figsize=(9.6, 3.2), sharey=True, layout="constrained")
for ax, name in zip(axes, names, strict=True):
    j = list(X.columns).index(name)
    values = np.linspace(*X[name].quantile([0.02, 0.98]), 20)
    plot_dependence(partial_dependence(model, X.to_numpy()[::5], j, values, 100), name, ax=ax)
plt.show()

# %%
# The report has all of that, the most surprising patients, and how the fit went; the file has the model.

with tempfile.TemporaryDirectory() as folder:
    report, path = Path(folder) / "report.html", Path(folder) / "diabetes.ivm"
    model.report(report, Z, t, X_train=X, y_train=y)
    model.save(path)
    same = np.allclose(infovec.load(path).predict(Z), model.predict(Z))
    text = report.read_text()
print("sections:", ", ".join(part.split("</h2>")[0] for part in text.split("<h2>")[1:]))
print(f"the model from its file predicts the same: {same}")
