"""
Probabilities that keep their word
==================================

Whether diabetes goes on faster than in the median patient, which ten measurements hardly tell. Of the patients for whom
a model says so with a probability of 0.8, about 80 % should turn out so: the left picture compares what was predicted
with what came true. On the right the least certain patients are left undecided, and the errors among the others are
counted.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_diabetes
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict
from sklearn.svm import SVC

from infovec import IVMClassifier
from infovec.metrics import error_reject_curve, expected_calibration_error, reliability_table
from infovec.plots import plot_error_reject, plot_reliability

X, progression = load_diabetes(return_X_y=True)
y = (progression > np.median(progression)).astype(int)
models = {
    "IVMClassifier": IVMClassifier(n_active=50, random_state=0),
    "calibrated SVC": CalibratedClassifierCV(SVC(), ensemble=False),
}
proba = {name: cross_val_predict(model, X, y, method="predict_proba") for name, model in models.items()}
for name, p in proba.items():
    error, calibration = 100 * np.mean(p.argmax(axis=1) != y), expected_calibration_error(y, p, bins=8)
    print(f"{name:15s} error {error:.1f} %, log loss {log_loss(y, p):.3f}, calibration error {calibration:.3f}")

# %%
# With 442 patients a bin has few of them: the bars are 95 % intervals.

fig, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.4), layout="constrained")
plot_reliability({name: reliability_table(y, p, of=1, bins=8) for name, p in proba.items()}, ax=left)
plot_error_reject({name: error_reject_curve(y, p) for name, p in proba.items()}, ax=right)
plt.show()
