"""Make mcmc.json: posteriors of three latent functions given 60 labels of three classes, by long Markov chains.

Made with numpy and scipy alone, in the versions the file names; the tests read the file and never run this. To run it
again (about two minutes for each case on one core):

    python tests/golden/make_mcmc.py

p(y|f) is P(f_y + e_y > f_j + e_j for all j) with independent standard normal e ("probit"), or exp(f_y) / sum_j exp(f_j)
("softmax"). The functions are independent a priori with kernel variance * exp(-|x - z|^2 / (2 lengthscale^2)). The
probit is sampled by the Gibbs sampler of GR06 appendix D, the softmax by elliptical slice sampling (Murray, Adams and
MacKay 2010); on the probit the two agreed within four of their standard errors. Many chains run side by side, and
"standard_error" is that of the mean over chains, the largest over rows and classes.
"""

import json
import sys
from pathlib import Path

import numpy as np
import scipy
from scipy.special import log_ndtr, log_softmax, ndtri_exp

CASES = {  # likelihood, variance, lengthscale, seed, draws kept of every chain
    "probit": ("probit", 4.0, 1.0, 0, 9000),
    "probit_strong": ("probit", 25.0, 1.0, 1, 9000),
    "softmax": ("softmax", 9.0, 1.0, 2, 5000),
}
CHAINS, BURN, EVERY = 128, 500, 10
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(24)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def problem():
    """Three classes in the plane that overlap at their borders, and rows to predict."""
    rng = np.random.default_rng(60)
    X, X_test = rng.uniform(-2, 2, (60, 2)).round(6), rng.uniform(-2.3, 2.3, (12, 2)).round(6)
    centres = np.array([[-1.0, -0.7], [1.1, -0.6], [0.0, 1.1]])
    distances = ((X[:, None] - centres) ** 2).sum(-1) + rng.gumbel(0, 0.5, (60, 3))
    return X, distances.argmin(axis=1), X_test


def kernel(X, Z, variance, lengthscale):
    return variance * np.exp(-0.5 * ((X[:, None] - Z) ** 2).sum(-1) / lengthscale**2)


def log_likelihood(name, f):
    """Log probability of every class; classes along the last axis."""
    if name == "softmax":
        return log_softmax(f, axis=-1)
    return np.stack([first_wins(np.roll(f, -k, axis=-1)) for k in range(f.shape[-1])], axis=-1)


def first_wins(f):
    """Log probability under the probit that the first class is the one."""
    inside = sum(log_ndtr(f[..., :1] - f[..., j, None] + NODES) for j in range(1, f.shape[-1]))
    return np.log(np.exp(inside) @ WEIGHTS)


def gibbs(K, y, rng):
    """Yield draws of f, shape (chains, n, classes)."""
    n, C = len(y), y.max() + 1
    smooth = np.linalg.solve(K + np.eye(n), K)  # K (I + K)^-1
    root = np.linalg.cholesky(smooth + 1e-10 * np.eye(n))
    f, own = np.zeros((CHAINS, n, C)), np.eye(C, dtype=bool)[y]
    aux = np.where(own, 1.0, -1.0) * np.ones((CHAINS, 1, 1))
    while True:
        below = np.where(own, -np.inf, aux).max(axis=-1)  # the own one exceeds all others
        mean = f[:, own].reshape(CHAINS, n)
        top = mean - ndtri_exp(np.log(rng.uniform(size=mean.shape)) + log_ndtr(mean - below))
        bound = top[..., None] - f
        aux = np.where(own, top[..., None], f + ndtri_exp(np.log(rng.uniform(size=f.shape)) + log_ndtr(bound)))
        f = smooth @ aux + root @ rng.normal(size=f.shape)
        yield f


def slices(name, K, y, rng):
    """Yield draws of f, shape (chains, n, classes)."""
    n, C = len(y), y.max() + 1
    root = np.linalg.cholesky(K + 1e-10 * np.eye(n))

    turn = (y[:, None] + np.arange(C)) % C  # the own class first

    def log_lik(f):
        f = np.take_along_axis(f, np.broadcast_to(turn, f.shape), axis=-1)
        return (first_wins(f) if name == "probit" else log_softmax(f, axis=-1)[..., 0]).sum(axis=-1)

    f = np.zeros((CHAINS, n, C))
    while True:
        nu = root @ rng.normal(size=f.shape)
        floor = log_lik(f) + np.log(rng.uniform(size=CHAINS))
        angle = rng.uniform(0, 2 * np.pi, CHAINS)
        low, high = angle - 2 * np.pi, angle.copy()
        new, open_ = f.copy(), np.arange(CHAINS)
        while len(open_):
            at = angle[open_, None, None]
            new[open_] = f[open_] * np.cos(at) + nu[open_] * np.sin(at)
            open_ = open_[log_lik(new[open_]) <= floor[open_]]
            low[open_] = np.where(angle[open_] < 0, angle[open_], low[open_])
            high[open_] = np.where(angle[open_] >= 0, angle[open_], high[open_])
            angle[open_] = rng.uniform(low[open_], high[open_])
        f = new
        yield f


def solve(likelihood, variance, lengthscale, seed, kept, sampler=None):
    X, y, X_test = problem()
    rng = np.random.default_rng(seed)
    K, cross = kernel(X, X, variance, lengthscale), kernel(X_test, X, variance, lengthscale)
    A = np.linalg.solve(K + 1e-10 * np.eye(len(X)), cross.T).T
    left = np.sqrt(variance - np.einsum("ij,ij->i", A, cross))[:, None]
    sampler = sampler or ("gibbs" if likelihood == "probit" else "slices")
    draws = gibbs(K, y, rng) if sampler == "gibbs" else slices(likelihood, K, y, rng)
    sums = dict.fromkeys(("mean", "square", "test_mean", "test_square", "proba"), 0.0)
    for t, f in zip(range(BURN + kept), draws, strict=False):
        if t < BURN:
            continue
        sums["mean"] += f / kept
        sums["square"] += f**2 / kept
        if t % EVERY == 0:
            new = A @ f + left * rng.normal(size=(CHAINS, len(X_test), f.shape[-1]))
            sums["test_mean"] += A @ f * EVERY / kept
            sums["test_square"] += new**2 * EVERY / kept
            sums["proba"] += np.exp(log_likelihood(likelihood, new)) * EVERY / kept
    error = {name: float((value.std(axis=0) / np.sqrt(CHAINS)).max()) for name, value in sums.items()}
    sums = {name: value.mean(axis=0) for name, value in sums.items()}
    return {
        "likelihood": likelihood,
        "kernel": {"variance": variance, "lengthscale": lengthscale},
        "X": X.tolist(),
        "y": y.tolist(),
        "X_test": X_test.tolist(),
        "mean": sums["mean"].round(6).tolist(),
        "var": (sums["square"] - sums["mean"] ** 2).round(6).tolist(),
        "test_mean": sums["test_mean"].round(6).tolist(),
        "test_var": (sums["test_square"] - sums["test_mean"] ** 2).round(6).tolist(),
        "test_proba": sums["proba"].round(6).tolist(),
        "standard_error": {name: round(value, 6) for name, value in error.items()},
    }


def text(value, margin="\n"):
    """JSON with one line for every entry of a dictionary."""
    if not isinstance(value, dict):
        return json.dumps(value)
    lines = (f"{margin}  {json.dumps(key)}: {text(entry, margin + '  ')}" for key, entry in value.items())
    return "{" + ",".join(lines) + margin + "}"


if __name__ == "__main__":
    path = Path(__file__).with_name("mcmc.json")
    cases = json.loads(path.read_text())["cases"] if path.exists() else {}
    for name in sys.argv[1:] or CASES:
        cases[name] = solve(*CASES[name])
    made = {
        "by": f"make_mcmc.py: {CHAINS} chains, {BURN} draws of each dropped",
        "versions": {"numpy": np.__version__, "scipy": scipy.__version__},
        "cases": cases,
    }
    path.write_text(text(made) + "\n")
