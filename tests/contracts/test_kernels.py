"""Contract of every kernel. A kernel without an entry in CASES makes the suite fail."""

import inspect

import numpy as np
import pytest
from oracles import fd_gradient
from scipy import sparse
from sklearn.gaussian_process import kernels as sk

import infovec.kernels as module
from infovec.errors import ParameterError
from infovec.kernels import (
    MLP,
    RBF,
    Bias,
    Categorical,
    Coregion,
    Exponential,
    FromFunction,
    Grouped,
    Kernel,
    Linear,
    MainEffects,
    Matern,
    On,
    Periodic,
    Polynomial,
    Precomputed,
    Product,
    RationalQuadratic,
    Relevance,
    Role,
    Scaled,
    Standardised,
    Sum,
    Tasks,
    White,
)

P = 5  # columns
ARD = np.array([0.7, 1.3, 2.0, 0.9, 5.0])
REL = np.array([0.9, 0.2, 0.5, 0.99, 0.01])
GROUPS = (0, 1, 0, 1, 0)


def overlap(X, Z):
    """A kernel of texts: how many characters two of them share, normalised."""
    sets = [[set(str(v)) for v in side] for side in (X, Z)]
    return np.array([[len(a & b) / np.sqrt(len(a) * len(b)) for b in sets[1]] for a in sets[0]])


NUMERIC = [
    RBF(),
    RBF(length_scale=ARD, variance=3.0),
    Matern(nu=0.5, length_scale=2.0),
    Matern(nu=1.5, length_scale=ARD),
    Matern(nu=2.5, variance=0.3),
    Matern(nu=0.8, length_scale=2.0),
    Matern(nu=3.2, length_scale=ARD),
    Matern(nu=np.inf),
    Exponential(power=0.7, length_scale=2.0),
    Exponential(power=1.6, length_scale=ARD),
    RationalQuadratic(alpha=0.6, length_scale=1.7),
    RationalQuadratic(alpha=9.0, length_scale=ARD),
    MainEffects(),
    MainEffects(RBF(ARD, 2.0)),
    MainEffects(Matern(1.7, nu=2.5)) + RBF(ARD),
    MainEffects(RationalQuadratic(ARD, alpha=0.8)),
    Linear(variance=0.4),
    Linear(relevance=REL),
    Polynomial(degree=3, offset=0.5, variance=2.0),
    Polynomial(degree=1),
    MLP(),
    MLP(variance=2.0, weight_variance=0.3, bias_variance=0.7, relevance=REL),
    Periodic(RBF(length_scale=0.8), period=2.5),
    Periodic(Matern(nu=2.5), period=ARD),
    Bias(0.3),
    White(0.2),
    Tasks(RBF(length_scale=ARD[1:], variance=2.0) + Bias(0.3), 0),
    Tasks(Matern(nu=2.5) + White(0.2), column=1) + Bias(0.1),
    Coregion(RBF(1.5), 1, 1, loadings=[0.7, -0.4, 1.1], kappa=[0.3, 0.9, 0.05]),
    Coregion(Linear(0.4) + White(0.2), 0, rank=2, loadings=[[1.0, 0.2], [0.3, -0.8]], kappa=[0.5, 0.2]),
    Categorical(0.7, 2.0),
    Categorical(ARD),
    On(RBF(ARD[:3], 2.0) + Linear(), [3, 0, -1]),
    On(RBF(1.3), [0, 1]) * On(Categorical([0.3, 2.0, 300.0]), (2, 3, 4)) + Bias(0.2),
    On(Tasks(Matern(nu=2.5), 1) + White(0.2), [2, 1]) + On(Categorical(), 4) * On(Linear(), [0, 2]),
    Relevance(On(RBF(), 1) + Linear(), REL),
    Relevance(RBF() + Linear(), REL),
    Relevance(Matern(nu=2.5) * Polynomial(), np.array([3.0, 1.0, 0.1, 2.0, 0.5]), transform="log"),
    Relevance(Linear(relevance=REL), 0.4, transform="softplus"),
    Grouped(RBF(ARD[:2], 2.0) + Bias(0.3), GROUPS),
    On(Grouped(Matern(ARD[:3], nu=1.5) * Linear(relevance=REL[:3]), (0, 1, 2, 1)), (4, 0, 1, 2)),
    Grouped(Relevance(2.0 * RBF() + Linear(relevance=REL[:2]), REL[:2]), GROUPS),
    Standardised(MLP() + Linear(), ARD - 1.0, 0.5 * ARD),
    Standardised(Matern(nu=1.5) * Linear(relevance=REL), scale=3.0),
    2.5 * RBF(length_scale=1.4),
    RBF() + White(0.1),
    RBF() * Linear(),
    # algebra at depth two
    RBF() * Linear() + Bias(0.2),
    (RBF() + Bias(0.2)) * Linear(),
    (RBF() + White(0.3)) * (Bias(2.0) + Matern()),
    3.0 * (RBF() + Linear()) + 0.5 * White(),
    Periodic(Relevance(RBF(), 0.5) + Bias(), period=3.0) * MLP(),
]
OBJECTS = [
    FromFunction(overlap, variance=2.0),
    FromFunction(overlap, diagonal=lambda X: np.ones(len(X))),
]
GRAM = (lambda A: A @ A.T)(np.random.default_rng(5).normal(size=(40, 60)))
TABLES = [Precomputed(GRAM, variance=0.3)]
each_numeric = pytest.mark.parametrize("kernel", NUMERIC, ids=str)
each_kernel = pytest.mark.parametrize("kernel", NUMERIC + OBJECTS + TABLES, ids=str)


def leaves(kernel):
    parts = list(kernel._children())
    return {type(kernel)}.union(*(leaves(part) for _, part in parts)) if parts else {type(kernel)}


def concrete_kernels():
    todo, found = [Kernel], set()
    while todo:
        cls = todo.pop()
        todo += cls.__subclasses__()
        if not inspect.isabstract(cls) and cls.__module__.startswith("infovec."):
            found.add(cls)
    return found


def test_no_kernel_without_a_contract():
    covered = set().union(*(leaves(k) for k in NUMERIC + OBJECTS + TABLES))
    assert concrete_kernels() <= covered
    assert {c.__name__ for c in concrete_kernels()} <= set(module.__all__)


def inputs(kernel, n=14, seed=0, shift=0.0, scale=1.0):
    rng = np.random.default_rng(seed)
    if isinstance(kernel, FromFunction):
        return np.array(["".join(rng.choice(list("abcdef"), size=4)) for _ in range(n)], dtype=object)
    if isinstance(kernel, Precomputed):
        return rng.choice(40, size=n, replace=False).astype(float)[:, None]
    X = shift + scale * rng.normal(size=(n, P))
    still = task_columns(kernel)
    X[:, still] = rng.integers(5, size=(n, max(1, len(still))))  # some of which no Coregion knows
    return X


def task_columns(kernel, among=range(P)):
    """Columns that have no values between their values."""
    if isinstance(kernel, On):
        return task_columns(kernel.kernel, [among[c] for c in kernel.columns])
    if isinstance(kernel, Categorical):
        return list(among)
    own = [among[kernel.column]] if isinstance(kernel, Tasks | Coregion) else []
    return [] if kernel is None else own + [c for _, part in kernel._children() for c in task_columns(part, among)]


def values(kernel):
    """The kernel and all its parts."""
    return [kernel, *(value for _, part in kernel._children() for value in values(part))]


def moved(kernel, role, step):
    """The kernel after a step of all logarithms that have a role."""
    return kernel.with_theta(kernel.theta + step * np.array([here is role for here in kernel.free_roles]))


@each_kernel
def test_every_parameter_has_a_role(kernel):
    assert len(kernel.free_roles) == len(kernel.parameter_names) == kernel.theta.size
    for value in values(kernel):
        assert set(value.transforms) <= set(value.roles), type(value)
    assert set(kernel.free_roles) <= {Role.SCALE, Role.VARIANCE, Role.FREE}


def test_parts_pass_on_their_roles_in_the_order_of_theta():
    kernel = Relevance(RBF(ARD) + 2.0 * Linear(), REL) * Periodic(Matern(), period=ARD)
    by_name = dict(zip(kernel.parameter_names, kernel.free_roles, strict=True))
    scales = [*(f"left.kernel.left.length_scale[{j}]" for j in range(P)), "right.kernel.length_scale"]
    assert [name for name, role in by_name.items() if role is Role.SCALE] == scales
    assert [name for name, role in by_name.items() if role is Role.VARIANCE] == [
        "left.kernel.left.variance", "left.kernel.right.factor", "left.kernel.right.kernel.variance",
        "right.kernel.variance",
    ]  # fmt: skip


@pytest.mark.parametrize("kernel", [k for k in NUMERIC if Role.SCALE in k.free_roles and k.shift_invariant], ids=str)
def test_a_common_factor_of_the_length_scales_is_a_change_of_unit(kernel):
    X, Z, factor = inputs(kernel, 9), inputs(kernel, 7, seed=1), 3.7
    there = moved(kernel, Role.SCALE, np.log(factor))
    np.testing.assert_allclose(there(factor * X, factor * Z), kernel(X, Z), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(there(factor * X), kernel(X), rtol=1e-9, atol=1e-12)


@each_numeric
def test_what_is_no_length_scale_is_no_unit_of_distances(kernel):
    """A parameter that undoes a change of unit alone is a length scale; those of other forms do not."""
    X, factor = inputs(kernel, 9), 3.7
    for k, role in enumerate(kernel.free_roles):
        step = np.zeros(kernel.theta.size)
        step[k] = np.log(factor)
        if role is Role.VARIANCE and not kernel._parts:
            np.testing.assert_allclose(kernel.with_theta(kernel.theta + step)(X), factor * kernel(X), rtol=1e-12)
        if role is Role.FREE and not kernel._parts and kernel.shift_invariant:
            undone = kernel.with_theta(kernel.theta + step)(factor * X)
            assert np.max(np.abs(undone - kernel(X))) > 1e-3


@each_kernel
def test_the_amplitude_is_the_parameter_that_values_are_proportional_to(kernel):
    for value in values(kernel):
        assert {name for name, role in value.roles.items() if role is Role.VARIANCE} == {value.amplitude} - {None}


def test_a_kernel_of_your_own_needs_no_roles():
    class Own(RBF):
        @property
        def roles(self):
            return {}

    assert Own(ARD).free_roles == (Role.FREE,) * (P + 1)


@each_kernel
def test_symmetric_positive_semidefinite_and_diag(kernel):
    X = inputs(kernel)
    K = kernel(X)
    np.testing.assert_allclose(K, K.T, rtol=1e-12, atol=1e-12)
    assert np.linalg.eigvalsh(K).min() > -1e-10 * np.trace(K)
    np.testing.assert_allclose(np.diagonal(K), kernel.diag(X), rtol=1e-12)


@each_numeric
@pytest.mark.parametrize(("shift", "scale"), [(0.0, 1e-3), (0.0, 30.0), (1e4, 1.0)])
def test_positive_semidefinite_at_other_scales_and_offsets(kernel, shift, scale):
    X = inputs(kernel, shift=shift, scale=scale)
    K = kernel(X)
    assert np.all(np.isfinite(K))
    assert np.linalg.eigvalsh(K).min() > -1e-8 * np.trace(K)


@each_kernel
def test_cross_matrix_is_transposed_when_arguments_swap_and_agrees_with_on(kernel):
    X, Z = inputs(kernel, 9), inputs(kernel, 6, seed=1)
    np.testing.assert_allclose(kernel(X, Z), kernel(Z, X).T, rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(kernel(X, Z), kernel.on(Z)(X))
    one_by_one = np.array([[kernel(X[i : i + 1], Z[j : j + 1])[0, 0] for j in range(6)] for i in range(9)])
    np.testing.assert_allclose(kernel(X, Z), one_by_one, rtol=1e-10, atol=1e-12)


@each_kernel
@pytest.mark.parametrize("same", [False, True])
def test_vjp_equals_differences(kernel, same):
    X, Z = inputs(kernel, 9), None if same else inputs(kernel, 7, seed=1)
    G = np.random.default_rng(2).normal(size=(9, 9 if same else 7))
    fd = fd_gradient(lambda t: np.sum(G * kernel.with_theta(t)(X, Z)), kernel.theta)
    np.testing.assert_allclose(kernel.vjp(X, Z, G), fd, rtol=2e-6, atol=2e-7)


@each_kernel
def test_diag_vjp_equals_differences(kernel):
    X = inputs(kernel, 9)
    w = np.random.default_rng(2).normal(size=9)
    fd = fd_gradient(lambda t: w @ kernel.with_theta(t).diag(X), kernel.theta)
    np.testing.assert_allclose(kernel.diag_vjp(X, w), fd, rtol=2e-6, atol=1e-8)


@each_numeric
def test_input_gradients_equal_differences(kernel):
    X, Z = inputs(kernel, 6), inputs(kernel, 4, seed=1)
    rng = np.random.default_rng(2)
    G, w = rng.normal(size=(6, 4)), rng.normal(size=6)
    still = np.isin(np.arange(P), task_columns(kernel))

    def at(V, v):  # tasks stay what they are
        return np.where(still, V, v.reshape(V.shape))

    by_x, by_z = kernel.input_vjp(X, Z, G)
    fd = fd_gradient(lambda v: np.sum(G * kernel(at(X, v), Z)), X.ravel())
    np.testing.assert_allclose(by_x.ravel(), fd, rtol=2e-5, atol=1e-7)
    fd = fd_gradient(lambda v: np.sum(G * kernel(X, at(Z, v))), Z.ravel())
    np.testing.assert_allclose(by_z.ravel(), fd, rtol=2e-5, atol=1e-7)
    fd = fd_gradient(lambda v: w @ kernel.diag(at(X, v)), X.ravel())
    np.testing.assert_allclose(kernel.diag_input_vjp(X, w).ravel(), fd, rtol=2e-5, atol=1e-7)
    by_theta, with_theta = kernel.vjp_with_inputs(X, Z, G)
    np.testing.assert_allclose(by_theta, kernel.vjp(X, Z, G), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(with_theta, by_z, rtol=1e-10, atol=1e-12)
    square = np.random.default_rng(9).normal(size=(len(X), len(X)))
    fd = fd_gradient(lambda v: np.sum(square * kernel(at(X, v))), X.ravel())
    np.testing.assert_allclose(kernel.square_input_vjp(X, square).ravel(), fd, rtol=2e-5, atol=1e-7)


@each_numeric
@pytest.mark.parametrize("columns", [P, 2])
def test_float32_in_float32_out_and_close(kernel, columns):
    if (columns != P and any(np.ndim(v) for v in arrays(kernel))) or any(
        isinstance(v, On | Standardised) for v in values(kernel)
    ):
        columns = P
    X, Z = inputs(kernel, 40)[:, :columns], inputs(kernel, 30, seed=1)[:, :columns]
    K32 = kernel(X.astype(np.float32), Z.astype(np.float32))
    d32 = kernel.diag(X.astype(np.float32))
    assert K32.dtype == d32.dtype == np.float32
    assert kernel(X, Z).dtype == kernel.diag(X).dtype == np.float64
    size = np.abs(kernel.diag(X)).max()
    np.testing.assert_allclose(K32, kernel(X, Z), atol=2e-5 * size)
    np.testing.assert_allclose(d32, kernel.diag(X), rtol=1e-5)


def arrays(kernel):
    own = [getattr(kernel, name) for name in kernel.transforms]
    return own + [v for _, part in kernel._children() for v in arrays(part)]


CSR = [
    k
    for k in NUMERIC
    if leaves(k) <= {RBF, MainEffects, Linear, MLP, Polynomial, Bias, White, Sum, Product, Scaled, On}
]


@pytest.mark.parametrize("kernel", CSR, ids=str)
def test_csr_equals_dense(kernel):
    rng = np.random.default_rng(0)
    X, Z = (np.where(rng.random((n, P)) < 0.4, rng.normal(size=(n, P)), 0.0) for n in (12, 8))
    Xs, Zs = sparse.csr_matrix(X), sparse.csr_array(Z)
    G = rng.normal(size=(12, 8))
    np.testing.assert_allclose(kernel(Xs, Zs), kernel(X, Z), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel(Xs), kernel(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel.diag(Xs), kernel.diag(X), rtol=1e-12)
    np.testing.assert_allclose(kernel.vjp(Xs, Zs, G), kernel.vjp(X, Z, G), rtol=1e-10)
    np.testing.assert_allclose(kernel.diag_vjp(Xs, G[:, 0]), kernel.diag_vjp(X, G[:, 0]), rtol=1e-10)
    assert kernel(Xs.astype(np.float32), Zs.astype(np.float32)).dtype == np.float32


def test_csr_covers_what_the_contract_names():
    assert {RBF, Linear, MLP, Polynomial, On} <= set().union(*(leaves(k) for k in CSR))


@each_kernel
def test_it_is_an_immutable_value(kernel):
    X = inputs(kernel)
    theta = kernel.theta + 0.1
    changed = kernel.with_theta(theta)
    np.testing.assert_allclose(changed.theta, theta, rtol=1e-10)
    assert changed != kernel
    assert kernel.with_theta(kernel.theta).parameter_names == kernel.parameter_names
    assert len(set(kernel.parameter_names)) == theta.size == len(kernel.bounds)
    assert hash(kernel) == hash(type(kernel)(**vars(kernel)))
    assert kernel == type(kernel)(**vars(kernel))
    assert np.abs(changed(X) - kernel(X)).max() > 0
    with pytest.raises(AttributeError):
        kernel.variance = 3.0


REFERENCES = [
    (RBF(1.7, 2.0), 2.0 * sk.RBF(1.7)),
    (RBF(ARD), sk.RBF(ARD)),
    (Matern(1.3, nu=0.5), sk.Matern(1.3, nu=0.5)),
    (Matern(1.3, nu=1.5), sk.Matern(1.3, nu=1.5)),
    (Matern(ARD, nu=2.5), sk.Matern(ARD, nu=2.5)),
    (Matern(1.3, nu=0.8), sk.Matern(1.3, nu=0.8)),
    (Matern(1.3, nu=4.1), sk.Matern(1.3, nu=4.1)),
    (Matern(1.3, nu=np.inf), sk.RBF(1.3)),
    (Exponential(1.3, power=1.0), sk.Matern(1.3, nu=0.5)),
    (RationalQuadratic(1.3, alpha=0.7), sk.RationalQuadratic(1.3, alpha=0.7)),
    (Linear(2.0), 2.0 * sk.DotProduct(0.0)),
    (2.5 * RBF(1.7), 2.5 * sk.RBF(1.7)),
    (RBF() + White(0.3), sk.RBF() + sk.WhiteKernel(0.3)),
    (RBF() * Bias(0.3) + Linear(), sk.RBF() * sk.ConstantKernel(0.3) + sk.DotProduct(0.0)),
]


@pytest.mark.parametrize(("kernel", "reference"), REFERENCES, ids=lambda k: str(k)[:50])
def test_values_equal_scikit_learn(kernel, reference):
    X, Z = inputs(kernel, 12), inputs(kernel, 7, seed=3)
    np.testing.assert_allclose(kernel(X), reference(X), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(kernel(X, Z), reference(X, Z), rtol=1e-8, atol=1e-12)


def test_periodic_in_one_dimension_is_the_exp_sine_squared_kernel():
    X = np.random.default_rng(0).normal(size=(10, 1))
    # |h(x) - h(z)|^2 = 4 sin^2(pi (x - z) / p), so scikit-learn's exp(-2 sin^2 / l^2) has the same l
    np.testing.assert_allclose(Periodic(RBF(0.8), 2.5)(X), sk.ExpSineSquared(0.8, 2.5)(X), rtol=1e-10)


def test_polynomial_and_mlp_by_their_printed_formulas():
    X, Z = inputs(None), inputs(None, seed=4)
    S, xx, zz = X @ Z.T, (X**2).sum(1)[:, None], (Z**2).sum(1)
    np.testing.assert_allclose(Polynomial(3, 0.5, 2.0)(X, Z), 2.0 * (S + 0.5) ** 3 / ((xx + 0.5) * (zz + 0.5)) ** 1.5)
    inside = (0.3 * S + 0.7) / np.sqrt((0.3 * xx + 1.7) * (0.3 * zz + 1.7))
    np.testing.assert_allclose(MLP(2.0, 0.3, 0.7)(X, Z), 2.0 * np.arcsin(inside))


@pytest.mark.parametrize("columns", [2, 20])
@pytest.mark.parametrize("offset", [0.0, 1e6, -1e8])
def test_stationary_kernels_survive_large_offsets(columns, offset):
    rng = np.random.default_rng(0)
    X = rng.integers(-50, 50, size=(30, columns)) / 8.0  # differences are exact even after the shift
    kernel = RBF(length_scale=np.sqrt(columns) * 3.0)
    np.testing.assert_allclose(kernel(X + offset), kernel(X), rtol=1e-7)


def test_kernels_from_elsewhere_are_what_was_given():
    words, some = inputs(OBJECTS[0], 6), np.array([[7.0], [3.0], [39.0]])
    np.testing.assert_allclose(OBJECTS[0](words, words[:2]), 2.0 * overlap(words, words[:2]), rtol=1e-15)
    expected = [[0.3 * GRAM[i, j] for j in (7, 3, 39)] for i in (7, 3, 39)]
    np.testing.assert_allclose(TABLES[0](some), expected, rtol=1e-15)


def test_categories_are_an_rbf_kernel_of_zeros_and_ones():
    rng, relevance = np.random.default_rng(3), np.array([0.2, 1.7, 4.0])
    X, Z = rng.integers(4, size=(30, 3)).astype(float), rng.integers(6, size=(20, 3)).astype(float)
    hot = [np.hstack([(V[:, [j]] == np.arange(6)) * np.sqrt(relevance[j]) for j in range(3)]) for V in (X, Z)]
    np.testing.assert_allclose(Categorical(relevance, 2.0)(X, Z), RBF(1.0, 2.0)(*hot), rtol=1e-12)
    differ = (X[:, None] != Z).astype(float) @ relevance
    np.testing.assert_allclose(Categorical(relevance, 2.0)(X, Z), 2.0 * np.exp(-differ), rtol=1e-12)
    names = rng.normal(size=6)  # any numbers are names
    np.testing.assert_array_equal(
        Categorical(relevance)(names[X.astype(int)], names[Z.astype(int)]), Categorical(relevance)(X, Z)
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_small_relevances_are_not_lost_beside_large_ones(dtype):
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]], dtype=dtype)
    K = Categorical([1e30, 1e-3])(X)
    np.testing.assert_allclose(K[0], [1.0, np.exp(-1e-3), 0.0], rtol=1e-6, atol=1e-40)


def test_a_kernel_on_columns_is_the_kernel_of_these_columns():
    X, Z = inputs(None), inputs(None, seed=4)
    np.testing.assert_array_equal(On(RBF(ARD[:2]), [3, 1])(X, Z), RBF(ARD[:2])(X[:, [3, 1]], Z[:, [3, 1]]))
    expected = RBF(1.3)(X[:, :2]) * np.exp(-0.5 * (X[:, None, 4] != X[:, 4])) + 0.2
    np.testing.assert_allclose((On(RBF(1.3), [0, 1]) * On(Categorical(0.5), -1) + Bias(0.2))(X), expected, rtol=1e-12)


def test_a_white_row_is_itself_only():
    X = np.zeros((3, 2))
    np.testing.assert_array_equal(White(0.5)(X), 0.5 * np.eye(3))
    np.testing.assert_array_equal(White(0.5)(X, X.copy()), np.zeros((3, 3)))


def test_the_sum_of_a_product_is_not_the_sum_of_three():
    X = inputs(None)
    a, b, c = RBF(), Linear(), Bias(0.2)
    np.testing.assert_allclose((a * b + c)(X), a(X) * b(X) + c(X))
    np.testing.assert_allclose(((a + b) * c)(X), (a(X) + b(X)) * c(X))
    assert str(a * b + c) != str((a + b) * c)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RBF(length_scale=0.0), "length_scale must be positive"),
        (lambda: RBF(variance=-1.0), "variance must be positive"),
        (lambda: RBF(variance=np.inf), "variance must be positive"),
        (lambda: RBF(length_scale="long"), "must be a number"),
        (lambda: Matern(nu=-1.0), "nu must be positive"),
        (lambda: Exponential(power=2.5), "strictly between 0 and 2"),
        (lambda: Polynomial(degree=1.5), "whole number"),
        (lambda: Relevance(RBF(), [0.5, 1.0]), "strictly between 0 and 1"),
        (lambda: Relevance(RBF(), 0.5, transform="cube"), "transform must be one of"),
        (lambda: RBF(np.ones(3))(np.ones((2, 5))), "3 entries, but the inputs have 5 columns"),
        (lambda: Periodic(2.0), "kernel must be a kernel"),
        (lambda: RBF()(np.ones((2, 3)), np.ones((2, 1))), "3 columns, Z has 1"),
        (lambda: FromFunction("no"), "must be callable"),
        (lambda: On(RBF(), []), "one at least"),
        (lambda: On(RBF(), [1, 1]), "different"),
        (lambda: On(RBF(), [0, -2])(np.ones((3, 2))), "not different ones of 2"),
        (lambda: On(RBF(), 1.5), "numbers or names"),
        (lambda: On(RBF(), 7)(np.ones((3, 2))), "column 7 is asked for, but the inputs have 2"),
        (lambda: On(RBF(), "age")(np.ones((3, 2))), "only an estimator knows names"),
        (lambda: On(OBJECTS[0], 0), "kernel of objects"),
        (lambda: Categorical(0.0), "relevance must be positive"),
        (lambda: Categorical(np.ones(3))(np.ones((2, 5))), "3 entries, but the inputs have 5 columns"),
        (lambda: Categorical()(sparse.csr_matrix(np.eye(3))), "dense inputs only"),
        (lambda: FromFunction(lambda X, Z: np.ones(3))(np.array(["a"])), "returned shape"),
        (lambda: Precomputed(np.ones((2, 3))), "must be square"),
        (lambda: Precomputed(np.eye(3))(np.array([[3.0]])), "row numbers from 0 to 2"),
    ],
)
def test_impossible_parameters_are_named(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_lists_and_sums_of_lists_work():
    assert RBF()([[0.0]], [[1.0]])[0, 0] == pytest.approx(np.exp(-0.5))
    assert sum([RBF(), Bias()]) == RBF() + Bias()


@each_kernel
def test_inputs_in_double_precision(kernel):
    X = inputs(kernel)
    same = kernel.in_double(X)
    assert same is X or np.shares_memory(same, X)
    if kernel.numeric:
        assert kernel.in_double(X.astype(np.float32)).dtype == np.float64
        assert kernel.in_double(sparse.csr_matrix(X.astype(np.float32))).dtype == np.float64
    else:
        assert kernel.in_double(np.arange(3)).dtype == np.arange(3).dtype  # numbers of objects stay whole
