"""The form of kernel that data ask for."""

import numpy as np
import pytest
from fixed import IVMClassifier, IVMRegressor
from sklearn.base import clone

import infovec
from infovec.errors import ParameterError
from infovec.kernels import RBF, Matern
from infovec.kernels.columns import parts_of
from infovec.learning import Learning
from infovec.machines.forms import FORMS

SETTINGS = {"kernel": "auto", "learn": "ep", "n_active": 150, "random_state": 0}


def rough(n=260, seed=0):
    """A path with a kink at every row: no smooth function."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, size=(n, 2))
    return X, np.abs(X[:, 0]) + np.abs(np.sin(3.0 * X[:, 0])) + np.abs(X[:, 1] - 0.4) + 0.01 * rng.normal(size=n)


def smooth(n=260, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, size=(n, 2))
    return X, np.sin(X[:, 0]) + 0.3 * X[:, 1] ** 2 + 0.1 * rng.normal(size=n)


def kinds(model):
    return {type(part) for part in parts_of(model.kernel_)}


def test_kinks_ask_for_a_rougher_kernel_and_smooth_functions_do_not():
    X, y = rough()
    model = IVMRegressor(**SETTINGS).fit(X[:200], y[:200])
    assert Matern in kinds(model)
    plain = IVMRegressor(**{**SETTINGS, "kernel": None}).fit(X[:200], y[:200])
    assert model.log_density(X[200:], y[200:]).mean() > plain.log_density(X[200:], y[200:]).mean()
    evidence, density = (model.history_[f"form_log_{name}"] for name in ("evidence", "density"))
    assert evidence.shape == density.shape == (len(FORMS),)
    taken = next(k for k in (1, 2) if (RBF in kinds(model)) == (FORMS[k] == "rbf + matern"))
    assert evidence[taken] > evidence[0]
    assert density[taken] == density[1:].max() > density[0]
    X, y = smooth()
    model = IVMRegressor(**SETTINGS).fit(X, y)
    assert Matern not in kinds(model)
    assert model.kernel_ == IVMRegressor(**{**SETTINGS, "kernel": None}).fit(X, y).kernel_


def test_what_is_taken_is_the_kernel_of_that_name():
    X, y = rough()
    model = IVMRegressor(**SETTINGS).fit(X, y)
    name = "rbf + matern" if RBF in kinds(model) else "matern"
    named = IVMRegressor(**{**SETTINGS, "kernel": name}).fit(X, y)
    assert model.kernel_ == named.kernel_
    np.testing.assert_array_equal(model.predict(X), named.predict(X))
    assert clone(model).kernel == model.get_params()["kernel"] == "auto"


def test_units_do_not_matter():
    X, y = rough()
    model = IVMRegressor(**SETTINGS).fit(X, y)
    other = IVMRegressor(**SETTINGS).fit([10.0, 1e-3] * X, 1e4 * y + 7.0)
    assert kinds(model) == kinds(other)
    np.testing.assert_allclose(other.predict([10.0, 1e-3] * X), 1e4 * model.predict(X) + 7.0, rtol=1e-4)


@pytest.mark.parametrize(
    "settings",
    [{"approximation": "factorised"}, {"target": "auto"}, {"likelihood": "laplace"}, {"max_memory": "4MB"},
     {"n_active": "auto"}, {"warm_start": True}],
    ids=str,
)  # fmt: skip
def test_forms_of_estimators_and_files(tmp_path, settings):
    X, y = rough(150)
    model = IVMRegressor(**{**SETTINGS, "n_active": 60, **settings}).fit(X, y, np.r_[0.0, 2.0, np.ones(148)])
    assert len(model.history_["form_log_density"]) == len(FORMS)
    model.save(tmp_path / "model.ivm")
    loaded = infovec.load(tmp_path / "model.ivm")
    assert loaded.kernel == "auto"
    np.testing.assert_array_equal(loaded.history_["form_log_density"], model.history_["form_log_density"])
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_nothing_is_tried_where_nothing_can_be_told():
    X, y = rough()
    for settings, n in (({"learn": None}, 260), ({"learn": Learning()}, 260), ({}, 50)):
        model = IVMRegressor(**{**SETTINGS, **settings}).fit(X[:n], y[:n])
        assert "form_log_density" not in model.history_
        assert kinds(model) == kinds(IVMRegressor(**{**SETTINGS, **settings, "kernel": None}).fit(X[:n], y[:n]))


def test_several_targets_later_rows_and_smaller_models():
    X, y = rough()
    both = IVMRegressor(**{**SETTINGS, "n_active": 60}).fit(X, np.stack([y, smooth()[1]], axis=1))
    assert both.predict(X).shape == (260, 2)
    model = IVMRegressor(**{**SETTINGS, "n_active": 60}).fit(X[:200], y[:200])
    kernel = model.kernel_
    model.tell(X[200:], y[200:])
    assert model.kernel_ == kernel
    assert model.compress(30).kernel_ == kernel
    assert model.plan(X, y).seconds > 0.0


def test_classes_have_no_such_name():
    with pytest.raises(ParameterError, match="'auto' is not understood"):
        IVMClassifier(kernel="auto").fit(*[rough()[0], rough()[1] > 1.5])
