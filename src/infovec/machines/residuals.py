"""How far real targets lie from predictions of rows left out."""

from collections.abc import Callable
from contextlib import suppress

import numpy as np
from scipy.special import ndtri

from .._types import Floats, Rows
from ..errors import ParameterError
from ..likelihoods import Likelihood, Weighted
from ..likelihoods.mixtures import cumulative
from ..likelihoods.parts import in_parts
from ..numerics.residuals import score_quantiles
from ..runtime import at_once, seconds_per_row
from .data import Data

__all__ = ["residuals"]

_FEWEST = 200  # rows that tell, whatever the time
_CUMULATIVE = 8 * 48 * 8  # bytes for each row: 48 nodes, and what the likelihood makes of them
_TOLD = 120  # bytes for each row whose residual is looked at: its score, their order and what is added up
_CERTAIN = 1e-15  # probability of what was thought impossible


def residuals(data: Data, likelihood: Likelihood, known: Floats, rows: Rows, learned: int, left: float) -> Floats:
    """Quantiles of the normal scores of targets under what is known of rows left out.

    Rows that were held back are among the others. A likelihood without a cdf leaves the normal distribution.

    Parameters
    ----------
    data : Data
    likelihood : Likelihood
        Of all rows of the data.
    known : array of shape (2, n)
        Latent means and variances of some rows, each without its own site.
    rows : array of int
        Which they are.
    learned : int
        Numbers that were learned from them.
    left : float
        Seconds: if they are few, or memory is scarce, rows first in line are enough.
    """
    if np.isfinite(left) and len(rows) > _FEWEST:
        some = _in_time(data, likelihood, known, rows, left)
        known, rows = known[:, some], rows[some]
    most = at_once(len(rows), _TOLD)
    if most < len(rows):
        some = np.sort(np.argpartition(-data.priority[rows], most)[:most])
        known, rows = known[:, some], rows[some]
    here = likelihood.take(rows)
    once, weight = here.for_new_rows(), here.weight if isinstance(here, Weighted) else None
    try:
        share: Floats = in_parts(cumulative, once, data.y[rows], known[0], known[1], each=_CUMULATIVE)
    except ParameterError:
        return score_quantiles(np.empty(0))
    scores = ndtri(np.clip(share, _CERTAIN, 1.0 - _CERTAIN))
    return score_quantiles(scores, learned, None if weight is None else np.broadcast_to(weight, len(rows)))


def _in_time(data: Data, likelihood: Likelihood, known: Floats, rows: Rows, left: float) -> Rows:
    """Which of some rows there is time for."""
    once = likelihood.for_new_rows()

    def find(size: int) -> Callable[[], object]:
        def residuals() -> None:
            with suppress(ParameterError):
                cumulative(once, data.y[rows[:size]], *known[:, :size])

        return residuals

    most = max(_FEWEST, int(left / max(seconds_per_row(find, len(rows)), 1e-9)))
    return np.sort(np.argsort(-data.priority[rows], kind="stable")[:most])
