"""Classifiers that say what is guaranteed of their error, and refuse where nothing is."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from math import lgamma, log

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._types import Inputs, Rows
from ..errors import ParameterError
from ..kernels import Kernel
from ..likelihoods import Likelihood, Logit, Probit
from ..likelihoods.classes import ClassLikelihood
from ..likelihoods.ranks import ranked
from ..pac_bayes import Certificate, Observed, certificate, check_delta, parts_of, relative_entropy_between
from ..posterior import FactorisedPosterior
from .compressed import compressed
from .discrete import DiscreteMachine
from .fitted import as_given
from .gibbs import GibbsClassifier, votes
from .held_out import check_held_out, same_inputs
from .tasks import kernel_on, one_each
from .values import given_kernel

__all__ = ["Certifying", "split_rows"]


class Certifying(DiscreteMachine):
    """Has ``certify``, ``fit_certified`` and ``gibbs``."""

    def gibbs(self, random_state: int | np.random.RandomState | None = None) -> GibbsClassifier:
        """Return the classifier that draws its functions from the posterior anew for every row.

        Parameters
        ----------
        random_state : int, RandomState or None
            Of the draws.
        """
        check_is_fitted(self)
        return GibbsClassifier(self, random_state)

    def certify(
        self,
        X: object,
        y: ArrayLike,
        delta: float = 0.01,
        held_out: bool = False,
        candidates: int | Sequence[Kernel] = 1,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Certificate:
        """Return what is guaranteed of the error on new rows, by rows that are independent of each other.

        The rows are those of the fit, whose prior must not have been learned by them: give ``kernel``, and
        ``learn=None``. Or they are rows that the fit has not seen, with ``held_out=True``. ``fit_certified`` learns on
        some of the rows and certifies by the others. What cannot be certified is refused, with the reason.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        delta : float
            Probability, over the draw of the rows, that the bound fails.
        held_out : bool
            Whether the fit, and whoever chose its parameters, has not seen these rows. Where more than 5 % of them, or
            more than half of the active rows, are equal to each other it is refused; fewer are warned of.
        candidates : int or sequence of Kernel
            From how many kernels, listed before the rows were seen, the one of the model was chosen by these rows; or
            the list itself. With ``held_out``: from how many fitted models. It is paid for by the union bound.
        groups : array-like of shape (n_samples,), optional
            Which rows belong together, such as those of one person. Rows of a group are not independent.
        sample_weight : None
            Is refused: a row that stands for several is not several independent rows.

        Returns
        -------
        certificate : Certificate
            ``print`` says what is guaranteed.

        Notes
        -----
        Which rule is certified: the draw of the functions from the posterior, with biases and cut points of the
        likelihood and nothing else, and the vote of all draws. Merged rows and weights that a fit has used are part of
        the posterior, which may depend on the rows in any way. The power and spread of ``likelihood_``, which set how
        certain predictions are, have no part in the rule. A bias that ``fit`` has taken from the frequencies of the
        classes is paid for: it is one of as many as there are counts.
        """
        delta = check_delta(delta)
        check_is_fitted(self)
        inputs, own = self._certified_rows(X, y, groups, sample_weight)
        if held_out:
            return self._by_held_out(X, inputs, own, delta, _log_candidates(candidates, None))
        self._check_rows(inputs)
        choices = _log_candidates(candidates, self._given_kernel()) + self._log_biases(own)
        observed = Observed(votes(self, inputs), own, _divergence(self), choices)
        if isinstance(self.posterior_, FactorisedPosterior) and isinstance(self.likelihood_, Probit | Logit):
            made_again = compressed(self, inputs, ranked(self)[own], observed.outvoted)
            observed = observed._replace(compressed=made_again)
        return certificate(observed, delta, ranked(self))

    def fit_certified(
        self, X: object, y: ArrayLike, split: float = 0.5, delta: float = 0.01, groups: ArrayLike | None = None
    ) -> Certificate:
        """Fit to all rows with parameters learned on some of them, and certify by the others.

        The model is fitted when it returns. Its prior is the better of two, which is paid for: the Gaussian process
        with the learned parameters, and its posterior given the rows that they were learned on.

        Parameters
        ----------
        X, y
            As for ``fit``.
        split : float
            Share of the rows, drawn at random, that parameters are learned on. The certificate is from the others.
        delta, groups
            As for ``certify``.

        Returns
        -------
        certificate : Certificate
        """
        delta = check_delta(delta)
        if not 0.0 < split < 1.0:
            raise ParameterError(f"split is the share of rows to learn on, between 0 and 1; got {split!r}")
        labels = column_or_1d(y)
        _check_groups(groups, len(labels))
        first, second = split_rows(len(labels), split, self.random_state)
        if missing := sorted(set(labels[second].tolist()) - set(labels[first].tolist()), key=str):
            raise ParameterError(
                f"class {missing[0]!r} has no row among those to learn on; leave rare classes out, or learn on more"
            )
        learned = clone(self).fit(_safe_indexing(X, first), labels[first])
        if hasattr(learned, "table_"):  # of a table the encoding is that of the rows that are learned on
            X = as_given(learned, learned._read(X))
        if isinstance(learned.kernel_, list):
            raise ParameterError("shared_kernel=False cannot be certified: a prior needs one kernel for all classes")
        given = clone(self).set_params(kernel=learned.kernel_, likelihood=_fixed(learned), learn=None, move=False)
        before, after = clone(given).fit(_safe_indexing(X, first), labels[first]), clone(given).fit(X, labels)
        fitted = {name: value for name, value in vars(after).items() if name.endswith("_") and name[0] != "_"}
        self.__dict__.update(fitted)
        inputs, own = self._certified_rows(_safe_indexing(X, second), labels[second], None, None)
        prior = f"its parameters, and the posterior that serves as prior, are from {len(first)} other rows"
        divergences = [_divergence(self), relative_entropy_between(self.posterior_, before.posterior_)]
        observed = Observed(votes(self, inputs), own, min(divergences), log(2.0), prior=prior)
        return certificate(observed, delta, ranked(self))

    def _certified_rows(
        self, X: object, y: ArrayLike, groups: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> tuple[Inputs, Rows]:
        """Return inputs and numbers of the classes, by rank, of rows that can be taken for independent."""
        labels = column_or_1d(y)
        if not len(labels):
            raise ParameterError("there are no rows, and so there is nothing to certify by")
        if sample_weight is not None and not np.all(np.asarray(sample_weight) == 1.0):
            raise ParameterError(
                "rows with weights cannot certify: the theorems are about independent rows that count once each. "
                "Leave sample_weight out; the certificate is then about the error without weights"
            )
        _check_groups(groups, len(labels))
        if self.class_shift_.any():
            raise ParameterError(
                "class_weight moves the predictions away from the rule that is certified; fit with class_weight=None"
            )
        place = {label: k for k, label in enumerate(ranked(self).tolist())}
        own = [place.get(label, -1) for label in labels.tolist()]
        if min(own) < 0:
            raise ParameterError(f"y has {labels.tolist()[own.index(-1)]!r}, which is none of the classes of the model")
        if len(set(own)) == 1:
            raise ParameterError(
                f"all rows are of class {labels.tolist()[0]!r}: rows of one class are no sample of what the model was "
                "fitted to"
            )
        inputs = self._read(X)
        if inputs.shape[0] != len(labels):
            raise ParameterError(f"X has {inputs.shape[0]} rows, y has {len(labels)}")
        return inputs, np.array(own, dtype=np.intp)

    def _by_held_out(self, X: object, inputs: Inputs, own: Rows, delta: float, choices: float) -> Certificate:
        """Return the certificate by rows that the fit has not seen, for which the posterior is its own prior."""
        check_held_out(inputs, self.active_vectors_, self.active_)
        errors = int(np.sum(self.predict(X) != ranked(self)[own]))
        prior = "the fit has not seen these rows, so that the posterior is its own prior"
        observed = Observed(votes(self, inputs), own, 0.0, choices, test_errors=errors, prior=prior)
        return certificate(observed, delta, ranked(self))

    def _check_rows(self, inputs: Inputs) -> None:
        if getattr(self, "moved_", False):  # which files of earlier versions do not say
            raise ParameterError(
                "the active inputs have moved by the very rows that are to certify them, so the prior is not one that "
                "was there before. Use fit_certified, or fit with move=False; or certify by rows held out"
            )
        same = inputs.shape[0] == self.n_samples_fit_ and same_inputs(inputs[self.active_], self.active_vectors_)
        if not same:
            raise ParameterError(
                f"these {inputs.shape[0]} rows are not the {self.n_samples_fit_} rows of the fit. Give those, in the "
                "same order; or say held_out=True if the fit has not seen any of them"
            )

    def _given_kernel(self) -> Kernel:
        """Return the kernel if it was given, and left as it was."""
        remedy = (
            "Use fit_certified, which learns on some rows and certifies by the others; or give kernel and learn=None, "
            "chosen without these rows (or from a list, see candidates); or certify by rows held out"
        )
        prior = given_kernel(self.kernel)
        if prior is None:
            raise ParameterError(
                f"kernel={self.kernel!r} takes the scales of the prior from the rows of the fit, and so does not "
                f"certify. {remedy}"
            )
        kernels = self.kernel_ if isinstance(self.kernel_, list) else [self.kernel_]
        given = kernel_on(self, self.active_vectors_)
        if "theta" in self.history_ or self.learn is not None or any(kernel != given for kernel in kernels):
            raise ParameterError(
                "the parameters of the prior were learned on the very rows that are to certify it, and the theorem "
                f"does not hold for such a prior. {remedy}"
            )
        return prior

    def _log_biases(self, own: Rows) -> float:
        """Return the logarithm of how many biases the frequencies of the classes can give, of which this is one."""
        given = self._likelihood_of(own)
        if not np.array_equal(given.theta, self.likelihood_.theta):
            raise ParameterError(
                "the bias of the likelihood is neither the one that was given nor that of the classes of these rows, "
                "so that it may depend on them in any way: fit without sample_weight and with learn=None, or give it"
            )
        n, C = len(own), len(self.classes_)
        return lgamma(n + C) - lgamma(C) - lgamma(n + 1.0) if isinstance(self.likelihood, str) else 0.0

    @abstractmethod
    def _likelihood_of(self, own: Rows) -> Likelihood | ClassLikelihood:
        """Return the likelihood that a fit with ``learn=None`` has, from the classes of its rows."""


def _divergence(model: DiscreteMachine) -> float:
    return max(0.0, sum(part.relative_entropy() for part in parts_of(model.posterior_)))


def _fixed(model: DiscreteMachine) -> Likelihood | ClassLikelihood:
    """Return the likelihood that a model has learned, to be given to another."""
    likelihood = model.likelihood_
    return replace(likelihood, power=1.0, spread=1.0) if isinstance(likelihood, ClassLikelihood) else likelihood


def split_rows(n: int, share: float, random_state: int | np.random.RandomState | None) -> tuple[Rows, Rows]:
    """Return rows to learn on and rows to certify by, in the order given, drawn without a look at anything else."""
    size = round(share * n)
    if not 2 <= size <= n - 2:
        raise ParameterError(f"{n} rows cannot be split into {size} to learn on and {n - size} to certify by")
    rows = check_random_state(random_state).permutation(n)
    return np.sort(rows[:size]), np.sort(rows[size:])


def _check_groups(groups: ArrayLike | None, n: int) -> None:
    if groups is None:
        return
    names = one_each(groups, n, "y")
    if len(np.unique(names)) < n:
        raise ParameterError(
            f"{n} rows in {len(np.unique(names))} groups are not independent, and the theorems hold for independent "
            "rows only. Certify by one row of each group, drawn at random"
        )


def _log_candidates(candidates: int | Sequence[Kernel], kernel: Kernel | None) -> float:
    if isinstance(candidates, int | np.integer) and candidates >= 1:
        return log(candidates)
    if not isinstance(candidates, Sequence) or not all(isinstance(k, Kernel) for k in candidates):
        raise ParameterError(f"candidates must be the kernels that were listed, or their number; got {candidates!r}")
    if kernel is not None and kernel not in candidates:
        raise ParameterError(f"{kernel!r}, the kernel of the model, is none of the candidates")
    return log(len(candidates))
