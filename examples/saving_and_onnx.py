"""
Saving, loading and ONNX
========================

A model file is data and never code; an ONNX graph runs where there is no Python. Both give the same probabilities as
the model they come from.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import infovec
from infovec.onnx_export import to_onnx

bunch = load_breast_cancer()
X, Z, y, t = train_test_split(bunch.data, bunch.target_names[bunch.target], random_state=0)
model = infovec.IVMClassifier(n_active=60, random_state=0).fit(X, y)

# %%
# The graph takes ``float64``, unless ``to_onnx`` is told otherwise. The file keeps the active rows, their sites and
# where the model comes from; the other training rows are gone.

with tempfile.TemporaryDirectory() as folder:
    own, graph = Path(folder) / "tumours.ivm", Path(folder) / "tumours.onnx"
    model.save(own, extra={"clinic": "Wisconsin"})
    loaded, extra, provenance = infovec.load_with_extra(own)
    to_onnx(model, graph)
    session = onnxruntime.InferenceSession(graph)
    label, proba = session.run(None, {"X": Z})[:2]  # the prediction comes first
    sizes = {path.name: path.stat().st_size for path in (own, graph)}

# %%
# What they predict, beside the model in memory.

expected = model.predict_proba(Z)
print(f"{'':14s} {'bytes':>7s} {'largest difference':>19s} {'error %':>8s}")
for name, p, labels in (("tumours.ivm", loaded.predict_proba(Z), loaded.predict(Z)), ("tumours.onnx", proba, label)):
    difference, error = np.abs(p - expected).max(), 100 * np.mean(labels != t)
    print(f"{name:14s} {sizes[name]:7d} {difference:19.1e} {error:8.2f}")
print(f"{provenance['estimator']} of {provenance['rows']} rows and {provenance['columns']} columns, with {extra}")

# %%
# The same probabilities, to the last digits, from half the bytes: the graph has no room for what only learning needs.

malignant = list(model.classes_).index("malignant")
fig, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.4), layout="constrained")
left.bar(list(sizes), np.array(list(sizes.values())) / 1000, color=["#1565c0", "#ef6c00"], width=0.5)
left.set(ylabel="kB", title="size")
right.plot([0, 1], [0, 1], color="0.75", lw=1)
right.plot(expected[:, malignant], proba[:, malignant], "o", mfc="none", color="#ef6c00")
right.set(xlabel="probability of malignant in memory", ylabel="in the ONNX graph", title="prediction")
plt.show()
