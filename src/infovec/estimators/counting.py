r"""Whether equal rows are as many observations, or one that was copied.

Labels of equal inputs that are new observations differ as those of other rows do; copies never differ. For units of
weight at inputs g, with p what is predicted there from all other inputs, the dispersion

.. math:: \phi = \frac{\sum_g \bigl|\sum_{i \in g} w_i (e_{y_i} - p_g)\bigr|^2}{\sum_i w_i \sum_c p_{gc} (1 - p_{gc})}

is one if they are independent, and k if each is there k times (McCullagh and Nelder, Generalized linear models, 4.5).
Dividing the weights by it, one counts observations. Since equal rows are taken together first, it is all the same
whether a row was repeated or weighted.
"""

from typing import NamedTuple

import numpy as np

from .._types import Floats, Rows
from ..projected import of_groups

__all__ = ["Predicted", "dispersion", "likely_counts"]

_NOTEWORTHY = 0.1  # disagreement of equal inputs, as a share of that of all rows


class Predicted(NamedTuple):
    """Labels of rows, as positions, with what is predicted from those of other inputs."""

    rows: Rows
    labels: Rows
    log_proba: Floats  # (n, C)


def dispersion(known: Predicted, weight: Floats, group: Rows | None) -> float:
    """Return phi of some rows, whose weights and groups are given."""
    p = np.exp(known.log_proba)
    excess = -p
    excess[np.arange(len(p)), known.labels] += 1.0
    excess = of_groups(weight[:, None] * excess, group)
    first = slice(None) if group is None else np.unique(group, return_index=True)[1]
    expected = float(weight @ np.sum(p * (1.0 - p), axis=1))
    return float(np.sum(excess[first] ** 2)) / max(expected, 1e-300)


def likely_counts(labels: Rows, weight: Floats, group: Rows | None) -> bool:
    """Whether units of weight at equal inputs disagree often enough to be taken for observations at first."""
    if group is None:
        return False
    one_hot = weight[:, None] * (labels[:, None] == np.arange(labels.max() + 1))
    total = one_hot.sum(axis=0) / weight.sum()
    by_group = of_groups(one_hot, group)[np.unique(group, return_index=True)[1]]
    size = by_group.sum(axis=1)
    pairs = float(np.sum(np.maximum(size**2 - size, 0.0)))
    disagree = float(np.sum(size**2 - np.sum(by_group**2, axis=1)))
    return disagree > _NOTEWORTHY * float(1.0 - total @ total) * pairs
