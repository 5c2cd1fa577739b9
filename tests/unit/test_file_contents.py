"""Files of the right form with wrong contents: each field is checked, by itself and beside the others."""

import copy
import io
import json
import os
import pickle
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from fixed import IVMClassifier, IVMOrdinalClassifier, IVMRegressor
from hostile import members, pack
from scipy import sparse
from sklearn.exceptions import InconsistentVersionWarning

import infovec
from infovec import load
from infovec.cli.commands import infovec as program
from infovec.errors import InfovecError, ModelFileError, ParameterError
from infovec.estimators import saving
from infovec.estimators.schema import FITTED, OPTIONAL, PARAMS
from infovec.kernels import RBF, Bias
from infovec.kernels.geometry import inner, squared_norms
from infovec.likelihoods.classes import MultivariateProbit, OneAgainstRest, Softmax
from infovec.persistence.atomic import replacing
from infovec.persistence.leftovers import collect, temporary

TESTS = Path(__file__).parents[1]
KERNEL = {"kind": "object", "class": "RBF", "fields": {"length_scale": 1.0, "variance": 1.0}}
NAN = {"kind": "float", "value": "nan"}
GRADES, COSTS = ["low", "middle", "high"], {"low": 1.0, "middle": 3.0, "high": 0.5}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Models of several forms, saved; 60 rows of 3 columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    latent = np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1]
    three, made = np.digitize(latent, [-0.3, 0.3]), tmp_path_factory.mktemp("models")
    common = {
        "n_active": 9,
        "random_state": np.random.RandomState(5),
        "kernel": RBF(np.array([1.0, 2.0, 3.0])) + Bias(),
    }
    thin = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    fits = {
        "numbers": (IVMRegressor(**common), X, latent),
        "factorised": (IVMRegressor(approximation="factorised", **common), X, latent),
        "thin": (IVMRegressor(**common), thin, latent),
        "two": (IVMClassifier(**common), X, latent > 0),
        "each": (IVMClassifier(shared_kernel=False, **common), X, three),
        "coupled": (IVMClassifier(multi_class="probit", **common), X, three),
        "ordered": (IVMOrdinalClassifier(**common), X, three),
        "words": (IVMOrdinalClassifier(categories=GRADES, class_weight=COSTS, **common), X, np.array(GRADES)[three]),
    }
    for name, (model, inputs, y) in fits.items():
        model.fit(inputs, y).save(made / f"{name}.ivm")
    return made


class File:
    """A file being altered."""

    def __init__(self, path):
        self.path = path.with_name("altered.ivm")
        self.parts = members(path.read_bytes())
        self.tree = json.loads(self.parts["model.json"])

    @property
    def saved(self):
        return self.tree["model"]["fields"]

    @property
    def fitted(self):
        return self.saved["model"]["fields"]["fitted"]["items"]

    @property
    def params(self):
        return self.saved["model"]["fields"]["params"]["items"]

    def array(self, array):
        """Add an array, and return what declares it."""
        name, out = f"arrays/{800 + len(self.parts)}.npy", io.BytesIO()
        np.lib.format.write_array(out, np.asarray(array), version=(1, 0))
        self.parts[name] = out.getvalue()
        dtype, shape = np.asarray(array).dtype.newbyteorder("<").str, list(np.shape(array))
        return {"kind": "array", "member": name, "dtype": dtype, "shape": shape, "order": "C"}

    def stored(self, declared):
        return np.load(io.BytesIO(self.parts[declared["member"]]))

    def write(self):
        text = json.dumps(self.tree)
        self.parts["model.json"] = text.encode()
        used = {n: t for n, t in self.parts.items() if not n.startswith("arrays/") or f'"{n}"' in text}
        self.path.write_bytes(pack(used))
        return self.path


def change(name):
    """Return a function that sets a fitted attribute to a value, or to an array, or to what a function makes of it."""

    def with_value(value):
        def apply(file):
            value_ = value(file) if callable(value) else value
            file.fitted[name] = file.array(value_) if isinstance(value_, np.ndarray) else value_

        return apply

    return with_value


def of_array(name, alter, *path):
    """Alter a copy of the array of a fitted attribute, or of a field within."""

    def apply(file):
        holder, key = file.fitted, name
        for step in path:
            holder, key = holder[key]["items" if step in holder[key].get("items", {}) else "fields"], step
        array = file.stored(holder[key]).copy()
        altered = alter(array)
        holder[key] = file.array(array if altered is None else altered)

    return apply


def put(where, value):
    def alter(array):
        array[where] = value

    return alter


def altered_csr(file, part, alter):
    """Alter a part of the sparse inputs of the posterior."""
    X = file.fitted["posterior_"]["fields"]["X"]
    array = file.stored(X[part]).copy()
    alter(array)
    X[part] = file.array(array)


def posterior(**fields):
    return lambda file: file.fitted["posterior_"]["fields"].update(copy.deepcopy(fields))


def history(**columns):
    def apply(file):
        made = {k: file.array(v) if isinstance(v, np.ndarray) else v for k, v in columns.items()}
        file.fitted["history_"]["items"].update(made)

    return apply


def state(**fields):
    def apply(file):
        made = {k: file.array(v) if isinstance(v, np.ndarray) else v for k, v in fields.items()}
        file.params["random_state"]["fields"].update(made)

    return apply


def several(*changes):
    def apply(file):
        for one in changes:
            one(file)

    return apply


def param(**given):
    return lambda file: file.params.update(given)


ARANGE, ONES = np.arange(9), np.ones(9)
WRONG = {
    "rows below zero": (
        "numbers",
        of_array("active_", put(2, -5)),
        r"active_ must be row numbers from 0 to 59, and has -5",
    ),
    "rows beyond": ("numbers", of_array("active_", put(2, 10**9)), r"active_ must be row numbers.* to 1000000000"),
    "a row twice": (
        "numbers",
        of_array("active_", lambda a: put(3, a[2])(a)),
        r"active_ must be different row numbers",
    ),
    "fewer rows": ("numbers", of_array("active_", lambda a: a[:-1]), r"active_ must be .*shape \(9\), not .*\(8,\)"),
    "rows as floats": ("numbers", change("active_")(ARANGE + 0.5), r"active_ must be an array of whole numbers"),
    "evidence as text": ("numbers", change("log_evidence_")("high"), r"log_evidence_ must be a number, not 'high'"),
    "a huge number": (
        "numbers",
        change("log_evidence_")(10**400),
        r"log_evidence_ must be .* not a whole number of 1329",
    ),
    "no rows at all": ("numbers", change("n_samples_fit_")(0), r"n_samples_fit_ must be a whole number from 1, not 0"),
    "a fraction of rows": ("numbers", change("n_samples_fit_")(59.5), r"n_samples_fit_ must be a whole number"),
    "negative seconds": (
        "numbers",
        change("fit_seconds_")(-1.0),
        r"fit_seconds_ must be a finite number from 0, not -1",
    ),
    "not a flag": ("numbers", change("converged_")(1), r"converged_ must be true or false, not 1"),
    "a reason": ("numbers", change("stop_reason_")([]), r"stop_reason_ must be a text"),
    "a long reason": ("numbers", change("stop_reason_")("x" * 10**5), r"stop_reason_ must be a text of at most"),
    "columns": (
        "numbers",
        change("n_features_in_")(4),
        r"n_features_in_ must be 3, as there are columns in active_vec",
    ),
    "names": (
        "numbers",
        change("feature_names_in_")({"kind": "objects", "items": ["a"]}),
        r"feature_names_in_ must be .*\(3\)",
    ),
    "no names": (
        "numbers",
        change("feature_names_in_")({"kind": "objects", "items": [1, 2, 3]}),
        r"names_in_ must be texts",
    ),
    "another kernel": (
        "numbers",
        change("kernel_")(KERNEL),
        r"kernel_ must be the kernel of posterior_, and is another",
    ),
    "no kernel": ("numbers", change("kernel_")(3), r"kernel_ must be a kernel, not 3"),
    "other vectors": (
        "numbers",
        of_array("active_vectors_", put((0, 0), 9.0)),
        r"active_vectors_ must be the inputs of",
    ),
    "a likelihood of classes": (
        "numbers",
        change("likelihood_")({"kind": "object", "class": "Probit", "fields": {}}),
        r"likelihood_ must be a likelihood of numbers, not a Probit",
    ),
    "a likelihood of numbers": (
        "two",
        change("likelihood_")({"kind": "object", "class": "Gaussian", "fields": {}}),
        r"likelihood_ must be a likelihood of 2 classes, not a Gaussian",
    ),
    "categories of other classes": (
        "words",
        change("categories_")(np.array(["low", "middle", "top"])),
        "categories_ must be the labels of classes_ from lowest to highest",
    ),
    "a category twice": (
        "words",
        change("categories_")(np.array(["low", "high", "high"])),
        "categories_ must be the labels of classes_",
    ),
    "too few categories": (
        "words",
        change("categories_")(np.array(["low", "high"])),
        r"categories_ must be an array of .*shape \(3\)",
    ),
    "categories of another type": (
        "ordered",
        change("categories_")(np.array([0.0, 1.0, 2.0])),
        "categories_ must be the labels of classes_",
    ),
    "words out of order": (
        "words",
        change("classes_")(np.array(GRADES)),
        "classes_ must be in ascending order",
    ),
    "categories of no order": (
        "two",
        change("categories_")(np.array([True, False])),
        "it has categories_, which no IVMClassifier has",
    ),
    "rank order of earlier versions, damaged": (
        "words",
        several(lambda file: file.fitted.pop("categories_"), change("classes_")(np.array([["low", "high"]]))),
        "it has no categories_",
    ),
    "weights of earlier versions, damaged": (
        "words",
        several(lambda file: file.fitted.pop("categories_"), change("class_shift_")(np.zeros(2))),
        "class_shift_ must be",
    ),
    "four categories": (
        "ordered",
        lambda file: file.fitted["likelihood_"]["fields"].update(thresholds=file.array(np.array([0.0, 1.0, 2.0]))),
        r"likelihood_ must be a likelihood of 3 ordered classes",
    ),
    "four biases": (
        "coupled",
        lambda file: file.fitted["likelihood_"]["fields"].update(bias=file.array(np.zeros(4))),
        r"likelihood_ must be a likelihood of 3 classes",
    ),
    "power": (
        "coupled",
        lambda file: file.fitted["likelihood_"]["fields"].update(power=-1.0),
        r"likelihood_ has a value that cannot be: MultivariateProbit: power must be a positive number",
    ),
    "three for two": ("two", change("n_classes_")(3), r"n_classes_ must be 2, as there are classes_, not 3"),
    "a class twice": ("each", change("classes_")(np.array([0, 1, 1])), r"classes_ must be different labels"),
    "classes out of order": ("each", change("classes_")(np.array([2, 1, 0])), r"classes_ must be in ascending order"),
    "classes in rows": ("each", change("classes_")(np.array([[0, 1, 2]])), r"classes_ must be an array of"),
    "one class more": ("each", change("classes_")(np.arange(4)), r"n_classes_ must be 4|parts must be a tuple of"),
    "no number": ("two", change("classes_")(np.array([0.0, np.nan])), r"classes_ must be texts or numbers"),
    "L of another size": (
        "numbers",
        of_array("posterior_", lambda a: a[:8, :8], "L"),
        r"posterior_.L must be .*\(9, 9\)",
    ),
    "L not a number": (
        "numbers",
        of_array("posterior_", put((3, 2), np.nan), "L"),
        r"posterior_.L must be finite.* nan",
    ),
    "L singular": ("numbers", of_array("posterior_", put((3, 3), 0.0), "L"), r"posterior_.L must have a positive diag"),
    "Q single": ("numbers", of_array("posterior_", lambda a: a.astype("f4"), "Q"), r"Q must be in double precision"),
    "beta short": (
        "numbers",
        of_array("posterior_", lambda a: a[:2], "beta"),
        r"posterior_.beta must be .*shape \(9\)",
    ),
    "X infinite": ("numbers", of_array("posterior_", put((0, 0), np.inf), "X"), r"posterior_.X must be finite"),
    "X huge": (
        "numbers",
        of_array("posterior_", put((8, 0), 1e200), "X"),
        r"posterior_.X must be finite, at most 1e\+100",
    ),
    "X of texts": (
        "numbers",
        posterior(X={"kind": "objects", "items": ["a"]}),
        r"posterior_.X must be an array of floats",
    ),
    "X nothing": ("numbers", posterior(X=None), r"posterior_.X must be an array of floats .*not None"),
    "precision": ("factorised", of_array("posterior_", put(0, -1.0), "precision"), r"precision must not be negative"),
    "posterior of classes": (
        "coupled",
        of_array("posterior_", lambda a: a[:2], "Q"),
        r"posterior_.Q must be .*\(3, 9, 9\)",
    ),
    "a posterior of one": (
        "coupled",
        lambda file: file.fitted["posterior_"].update({"class": "ProjectedPosterior"}),
        r"posterior_ must be a posterior of 3 classes, not a ProjectedPosterior",
    ),
    "a class less": (
        "each",
        lambda file: file.fitted["posterior_"]["fields"]["parts"]["items"].pop(),
        r"posterior_.parts must be a tuple of the posteriors of 3 classes",
    ),
    "a kernel less": ("each", lambda file: file.fitted["kernel_"].pop(), r"kernel_ must be a kernel, or one for each"),
    "sites": ("numbers", change("site_mean_")(np.ones(8)), r"site_mean_ must be an array of floats of shape \(9\)"),
    "sites of classes": ("coupled", change("site_precision_")(np.ones((9, 2))), r"site_precision_ must be .*\(9, 3\)"),
    "history": ("numbers", change("history_")([]), r"history_ must be a dict of columns, not a list"),
    "history of others": ("numbers", history(row=ARANGE + 20), r"history_\['row'\] must be active_"),
    "history short": ("numbers", history(score=np.ones(5)), r"history_\['score'\] must be an array of floats of shape"),
    "history of texts": (
        "numbers",
        history(score=np.array(["a"] * 9)),
        r"history_\['score'\] must be an array of floats",
    ),
    "history unknown": ("numbers", history(colour=ONES), r"history_ has a column 'colour', which no fit leaves"),
    "sweeps apart": ("two", history(sweep_change=np.ones(99)), r"history_\['sweep_"),
    "seconds": ("numbers", history(learning_seconds=NAN), r"history_\['learning_seconds'\] must be a finite number"),
    "missing": (
        "numbers",
        lambda file: file.fitted.pop("active_"),
        r"it has no active_, which every fitted IVMRegressor",
    ),
    "unknown": ("numbers", change("_state")(3), r"it has _state, which no IVMRegressor has"),
    "unknown parameter": ("numbers", param(colour=3), r"it has colour, which no IVMRegressor has"),
    "n_jobs": ("numbers", param(n_jobs="two"), r"the parameter n_jobs must be a whole number or None, not 'two'"),
    "kernel parameter": ("numbers", param(kernel=4), r"the parameter kernel must be a kernel, its name or None, not 4"),
    "callback": ("numbers", param(callback=5), r"the parameter callback must be None, not 5"),
    "seed": ("numbers", param(random_state=-1), r"the parameter random_state must be a whole number from 0"),
    "time": ("numbers", param(max_time="long"), r"the parameter max_time must be a number from 0 or None"),
    "position": ("numbers", state(position=100_000), r"random_state: position must be a whole number from 0 to 624"),
    "position below": ("numbers", state(position=-1), r"random_state: position must be a whole number from 0 to 624"),
    "key": ("numbers", state(key=np.zeros(624, "u4")), r"random_state: key must not be zero"),
    "short key": ("numbers", state(key=np.ones(600, "u4")), r"random_state: key must be an array of type uint32"),
    "key of floats": ("numbers", state(key=np.ones(624)), r"random_state: key must be an array of type uint32"),
    "gauss": ("numbers", state(has_gauss=1, gauss=NAN), r"random_state: gauss must be a finite number"),
    "has gauss": ("numbers", state(has_gauss=7), r"random_state: has_gauss must be a whole number from 0 to 1"),
    "extra": ("numbers", lambda file: file.tree.update(extra=[1]), r"extra must be a dict, not a list"),
    "other inputs": (
        "numbers",
        lambda file: file.saved.update(inputs=file.array(np.ones((9, 3)))),
        r"inputs must be some of the active rows of the model",
    ),
    "testimony": ("numbers", lambda file: file.saved.update(testimony=3), r"testimony must be a dict of arrays, not 3"),
    "half a character": ("numbers", change("stop_reason_")("\ud800"), r"a text has half a character"),
    "many columns": (
        "thin",
        several(
            change("n_features_in_")(2**40),
            lambda f: f.fitted["posterior_"]["fields"]["X"]["shape"].__setitem__(1, 2**40),
        ),
        r"fewer than 2\^31",
    ),
    "ends before it begins": (
        "thin",
        lambda file: altered_csr(file, "indptr", lambda a: put(-1, 0)(a)),
        r"posterior_.X must be a sparse matrix, and says of some entries that they are elsewhere",
    ),
    "goes back": (
        "thin",
        lambda file: altered_csr(file, "indptr", lambda a: put(3, 0)(a)),
        r"posterior_.X must be a sparse matrix, and says of some entries that they are elsewhere",
    ),
    "a column beyond": (
        "thin",
        lambda file: altered_csr(file, "indices", lambda a: put(-1, 3)(a)),
        r"posterior_.X must be a sparse matrix, and says of some entries that they are elsewhere",
    ),
    "a column before": (
        "thin",
        lambda file: altered_csr(file, "indices", lambda a: put(0, -1)(a)),
        r"posterior_.X must be a sparse matrix, and says of some entries that they are elsewhere",
    ),
    "a scalar of three": (
        "numbers",
        lambda file: file.fitted.update(log_evidence_={"kind": "scalar", "array": file.array(np.ones(3))}),
        r"fitted.log_evidence_ must be a single value, not an array",
    ),
    "keys of a kind": (
        "numbers",
        lambda file: file.fitted.update(log_evidence_={"kind": "float", "value": "nan", "more": 1}),
        r"fitted.log_evidence_: a thing of the kind 'float' must have \['value'\]",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_each_field_is_checked(name, folder):
    form, alter, message = WRONG[name]
    file = File(folder / f"{form}.ivm")
    alter(file)
    path = file.write()
    with pytest.raises(ModelFileError, match=message) as caught:
        load(path)
    said = str(caught.value)
    assert said.startswith(f"{path} cannot be loaded: ")
    assert "\n" not in said
    assert len(said) < 500


def test_what_is_written_again_unaltered_loads(folder):
    for path in sorted(folder.glob("*.ivm")):
        if path.name != "altered.ivm":
            load(File(path).write())


def test_files_whose_classes_go_by_rank_predict_rightly(folder, tmp_path):
    """Earlier versions wrote no ``categories_``, and ``classes_`` from lowest to highest."""
    file, model = File(folder / "words.ivm"), load(folder / "words.ivm")
    assert file.stored(file.fitted.pop("categories_")).tolist() == GRADES
    change("classes_")(np.array(GRADES))(file)
    change("class_shift_")(np.log([COSTS[grade] for grade in GRADES]))(file)
    old, X = load(file.write()), np.random.default_rng(1).normal(size=(20, 3))
    for name in ("classes_", "categories_", "class_shift_"):
        np.testing.assert_array_equal(getattr(old, name), getattr(model, name))
    np.testing.assert_array_equal(old.predict_proba(X), model.predict_proba(X))
    old.save(tmp_path / "again.ivm")
    np.testing.assert_array_equal(load(tmp_path / "again.ivm").predict_proba(X), model.predict_proba(X))


def test_a_random_state_that_is_none_does_not_kill_the_next_fit(folder):
    file = File(folder / "numbers.ivm")
    state(position=624)(file)  # the last one that is one
    model = load(file.write())
    model.fit(np.random.default_rng(0).normal(size=(30, 3)), np.arange(30.0))


@pytest.mark.parametrize("cls", [infovec.IVMClassifier, infovec.IVMRegressor, infovec.IVMOrdinalClassifier])
def test_no_attribute_or_parameter_without_a_check(cls):
    assert set(cls._fitted) <= set(FITTED), "add a check to infovec.estimators.schema.fitted.FITTED"
    assert set(cls._get_param_names()) <= set(PARAMS), "add a check to infovec.estimators.schema.params.PARAMS"
    assert set(cls._fitted) >= OPTIONAL - {"unlabelled_", "outputs_"}  # of classifiers alone, and of regressors


def test_no_check_without_an_attribute():
    classes = infovec.IVMClassifier, infovec.IVMRegressor, infovec.IVMOrdinalClassifier, infovec.GPClassifier
    assert set(FITTED) == {name for cls in classes for name in cls._fitted}
    assert set(PARAMS) == {name for cls in classes for name in cls._get_param_names()}


def test_an_attribute_without_a_check_is_neither_saved_nor_loaded(folder, monkeypatch, tmp_path):
    monkeypatch.setattr(infovec.IVMRegressor, "_fitted", (*infovec.IVMRegressor._fitted, "colour_"))
    with pytest.raises(ModelFileError, match="colour_ of IVMRegressor cannot be in a file: no check is known"):
        load(folder / "numbers.ivm")


def test_models_that_could_not_be_loaded_are_not_saved(folder, tmp_path):
    model = load(folder / "two.ivm")
    model.n_classes_ = 3
    with pytest.raises(ModelFileError, match="n_classes_ must be 2"):
        model.save(tmp_path / "m.ivm")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("cls", [OneAgainstRest, MultivariateProbit, Softmax])
@pytest.mark.parametrize(
    "given", [{"power": 0.0}, {"power": np.inf}, {"spread": -1.0}, {"spread": "x"}, {"bias": 1.0}, {"weight": [-1.0]}]
)
def test_likelihoods_of_classes_check_what_they_are_given(cls, given):
    with pytest.raises(ParameterError, match=next(iter(given))):
        cls(**given)


def test_a_number_that_no_float_is(folder):
    with pytest.raises(ParameterError, match="length_scale must be a number"):
        RBF(10**400)


def test_a_single_number_is_not_an_array():
    for make in (lambda v: RBF(1.0, v), Bias, lambda v: RBF() * 2.0 + Bias(v)):
        with pytest.raises(ParameterError, match="variance must be one number"):
            make(np.ones(3))
    assert RBF(np.ones(3), np.array(2.0)).variance == 2.0


def test_class_weights_that_lack_a_label():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ParameterError, match="class_weight must have a number for every label of y"):
        IVMClassifier(n_active=5, class_weight={7: 1.0}).fit(X, X[:, 0] > 0)


def test_sparse_products_leave_out_empty_columns():
    rng = np.random.default_rng(0)
    for columns in (40, 4000):
        A, B = (sparse.random(6, columns, 30 / (6 * columns), "csr", random_state=k) for k in range(2))
        B.data[:] = rng.normal(size=B.nnz)
        np.testing.assert_allclose(inner(A, B), A.toarray() @ B.toarray().T, rtol=1e-14)
        np.testing.assert_allclose(squared_norms(B), np.square(B.toarray()).sum(axis=1), rtol=1e-14)
    twice = sparse.csr_array((np.array([1.0, 2.0, 3.0]), np.array([1, 1, 0]), np.array([0, 2, 3, 3])), shape=(3, 2))
    np.testing.assert_array_equal(squared_norms(twice), [9.0, 9.0, 0.0])


@pytest.mark.parametrize("operation", [lambda a, b: a + b, lambda a, b: a * b])
def test_kernels_of_many_parts_are_what_their_parts_are(operation):
    rng = np.random.default_rng(1)
    X, Z = rng.normal(size=(5, 6)), rng.normal(size=(4, 6))
    parts, kernel = [RBF(1.0 + i) for i in range(30)], RBF(1.0)
    expected = parts[0](X, Z)
    for part in parts[1:]:
        kernel, expected = operation(kernel, part), operation(expected, part(X, Z))
    assert kernel.n_parts == 59
    np.testing.assert_allclose(kernel.part_by_part(Z)(X), expected, rtol=1e-13)
    np.testing.assert_array_equal(kernel.part_by_part(Z)(X), kernel.on(Z)(X))


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux does")
def test_memory_is_in_proportion_to_the_file(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(Path(infovec.__file__).parents[1])])}
    done = subprocess.run(
        [sys.executable, str(TESTS / "greedy.py"), str(tmp_path)], capture_output=True, text=True, timeout=120,
        env={**environment, "OPENBLAS_NUM_THREADS": "1"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert len(told) == 10
    for name, one in told.items():
        assert one["took"] <= 20 * one["size"] + 50e6, (name, one)
        assert one["said"] == "loaded" or one["said"].startswith(f"rejected: {tmp_path}/{name}.ivm cannot"), (name, one)
        assert one["seconds"] < 15.0, (name, one)
    assert told["many_kernels_that_are_right"]["said"] == told["columns"]["said"] == "loaded"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_nobody_waits_for_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe.ivm")
    said = []

    def attempt():
        try:
            load(tmp_path / "pipe.ivm")
        except ModelFileError as error:
            said.append(str(error))

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(timeout=20)
    assert [text.split(";")[0] for text in said] == [
        f"{tmp_path}/pipe.ivm cannot be loaded: it is a folder, pipe or device"
    ]
    with pytest.raises(ModelFileError, match="it is a folder, pipe or device"):
        load(tmp_path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing.ivm")


def test_temporary_files_that_were_left_are_collected(tmp_path):
    target = tmp_path / "m.ivm"
    left = [tmp_path / ".m.ivm.0123abcd.tmp", tmp_path / ".m.ivm.ffffffff.tmp"]
    others = [tmp_path / ".other.ivm.0123abcd.tmp", tmp_path / ".m.ivm.tmp", tmp_path / ".m.ivm.0123abcd.tmp.txt"]
    for path in (*left, *others):
        path.write_bytes(b"x" * 1000)
    used, file = temporary(target)  # someone else is writing
    with file:
        with replacing(target) as mine:
            mine.write(b"new")
        assert used.exists()
        assert all(path.exists() for path in others)
        assert not any(path.exists() for path in left)
    assert target.read_bytes() == b"new"
    collect(target)
    assert not used.exists()


def test_writers_at_the_same_time_do_not_collect_each_other(tmp_path):
    target, failed = tmp_path / "m.ivm", []

    def writer(k):
        try:
            for _ in range(60):
                with replacing(target) as file:
                    file.write(bytes([k]) * 5000)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=writer, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert os.listdir(tmp_path) == ["m.ivm"]
    assert len(set(target.read_bytes())) == 1
    assert len(target.read_bytes()) == 5000


def test_pickles_know_their_version(folder, monkeypatch):
    model = load(folder / "two.ivm")
    text = pickle.dumps(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same = pickle.loads(text)
        copy.deepcopy(model)
    assert vars(same).keys() == vars(model).keys()
    monkeypatch.setattr(saving, "__version__", "0.0.7")
    old = pickle.dumps(model)
    monkeypatch.undo()
    with pytest.warns(InconsistentVersionWarning, match=r"pickled by infovec 0\.0\.7 and is read by") as caught:
        pickle.loads(old)
    assert caught[0].filename == __file__
    unknown = copy.copy(model)
    with pytest.warns(InconsistentVersionWarning, match="of an unknown version"):
        unknown.__setstate__(dict(vars(model)))


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A model of the command line, and its table."""
    folder, rng = tmp_path_factory.mktemp("table"), np.random.default_rng(0)
    rows = [f"{a},{b},{'red' if a > b else 'blue'},{a + b}" for a, b in rng.normal(size=(40, 2))]
    (folder / "t.csv").write_text("\n".join(["a,b,c,y", *rows]))
    done = CliRunner().invoke(
        program, ["fit", str(folder / "t.csv"), "-t", "y", "-o", str(folder / "t.ivm"), "--active", "8"]
    )
    assert done.exit_code == 0, done.output
    return folder


def described(**changes):
    return lambda file: file.tree["extra"]["items"]["table"]["items"].update(changes)


def earlier(**changes):
    """A table as versions before had it."""

    def change(file):
        table = file.tree["extra"]["items"]["table"]["items"]
        del table["schema"]
        table.update({"numbers": ["a", "b"], "words": [], "fill": None, **changes})

    return change


def column(**changes):
    """A column of numbers as it is in a file."""
    items = {"form": "number", "name": "a", "kind": "number", "fill": 0.0, "indicator": False, **changes}
    return {"kind": "dict", "items": items}


WORDS = {"form": "category", "name": "c", "kind": "text", "categories": ["red"], "fill": 0, "indicator": False}
TABLES = {
    "scale zero": (described(scale={"kind": "tuple", "items": [0.0] * 3}), "the table's scale must be positive"),
    "scale text": (described(scale="x"), "the table's scale must be a list"),
    "centre huge": (described(centre=[10**400] * 3), r"the table's centre\[0\] must be a finite number"),
    "centre not": (described(centre=[NAN] * 3), r"the table's centre\[0\] must be a finite number, not nan"),
    "short": (described(centre=[0.0]), "the table's centre must be 3 numbers"),
    "sparse": (described(sparse=True), "the table is sparse, and has words, gaps or a centre"),
    "sparse text": (described(sparse="yes"), "the table's sparse must be true or false"),
    "task": (described(task="classify"), "the estimator must be an IVMClassifier, to classify"),
    "strange task": (described(task="dance"), "the table's task must be one of"),
    "kind": (described(target_kind="colour"), "the table's target_kind must be number or word"),
    "numbers": (
        described(schema=[column()], centre=[0.0], scale=[1.0]),
        "the model has 3 columns, and its table 1",
    ),
    "another table": (
        described(schema=[column(name=name) for name in "abc"]),
        "the model and its table differ in how columns are to be read",
    ),
    "order": (
        described(schema=[{"kind": "dict", "items": WORDS}, column(), column()]),
        "the model and its table differ in how columns are to be read",
    ),
    "words": (described(schema=[3]), r"the table's columns\[0\] must be a column"),
    "no words": (described(schema=5), "the table must be a list of columns"),
    "fill": (described(schema=[column(fill="x")]), r"the table's columns\[0\].fill must be a finite number"),
    "earlier words": (
        earlier(words=["c"]),
        "fitted by an earlier version",
    ),
    "more": (described(more=1), "the description of the table must have"),
    "no table": (lambda file: file.tree.update(extra=None), "extra must be a dict"),
    "table of nothing": (lambda file: file.tree["extra"]["items"].update(table=None), "the description of the table"),
    "evidence": (change("log_evidence_")("x"), "log_evidence_ must be a number"),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_model_files_are_checked(name, table):
    alter, message = TABLES[name]
    file = File(table / "t.ivm")
    alter(file)
    path = str(file.write())
    for command in (["inspect", path], ["inspect", path, "--json"], ["predict", path, str(table / "t.csv")]):
        done = CliRunner().invoke(program, command)
        assert isinstance(done.exception, SystemExit)
        assert done.exit_code == 1
        assert message.split("\\")[0] in done.output


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ({}, "the plan's seconds must be a finite number from 0, not None"),
        ({"seconds": 1.0, "memory": 5, "learning": "long"}, "the plan's learning must be a finite number from 0"),
    ],
)
def test_a_plan_that_is_none(table, plan, said):
    file = File(table / "t.ivm")
    head = json.loads(file.parts["infovec.json"])
    head["provenance"]["plan"] = plan
    file.parts["infovec.json"] = json.dumps(head).encode()
    done = CliRunner().invoke(program, ["inspect", str(file.write())])
    assert done.exit_code == 1
    assert said in done.output


def test_json_has_no_nan(table):
    file = File(table / "t.ivm")
    change("log_evidence_")(NAN)(file)
    path = str(file.write())
    done = CliRunner().invoke(program, ["inspect", path, "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["log_evidence"] is None
    assert "log evidence  not finite" in CliRunner().invoke(program, ["inspect", path]).output


def test_a_folder_with_a_model_of_the_future(folder):
    """A class of another version is refused with the remedy, not with what it lacks."""
    file = File(folder / "numbers.ivm")
    file.fitted["kernel_"] = {"kind": "object", "class": "Quantum", "fields": {}}
    with pytest.raises(InfovecError, match="'Quantum', which this version of infovec does not know; upgrade"):
        load(file.write())


def test_parameters_that_cannot_be_kept_are_left_out_and_said(folder, tmp_path):
    model = load(folder / "numbers.ivm").set_params(initial=range(3), warm_start=1, n_jobs=[2], max_memory={})
    model.save(tmp_path / "m.ivm")
    back, _, provenance = infovec.load_with_extra(tmp_path / "m.ivm")
    assert {key.rpartition(".")[2] for key in provenance["left_out"]} == {"initial", "n_jobs", "max_memory"}
    assert provenance["left_out"]["Saved.model.params.initial"] == "Unfit range"
    assert (back.initial, back.n_jobs, back.max_memory, back.warm_start) == (None, None, None, 1)
