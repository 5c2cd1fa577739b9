"""Make gpflow.json: the sparse approximations DTC, variational (SGPR) and FITC of regression, by GPflow.

Made with GPflow 2.11.2, TensorFlow 2.21.0 (CPU), numpy 1.26.4 and Python 3.11. The tests read the file and never run
this. To run it again:

    python3 -m venv /tmp/gpflow
    /tmp/gpflow/bin/pip install gpflow==2.11.2 tensorflow-cpu==2.21.0 tensorflow-probability==0.25.0 numpy==1.26.4
    /tmp/gpflow/bin/python tests/golden/make_gpflow.py

Everything is in float64 with jitter 0. The kernel is variance * exp(-|x - z|^2 / (2 lengthscale^2)), the mean
function zero; predictions are of the function, without noise. GPflow has no DTC: its log marginal likelihood is the
bound plus tr(K - Q) / (2 noise_variance), with Q from GPflow's own covariances, and its predictions are the bound's.
"""

import json
from pathlib import Path

import gpflow
import numpy as np
import tensorflow as tf

CASES = {  # variance, lengthscale, noise variance
    "low_noise": (1.7, 0.8, 0.05),
    "high_noise": (1.7, 1.3, 0.5),
}
INDUCING = list(range(0, 40, 5))


def problem(noise_variance):
    rng = np.random.default_rng(40)
    X, X_test = rng.uniform(-2, 2, (40, 2)).round(6), rng.uniform(-2, 2, (7, 2)).round(6)
    y = np.sin(1.5 * X[:, 0]) * np.cos(X[:, 1]) + np.sqrt(noise_variance) * rng.standard_normal(40)
    return X, y.round(6), X_test


def predictions(model, X_test):
    mean, var = model.predict_f(X_test)
    return {"test_mean": mean.numpy().ravel().tolist(), "test_var": var.numpy().ravel().tolist()}


def solve(variance, lengthscale, noise_variance):
    X, y, X_test = problem(noise_variance)

    def build(kind):
        kernel = gpflow.kernels.SquaredExponential(variance=variance, lengthscales=lengthscale)
        return kind((X, y[:, None]), kernel, inducing_variable=X[INDUCING].copy(), noise_variance=noise_variance)

    sgpr, fitc = build(gpflow.models.SGPR), build(gpflow.models.GPRFITC)
    elbo = float(sgpr.elbo())
    Kuu = gpflow.covariances.Kuu(sgpr.inducing_variable, sgpr.kernel, jitter=0.0).numpy()
    Kuf = gpflow.covariances.Kuf(sgpr.inducing_variable, sgpr.kernel, X).numpy()
    trace = sgpr.kernel(X, full_cov=False).numpy().sum() - np.trace(Kuf.T @ np.linalg.solve(Kuu, Kuf))
    return {
        "kernel": {"variance": variance, "lengthscale": lengthscale},
        "noise_variance": noise_variance,
        "X": X.tolist(),
        "y": y.tolist(),
        "inducing_rows": INDUCING,
        "X_test": X_test.tolist(),
        "condition_number": float(np.linalg.cond(Kuu)),
        "sgpr": {"elbo": elbo, **predictions(sgpr, X_test)},
        "dtc": {"log_evidence": float(elbo + 0.5 / noise_variance * trace)},
        "fitc": {"log_evidence": float(fitc.fitc_log_marginal_likelihood()), **predictions(fitc, X_test)},
    }


def text(value, margin="\n"):
    """JSON with one line for every entry of a dictionary."""
    if not isinstance(value, dict):
        return json.dumps(value)
    lines = (f"{margin}  {json.dumps(key)}: {text(entry, margin + '  ')}" for key, entry in value.items())
    return "{" + ",".join(lines) + margin + "}"


if __name__ == "__main__":
    gpflow.config.set_default_float(np.float64)
    gpflow.config.set_default_jitter(0.0)
    made = {
        "by": "make_gpflow.py: SGPR and GPRFITC in float64, jitter 0; dtc is elbo + tr(K - Q) / (2 noise_variance)",
        "versions": {"gpflow": gpflow.__version__, "tensorflow": tf.__version__, "numpy": np.__version__},
        "cases": {name: solve(*case) for name, case in CASES.items()},
    }
    Path(__file__).with_name("gpflow.json").write_text(text(made) + "\n")
