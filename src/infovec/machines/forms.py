"""The kernel that a name stands for, in the units of the data."""

from collections.abc import Sequence

from .._types import Rows
from ..kernels import Kernel
from .defaults import default_kernel
from .sample import Sample

__all__ = ["kernel_of_form"]


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
