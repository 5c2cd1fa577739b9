"""Length scales that groups of columns share, and pictures of them."""

import numpy as np
import pytest

from infovec import IVMClassifier, load
from infovec.errors import ParameterError
from infovec.kernels import RBF, Bias, Grouped, Linear, On, image_blocks
from infovec.kernels.relevances import column_weights
from infovec.plots import plot_relevances

GROUPS = np.array([0, 1, 0, 2, 1])


def test_a_kernel_of_groups_is_that_of_equal_length_scales():
    X = np.random.default_rng(0).normal(size=(20, 5))
    scale, relevance = np.array([0.7, 2.0, 5.0]), np.array([0.3, 1.0, 2.0])
    grouped = Grouped(RBF(scale, 2.0) + Linear(relevance=relevance), GROUPS) + Bias(0.3)
    whole = RBF(scale[GROUPS], 2.0) + Linear(relevance=relevance[GROUPS]) + Bias(0.3)
    np.testing.assert_array_equal(grouped(X), whole(X))
    np.testing.assert_array_equal(column_weights(grouped, 5), column_weights(whole, 5))
    one = Grouped(RBF(1.5), GROUPS)
    np.testing.assert_array_equal(one(X), RBF(1.5)(X))
    assert one.theta.size == 2


def test_blocks_of_images():
    blocks = image_blocks((6, 4), (3, 2)).reshape(6, 4)
    for i in range(6):
        for j in range(4):
            assert blocks[i, j] == 2 * (i // 2) + j // 2
    assert np.array_equal(np.unique(image_blocks((5, 7), 3)), np.arange(9))
    with pytest.raises(ParameterError, match="cannot be cut"):
        image_blocks((4, 4), 5)


@pytest.mark.parametrize(
    ("kernel", "groups", "said"),
    [
        (RBF(np.ones(2)), [0, 2], "all numbers from zero on"),
        (RBF(np.ones(2)), [0.0, 1.0], "all numbers from zero on"),
        (RBF(np.ones(2)), [], "all numbers from zero on"),
        (RBF(np.ones(3)), [0, 1, 0], "3 entries, but there are 2 groups"),
        (RBF() + Linear(relevance=np.ones(3)), [0, 1, 0], "3 entries, but there are 2 groups"),
        (On(RBF(), 0), [0, 1], "On\\(Grouped"),
    ],
)
def test_groups_that_make_no_sense_are_told(kernel, groups, said):
    with pytest.raises(ParameterError, match=said):
        Grouped(kernel, groups)


def test_the_block_that_counts_is_found_drawn_and_kept_in_files(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 36))
    block = image_blocks((6, 6), 2)
    y = X[:, block == 3].sum(axis=1) > 0.0
    kernel = Grouped(RBF(np.full(4, 6.0), 10.0), block) + Bias()
    model = IVMClassifier(kernel=kernel, n_active=50, random_state=0).fit(X, y)
    assert np.argmin(model.kernel_.left.kernel.length_scale) == 3
    relevances = model.relevances()
    assert np.all(block[relevances.number[:9]] == 3)
    picture = relevances.picture((6, 6))
    assert picture[3:, 3:].min() > 5.0 * np.delete(picture.ravel(), np.flatnonzero(block == 3)).max()
    drawn = plot_relevances(model, image_shape=(6, 6)).images[0]
    np.testing.assert_allclose(np.asarray(drawn.get_array()), np.sqrt(picture))
    with pytest.raises(ParameterError, match="no picture"):
        relevances.picture((5, 7))
    model.save(tmp_path / "model.ivm")
    again = load(tmp_path / "model.ivm")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.kernel_ == model.kernel_


def test_columns_that_say_nothing_are_counted_not_listed():
    rng = np.random.default_rng(0)
    X = np.append(rng.normal(size=(60, 2)), np.ones((60, 3)), axis=1)
    model = IVMClassifier(kernel=RBF(np.array([1.0, 3.0, 1.0, 1.0, 1.0])) + Bias(), learn=None, n_active=20)
    found = model.fit(X, X[:, 0] > 0).relevances()
    assert found.n_seen == 2
    assert "and 3 that say nothing: switched off, or constant" in str(found)
    assert "column 1" in str(found)
    assert "column 3" not in str(found)
