"""Settings that are values, kernels and likelihoods, and their own parameters: ``kernel__length_scale`` in searches."""

from typing import Final, Self

from sklearn.base import BaseEstimator

from ..errors import ParameterError
from ..kernels import Kernel, named
from ..numerics.parameters import Parametrised

__all__ = ["AUTO", "HasValues", "form_of", "given_kernel", "is_open"]

AUTO: Final = "auto"
"""The name of the kernel whose form is left to the data, which it is without a name as well."""


class HasValues(BaseEstimator):  # type: ignore[misc]
    """Has a ``set_params`` that exchanges values: they are not changed in place, as estimators would be."""

    def set_params(self, **params: object) -> Self:
        """Set parameters of the estimator, and those of its kernel or likelihood as ``kernel__length_scale``.

        Parameters
        ----------
        **params : dict
            By name. Sums and products have the parts ``left`` and ``right``: ``kernel__left__length_scale``.

        Returns
        -------
        self
        """
        super().set_params(**{name: value for name, value in params.items() if "__" not in name})
        inside: dict[str, dict[str, object]] = {}
        for name, value in params.items():
            setting, nested, inner = name.partition("__")
            if nested:
                inside.setdefault(setting, {})[inner] = value
        known = self.get_params(deep=False)
        for setting, changes in inside.items():
            if setting not in known:
                super().set_params(**{setting: None})  # which says what is known
            if not isinstance(known[setting], Parametrised):
                raise _no_value(setting, known[setting], next(iter(changes)))
        for setting, changes in inside.items():
            _check_parts(setting, known[setting], changes)
            setattr(self, setting, known[setting].set_params(**changes))
        return self


def _check_parts(setting: str, value: Parametrised, changes: dict[str, object]) -> None:
    """Say which part has a parameter that the whole has not."""
    known = value.get_params()
    for inner in changes:
        parts = [f"{setting}__{name}" for name in known if name.endswith(f"__{inner}")]
        if inner not in known and parts:
            raise ParameterError(
                f"{setting}__{inner} is no parameter of {value!r}, but a part has it: write {' or '.join(parts)}"
            )


def _no_value(setting: str, given: object, inner: str) -> ParameterError:
    remedy, fixed = {
        "kernel": ("kernel=RBF() + Bias()", "kernel.left.length_scale"),
        "likelihood": ("likelihood=Gaussian()", "likelihood.variance"),
    }.get(setting, ("", ""))
    from_data = "" if given is None else " by its name"
    return ParameterError(
        f"{setting}__{inner} cannot be set: {setting} is {given!r}, whose parameters come from the data. Give it as a "
        f"value first, such as {remedy}, and set the parameters that get_params() then lists. What is learned only "
        f'begins there: to search over it, learn=Learning(fixed=["{fixed}"]), which learns the others; with learn=None '
        "variances and noise are as they are given, in the unit of the target"
        if remedy and (given is None or isinstance(given, str))
        else f"{setting}__{inner} cannot be set: {setting} is {given!r}{from_data}, which has no parameters"
    )


def given_kernel(kernel: object) -> Kernel | None:
    """Return the kernel if it is one; None where there is none or a name, so that its scale comes from the data."""
    return kernel if isinstance(kernel, Kernel) else None


def is_open(kernel: object) -> bool:
    """Whether the form of the kernel is left to the data."""
    return kernel is None or (isinstance(kernel, str) and kernel == AUTO)


def form_of(kernel: object) -> Kernel | None:
    """Return the form that a name stands for; None for None, for the kernel that None stands for, and for "auto"."""
    if not isinstance(kernel, str) or is_open(kernel):
        return None
    found = named(kernel)
    return None if kernel.strip().lower() == "rbf" else found
