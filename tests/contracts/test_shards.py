"""Contract of every shard: messages are plain, and however the rows are divided the model is the same."""

import numpy as np
import pytest
from implementations import Elsewhere, implementations
from scipy import sparse

from infovec.inference import (
    coupled_gradient,
    evidence_gradient,
    infer,
    infer_coupled,
    left_out,
    left_out_of_classes,
    make_basis,
)
from infovec.kernels import RBF, White
from infovec.likelihoods import Gaussian, Probit, StudentT
from infovec.likelihoods.classes import MultivariateProbit, Softmax
from infovec.scores import SCORES
from infovec.selection import Driver, GainDriver, Schedule
from infovec.selection.driver import _merge
from infovec.shards import (
    ClassShard,
    CoupledShard,
    GivenRows,
    IndexRule,
    LocalShard,
    ProjectedShard,
    Refill,
    RefilledShard,
    Shard,
    SiteShard,
    break_ties,
    share,
)
from infovec.shards.cut import cut

N, D = 90, 20
KERNEL = RBF(0.8, 1.5) + White(0.05)
DIVISIONS = {
    "2": np.split(np.arange(N), [37]),
    "5": np.array_split(np.arange(N), 5),
    "uneven": np.split(np.arange(N), [1, 3, 60]),
    "one of no rows": np.split(np.arange(N), [0, 45]),
    "interleaved": [np.arange(k, N, 3) for k in range(3)],
}
each_division = pytest.mark.parametrize("parts", DIVISIONS.values(), ids=DIVISIONS)


def data(seed=0, classes=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 2))
    X[40:44] = X[2:6]  # rows of equal inputs, which tie
    f = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1]
    if classes:
        return X, np.digitize(f + 0.3 * rng.normal(size=N), np.quantile(f, np.arange(1, classes) / classes))
    return X, f + 0.2 * rng.normal(size=N)


def targets(likelihood, y):
    return np.where(y > 0, 1.0, -1.0) if isinstance(likelihood, Probit) else y


def local(parts, X, y, likelihood, score="entropy", held_back=None, capacity=D, rule=None, kind=LocalShard):
    priority = np.random.default_rng(1).random(N)
    held_back = np.zeros(N, dtype=bool) if held_back is None else held_back
    rule = rule or IndexRule()
    return [
        kind(
            GivenRows(at, X[at], y[at], priority[at], held_back[at]), KERNEL, likelihood, SCORES[score], capacity,
            "float64", rule,
        )
        for at in parts
    ]  # fmt: skip


def projected(parts, X, y, likelihood, blur=True, max_entries=None):
    return [ProjectedShard(at, X[at], y[at], KERNEL, likelihood, "float64", blur, max_entries) for at in parts]


def coupled(parts, X, labels, likelihood):
    return [CoupledShard(at, X[at], labels[at], KERNEL, likelihood, "float64") for at in parts]


ONE = [np.arange(N)]


def refilled(parts, X, y, likelihood):
    return local(parts, X, y, likelihood, rule=IndexRule(refill=Refill(30, 0.5, 5, (0,))), kind=RefilledShard)


# implementation -> shards of a problem, given how it is divided
SELECTION = {
    LocalShard: lambda parts: local(parts, *data(), Gaussian(0.1)),
    RefilledShard: lambda parts: refilled(parts, *data(), Gaussian(0.1)),
}
SITES = {
    ProjectedShard: lambda parts: projected(parts, data()[0], targets(Probit(), data()[1]), Probit()),
}
CLASSES = {CoupledShard: lambda parts: coupled(parts, *data(classes=3), MultivariateProbit(np.zeros(3)))}


@pytest.mark.parametrize(("protocol", "cases"), [(Shard, SELECTION), (SiteShard, SITES), (ClassShard, CLASSES)])
def test_no_shard_without_a_contract(protocol, cases):
    assert implementations(protocol) == set(cases)
    for make in cases.values():
        assert isinstance(make(ONE)[0], protocol)


def same(got, expected, atol=1e-10):
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=atol)


def posterior_of(shards, likelihood, score="entropy", schedule=Schedule(1, 1), wanted=D, initial=()):
    driver = Driver(shards, KERNEL, likelihood, SCORES[score], D, schedule)
    driver.include(np.array(initial, dtype=np.intp))
    driver.run(wanted)
    return driver


def check_same_selection(got, expected, X):
    np.testing.assert_array_equal(got.active[: got.size], expected.active[: expected.size])
    a, b = got.posterior(X), expected.posterior(X)
    for name in ("L", "beta", "precision", "site_mean"):
        same(getattr(a, name), getattr(b, name))
    same(got.scores[: got.size], expected.scores[: expected.size])
    same(got.log_likelihood_outside(), expected.log_likelihood_outside())
    np.testing.assert_array_equal(np.sort(got.considered()), np.sort(expected.considered()))
    np.testing.assert_array_equal(np.sort(got.outside()), np.sort(expected.outside()))
    if expected.held_back() is not None:
        same(got.held_back(), expected.held_back())


@each_division
@pytest.mark.parametrize("likelihood", [Gaussian(0.1), Probit(0.2)], ids=["regression", "probit"])
@pytest.mark.parametrize("score", ["entropy", "information_gain", "random"])
@pytest.mark.parametrize("schedule", [Schedule(1, 1), Schedule(6, 30)], ids=["one by one", "blocks"])
def test_any_division_selects_the_same(parts, likelihood, score, schedule):
    X, y = data()
    y = targets(likelihood, y)
    held_back = np.arange(N) % 10 == 3
    one, many = (
        posterior_of(local(p, X, y, likelihood, score, held_back), likelihood, score, schedule, initial=[50, 4, 71])
        for p in (ONE, parts)
    )
    assert one.size == many.size == D
    assert list(one.active[:3]) == [50, 4, 71]
    check_same_selection(many, one, X)
    one.rewind(9), many.rewind(9)
    check_same_selection(many, one, X)
    one.enlarge(D + 5, None), many.enlarge(D + 5, None)
    one.run(D + 5), many.run(D + 5)
    check_same_selection(many, one, X)


@each_division
@pytest.mark.parametrize("apart", [1.0, 1e-9], ids=["apart", "too near each other"])
def test_rows_that_tie_are_told_apart_alike(parts, apart):
    """With a probit and the prior alone all rows have the same score: only their priorities differ.

    Those of a million rows are so near each other that some keys are equal.
    """
    X, y = data()
    y = targets(Probit(), y)
    one, many = (local(p, X, y, Probit()) for p in (ONE, parts))
    for shard in one + many:
        shard.priority = 1.0 - apart * shard.priority
    assert (len(set(one[0].keys())) == N) == (apart == 1.0)
    for k in (1, 7, N):
        first = one[0].candidates(k)
        assert len(first.rows) == k
        np.testing.assert_array_equal(_merge([shard.candidates(k) for shard in many], k).rows, first.rows)


def test_keys_of_rows_do_not_depend_on_what_else_is_scored():
    value = np.array([100.0, 1.0, 1.0, 0.0, 0.0, -3.0, -3.0, -np.inf, 1e-12, 1e-12])
    priority = np.array([0.5, 0.1, 0.9, 0.2, 0.7, 0.3, 0.6, 0.4, 0.8, 0.05])
    key = break_ties(value, priority)
    np.testing.assert_array_equal(np.argsort(-key), [0, 2, 1, 8, 9, 4, 3, 6, 5, 7])
    for part in (slice(1, None), slice(1, 5), slice(3, 5), [7], slice(0, 0)):
        np.testing.assert_array_equal(break_ties(value[part], priority[part]), key[part])


@each_division
def test_all_rows_can_be_included_wherever_they_are(parts):
    X, y = data()
    shards = local(parts, X, y, Gaussian(0.1), capacity=N)
    driver = Driver(shards, KERNEL, Gaussian(0.1), SCORES["entropy"], N, Schedule(7, 40))
    driver.run(N)
    assert sorted(driver.active) == list(range(N))


def test_a_division_of_sparse_inputs():
    X, y = data()
    X = sparse.csr_matrix(np.abs(X))
    one, many = (posterior_of(local(p, X, y, Gaussian(0.1)), Gaussian(0.1)) for p in (ONE, DIVISIONS["uneven"]))
    np.testing.assert_array_equal(many.active, one.active)
    same(many.beta, one.beta)


@pytest.mark.parametrize("kind", SELECTION, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("parts", [ONE, DIVISIONS["5"]], ids=["1", "5"])
def test_selection_needs_no_more_than_plain_messages(kind, parts):
    X, _ = data()
    here, there = (
        posterior_of(shards, Gaussian(0.1), schedule=Schedule(3, 12), initial=[8])
        for shards in (SELECTION[kind](parts), [Elsewhere(shard, Shard) for shard in SELECTION[kind](parts)])
    )
    check_same_selection(there, here, X)
    there._absorbing = True  # as an error in the middle of a block leaves it
    for driver in (here, there):
        driver.run(D)
        driver.rewind(7)
        driver.enlarge(D + 2, 4 * N * D)
        driver.run(D + 2)
    np.testing.assert_array_equal(there.active, here.active)


@pytest.mark.parametrize("kind", SELECTION, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("parts", [ONE, DIVISIONS["5"]], ids=["1", "5"])
def test_what_a_shard_offers(kind, parts):
    X, y = data()
    shards = SELECTION[kind](parts)
    facts = [shard.facts() for shard in shards]
    assert sum(f.n_rows for f in facts) == sum(f.n_free for f in facts) == N
    driver = posterior_of(shards, Gaussian(0.1), schedule=Schedule(3, 12))
    active, posterior = driver.active[: driver.size], driver.posterior(X)
    for shard in shards:
        offer = shard.candidates(7)
        assert len(offer.rows) <= 7
        assert np.all(np.diff(offer.key) <= 0.0)
        assert np.all(np.isfinite(offer.key))
        assert not np.isin(offer.rows, active).any()
        assert not len(shard.candidates(0).rows)
        mean, var = posterior.predict(X[offer.rows])
        same(offer.mean, mean, 1e-8)
        np.testing.assert_array_equal(offer.y, y[offer.rows])
        assert np.all(var > 0.0)
        if len(offer.rows):
            np.testing.assert_array_equal(shard.this(int(offer.rows[0])).rows, offer.rows[:1])
        assert not len(shard.this(int(active[0])).rows) or np.isneginf(shard.this(int(active[0])).key[0])
        before = shard.candidates(3)
        shard.restore(driver.representation(), active)
        again = shard.candidates(3)
        np.testing.assert_array_equal(again.rows, before.rows)
        same(again.var, before.var, 1e-8)
        assert set(shard.considered()) <= set(shard.outside())
        assert not set(shard.outside()) & set(active)


def test_refilled_shards_find_what_one_finds():
    """Rows are drawn at random in each, so they need not be the same: but what is known is right."""
    X, y = data()
    for parts in (ONE, *DIVISIONS.values()):
        driver = posterior_of(SELECTION[RefilledShard](parts), Gaussian(0.1), schedule=Schedule(3, 12))
        assert driver.size == D
        assert len(set(driver.active)) == D
        assert np.mean((driver.posterior(X).predict(X)[0] - y) ** 2) < 0.3 * np.var(y)


def test_shards_that_shrink_keep_their_share():
    """Which rows are dropped depends on what else a shard has: the model differs, what is known of rows does not."""
    X, y = data()
    entries = N * D // 2
    for parts in (ONE, DIVISIONS["5"]):
        rules = [IndexRule(max_entries=share(entries, len(at), N, D)) for at in parts]
        shards = [local([at], X, y, Gaussian(0.1), rule=rule)[0] for at, rule in zip(parts, rules, strict=True)]
        driver = posterior_of(shards, Gaussian(0.1))
        assert driver.size == D
        assert sum(len(shard.rows) for shard in shards) * D <= entries
        assert len(driver.considered()) + D >= N // 4
        for shard in shards:
            offer = shard.candidates(N)
            same(offer.mean, driver.posterior(X).predict(X[offer.rows])[0], 1e-8)


def test_cutting():
    for n, k in [(10, 1), (10, 3), (3, 5), (1, 2), (0, 4)]:
        parts = [np.arange(n)[part] for part in cut(n, k)]
        np.testing.assert_array_equal(np.concatenate(parts), np.arange(n))
        assert len(parts) == max(1, min(n, k))
        assert max(map(len, parts)) - min(map(len, parts)) <= 1
    assert share(100, 10, 10) == 100
    assert share(100, 1, 10, 20) == 20
    assert sum(share(1000, len(at), N) for at in DIVISIONS["5"]) <= 1000


def settled(shards, likelihood, X, y, active, wrap=None):
    """Everything that inference finds."""
    basis = make_basis(KERNEL, active, X[active], "float64")
    shards = [Elsewhere(shard, wrap) for shard in shards] if wrap else shards
    for shard in shards:
        shard.project(basis)
    found = infer(shards, tolerance=1e-9)
    gradient = np.concatenate(evidence_gradient(shards, basis, KERNEL, likelihood, found))
    sites = np.sum([shard.sites(active) for shard in shards], axis=0)
    return found, gradient, sites, shards


LIKELIHOODS = [Gaussian(0.1), Probit(0.2), StudentT(0.3, df=4.0)]
each_likelihood = pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=lambda v: type(v).__name__)


@each_division
@each_likelihood
@pytest.mark.parametrize(("blur", "max_entries"), [(True, None), (False, 0)], ids=["blur", "nothing kept"])
def test_any_division_infers_the_same(parts, likelihood, blur, max_entries):
    X, y = data()
    y, active, group = targets(likelihood, y), np.arange(5, 5 + D), np.unique(X, axis=0, return_inverse=True)[1].ravel()
    one, many = (
        settled(projected(p, X, y, likelihood, blur, max_entries), likelihood, X, y, active) for p in (ONE, parts)
    )
    assert one[0].converged
    assert many[0].converged
    assert len(many[0].sweeps) == len(one[0].sweeps)
    same(many[0].beliefs.Q, one[0].beliefs.Q)
    same(many[0].beliefs.beta, one[0].beliefs.beta)
    same(many[0].log_evidence, one[0].log_evidence)
    same(many[1], one[1], 1e-9)
    same(many[2], one[2])
    order = np.concatenate(parts)
    known = left_out(many[3], many[0].beliefs, group[order])
    same(known, left_out(one[3], one[0].beliefs, group)[:, order], 1e-9)


@pytest.mark.parametrize("kind", SITES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("parts", [ONE, DIVISIONS["5"]], ids=["1", "5"])
def test_inference_needs_no_more_than_plain_messages(kind, parts):
    X, y = data()
    active, likelihood = np.arange(D), Probit()
    here, there = (settled(SITES[kind](parts), likelihood, X, y, active, wrap) for wrap in (None, SiteShard))
    same(there[0].beliefs.Q, here[0].beliefs.Q)
    same(there[0].log_evidence, here[0].log_evidence)
    same(there[1], here[1])
    same(there[2], here[2])
    same(left_out(there[3], there[0].beliefs), left_out(here[3], here[0].beliefs))
    rows, (precision, b) = np.arange(N), np.sum([shard.latent_sites(np.arange(N)) for shard in there[3]], axis=0)
    for shard in there[3]:  # what every way out of trouble asks for, and to go on from there
        shard.begin_again()
        shard.resume(rows, precision, b)
        assert shard.sharpness(0.0, 1.0)[1] == shard.traits().n_rows
    again = infer(there[3], tolerance=1e-6)
    assert len(again.sweeps) <= 2
    same(again.log_evidence, here[0].log_evidence, 1e-6)


@each_division
@pytest.mark.parametrize("kind", [MultivariateProbit, Softmax], ids=lambda kind: kind.__name__)
def test_any_division_infers_the_same_of_many_classes(parts, kind):
    X, labels = data(classes=3)
    likelihood, active = kind(np.array([0.1, 0.0, -0.1])), np.arange(D)
    basis, found = make_basis(KERNEL, active, X[active], "float64"), []
    for p in (ONE, parts):
        shards = coupled(p, X, labels, likelihood)
        for shard in shards:
            shard.project(basis)
        result = infer_coupled(shards, tolerance=1e-9)
        order = np.concatenate(p)
        known = np.empty((2, N, 3))
        known[:, order] = left_out_of_classes(shards)
        gradient = np.concatenate(coupled_gradient(shards, basis, KERNEL, likelihood, result))
        found.append((result, known, gradient, np.sum([shard.sites(active) for shard in shards], axis=0)))
    one, many = found
    assert one[0].converged
    assert many[0].converged
    same(many[0].beliefs.Q, one[0].beliefs.Q, 1e-9)
    same(many[0].beliefs.beta, one[0].beliefs.beta, 1e-9)
    same(many[0].log_evidence, one[0].log_evidence)
    for a, b in zip(many[1:], one[1:], strict=True):
        same(a, b, 1e-8)


@pytest.mark.parametrize("parts", [ONE, DIVISIONS["5"]], ids=["1", "5"])
def test_coupled_classes_need_no_more_than_plain_messages(parts):
    X, labels = data(classes=3)
    likelihood, active, found = MultivariateProbit(np.zeros(3)), np.arange(D), []
    basis = make_basis(KERNEL, active, X[active], "float64")
    for wrap in (lambda shard: shard, lambda shard: Elsewhere(shard, ClassShard)):
        shards = [wrap(shard) for shard in coupled(parts, X, labels, likelihood)]
        for shard in shards:
            shard.project(basis)
        result = infer_coupled(shards, tolerance=1e-6)
        gradient = np.concatenate(coupled_gradient(shards, basis, KERNEL, likelihood, result))
        found.append((result.log_evidence, gradient, left_out_of_classes(shards), result.beliefs.Q))
    for a, b in zip(*found, strict=True):
        same(a, b)


@each_division
@pytest.mark.parametrize("wrap", [False, True], ids=["here", "elsewhere"])
def test_any_division_gains_the_same(parts, wrap):
    X, y = data()
    y, priority, held_back = targets(Probit(), y), np.random.default_rng(3).random(N), np.arange(N) % 9 == 2
    found = []
    for p in (ONE, parts):
        shards = projected(p, X, y, Probit())
        shards = [Elsewhere(shard, SiteShard) for shard in shards] if wrap else shards
        driver = GainDriver(shards, KERNEL, Probit(), D, Schedule(4, 16), priority, held_back)
        driver.include(np.array([60, 3]))
        driver.run(D)
        found.append(driver)
    np.testing.assert_array_equal(found[1].active, found[0].active)
    same(found[1].scores, found[0].scores, 1e-9)
    assert not held_back[found[0].active].any()
