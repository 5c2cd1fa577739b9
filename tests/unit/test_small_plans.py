"""What learning will cost where there are few rows: most of it is not their number."""

import numpy as np
import pytest

from infovec import IVMClassifier, IVMRegressor
from infovec.inference import calibrate, predict_evaluations
from infovec.inference.cost import SweepRates
from infovec.kernels import RBF, Bias
from infovec.learning import Model
from infovec.likelihoods import Gaussian, Probit
from infovec.machines.legs import legs_of
from infovec.machines.staged import stages


def data(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows three of whose five columns count."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    return X, np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)


def test_an_evaluation_of_hardly_any_rows_is_not_free():
    nothing = SweepRates(1024, (256, 512), (0.0, 0.0), (0.0, 0.0), 1, least=1e-3)
    assert predict_evaluations(nothing, 100, 50, 2.0) == pytest.approx(2.0 * predict_evaluations(nothing, 7, 3, 1.0))
    assert predict_evaluations(nothing, 100, 50, 1.0) >= 1e-3


@pytest.mark.parametrize("likelihood", [Gaussian(), Probit()])
def test_a_sweep_of_one_row_is_timed(likelihood):
    X, y = data(50)
    rates = calibrate(X, np.sign(y), 20, RBF() + Bias(), likelihood, "float64")
    assert 0.0 < rates.least <= 3.0 * rates.sweep[1] + 1e-3


@pytest.mark.parametrize(("estimator", "label"), [(IVMRegressor, False), (IVMClassifier, True)])
def test_evaluations_that_are_foreseen_are_about_those_that_there_are(estimator, label):
    X, y = data(200)
    model = estimator(random_state=0)
    targets = y > 0 if label else y
    machine = model._prepare(X, targets, None)
    plan = stages(200, machine.work.wanted, exact=not label)
    legs = legs_of(machine, Model.begin(machine.kernel, machine.likelihood, tied=True), plan)
    done = len(model.fit(X, targets).history_["theta"])
    assert sum(leg.usual for leg in legs) / 2.0 <= done <= 1.5 * sum(leg.usual for leg in legs)
