"""Whether units of weight are observations of their own, or copies of one.

Equal rows are taken together, so that it is all the same whether a row was repeated or weighted. What they stand for is
another matter. Where values of inputs are few, equal inputs are observed again and again, and their labels differ as
often as the world is noisy: to learn from them one needs to know how many there were. A row that was drawn several
times by a bootstrap, or weighted by two like all the others, was observed once. To take its copies for observations is
to say that there is no noise, since they always agree, and learning would believe it.
"""

import numpy as np

from .._types import Array, Floats, Rows
from ..numerics.groups import of_groups

__all__ = ["as_copies", "told_apart"]

_NOTEWORTHY = 0.1  # disagreement of units at equal inputs, as a share of that of units drawn from all rows


def as_copies(weight: Floats) -> Floats:
    r"""Return weights that count every row for one observation, more or less.

    .. math:: w_i \frac{\sum w}{\sum w^2}

    Equal weights become one; others sum to the effective number of observations, :math:`(\sum w)^2 / \sum w^2` (Kish,
    Survey sampling, 11.7).
    """
    share = weight / weight.max()  # whose squares are numbers
    return share * (share.sum() / (share @ share))


def told_apart(y: Array, weight: Floats, group: Rows | None) -> bool:
    r"""Whether labels of units of weight at equal inputs differ, at least a tenth as often as those of any two units.

    .. math:: \frac{\sum_g \bigl(n_g^2 - \sum_c n_{gc}^2\bigr)}{\sum_g n_g (n_g - 1)}
              > \tfrac1{10} \Bigl(1 - \sum_c \frac{n_c^2}{n^2}\Bigr)

    with n the sums of weights, for inputs g and classes c.
    """
    if group is None:
        return False
    classes, index = np.unique(y, return_inverse=True)
    by_class = weight[:, None] * (index[:, None] == np.arange(len(classes)))
    share = by_class.sum(axis=0) / weight.sum()
    by_group = of_groups(by_class, group)[np.unique(group, return_index=True)[1]]
    n = by_group.sum(axis=1)
    pairs, differ = np.sum(np.maximum(n**2 - n, 0.0)), np.sum(n**2 - np.sum(by_group**2, axis=1))
    return bool(differ > _NOTEWORTHY * (1.0 - share @ share) * pairs)
