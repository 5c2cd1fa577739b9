"""Each form of the many-class models against long Markov chains (tests/golden/make_mcmc.py), to a stated tolerance.

Three classes, 60 rows. All forms take the functions of the classes to be independent a posteriori, which they are not:
their variances are too small, those of the variational form by far. The columns of the table:

- mean: root mean square, over rows and classes, of the difference of posterior means, in posterior standard deviations;
- narrowest: the smallest ratio of a standard deviation to the chains' one; none exceeds it by more than a tenth;
- proba: the largest difference of a probability, over twelve new rows and all classes.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from infovec.criteria import pair_evidence, refine_pairs
from infovec.kernels import RBF
from infovec.likelihoods.classes import MultivariateProbit, Softmax
from infovec.machines.bound_fit import fit_variational
from infovec.machines.pairs import FactorisedClasses, fit_factorised
from infovec.posterior import ClassSites

CASES = json.loads((Path(__file__).parents[1] / "golden" / "mcmc.json").read_text())["cases"]


def all_pairs(X, y, kernel, likelihood):
    """EP from faint sites at all pairs, without selection."""
    rows = np.arange(len(y))
    sites = [ClassSites(rows, np.full(len(y), 1e-3), np.zeros(len(y)))] * 3
    sites, _ = refine_pairs(X, y, kernel, likelihood, sites, max_sweeps=60)
    parts = pair_evidence(X, y, kernel, likelihood, sites, gradient=False).parts
    return FactorisedClasses(tuple(p.posterior() for p in parts), likelihood, [rows] * 3, np.nan, True)


FORMS = {
    "EP, all pairs": all_pairs,
    "factorised, 60 of 60": lambda X, y, k, p: fit_factorised(X, y, k, p, 60),
    "factorised, 30 of 60": lambda X, y, k, p: fit_factorised(X, y, k, p, 30),
    "factorised, 30 of 60, swept": lambda X, y, k, p: fit_factorised(X, y, k, p, 30, sweeps=40),
    "variational, 60 of 60": lambda X, y, k, p: fit_variational(X, y, k, 60, likelihood=p),
    "variational, 30 of 60": lambda X, y, k, p: fit_variational(X, y, k, 30, likelihood=p),
    "GR06 sparse, 30 of 60": lambda X, y, k, p: fit_variational(X, y, k, 30, likelihood=p, approximation="factorised"),
}
TABLE = [  # case, form, mean, narrowest, proba
    ("probit", "EP, all pairs", 0.06, 0.65, 0.025),
    ("probit", "factorised, 60 of 60", 0.65, 0.70, 0.09),
    ("probit", "factorised, 30 of 60", 0.70, 0.70, 0.08),
    ("probit", "factorised, 30 of 60, swept", 0.35, 0.66, 0.08),
    ("probit", "variational, 60 of 60", 0.33, 0.23, 0.03),
    ("probit", "variational, 30 of 60", 0.33, 0.24, 0.03),
    ("probit", "GR06 sparse, 30 of 60", 0.76, 0.32, 0.28),
    ("probit_strong", "EP, all pairs", 0.11, 0.49, 0.05),
    ("probit_strong", "factorised, 30 of 60", 0.56, 0.63, 0.12),
    ("probit_strong", "factorised, 30 of 60, swept", 0.28, 0.49, 0.07),
    ("probit_strong", "variational, 60 of 60", 0.58, 0.10, 0.07),
    ("probit_strong", "variational, 30 of 60", 0.58, 0.12, 0.07),
    ("probit_strong", "GR06 sparse, 30 of 60", 0.87, 0.15, 0.32),
    ("softmax", "EP, all pairs", 0.07, 0.63, 0.03),
    ("softmax", "factorised, 30 of 60", 0.72, 0.70, 0.09),
    ("softmax", "factorised, 30 of 60, swept", 0.33, 0.63, 0.07),
]


@pytest.mark.parametrize(
    ("case", "form", "mean", "narrowest", "proba"), TABLE, ids=lambda v: v if isinstance(v, str) else ""
)
def test_table(case, form, mean, narrowest, proba):
    known = CASES[case]
    X, y, Z = (np.array(known[name]) for name in ("X", "y", "X_test"))
    likelihood = (MultivariateProbit if known["likelihood"] == "probit" else Softmax)(np.zeros(3))
    kernel = RBF(known["kernel"]["lengthscale"], known["kernel"]["variance"])
    fitted = FORMS[form](X, y, kernel, likelihood)
    found = [*fitted.predict_latent(X), *fitted.predict_latent(Z)]
    means, sds = np.concatenate(found[::2]), np.sqrt(np.concatenate(found[1::2]))
    true_means = np.concatenate([known["mean"], known["test_mean"]])
    true_sds = np.sqrt(np.concatenate([known["var"], known["test_var"]]))
    assert np.sqrt(np.mean(((means - true_means) / true_sds) ** 2)) < mean
    assert np.min(sds / true_sds) > narrowest
    assert np.max(sds / true_sds) < 1.1
    assert np.max(np.abs(np.exp(fitted.predict_log_proba(Z)) - known["test_proba"])) < proba


def test_the_chains_are_long_enough_for_the_table():
    for known in CASES.values():
        error, sd = known["standard_error"], np.sqrt(np.min(known["var"]))
        assert error["mean"] < 0.05 * sd
        assert error["proba"] < 0.005
        assert np.allclose(np.sum(known["test_proba"], axis=1), 1.0, atol=2e-6)
