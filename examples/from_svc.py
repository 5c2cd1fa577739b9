"""
From SVC to infovec
===================

The same five folds of the breast cancer set: the support vector machine with the calibration that scikit-learn
recommends since ``SVC(probability=True)`` is deprecated, and an informative vector machine in its place.
"""

import time

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from infovec import IVMClassifier
from infovec.metrics import expected_calibration_error

X, y = load_breast_cancer(return_X_y=True)
models = {
    "calibrated SVC": make_pipeline(StandardScaler(), CalibratedClassifierCV(SVC(), ensemble=False)),
    "IVMClassifier": make_pipeline(StandardScaler(), IVMClassifier(n_active=60, random_state=0)),
}

# %%
# Error, log loss and calibration of probabilities for rows that were not seen. The SVC is fitted six times for its
# probabilities, the informative vector machine once, but it learns its kernel, too: the SVC has its defaults.

print(f"{'':16s} {'error %':>8s} {'log loss':>9s} {'calibration error':>18s} {'seconds':>8s}")
for name, model in models.items():
    start = time.perf_counter()
    proba = cross_val_predict(model, X, y, method="predict_proba")
    seconds = time.perf_counter() - start
    error = 100 * np.mean(proba.argmax(axis=1) != y)
    figures = f"{error:8.2f} {log_loss(y, proba):9.4f} {expected_calibration_error(y, proba):18.4f}"
    print(f"{name:16s} {figures} {seconds:8.1f}")
