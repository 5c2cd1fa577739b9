"""Estimators that say what they found."""

from collections.abc import Sequence
from os import PathLike

from sklearn.utils.validation import check_is_fitted

from ..machines.plan import Plan
from ..pac_bayes import Certificate
from .fitted import Fitted
from .relevances import Relevances, model_relevances

__all__ = ["Reporting"]


class Reporting(Fitted):
    """Has ``relevances`` and ``report``."""

    def relevances(self, feature_names: Sequence[str] | None = None) -> Relevances:
        """Return how much every column counts, the most relevant first.

        A column's relevance is the square of its spread over the active rows, divided by its length scale, as a share
        of the largest. Kernels that treat all columns alike leave nothing to tell: then ``note`` says so.

        Parameters
        ----------
        feature_names : sequence of str, optional
            ``feature_names_in_`` if None.

        Returns
        -------
        relevances : Relevances
            With ``columns``, ``relevance``, ``length_scale`` and ``note``; ``print`` shows them.
        """
        check_is_fitted(self)
        return model_relevances(self, feature_names)

    def report(
        self,
        path: str | PathLike[str],
        X_test: object = None,
        y_test: object = None,
        plan: Plan | None = None,
        feature_names: Sequence[str] | None = None,
        image_shape: tuple[int, int] | str | None = "auto",
        certificate: Certificate | None = None,
        X_train: object = None,
        y_train: object = None,
    ) -> None:
        """Write one HTML file about the fitted model, which needs nothing else to be looked at.

        Summary, figures on test rows with their uncertainty, beside simpler models, reliability, the most surprising
        rows, what the columns do, the active rows, and folded away how the fit went. Needs matplotlib (the ``plot``
        extra).

        Parameters
        ----------
        path : str or path
        X_test, y_test : array-like, optional
            Rows the model has not seen; without them there are no test figures.
        plan : Plan, optional
            What ``plan(X, y)`` predicted before the fit, to be compared with what the fit took.
        feature_names : sequence of str, optional
            ``feature_names_in_`` if None.
        image_shape : (height, width), "auto" or None
            How a row becomes a picture. "auto" draws square pictures where the columns look like one, None never does.
        certificate : Certificate, optional
            What ``certify`` or ``fit_certified`` has returned.
        X_train, y_train : array-like, optional
            Rows of the fit: a linear model is fitted to them and compared on the test rows. Without them it is fitted
            to the other test rows, fold by fold.
        """
        from ..report import write_report  # the one import that goes up: a method for what a layer above does

        check_is_fitted(self)
        write_report(
            self, path, X_test, y_test, plan=plan, feature_names=feature_names, image_shape=image_shape,
            certificate=certificate, X_train=X_train, y_train=y_train,
        )  # fmt: skip
