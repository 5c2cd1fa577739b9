"""Exported models predict what the estimators do, in another runtime."""

import re
from pathlib import Path

import numpy as np
import pytest
from fixed import IVMClassifier, IVMOrdinalClassifier, IVMRegressor
from scipy import sparse
from scipy.special import expit, log_ndtr, log_softmax, ndtr

from infovec import GPClassifier, kernels
from infovec.errors import NotPositiveDefinite, ParameterError
from infovec.estimators.kinds import MULTI_CLASS
from infovec.kernels import (
    MLP,
    RBF,
    Bias,
    Categorical,
    Exponential,
    FromFunction,
    Linear,
    MainEffects,
    Matern,
    On,
    Polynomial,
    RationalQuadratic,
    Relevance,
    Standardised,
    White,
)
from infovec.likelihoods import Gaussian, Laplace, Logit, Poisson, Probit, StudentT
from infovec.likelihoods.classes import MultivariateProbit, Softmax
from infovec.numerics.logistic import normal_mixture
from infovec.onnx_export import to_onnx
from infovec.onnx_export.graph import Graph
from infovec.onnx_export.kernels import _KNOWN
from infovec.onnx_export.normal import log_cdf, log_odds, normal_cdf
from infovec.onnx_export.race import nodes_for, win_log_weights
from infovec.posterior import ProjectedPosterior

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

ARD = np.array([0.7, 1.3, 2.0])
KERNELS = [
    None,
    RBF(ARD, 20.0) + Bias(),
    RBF(2.0, 30.0) + 0.5 * Linear(2.0, relevance=ARD) + Bias() + White(0.3),
    Matern(ARD, 5.0, nu=0.5),
    Matern(2.0, 5.0, nu=1.5) + Linear(),
    Matern(2.0, 5.0, nu=2.5) * RBF(3.0),
    Matern(2.0, 5.0, nu=np.inf),
    Exponential(2.0, 9.0, power=1.3) + Bias(),
    RationalQuadratic(ARD, 9.0, alpha=0.7),
    RBF(2.0, 5.0) + MainEffects(Matern(ARD, 9.0, nu=2.5)),
    4.0 * Polynomial(degree=3, offset=0.5),
    Standardised(RBF(1.0, 9.0) + Linear(), np.array([0.1, -0.3, 0.5]), np.array([0.9, 2.0, 0.5])),
    Relevance(RBF(1.0, 9.0) + Linear(), np.array([0.9, 0.3, 0.5])),
    On(RBF(1.0, 9.0), [2, 0]) * On(Categorical(0.7), 1) + On(Linear(), [1]) + Bias(),
]


def data(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = 5.0 + rng.normal(size=(n, 3)) * [1.0, 2.0, 3.0]
    return X, X[:, 0] + np.sin(X[:, 1]) + 0.3 * rng.normal(size=n)


def run(model, X, dtype="float64", path=None):
    exported = to_onnx(model, path, dtype=dtype)
    onnx.checker.check_model(exported, full_check=True)
    session = runtime.InferenceSession(exported.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": np.asarray(X, dtype=dtype)}), strict=True))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_prediction_is_the_first_output(dtype):
    X, y = data()
    for model, target in (
        (IVMClassifier(n_active=20), y > 6), (IVMOrdinalClassifier(n_active=20), np.digitize(y, [5, 7])),
        (IVMRegressor(n_active=20), y),
    ):  # fmt: skip
        session = runtime.InferenceSession(to_onnx(model.fit(X, target), dtype=dtype).SerializeToString())
        found, expected = session.run(None, {"X": X.astype(dtype)})[0], model.predict(X)
        close = np.isclose(found, expected, rtol=1e-3) if target is y else found == expected
        assert np.mean(close) > 0.98
        names = [output.name for output in session.get_outputs()]
        own = ["label", "probability"] if hasattr(model, "classes_") else ["mean", "std"]
        assert names == [*own, "latent_mean", "latent_variance"]


def test_a_dense_model_is_said_to_have_no_graph():
    X, y = data(40)
    with pytest.raises(ParameterError, match=r"GPClassifier cannot be exported to ONNX.*Fit an IVMClassifier"):
        to_onnx(GPClassifier(learn=None).fit(X, y > 6))


def check_latent(found, model, X):
    mean, std = model.predict_latent(X)
    np.testing.assert_allclose(found["latent_mean"], mean, rtol=1e-7, atol=1e-7 * np.abs(mean).max())
    np.testing.assert_allclose(found["latent_variance"], std**2, rtol=1e-6, atol=1e-8 * np.max(std**2))


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_every_kernel(kernel):
    X, y = data()
    if "Categorical" in str(kernel):
        X[:, 1] = np.round(X[:, 1])
    approximation = "factorised" if isinstance(kernel, Matern) else "projected"
    model = IVMClassifier(kernel=kernel, approximation=approximation, n_active=40, random_state=0).fit(X, y > 6)
    Z = np.vstack([X, data(50, 1)[0] + 2.0])
    found = run(model, Z)
    check_latent(found, model, Z)
    np.testing.assert_allclose(found["probability"], model.predict_proba(Z), atol=1e-6)
    clear = np.abs(found["probability"][:, 0] - 0.5) > 1e-5
    np.testing.assert_array_equal(found["label"][clear], model.predict(Z)[clear])


@pytest.mark.parametrize("likelihood", [Probit(0.4, 2.0, lapse=0.1), Logit(), Logit(-0.5, 6.0), "logit"], ids=str)
@pytest.mark.parametrize("variance", [0.1, 10.0, 3000.0])
def test_every_likelihood_of_classes(likelihood, variance, tmp_path):
    X, y = data()
    labels = np.where(y > 6, "größer", "kleiner")
    kernel = RBF(ARD, variance) + Bias(variance)
    model = IVMClassifier(kernel=kernel, likelihood=likelihood, n_active=40, random_state=0).fit(X, labels)
    found = run(model, X, path=tmp_path / "m.onnx")
    np.testing.assert_allclose(found["probability"], model.predict_proba(X), atol=1e-6)
    assert np.mean(found["label"] == model.predict(X)) > 0.99
    assert (tmp_path / "m.onnx").read_bytes() == to_onnx(model).SerializeToString()


@pytest.mark.parametrize("labels", [[2, 5, 7, 9], [3.0, 0.0, 2.0, 1.0], ["poor", "fair", "good", "best"]], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_ordered_categories(labels, weighted):
    X, y = data()
    y = np.array(labels)[np.digitize(y, [4.5, 5.5, 6.5])]
    given = {label: 0.5 + k for k, label in enumerate(labels)} if weighted else None
    model = IVMOrdinalClassifier(n_active=40, random_state=0, categories=labels, class_weight=given).fit(X, y)
    found = run(model, X)
    np.testing.assert_allclose(found["probability"], model.predict_proba(X), atol=1e-6)
    assert np.mean(found["label"] == model.predict(X)) > 0.99
    assert found["label"].tolist()[0] in labels


@pytest.mark.parametrize(
    "likelihood", [Gaussian(0.1, bias=2.0), Gaussian(np.linspace(0.1, 1, 150)), Laplace(), StudentT()]
)
def test_regression_and_sparse_inputs(likelihood):
    X, y = data()
    model = IVMRegressor(likelihood=likelihood, n_active=40, random_state=0).fit(sparse.csr_array(X), y)
    found = run(model, X)
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(found["mean"], mean, rtol=1e-7)
    np.testing.assert_allclose(found["std"], std, rtol=1e-6)


def test_single_precision_inputs():
    X, y = data()
    X = X.astype(np.float32)
    model = IVMClassifier(n_active=40, random_state=0).fit(X, y > 6)
    np.testing.assert_allclose(run(model, X, "float32")["probability"], model.predict_proba(X), atol=1e-6)


def classes_of(y):
    return np.array(["low", "größer", "most"])[np.digitize(y, [4.5, 6.5])]


@pytest.mark.parametrize("approximation", ["projected", "factorised"])
@pytest.mark.parametrize("kernel", [None, RBF(ARD, 90.0) + 0.5 * Linear() + Bias()], ids=str)
@pytest.mark.parametrize(
    "options",
    [{}, {"shared_kernel": False}, {"multi_class": "probit"}, {"multi_class": "variational"}],
    ids=["ovr", "ovr, a kernel each", "probit", "variational"],
)
def test_many_classes(approximation, kernel, options):
    X, y = data(80)
    model = IVMClassifier(kernel=kernel, approximation=approximation, n_active=20, random_state=0, **options)
    model.fit(X, classes_of(y))
    Z = np.vstack([X, data(50, 1)[0] + 2.0, 100.0 * data(9, 2)[0]])
    found = run(model, Z)
    check_latent(found, model, Z)
    expected = model.predict_proba(Z)
    np.testing.assert_allclose(found["probability"], expected, atol=1e-6)
    clear = np.ptp(np.sort(expected, axis=1)[:, -2:], axis=1) > 1e-5
    np.testing.assert_array_equal(found["label"][clear], model.predict(Z)[clear])
    assert len(set(found["label"])) == 3


def test_many_classes_with_weights_and_sparse_inputs():
    X, y = data()
    model = IVMClassifier(n_active=20, random_state=0, class_weight="balanced")
    model.fit(sparse.csr_array(X), classes_of(y), sample_weight=np.linspace(0.5, 1.5, len(y)))
    np.testing.assert_allclose(run(model, X)["probability"], model.predict_proba(X), atol=1e-6)


def computed(operations, **inputs):
    """What operations on a graph make of double precision inputs."""
    g = Graph()
    result = operations(g, *inputs)
    value = g.helper.make_tensor_value_info
    shapes = {name: [None] * np.ndim(v) for name, v in inputs.items()}
    graph = g.helper.make_graph(
        g.nodes, "test", [value(name, g.types.DOUBLE, shape) for name, shape in shapes.items()],
        [value(result, g.types.DOUBLE, next(iter(shapes.values())))], g.constants,
    )  # fmt: skip
    model = g.helper.make_model(graph, opset_imports=[g.helper.make_opsetid("", 17)], ir_version=8)
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, inputs)[0]


def test_the_normal_distribution_in_double_precision_and_in_the_tails():
    z = np.concatenate(
        [np.linspace(-38.0, 38.0, 2001), np.geomspace(1e-300, 1e6, 500), -np.geomspace(1e-300, 1e6, 500)]
    )
    np.testing.assert_allclose(computed(log_cdf, z=z), log_ndtr(z), rtol=1e-13, atol=2e-16)
    np.testing.assert_allclose(computed(normal_cdf, z=z), ndtr(z), rtol=1e-11, atol=1e-300)
    odds = log_ndtr(z) - log_ndtr(-z)
    np.testing.assert_allclose(computed(log_odds, z=z), odds, rtol=1e-13, atol=4e-15)


@pytest.mark.parametrize(("variance", "classes"), [(1.0, 3), (100.0, 7), (2500.0, 4)])
def test_the_race_of_the_classes(variance, classes):
    rng = np.random.default_rng(classes)
    mean = rng.normal(size=(100, classes)) * np.sqrt(variance) * rng.choice([0.1, 1.0, 3.0], size=(100, 1))
    var = variance * rng.uniform(size=(100, classes)) ** rng.choice([0.1, 1.0, 8.0], size=(100, classes))
    found = computed(lambda g, m, v: win_log_weights(g, m, v, nodes_for(variance)), mean=mean, var=var)
    expected = MultivariateProbit(np.zeros(classes)).log_proba(mean, var)
    np.testing.assert_allclose(log_softmax(found, axis=1), expected, rtol=1e-6, atol=1e-7)
    with pytest.raises(ParameterError, match="prior variance of 1e\\+06 cannot be exported to ONNX"):
        nodes_for(1e6)


@pytest.mark.parametrize("form", ["ovr", "probit"])
def test_labels_of_many_classes_that_may_be_wrong(form):
    X, y = data()
    likelihood = MULTI_CLASS[form].likelihood(np.zeros(3)).with_lapse(0.2)
    kernel = RBF(ARD, 20.0)
    model = IVMClassifier(kernel, likelihood, n_active=30, learn=None, multi_class=form, random_state=0)
    model.fit(X, classes_of(y))
    found = run(model, X)
    np.testing.assert_allclose(found["probability"], model.predict_proba(X), atol=1e-6)
    assert found["probability"].min() >= 0.1 - 1e-9


def test_a_posterior_that_is_wider_than_the_prior():
    X, y = data()
    model = IVMClassifier(kernel=RBF(ARD, 20.0), n_active=9, random_state=0).fit(X, y > 6)
    Q = np.eye(9)
    Q[0, 0] = 0.7  # a variance that is twice that of the prior
    model.posterior_ = ProjectedPosterior(model.kernel_, model.posterior_.X, model.posterior_.L, Q, np.ones(9))
    with pytest.raises(NotPositiveDefinite):
        _ = model.posterior_.reduction
    found = run(model, X)
    check_latent(found, model, X)
    assert found["latent_variance"].max() > 20.5


@pytest.mark.parametrize(
    "labels",
    [
        [False, True], [-3, 5], [0.0, 1.0], ["a", "ß"], np.array(["a", "b"], dtype=object),
        np.array([1, 2], dtype=np.uint8), np.array([1, 2], dtype=np.float32),
    ],
    ids=repr,
)  # fmt: skip
def test_labels_of_every_kind(labels):
    X, y = data()
    model = IVMClassifier(n_active=20, random_state=0).fit(X, np.asarray(labels)[(y > 6).astype(int)])
    assert run(model, X)["label"].tolist() == model.predict(X).tolist()


def test_a_graph_that_no_file_holds(monkeypatch):
    X, y = data()
    model = IVMClassifier(n_active=30, random_state=0).fit(X, y > 6)
    monkeypatch.setattr("infovec.onnx_export.graph.LARGEST", 8 * 30**2)
    with pytest.raises(ParameterError, match=r"cannot be exported to ONNX, whose files hold 2 GB at most"):
        to_onnx(model)


def test_labels_that_onnx_does_not_have():
    X, y = data()
    model = IVMClassifier(n_active=9, random_state=0).fit(X, y > 6)
    for classes in (
        np.array([1, "a"], dtype=object),
        np.array([b"a", b"b"]),
        np.array([1, 2**63 + 1], dtype=np.uint64),
    ):
        model.classes_ = classes
        with pytest.raises(ParameterError, match="cannot be exported to ONNX: they must all be words"):
            to_onnx(model)


def test_logistic_function_as_a_mixture():
    scales, weights = normal_mixture()
    f = np.linspace(-40, 40, 4001)
    np.testing.assert_allclose(ndtr(f[:, None] / scales) @ weights, expit(f), atol=1e-12)
    for var in (1e-6, 0.3, 40.0, 1e5):
        mean = np.linspace(-3, 3, 41) * np.sqrt(4.0 + var)
        expected = np.exp(Logit().tilted(np.ones(41), mean, np.full(41, var)).log_z)
        np.testing.assert_allclose(ndtr(mean[:, None] / np.sqrt(scales**2 + var)) @ weights, expected, atol=1e-12)


def test_what_cannot_be_exported():
    X, y = data()
    with pytest.raises(ParameterError, match="fitted estimator"):
        to_onnx(IVMClassifier())
    for kernel in (MLP(), Matern(nu=0.8) + Bias(), Relevance(MLP(), 0.5)):
        with pytest.raises(ParameterError, match=r"cannot be exported to ONNX; these can: RBF"):
            to_onnx(IVMRegressor(kernel=kernel, n_active=5, random_state=0).fit(X, y))
    counts = IVMRegressor(likelihood=Poisson(), n_active=5, random_state=0).fit(X, np.round(np.abs(y)))
    with pytest.raises(ParameterError, match=r"Poisson.*cannot be exported"):
        to_onnx(counts)
    words = IVMClassifier(kernel=FromFunction(lambda A, B: np.equal.outer(A, B).astype(float))).fit(["a", "b"], [0, 1])
    with pytest.raises(ParameterError, match="kernel of objects"):
        to_onnx(words)
    softmax = IVMClassifier(multi_class="probit", n_active=5, random_state=0).fit(X, classes_of(y))
    softmax.likelihood_ = Softmax(np.zeros(3))
    with pytest.raises(ParameterError, match=r"Softmax cannot be exported to ONNX: .* multi_class='ovr' or 'probit'"):
        to_onnx(softmax)
    with pytest.raises(ParameterError, match="dtype must be"):
        to_onnx(IVMRegressor(n_active=5).fit(X, y), dtype="int8")


def test_the_guide_lists_what_has_a_graph():
    """Every kernel and every noise of numbers is in one column of the table, the one that the code has it in."""
    page = (Path(__file__).parents[2] / "docs" / "guide" / "tables.md").read_text(encoding="utf-8")
    cells = {row[0].strip(): row[1:] for line in page.splitlines() if len(row := line.strip("|").split("|")) == 3}
    named = {what: [set(re.findall(r"`(\w+)`", cell)) for cell in cells[what]] for what in ("kernels", "numbers")}
    some = {n for n in kernels.__all__ if isinstance(getattr(kernels, n), type)} - {"Kernel", "Block", "Role"}
    known = {kind.__name__ for kind in _KNOWN}
    assert named["kernels"][0] - {"nu"} == known
    assert named["kernels"][1] == some - known
    X, y = data()
    for noise in (Gaussian(), Laplace(), StudentT(), Poisson()):
        model = IVMRegressor(likelihood=noise, n_active=5, random_state=0).fit(X, np.round(np.abs(y)))
        if type(noise).__name__ in named["numbers"][0]:
            to_onnx(model)
        else:
            assert type(noise).__name__ in named["numbers"][1]
            with pytest.raises(ParameterError, match="cannot be exported"):
                to_onnx(model)
