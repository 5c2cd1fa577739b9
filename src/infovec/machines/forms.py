"""Which form of kernel real targets ask for: small models of each, judged by rows that they have not seen."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

import numpy as np

from .._types import Floats, Rows
from ..kernels import Kernel
from ..learning import Learning
from ..likelihoods import Likelihood
from ..runtime import StopReason
from .data import whole_folds
from .defaults import default_kernel
from .fit import Course, begin
from .machine import Machine
from .sample import Sample

__all__ = ["FORMS", "Trials", "best_form", "kernel_of_form"]

FORMS = ("rbf", "matern", "rbf + matern")
"""Names of the kernels that are tried, the first of them unless another is better."""

_MOST, _FEWEST = 300, 90  # rows to learn from and to judge by, and rows of which some are worth it
_SEEN = 2.0 / 3.0  # share of the rows to learn from, where there are few
_SURE = 1.0  # standard errors by which rows that were not seen must be more probable


def kernel_of_form(
    sample: Sample, variance: float, form: Kernel | None, codes: Sequence[int] | Rows, gaps: Sequence[int] | Rows
) -> Kernel:
    """Return the default kernel, or one of a named form, as a fit to these rows has it.

    Parameters
    ----------
    sample : Sample
    variance : float
        Of the function.
    form : Kernel, optional
    codes, gaps : array of int
        Columns of categories, and those of them that say where values are missing.
    """
    if sample.columns:
        return sample.columns.kernel(variance, form)
    return default_kernel(sample.X, variance, sample.weight, form, codes, gaps)


class Trials(NamedTuple):
    """What came of each form, in the order of ``FORMS``."""

    best: str
    log_evidence: Floats  # for each row that was learned from
    log_density: Floats  # of a row that was not


def best_form(machine: Machine, kernels: Mapping[str, Kernel], learning: Learning, course: Course) -> Trials | None:
    """Return the form of kernel that evidence and rows not seen agree on, or None where there are few rows.

    A form is taken if its evidence is higher than that of the first, and rows that were not seen are more probable by
    more than a standard error; of several the one under which they are most probable.

    Parameters
    ----------
    machine : Machine
        Of all rows, with the first of the kernels.
    kernels : mapping
        Each form scaled to the data.
    learning : Learning
    course : Course
        Of which each trial may take a part.
    """
    n = machine.data.n
    if n < _FEWEST:
        return None
    line = np.argsort(-machine.data.priority, kind="stable")
    m = min(_MOST, round(_SEEN * n))
    seen, others = np.sort(line[:m]), np.sort(line[m : 2 * m])
    if machine.data.folds is not None:
        others = np.sort(whole_folds(line[::-1], min(m, n - m), machine.data.folds))
        seen = np.sort(line[~np.isin(line, others)][:m])
    some = machine.only(seen)
    some = replace(some, work=replace(some.work, initial=some.work.initial[:0]))
    evidence, density = list[float](), list[Floats]()
    X, y = machine.data.near(others), machine.data.y[others]
    for form in FORMS:
        trial = replace(some, kernel=kernels[form]).sufficient()
        ended = begin(trial, Course.of(course.seconds / (4 * len(FORMS)), None), learning, True)
        if ended.stop is StopReason.INTERRUPTED:
            raise KeyboardInterrupt
        likelihood = cast(Likelihood, ended.result.likelihood).for_new_rows()
        mean, var = ended.result.posterior.predict(ended.machine.kernel.in_double(X))
        evidence.append(ended.result.log_evidence / m)
        density.append(likelihood.log_predictive(y, mean, var))
    better = [k for k in range(1, len(FORMS)) if evidence[k] > evidence[0] and _surely(density[k] - density[0])]
    best = max(better, key=lambda k: float(density[k].mean()), default=0)
    return Trials(FORMS[best], np.array(evidence), np.array([one.mean() for one in density]))


def _surely(gain: Floats) -> bool:
    return bool(gain.mean() > _SURE * gain.std() / np.sqrt(len(gain)))
