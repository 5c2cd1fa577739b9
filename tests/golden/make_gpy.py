"""Make gpy.json: expectation propagation on all rows, by GPy.

Made with GPy 1.15.0, numpy 2.3.5, scipy 1.17.1 and Python 3.11; numpy 2.4 no longer runs GPy's quadrature. The tests
read the file and never run this. To run it again:

    python3 -m venv /tmp/gpy && /tmp/gpy/bin/pip install GPy==1.15.0 paramz==0.10.0 numpy==2.3.5 scipy==1.17.1
    /tmp/gpy/bin/python tests/golden/make_gpy.py

p(y|f) is Phi(y f), or that of a Poisson count of rate exp(f); there is no bias. The kernel is
variance * exp(-|x - z|^2 / (2 lengthscale^2)), without jitter. A second implementation of EP, with other moments and
another order, agreed within 1e-11, only with ``test_rate`` (GPy's by quadrature) within 1e-9.
"""

import json
from pathlib import Path

import GPy
import numpy as np
import scipy

CASES = {  # likelihood, variance, lengthscale, labels flipped
    "probit": ("probit", 4.0, 0.9, 0),
    "probit_noisy": ("probit", 30.0, 0.5, 5),
    "poisson": ("poisson", 0.8, 0.9, 0),
}


def problem(likelihood, flipped):
    rng = np.random.default_rng(25)
    X, X_test = rng.uniform(-2, 2, (25, 2)).round(6), rng.uniform(-2, 2, (7, 2)).round(6)
    truth = np.sin(2 * X[:, 0]) + 0.8 * X[:, 1]
    if likelihood == "poisson":
        return X, rng.poisson(np.exp(truth)).astype(float), X_test
    y = np.where(truth > 0, 1.0, -1.0)
    y[rng.permutation(25)[:flipped]] *= -1
    return X, y, X_test


def solve(likelihood, variance, lengthscale, flipped):
    X, y, X_test = problem(likelihood, flipped)
    counts = likelihood == "poisson"
    # epsilon bounds the mean squared change of the sites in one sweep
    epsilon = 1e-20 if counts else 1e-24
    inference = GPy.inference.latent_function_inference.EP(
        epsilon=epsilon, eta=1.0, delta=1.0, parallel_updates=False, max_iters=1000
    )
    model = GPy.core.GP(
        X,
        (y if counts else (y + 1) / 2)[:, None],
        kernel=GPy.kern.RBF(2, variance=variance, lengthscale=lengthscale),
        likelihood=GPy.likelihoods.Poisson() if counts else GPy.likelihoods.Bernoulli(),
        inference_method=inference,
    )
    posterior, sites, *_ = inference._ep_approximation
    mean, var = model.predict_noiseless(X_test)
    predicted = model.predict(X_test)[0]
    return {
        "likelihood": likelihood,
        "kernel": {"variance": variance, "lengthscale": lengthscale},
        "X": X.tolist(),
        "y": y.tolist(),
        "log_evidence": float(model.log_likelihood()),
        "mean": posterior.mu.tolist(),
        "var": posterior.Sigma_diag.tolist(),
        "site_precision": sites.tau.tolist(),
        "site_precision_times_mean": sites.v.tolist(),
        "X_test": X_test.tolist(),
        "test_mean": mean.ravel().tolist(),
        "test_var": var.ravel().tolist(),
        "test_rate" if counts else "test_probability": predicted.ravel().tolist(),
    }


def text(value, margin="\n"):
    """JSON with one line for every entry of a dictionary."""
    if not isinstance(value, dict):
        return json.dumps(value)
    lines = (f"{margin}  {json.dumps(key)}: {text(entry, margin + '  ')}" for key, entry in value.items())
    return "{" + ",".join(lines) + margin + "}"


if __name__ == "__main__":
    np.random.seed(0)  # noqa: NPY002  GPy draws the order of the sites from here; only the last digits depend on it
    made = {
        "by": "make_gpy.py: full expectation propagation, eta = delta = 1, one site at a time, run to convergence",
        "versions": {"GPy": GPy.__version__, "numpy": np.__version__, "scipy": scipy.__version__},
        "cases": {name: solve(*case) for name, case in CASES.items()},
    }
    Path(__file__).with_name("gpy.json").write_text(text(made) + "\n")
