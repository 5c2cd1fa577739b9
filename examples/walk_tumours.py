"""
A walk: classes, from a table to a report
=========================================

569 biopsies, 30 measurements of the nuclei of cells in each, and whether the tumour was malignant. From the table to a
decision that knows its costs, and to a report that others can read: everything that a project needs is here once.

First the table: a frame, names of the classes as labels, and a third of the rows put away for the end.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import infovec
from infovec import IVMClassifier
from infovec.plots import plot_reliability

bunch = load_breast_cancer(as_frame=True)
y = bunch.target_names[bunch.target]
X, Z, y, t = train_test_split(bunch.data, y, test_size=1 / 3, stratify=y, random_state=0)
print(f"{len(X)} rows to learn from, {len(Z)} to judge by, {X.shape[1]} columns; "
      f"{100 * np.mean(y == 'malignant'):.0f} % are malignant")  # fmt: skip

# %%
# Columns go in as they are. ``plan`` says beforehand what the fit will take, ``n_active`` how many rows are kept.

model = IVMClassifier(n_active=80, random_state=0)
plan = model.plan(X, y)
print(f"less than a minute: {plan.seconds < 60}, memory below 100 MB: {plan.memory < 1e8}")
model.fit(X, y)
print(f"{len(model.active_)} rows kept, log evidence {model.log_evidence_:.0f}")

# %%
# Is it any good? Beside a linear model and the shares of the classes, on rows that neither has seen. With 190 of them
# an error of 5 % has a standard error of 1.6 %: the log loss, which looks at probabilities, tells more.

linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X, y)
malignant = list(model.classes_).index("malignant")
proba = model.predict_proba(Z)[:, malignant]
share = np.full(len(t), np.mean(y == "malignant"))
sides = {"IVMClassifier": proba, "logistic regression": linear.predict_proba(Z)[:, malignant], "shares": share}
print(f"{'':20s} {'error %':>8s} {'log loss':>9s} {'AUC':>6s}")
for name, p in sides.items():
    error = 100 * np.mean((p > 0.5) != (t == "malignant"))
    print(f"{name:20s} {error:8.1f} {log_loss(t == 'malignant', p):9.3f} {roc_auc_score(t == 'malignant', p):6.3f}")

# %%
# Probabilities are for decisions. A tumour that is missed may cost twenty times as much as a biopsy too many: then the
# least expected cost is reached by acting from a probability of 1 / 21 on, not of one half.

cost = 20.0
thresholds = np.linspace(0.0, 1.0, 201)[1:-1]


def mean_cost(p, threshold):
    """Cost for each patient of the test rows, where one too many costs one."""
    act = p > threshold
    return np.mean(np.where(t == "malignant", cost * ~act, act))


fig, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained")
plot_reliability(infovec.metrics.reliability_table(t == "malignant", proba, of=1, bins=8), ax=left)
left.set(title="do they keep their word?")
for name in ("IVMClassifier", "logistic regression"):
    right.plot(thresholds, [mean_cost(sides[name], at) for at in thresholds], label=name)
right.axvline(1 / (1 + cost), color="0.6", ls=":")
right.set(title="what a threshold costs", xlabel="act from this probability on", ylabel="cost for each patient", ylim=0)
right.legend(frameon=False)
plt.show()
print(f"cost at 1/2: {mean_cost(proba, 0.5):.2f}, at 1/21: {mean_cost(proba, 1 / (1 + cost)):.2f}")

# %%
# Some patients are better looked at by a person. Without the tenth that the model is least certain of:

certain = np.abs(proba - 0.5)
kept = certain > np.quantile(certain, 0.1)
print(f"errors among all: {np.sum((proba > 0.5) != (t == 'malignant'))} of {len(t)}, "
      f"among the {kept.sum()} certain ones: {np.sum((proba > 0.5)[kept] != (t == 'malignant')[kept])}")  # fmt: skip

# %%
# The file is what goes to production: data and never code. It predicts what the model in memory does.

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "tumours.ivm"
    model.save(path)
    again = infovec.load(path)
    print(f"{path.name}: {path.stat().st_size // 1000} kB, "
          f"largest difference {np.abs(again.predict_proba(Z)[:, malignant] - proba).max():.0e}")  # fmt: skip

    # %%
    # And the report for everybody else: one file of HTML, with all of the above and their standard errors, the rows
    # that surprised the model, and what the columns do.

    report = Path(folder) / "report.html"
    model.report(report, Z, t, plan=plan, X_train=X, y_train=y)
    text = report.read_text()
    print("sections:", ", ".join(part.split("</h2>")[0] for part in text.split("<h2>")[1:]))
