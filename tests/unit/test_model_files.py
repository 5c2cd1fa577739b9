"""Models come back from files as they were, to the last bit."""

import hashlib
import inspect
import io
import os
import zipfile
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from fixed import IVMClassifier, IVMOrdinalClassifier, IVMRegressor
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import infovec
from infovec import load, load_with_extra
from infovec.errors import ModelFileError, ParameterError
from infovec.estimators.records import registry
from infovec.kernels import (
    MLP,
    RBF,
    Bias,
    Exponential,
    FromFunction,
    Kernel,
    Linear,
    MainEffects,
    Matern,
    Periodic,
    Polynomial,
    Precomputed,
    Product,
    RationalQuadratic,
    Relevance,
    White,
)
from infovec.likelihoods import (
    Discrete,
    Gaussian,
    Laplace,
    Likelihood,
    Logit,
    Ordinal,
    Poisson,
    Probit,
    StudentT,
    weighted,
)
from infovec.persistence import read_provenance
from infovec.persistence.atomic import replacing
from infovec.posterior import Posterior

P = 3
ARD = np.array([0.7, 1.3, 2.0])
REL = np.array([0.9, 0.2, 0.5])
KERNELS = [
    None,
    RBF(ARD, 2.0) + Bias(0.3),
    Matern(nu=2.5) * Linear(),
    Matern(nu=np.inf, length_scale=ARD),
    Exponential(power=0.7) + White(0.1),
    3.0 * RationalQuadratic(alpha=0.6),
    RBF() + MainEffects(Matern(ARD)),
    (Linear(relevance=REL) + Polynomial(degree=3)) * RBF(2.0),
    MLP(relevance=REL) + Bias(),
    Periodic(Matern(nu=1.5), period=ARD) + Bias(),
    Relevance(RBF() + Linear(), REL) + 0.5 * White(),
    Relevance(RBF() * MLP(), 0.4, transform="softplus"),
]


@dataclass(frozen=True, eq=False, repr=False)
class Twice(RBF):
    """A kernel of the user's own, with a field that is an array."""

    weights: object = None

    def on(self, Z):
        block = super().on(Z)
        return lambda X: 2.0 * block(X)

    def diag(self, X):
        return 2.0 * super().diag(X)


@dataclass(frozen=True, eq=False, repr=False)
class Wide(Likelihood):
    """A likelihood of the user's own."""

    noise: float = 0.1

    def log_prob(self, y, f):
        return -0.5 * ((y - f) / self.noise) ** 2 - np.log(self.noise)

    def predict(self, mean, var):
        return mean, var + self.noise**2


def share(X, Z):
    sets = [[set(v) for v in side] for side in (X, Z)]
    return np.array([[len(a & b) for b in sets[1]] for a in sets[0]], dtype=float)


def lengths(X):
    return np.array([float(len(set(v))) for v in X])


def data(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, P))
    return X, np.abs(np.round(3.0 * np.sin(X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n)))


def equal(a, b):
    """Whether two things are the same, to the last bit and in the same types."""
    if sparse.issparse(a):
        return type(a) is type(b) and a.shape == b.shape and equal(a.toarray(), b.toarray())
    if isinstance(a, np.ndarray):
        if type(b) is not np.ndarray or (a.dtype, a.shape, a.strides) != (b.dtype, b.shape, b.strides):
            return False
        return a.tobytes() == b.tobytes() if a.dtype != object else equal(a.tolist(), b.tolist())
    if isinstance(a, dict):
        return type(b) is dict and list(a) == list(b) and all(equal(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(equal(*v) for v in zip(a, b, strict=True))
    if isinstance(a, Posterior | np.random.RandomState):
        return type(a) is type(b) and equal(a.__getstate__(), b.__getstate__())
    return type(a) is type(b) and (a == b or a != a)


def again(model, tmp_path, X, **given):
    """The model after a trip to a file, compared with what it was."""
    path = tmp_path / "model.ivm"
    model.save(path)
    back = load(path, **given)
    assert type(back) is type(model)
    assert equal(model.get_params(), back.get_params())
    fitted = {k: v for k, v in vars(model).items() if k.endswith("_")}
    assert equal(fitted, {k: v for k, v in vars(back).items() if k.endswith("_")})
    assert {"kernel_", "likelihood_", "active_", "history_", "log_evidence_", "stop_reason_"} <= set(fitted)
    check_is_fitted(back)
    assert equal(model.predict_latent(X), back.predict_latent(X))
    assert equal(model.predict(X), back.predict(X))
    for name in ("predict_log_proba", "decision_function"):
        if hasattr(model, name):
            assert equal(getattr(model, name)(X), getattr(back, name)(X))
    return back


def test_the_comparison_can_fail():
    assert not equal(np.arange(3), np.arange(3.0))
    assert not equal({"a": [1.0]}, {"a": [1]})
    assert not equal(np.ones((2, 2)), np.ones((2, 2), order="F"))
    assert not equal(sparse.csr_array(np.eye(2)), sparse.csr_matrix(np.eye(2)))
    assert not equal(np.array(["a", None]), np.array(["a", 1.0], dtype=object))
    assert not equal(0.1, np.nextafter(0.1, 1))


@pytest.mark.parametrize("approximation", ["projected", "factorised"])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_every_kernel(kernel, approximation, tmp_path):
    X, y = data()
    model = IVMRegressor(kernel=kernel, approximation=approximation, n_active=20, random_state=0).fit(X, y)
    again(model, tmp_path, X)


EACH = np.linspace(0.1, 2, 60)
LIKELIHOODS = [
    Gaussian(0.3), Gaussian(EACH, bias=1.0), Laplace(), StudentT(df=2.0), Poisson(), Logit(), Probit(bias=0.3),
    "probit", Ordinal(np.arange(7.0) - 3.0), "ordinal", weighted(Gaussian(), EACH), weighted(Probit(), EACH.round()),
]  # fmt: skip


@pytest.mark.parametrize(("as_csr", "approximation"), [(False, "projected"), (True, "projected"), (True, "factorised")])
@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=str)
def test_every_likelihood(likelihood, as_csr, approximation, tmp_path):
    X, y = data()
    X = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0)) if as_csr else X
    Estimator = IVMRegressor
    if isinstance(likelihood, Ordinal) or likelihood == "ordinal":
        Estimator, y = IVMOrdinalClassifier, np.minimum(y, 7)
        y[:8] = np.arange(8)
    elif isinstance(likelihood, Discrete) or likelihood == "probit":
        Estimator, y = IVMClassifier, np.where(y > 2, "much", "little")
    model = Estimator(likelihood=likelihood, approximation=approximation, n_active=20, random_state=0).fit(X, y)
    back = again(model, tmp_path, X)
    assert sparse.issparse(back.active_vectors_) == as_csr


def subclasses(base):
    found = {c for sub in base.__subclasses__() for c in (sub, *subclasses(sub)) if c.__module__.startswith("infovec.")}
    return {c for c in found if not inspect.isabstract(c)}


def test_a_column_may_have_one_value_in_all_active_rows(tmp_path):
    """Its range there is zero, and the fit's own rounding of it is not."""
    rng, n = np.random.default_rng(13), 120
    X = np.column_stack([rng.normal(size=n).round(3), np.arange(n) % 3]).astype(np.float32)
    model = IVMClassifier(n_active=5, random_state=0).fit(X, np.arange(n) % 2)
    assert np.ptp(model.active_vectors_[:, 1]) == 0.0
    model.save(tmp_path / "m.ivm")
    np.testing.assert_array_equal(infovec.load(tmp_path / "m.ivm").predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("base", [Kernel, Likelihood, Posterior])
def test_no_class_without_a_file(base):
    assert subclasses(base)
    assert {c.__name__: c for c in subclasses(base)}.items() <= {
        k: r.cls for k, r in registry().records.items()
    }.items()


def test_no_estimator_without_a_file():
    estimators = {name for name in infovec.__all__ if hasattr(getattr(infovec, name), "save")}
    assert estimators <= set(registry().records)


LABELS = {
    "text": np.array(["no", "yes"]),
    "numbers": np.array([3, 7]),
    "small numbers": np.array([3, 7], dtype=np.int8),
    "floats": np.array([0.0, 1.0]),
    "truth": np.array([False, True]),
    "objects": np.array(["nein", "jå\u0301 🙂"], dtype=object),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_every_kind_of_label(labels, tmp_path):
    X, y = data()
    model = IVMClassifier(n_active=15, random_state=0).fit(X, labels[(y > 2).astype(int)])
    back = again(model, tmp_path, X)
    assert back.predict(X).dtype == labels.dtype


def test_frames_and_ordered_words(tmp_path):
    X, y = data()
    frame = pd.DataFrame(X, columns=["height", "width", "größe"])
    words = np.array(["never", "sometimes", "always"])
    model = IVMOrdinalClassifier(categories=tuple(words.tolist()), n_active=15, random_state=0)
    back = again(model.fit(frame, words[np.minimum(y, 2).astype(int)]), tmp_path, frame)
    assert list(back.feature_names_in_) == ["height", "width", "größe"]
    with pytest.raises(ValueError, match="feature names"):
        back.predict(frame[["width", "height", "größe"]])


@pytest.mark.filterwarnings("ignore:the sites still moved")  # with SciPy 1.13, by a hair; files are what this is about
def test_learned_models_and_single_precision(tmp_path):
    X, y = data(700)
    model = infovec.IVMRegressor(n_active=30, random_state=0, approximation="factorised").fit(X, y)
    assert {"criterion", "theta"} <= set(again(model, tmp_path, X).history_)
    rng = np.random.default_rng(0)
    X, n = rng.normal(size=(30_000, 3)).astype(np.float32), 40
    single = IVMClassifier(n_active=n, random_state=0, selection="refilled").fit(X, X[:, 0] > 0)
    again(single, tmp_path, X[:100])


def test_a_model_can_travel_twice(tmp_path):
    X, y = data()
    model = IVMRegressor(n_active=15, random_state=0).fit(X, y)
    model.save(tmp_path / "a.ivm", extra={"unit": "kg"})
    load(tmp_path / "a.ivm").save(tmp_path / "b.ivm", extra={"unit": "kg"})
    a, b = (zipfile.ZipFile(tmp_path / name) for name in ("a.ivm", "b.ivm"))
    with a, b:
        assert a.namelist() == b.namelist()
        assert all(a.read(n) == b.read(n) for n in a.namelist() if n not in ("infovec.json", "SHA256SUMS"))


def test_parameters_come_back_and_functions_do_not(tmp_path):
    X, y = data()
    seed = np.random.RandomState(3)
    model = IVMClassifier(
        n_active=np.int64(12), dtype=np.float64, random_state=seed, initial=np.array([4, 2]), max_memory="1GB",
        n_jobs=1, warm_start=True, likelihood=Probit(), kernel=RBF(ARD),
    ).fit(X, y > 2)  # fmt: skip
    assert hasattr(model, "_state")
    back = again(model, tmp_path, X)
    assert back.get_params()["random_state"].random() == seed.random()
    with pytest.raises(ParameterError, match="warm_start"):
        back.grow(3)
    seen = []
    model = IVMClassifier(n_active=12, score=lambda *a: a[4], callback=seen.append, random_state=0).fit(X, y > 2)
    model.save(tmp_path / "model.ivm")
    back, _, provenance = load_with_extra(tmp_path / "model.ivm")
    assert back.get_params()["score"] == "entropy"
    assert back.callback is None
    assert seen
    assert provenance["left_out"] == {
        "Saved.model.params.callback": "builtin_function_or_method append",
        "Saved.model.params.score": "function <lambda>",
    }
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))


def test_what_is_kept_beside_the_model(tmp_path):
    X, y = data()
    model = IVMRegressor(n_active=12, random_state=0).fit(X, y)
    extra = {
        "columns": ["a", "b"], "scale": np.array([1.0, 2.0]), "pair": (1, None), "far": -np.inf, "big": 10**40,
        "deep": {"x": [True, {}]}, "mask": np.array([[True, False]]), "count": np.int16(3), "none": np.array(2.5),
        "strings": np.array(["x", "yy"]), "empty": np.empty((0, 4)), "number": np.float32(0.1), "gap": float("nan"),
        "columns first": np.asfortranarray(np.arange(6.0).reshape(2, 3)), "bytes": np.array([b"ab", b"c"]),
    }  # fmt: skip
    model.save(tmp_path / "m.ivm", extra=extra, provenance={"data": "wheat.csv", "command": "infovec fit wheat.csv"})
    content = load_with_extra(tmp_path / "m.ivm")
    assert equal(content.extra, extra)
    origin = content.provenance
    assert origin == read_provenance(tmp_path / "m.ivm")
    assert (origin["data"], origin["command"], origin["left_out"]) == ("wheat.csv", "infovec fit wheat.csv", {})
    assert (origin["rows"], origin["columns"], origin["infovec"]) == (60, P, infovec.__version__)
    assert origin["fit_seconds"] == pytest.approx(model.fit_seconds_, abs=5e-4)
    assert origin["saved"].startswith("20")
    for wrong in ({"f": print}, {"s": {1, 2}}, {3: 4}, {"o": np.array([[None]])}, {"d": np.array(["2020"], "M8[D]")}):
        with pytest.raises(ModelFileError, match=r"cannot be|only texts can be saved as keys"):
            model.save(tmp_path / "m.ivm", extra=wrong)
    circle = {}
    circle["self"] = circle
    with pytest.raises(ModelFileError, match="nested too deeply"):
        model.save(tmp_path / "m.ivm", extra=circle)
    assert equal(load_with_extra(tmp_path / "m.ivm").extra, extra)  # what was there before is still there


def test_kernels_and_likelihoods_of_the_users_own(tmp_path):
    X, y = data()
    kernel = Twice(2.0, weights=np.arange(3)) + Bias()
    model = IVMRegressor(kernel=kernel, likelihood=Wide(0.2), n_active=15, random_state=0).fit(X, y)
    again(model, tmp_path, X, kernels=[Twice, Wide])
    path = tmp_path / "model.ivm"
    with pytest.raises(ModelFileError, match=r"the class Twice.*load\(path, kernels=\[Twice\]\)"):
        load(path)
    with pytest.raises(ModelFileError, match="class Wide"):
        load(path, kernels=[Twice])
    with pytest.raises(ModelFileError, match="must be a class derived from Kernel"):
        load(path, kernels={"Twice": print, "Wide": Wide})
    with pytest.raises(ParameterError, match=r"write kernels=\[\.\.\.\]"):
        load(path, kernels=Twice)
    with pytest.raises(ParameterError, match="not Twice"):
        load(path, kernels=[Twice()])
    with pytest.raises(ModelFileError, match=r"does not predict what it did.*not the one"):
        load(path, kernels={"Twice": _changed(), "Wide": Wide})


def _changed():
    @dataclass(frozen=True, eq=False, repr=False)
    class Twice(RBF):
        weights: object = None

    return Twice


def test_a_class_that_hides_something_is_refused(tmp_path):
    class Hidden(RBF):
        def __init__(self, secret):
            super().__init__(2.0)
            object.__setattr__(self, "secret", secret)

    X, y = data()
    model = IVMRegressor(kernel=Hidden(3), n_active=5, random_state=0).fit(X, y)
    with pytest.raises(ModelFileError, match=r"Hidden with secret, .*frozen dataclass"):
        model.save(tmp_path / "m.ivm")
    assert os.listdir(tmp_path) == []


def test_functions_and_matrices_as_kernels(tmp_path):
    words = ["ant", "bee", "cat", "dog", "elk", "fox"] * 5 + ["12", "345", "67", "890", "24", "531"] * 5
    y = ["word"] * 30 + ["number"] * 30
    model = IVMClassifier(kernel=FromFunction(share, lengths) + Bias(), n_active=12, random_state=0).fit(words, y)
    again(model, tmp_path, ["bat", "999"], kernels=[share, lengths])
    with pytest.raises(ModelFileError, match=r"the function share.*kernels=\[share\]"):
        load(tmp_path / "model.ivm")
    with pytest.raises(ModelFileError, match="does not predict what it did"):
        load(tmp_path / "model.ivm", kernels={"share": lambda X, Z: 2.0 * share(X, Z), "lengths": lengths})
    unnamed = IVMClassifier(kernel=FromFunction(lambda X, Z: share(X, Z)), n_active=12, random_state=0).fit(words, y)
    unnamed.save(tmp_path / "model.ivm")
    assert list(load(tmp_path / "model.ivm", {"<lambda>": share}).predict(["bat"])) == ["word"]
    twins = FromFunction(lambda X, Z: share(X, Z), lambda X: lengths(X))
    with pytest.raises(ModelFileError, match="two functions called <lambda>"):
        IVMClassifier(kernel=twins, n_active=12).fit(words, y).save(tmp_path / "model.ivm")
    rows = np.arange(60)[:, None]
    gram = Product(Precomputed(share(words, words), variance=0.5), Bias(2.0))
    again(IVMClassifier(kernel=gram, n_active=12, random_state=0).fit(rows, y), tmp_path, rows)


def test_anyone_can_read_the_format(tmp_path):
    X, y = data()
    model = IVMRegressor(n_active=30, random_state=0).fit(X, y)
    model.save(tmp_path / "m.ivm", extra={"columns first": np.asfortranarray(np.arange(6.0).reshape(2, 3))})
    with zipfile.ZipFile(tmp_path / "m.ivm") as file:
        assert file.testzip() is None
        members = {name: file.read(name) for name in file.namelist()}
    sums = dict(line.split("  ")[::-1] for line in members.pop("SHA256SUMS").decode().splitlines())
    assert sums == {name: hashlib.sha256(text).hexdigest() for name, text in members.items()}
    arrays = [np.load(io.BytesIO(members[n]), allow_pickle=False) for n in members if n.endswith(".npy")]
    assert any(np.array_equal(a, model.active_vectors_) for a in arrays)
    assert any(a.flags.f_contiguous and a.shape == (2, 3) and a[1, 2] == 5.0 for a in arrays)
    assert sum(np.array_equal(a, model.active_vectors_) for a in arrays) == 1  # shared things are stored once


def test_only_fitted_estimators_of_infovec(tmp_path):
    with pytest.raises(NotFittedError):
        IVMClassifier().save(tmp_path / "m.ivm")

    class Mine(infovec.IVMRegressor):
        pass

    X, y = data()
    with pytest.raises(ModelFileError, match="a Mine cannot be saved"):
        Mine(n_active=5, learn=None).fit(X, y).save(tmp_path / "m.ivm")
    model = IVMRegressor(n_active=5).fit(X, y)
    model.strange_ = 1
    with pytest.raises(ModelFileError, match="strange_, which its _fitted does not list"):
        model.save(tmp_path / "m.ivm")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "m.ivm")


def test_a_failed_write_leaves_what_was_there(tmp_path):
    target, link = tmp_path / "real.ivm", tmp_path / "link.ivm"
    target.write_bytes(b"before")
    link.symlink_to(target)

    def fail():
        with replacing(link) as file:
            file.write(b"half")
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        fail()
    assert target.read_bytes() == b"before"
    with replacing(link) as file:
        file.write(b"after")
    assert target.read_bytes() == b"after"
    assert link.is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["link.ivm", "real.ivm"]
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "nowhere" / "m.ivm"):
        pass


def test_pickles_of_models_with_local_functions_work_too():
    cloudpickle = pytest.importorskip("cloudpickle")
    words = ["ant", "bee", "cat", "12", "345", "67"] * 3
    model = IVMClassifier(kernel=FromFunction(lambda X, Z: share(X, Z)), n_active=6, random_state=0)
    model.fit(words, [word.isdigit() for word in words])
    back = cloudpickle.loads(cloudpickle.dumps(model))
    assert equal(back.predict_proba(["bat", "99"]), model.predict_proba(["bat", "99"]))
