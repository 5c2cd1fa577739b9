"""Estimators that predict a latent function."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._types import Floats, Inputs
from ..errors import ParameterError
from ..machines.budget import shown_bytes
from ..posterior import joint
from .fitted import Fitted
from .inputs import read
from .lazy import for_far_rows
from .limits import memory_limit

__all__ = ["Latent", "known"]

_COPIES = 4  # of a covariance matrix, on the way


def known(*values: Floats) -> tuple[Floats, ...]:
    """Return means and variances of a latent function, one for each row, checked to be numbers."""
    for value in values:
        bad = ~np.isfinite(value).reshape(len(value), -1).all(axis=1)
        if bad.any():
            raise ParameterError(
                f"the latent function at row {int(np.argmax(bad))} of X is beyond floating point numbers: the row is "
                "too far from the training rows for this kernel. Look at that row, or scale the columns before fitting"
            )
    return values


class Latent(Fitted):
    """Has ``predict_latent``."""

    def _read(self, X: object) -> Inputs:
        """Inputs to predict for, in double precision."""
        check_is_fitted(self)
        kernel = self.kernel_[0] if isinstance(self.kernel_, list) else self.kernel_
        inputs = read(self, kernel, X)
        return inputs.astype(np.float64) if kernel.numeric else inputs

    def _latent(self, X: object) -> tuple[Floats, Floats]:
        """Latent mean and variance."""
        inputs = self._read(X)
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused
            mean, var = known(*self.posterior_.predict(inputs))
        return mean, var

    def _latent_together(self, X: Inputs) -> tuple[Floats, Floats]:
        """Latent means and covariances of rows that were read, if they fit into memory."""
        n, functions = X.shape[0], getattr(self, "n_classes_", 1)
        needed, limit = 8.0 * _COPIES * functions * float(n) ** 2, memory_limit(getattr(self, "max_memory", None))
        if needed > limit:
            raise ParameterError(
                f"the covariances of {n} rows need {shown_bytes(needed)}, more than the {shown_bytes(limit)} that "
                "max_memory allows: ask for fewer rows at a time"
            )
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused
            mean, cov = joint(self.posterior_, X)
        known(mean, cov if cov.ndim == 2 else cov.transpose(1, 0, 2))
        return mean, cov

    def _testimony(self, X: Inputs) -> dict[str, Floats]:
        """Predictions that a saved model must repeat when it is loaded."""
        mean, std = self.predict_latent(X)
        return {"mean": np.asarray(mean), "var": np.asarray(std) ** 2}

    @for_far_rows
    def predict_latent(
        self, X: object, return_std: bool = True, return_noise: bool = False, *, return_cov: bool = False
    ) -> Any:
        """Predict the latent function.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        return_std : bool
            Whether to return the standard deviation as well.
        return_noise : bool
            Whether to return, beside both, the noise of the target.
        return_cov : bool
            Whether to return the mean and the covariances of all rows instead.

        Returns
        -------
        mean : array of shape (n_samples,)
        std : array of shape (n_samples,)
            Uncertainty about the function itself, which more data would reduce.
        noise : array of shape (n_samples,)
            Standard deviation of the target when the function is known, averaged over what it may be: what no data
            would reduce. For two classes the target counts as -1 and 1, for ordered ones as 0, 1, 2 and so on.

        With ``return_cov`` the second has shape (n_samples, n_samples); of several classes the mean has shape
        (n_samples, n_classes) and this one (n_classes, n_samples, n_samples).

        Notes
        -----
        The bias of the likelihood is not part of the latent function: with Gaussian noise the target is the latent
        function plus ``likelihood_.bias`` plus noise, with the probit a class is decided by their sum.
        With a transform of the target, and for counts, mean and std are in the unit of the latent function, a logarithm
        for example, and the noise in that of the target: their squares do not add up to those of ``predict``.
        """
        if return_cov:
            return self._latent_together(self._read(X))
        if not return_std and not return_noise:
            inputs = self._read(X)
            with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused
                return known(self.posterior_.mean(inputs))[0]
        mean, var = self._latent(X)
        if not return_noise:
            return mean, np.sqrt(var)
        return mean, np.sqrt(var), np.sqrt(self.likelihood_.label_noise(mean, var))
