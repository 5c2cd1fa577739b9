"""Classification into two classes."""

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from .._types import Array, Floats, Inputs
from ..errors import ParameterError
from ..likelihoods import Likelihood
from .defaults import CLASS_LIKELIHOODS, CLASS_VARIANCE, named
from .discrete import DiscreteMachine, discrete
from .inputs import read

__all__ = ["IVMClassifier"]


class IVMClassifier(DiscreteMachine):
    """Informative vector machine for two classes: a sparse Gaussian process classifier.

    Training looks at every row, includes the ``n_active`` most informative ones and keeps only those.

    Parameters
    ----------
    kernel : Kernel, optional
        Covariance of the latent function. None scales an RBF kernel and a bias to the columns of X.
    likelihood : {"probit", "logit"} or Likelihood
        By name the bias is set from the class frequencies.
    approximation : {"projected", "factorised"}
        "projected" selects the active rows, then learns from the labels of all rows, each seen through its projection
        onto the active ones (Thesis 4.4.2). "factorised" is the machine of the papers: it learns from the labels of
        the active rows only; faster, as good on clean data, and poor where labels are noisy.
    n_active : int, float or "auto"
        Size of the active set: a number, or a fraction of the rows. "auto" holds back a tenth of the rows (at most
        2000), goes on while they are predicted better, and goes back to where they were predicted best; with fewer than
        200 rows it takes them all.
    score : {"entropy", "information_gain", "predictive", "variance", "random", "projected_gain"} or callable
        How informative a row is; see ``infovec.scores``. "projected_gain" is the gain of the projected posterior itself
        (Thesis 4.4.2.1), several times slower to select by. As an attribute ``score`` is scikit-learn's method; the
        parameter is in ``get_params()``.
    learn : {"ep", "active_set", "variational", None} or Learning
        How the parameters of kernel and likelihood are learned, from their values on; ``infovec.learning.Learning``
        says it in detail. "ep" maximises the EP evidence. Of the projected posterior: on some of the rows with a small
        active set at first, in the end with ``n_active`` rows active (at most 1000) and up to 10000 rows. Of the
        factorised one (SLH eq. 11): the active rows are selected anew in every major step and fixed in the minor steps
        between, on as many rows. "active_set" (LSH05) and "variational" (Thesis C.3.3) do the same by criteria of the
        factorised posterior, whichever is fitted in the end: with "projected" they learn from the factorised selection,
        then fit the projected posterior. A weak normal prior, on logarithms mostly, keeps parameters near the start.
        When ``kernel`` is None its length scales keep their proportions; give one for each column to learn them all.
        None leaves everything as given.
    block_size : int or "auto"
        Most rows included between two looks at all rows; blocks start at one row and grow. 1 is the algorithm of the
        papers, and what "auto" takes for up to a thousand rows.
    pool_size : int, "auto" or None
        Rows considered for the largest block; several times the block unless given.
    initial : array of int or bool, optional
        Rows to include first. They are rows of the X of ``fit``, so leave it out of cross-validation.
    selection : {"auto", "all", "shrinking", "refilled"}
        Which rows are considered at every look. "all": all of them, to the end. "shrinking": all at first, then fewer
        and fewer, the best ones and some at random (SLH 3.2); less time than "all" on a large set, a fraction of its
        memory, and no worse in our comparisons. "refilled": all until 200 are included, then an index of a few hundred
        or thousand, half of it exchanged at random every time (NIPS03); the least memory, and less accurate. "auto" is
        "shrinking" for the factorised posterior above 5000 rows, unless blocks are of one row, and else "all".
    blur : bool
        For "projected": whether the site of a row knows how much of it the active rows leave open. False is the plain
        KL-optimal projection of the Thesis, which is more confident.
    max_memory : int or str, optional
        Bytes, or a text such as "2GB", that training may take beyond the inputs; half of what is available by default.
        When the stubs of all rows do not fit, the index shrinks as it must; when the projections of all rows do not
        fit, some are made anew in every sweep.
    max_time : float, optional
        Seconds after which selection, or inference, ends with what it has. Learning takes half of them at most.
    dtype : {"float32", "float64"}
        Precision of the large matrices in training; small problems (up to a million entries of the n_active x n
        matrix) use double precision in any case.
    n_jobs : int, optional
        Threads of the linear algebra. None leaves the choice to it, and to joblib where it runs inside joblib.
    warm_start : bool
        Whether to keep what is needed to ``grow``, or to go on when fitted again to the same data with more n_active.
    callback : callable, optional
        Called after every block and every sweep with a ``Progress``; a true answer ends selection or inference.
    random_state : int, RandomState or None
        Breaks ties; at the start all rows of a stationary kernel tie.
    verbose : int
        Whether to show progress.

    Attributes
    ----------
    classes_ : array of shape (2,)
    active_ : array of int
        Included training rows, in order of inclusion.
    active_vectors_ : array or CSR matrix
        Their inputs; the rest of the training set is not kept.
    site_precision_, site_mean_ : array
        Their Gaussian sites.
    kernel_, likelihood_ : the model as fitted
    posterior_ : ProjectedPosterior or FactorisedPosterior
    log_evidence_ : float
        EP approximation to the log marginal likelihood of all rows. With "factorised" (SLH eq. 11) it is over the rows
        still considered at the end: to compare models by it on a large set, fit them with ``selection="all"``.
    converged_ : bool
        Whether the sites of all rows came to rest; if not, there was a warning.
    history_ : dict
        "row", "score" and "seconds" of every inclusion; "sweep_log_evidence", "sweep_change", "sweep_damping" and
        "sweep_rows" of every sweep over the rows; "criterion" and "theta" of every step of learning, whether it was
        a "major" one, and the "learning_seconds" of all.
    stop_reason_ : str
    n_samples_fit_, fit_seconds_
        Rows of the training data and seconds of the fit.
    n_features_in_ : int
    feature_names_in_ : array of str

    Examples
    --------
    >>> from infovec import IVMClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = IVMClassifier(n_active=60, random_state=0).fit(X, y)
    >>> model.active_vectors_.shape
    (60, 30)
    >>> model.score(X, y) > 0.95
    True
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _read_targets(self, X: Any, y: Any) -> tuple[Inputs, Floats, Likelihood, float, Any]:
        X, y = read(self, self.kernel, X, y)
        check_classification_targets(y)
        self.classes_, index = np.unique(y, return_inverse=True)
        self._check_two_classes(y)
        targets = 2.0 * index - 1.0
        likelihood = discrete(named(CLASS_LIKELIHOODS, self.likelihood, targets))
        return X, targets, likelihood, CLASS_VARIANCE, vars(self)["score"]

    def _check_two_classes(self, y: Array) -> None:
        if len(self.classes_) == 1:
            raise ParameterError(f"y has one class only, {self.classes_[0]}; a classifier needs rows of two classes")
        if len(self.classes_) > 2:
            raise ParameterError(
                f"Only binary classification is supported. The type of the target is {type_of_target(y)}: "
                f"y has {len(self.classes_)} classes. For more, wrap it in sklearn.multiclass.OneVsRestClassifier; "
                "for ordered ones use IVMOrdinalClassifier, for numbers IVMRegressor"
            )

    def decision_function(self, X: Any) -> Floats:
        """Return the log odds of the second class.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        log_odds : array of shape (n_samples,)
        """
        log_proba = self.predict_log_proba(X)
        return log_proba[:, 1] - log_proba[:, 0]
