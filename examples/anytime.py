"""
Learning curves, and stopping whenever you like
===============================================

Selection goes on from where it stopped: a model that is kept warm can ``grow``, and whatever ends a fit, be it a
callback, ``max_time`` or Ctrl-C, leaves a model of the rows included so far. Here one model grows from 10 to 320 of the
digits, even against odd, selected by entropy, and another at random.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from infovec import IVMClassifier
from infovec.kernels import RBF, Bias

X, digit = load_digits(return_X_y=True)
X, Z, y, t = train_test_split(X, digit % 2, test_size=0.5, random_state=0)
kernel = RBF(25.0, 30.0) + Bias()

fig, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.0), layout="constrained")
for score, color in (("entropy", "#1565c0"), ("random", "#c62828")):
    model = IVMClassifier(kernel, n_active=10, score=score, learn=None, warm_start=True, random_state=0).fit(X, y)
    sizes, losses, seconds = [], [], []
    while True:
        sizes.append(len(model.active_))
        losses.append(log_loss(t, model.predict_proba(Z)))
        seconds.append(model.fit_seconds_)
        if sizes[-1] == 320:
            break
        model.grow(sizes[-1])
    left.plot(sizes, losses, ".-", color=color, label=score)
    right.plot(seconds, losses, ".-", color=color, label=score)
left.set(xlabel="active rows", ylabel="log loss of test rows", xscale="log", yscale="log")
right.set(xlabel="seconds, all fits so far", yscale="log")
left.legend(frameon=False, title="selected by")
plt.show()

# %%
# A callback sees the progress of every block and may end it. This one leaves alone what follows, inference with all
# rows.


def enough(progress):
    """Whether selection has gone on for long enough."""
    return progress.log_evidence is None and progress.included >= 100


model = IVMClassifier(kernel, n_active=320, learn=None, callback=enough, random_state=0).fit(X, y)
print(f"{len(model.active_)} active rows: {model.stop_reason_}")
print(f"error of test rows {100 * (1 - model.score(Z, t)):.1f} %")
