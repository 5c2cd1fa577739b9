"""Classification into two classes or more."""

from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp
from sklearn.utils.multiclass import check_classification_targets

from .._types import Floats, Rows
from ..errors import ParameterError
from ..kernels import Kernel
from ..learning import Learning
from ..likelihoods import Likelihood
from ..likelihoods.classes import ClassLikelihood
from ..machines.against_rest import AgainstRest
from ..machines.classes import class_bias
from ..machines.defaults import CLASS_LIKELIHOODS, CLASS_VARIANCE, named
from ..machines.fit import Course
from ..machines.machine import Machine
from ..runtime import Callback
from ..scores import Score
from .base import Read
from .certifying import Certifying
from .class_weight import ClassWeight, class_shift
from .discrete import discrete
from .images import Invariances
from .inputs import read
from .kinds import MULTI_CLASS
from .lazy import for_far_rows
from .records import in_files
from .settings import check_choice
from .unlabelled import compare, held_in_learning, read_some_labels, sees_unlabelled
from .values import given_kernel

__all__ = ["IVMClassifier"]

_MOST_COPIES = 1e4  # sites of one row of coupled classes, beyond which they do not settle


@in_files
class IVMClassifier(Certifying):
    """Informative vector machine for two classes or more: a sparse Gaussian process classifier.

    Training looks at every row, includes the ``n_active`` most informative ones and keeps only those.

    Parameters
    ----------
    kernel : Kernel or str, optional
        Covariance of the latent function. None, or "auto", scales an RBF kernel and a bias to the columns of X; where
        evidence and rows left out agree that the function is a sum of functions of one column each, main effects
        (``MainEffects``) join them while parameters are learned. A name scales another form: "rbf", "matern",
        "exponential", "rational_quadratic", "linear", "main_effects", "polynomial", "mlp", or sums and products such
        as "rbf + linear"; see ``infovec.kernels.named``. Where some
        columns have categories it is multiplied by a ``Categorical`` kernel of those. Learning begins at the parameters
        of one that is given; where these are far from the units of the rows, at others in these units as well.
    likelihood : {"probit", "logit", "null_category"}, Likelihood or ClassLikelihood
        By name the bias is set from the class frequencies, and the share of wrong labels is learned if evidence and
        rows left out agree that there are some (``likelihood_.lapse``); of more than two classes for "projected" with
        one kernel, and not for "variational". More than two classes take "probit", or a ClassLikelihood that goes with
        ``multi_class``. "null_category", or a ``NullCategory``, is for rows some of which have no label: a y of -1,
        NaN, None or NA. It wants the boundary where there are no rows; whether these help is checked by labels left
        out, and ``unlabelled_`` says so.
    approximation : {"projected", "factorised"}
        "projected" selects the active rows, then learns from the labels of all rows, each seen through its projection
        onto the active ones (Thesis 4.4.2). "factorised" is the machine of the papers: it learns from the labels of
        the active rows only; faster, as good on clean data, and poor where labels are noisy.
    n_active : int, float or "auto"
        Size of the active set, or of that of each class (see ``multi_class``): a number, or a fraction of the rows.
        "auto" holds back a tenth of the rows (at most 2000), goes on while they are predicted better, and goes back to
        where they were predicted best; with fewer than 200 rows it takes them all.
    score : {"entropy", "information_gain", "predictive", "variance", "random", "projected_gain"} or callable
        How informative a row is; see ``infovec.scores``. "projected_gain" is the gain of the projected posterior itself
        (Thesis 4.4.2.1), several times slower to select by. As an attribute ``score`` is scikit-learn's method; the
        parameter is in ``get_params()``.
    learn : {"ep", "active_set", "variational", None} or Learning
        How the parameters of kernel and likelihood are learned, from their values on; ``infovec.learning.Learning``
        says it in detail. "ep" maximises the EP evidence. Of the projected posterior: on some of the rows with a small
        active set at first, in the end with ``n_active`` rows active (at most 1000) and up to 5000 rows. Of the
        factorised one (SLH eq. 11): the active rows are selected anew in every major step and fixed in the minor steps
        between, on up to 10000 rows. "active_set" (LSH05) and "variational" (Thesis C.3.3) do the same by criteria of
        the factorised posterior, whichever is fitted in the end: with "projected" they learn from the factorised
        selection, then fit the projected posterior. A weak normal prior, on logarithms mostly, keeps parameters near
        the start. When ``kernel`` is None its length scales move together at first. With "ep" and the projected
        posterior they then move one by one if that raises the evidence by more than one for each, where there are at
        most 500 columns, as many rows and, of classes or categories, a hundred in all; those of several classes that
        share a kernel stay together. Give one for each column to learn them all in any case. None leaves everything as
        given.
    multi_class : {"ovr", "probit", "softmax", "variational"}
        For more than two classes, each of which has a latent function; two classes are always one function. "ovr":
        every class against the rest, by a machine of its own; a prediction is what they say given that exactly one of
        them says yes. The others are coupled. "probit": the class wins whose function plus normal noise is the largest
        (SLH 4.2). "softmax": the same with Gumbel noise, several times slower. "variational": the model of "probit" by
        a lower bound (GR06), which ``log_evidence_`` then is.

        With "ovr" each class has ``n_active`` active rows of its own, and with "projected" infers with all rows through
        them. Coupled classes share their active rows with "projected". With "factorised" only "variational" does;
        "probit" and "softmax" have ``n_active`` for each class on average, and the score decides which row is active
        for which class. Where classes do not share them, ``active_`` has every row that is active for some class.

        How certain predictions are is set by those of training rows that are left out, which the sites tell at no cost
        (``power`` and ``spread`` of ``likelihood_``).
    shared_kernel : bool
        Whether all classes have one kernel. False, for "ovr", learns one for each class against the rest, as the
        papers do, which takes about as many times longer as there are classes; ``kernel_`` is then a list.
    class_weight : dict of {label: weight}, "balanced" or None
        Predictions are those of a world where each class is so many times as frequent as among the training rows:
        probabilities are multiplied by the weights and normalised, ``predict`` and ``decision_function`` follow. The
        model itself is learned without them, which predicts better, and in no more time, than weighting the rows would.
        "balanced" makes all classes equally frequent: the number of rows (or the sum of their weights) divided by that
        of the class and by the number of classes. A weight of zero leaves the rows of a class out.
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
    blur : bool or "auto"
        For "projected": whether the site of a row knows how much of it the active rows leave open. False is the plain
        KL-optimal projection of the Thesis, which is more confident. "auto" is False where the certainty of predictions
        is chosen afterwards by rows left out (``likelihood_.spread`` and ``power``), which is for more than two classes
        without an order, and for two where ``learn`` is not None and the kernel has no ``Categorical``; and for numbers
        with noise where it has one and is learned. Elsewhere it is True: with ``learn=None``, for labels of tables with
        categories or gaps, for three or more ordered categories and for other numbers.
    refine : {"auto", "exchange", "entropy", "sweeps", "both", None}
        For "factorised", after selection (Thesis 4.4.1). "exchange": active rows are exchanged for others as long as
        that raises the evidence, those of ``initial`` excepted. "entropy": as long as the active rows then tell more of
        the function, by the scores of the Thesis. "sweeps": the sites of the active rows are updated until they settle.
        "both": exchanges by the evidence, then sweeps. None leaves the selection of the papers as it is. "auto" is
        "exchange" where parameters are learned, except for more than two classes without an order, and else None.
    max_memory : int or str, optional
        Bytes, or a text such as "2GB", that training may take beyond the inputs; half of what is available by default.
        When the stubs of all rows do not fit, the index shrinks as it must; when the projections of all rows do not
        fit, some are made anew in every sweep.
    max_time : float, optional
        Seconds after which ``fit`` ends with what it has, and ``stop_reason_`` says so. Learning takes half of them at
        most. Where the selection of a modest active set from all rows, or a few sweeps over them, would take longer,
        as many rows as there is time for take part, chosen at random.
    dtype : {"float32", "float64"}
        Precision of the large matrices in training. Small problems (up to a million entries of the n_active x n
        matrix) use double precision in any case, and so do large ones whose noise is too low for single precision, or
        whose kernel is too large and smooth, as far as memory allows; ``dtype_`` says which was used.
    n_jobs : int, optional
        Threads of the linear algebra. None leaves the choice to it, and to joblib where it runs inside joblib.
    warm_start : bool
        Whether to keep what is needed to ``grow``, or to go on when fitted again to the same data with more n_active.
    callback : callable, optional
        Called after every step of learning, block of rows and sweep with a ``Progress``; a true answer ends that stage,
        and the fit goes on with what there is. While parameters are learned it says which step it is, and the seconds
        that are probably left.
    random_state : int, RandomState or None
        Decides which rows parameters are learned from where some are enough, and breaks ties: at the start all rows of
        a stationary kernel tie. With few active rows another number may find other parameters; ``log_evidence_`` says
        which are better.
    verbose : int
        Whether to show progress.
    invariances : function, or list of functions, optional
        From rows to transformed rows whose target is the same, such as ``infovec.invariances.Shifts((28, 28))``. After
        the fit the images of the active rows enter with their targets, and ``n_active`` rows are selected again from
        all of them (SLH 6.5); parameters stay as they are. A row and its images count as one observation. With
        "factorised" each of several classes selects images of its own active rows only.
    rounds : int
        How often that is done; in the second round images of images enter.
    move : bool or "auto"
        For "projected": whether the active inputs move after selection, together with the parameters that are learned,
        up the evidence of the rows; with three or more classes for "ovr". Fewer of them then say as much. They move in
        dense columns of numbers; categories stay. "auto" moves them where parameters are learned, at most a fifth of
        the rows are active, these leave much open, and rows left out are then predicted better by more than a standard
        error (``history_["move_loss"]``, before and after).

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_classes_ : int
    class_shift_ : array of shape (n_classes,)
        Logarithms of the class weights.
    active_ : array of int
        Included training rows, in order of inclusion; of classes with active rows of their own, in turns.
    virtual_ : array of bool
        With ``invariances``: which of them are images of training rows, whose numbers ``active_`` then has.
    active_vectors_ : array or CSR matrix
        Their inputs, or where these have moved to; the rest of the training set is not kept.
    moved_ : bool
        Whether they have moved. Of classes with active rows of their own, a row has then one entry for each class.
    site_precision_, site_mean_ : array
        Their Gaussian sites.
    kernel_, likelihood_ : the model as fitted
    posterior_ : ProjectedPosterior or FactorisedPosterior
        Of many classes ClassPosterior or SeparatePosterior.
    log_evidence_ : float
        EP approximation to the log marginal likelihood of all rows. With "factorised" (SLH eq. 11) it is over the rows
        still considered at the end: to compare models by it on a large set, fit them with ``selection="all"``. Where
        ``max_time`` left time for some of the rows only it is theirs, taken to all rows in proportion.
    converged_ : bool
        Whether the sites of all rows came to rest; if not, there was a warning.
    history_ : dict
        "row", "score" and "seconds" of every inclusion; "sweep_log_evidence", "sweep_change", "sweep_damping" and
        "sweep_rows" of every sweep over the rows; "criterion" and "theta" of every step of learning, whether it was
        a "major" one, and the "learning_seconds" of all; "move_criterion" of every step of moving; "exchange_out",
        "exchange_in" and "exchange_gain" of every exchange of active rows, which keep the "score" of the row that was
        there before.
    stop_reason_ : str
    dtype_ : str
        Precision of the large matrices in the end.
    unlabelled_ : dict
        Where there were rows without label: how many, whether they help (if not, the model is that of the others, and
        there was a warning), the width of the null category, and log evidence and mean loss of labels left out in
        nats, with these rows and without.
    n_samples_fit_, fit_seconds_
        Rows of the training data and seconds of the fit.
    tasks_ : array
        Labels of the tasks, if there were ``groups``; their numbers are the last column of ``active_vectors_``.
    n_features_in_ : int
    feature_names_in_ : array of str
    table_ : TableSchema
        Where X had categories, dates or missing values: what became of its columns, as ``TableEncoder`` does it.
        ``active_vectors_`` and the columns of ``kernel_`` are those of the encoded rows.

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

    _fitted = (*Certifying._fitted, "n_classes_", "unlabelled_")

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        likelihood: str | Likelihood | ClassLikelihood = "probit",
        approximation: str = "projected",
        n_active: int | float | str = 500,
        score: str | Score = "entropy",
        learn: str | Learning | None = "ep",
        multi_class: str = "ovr",
        shared_kernel: bool = True,
        class_weight: ClassWeight = None,
        block_size: int | str = "auto",
        pool_size: int | str | None = "auto",
        initial: ArrayLike | None = None,
        selection: str = "auto",
        blur: bool | str = "auto",
        refine: str | None = "auto",
        max_memory: float | str | None = None,
        max_time: float | None = None,
        dtype: str = "float32",
        n_jobs: int | None = None,
        warm_start: bool = False,
        callback: Callback | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        invariances: Invariances = None,
        rounds: int = 1,
        move: str | bool = False,
    ) -> None:
        super().__init__(
            kernel=kernel, likelihood=cast(str | Likelihood, likelihood), approximation=approximation,
            n_active=n_active, score=score,
            learn=learn, block_size=block_size, pool_size=pool_size, initial=initial,
            selection=selection, blur=blur, refine=refine, max_memory=max_memory, max_time=max_time, dtype=dtype,
            n_jobs=n_jobs, warm_start=warm_start, callback=callback, random_state=random_state, verbose=verbose,
            invariances=invariances, rounds=rounds, move=move,
        )  # fmt: skip
        self.multi_class, self.shared_kernel, self.class_weight = multi_class, shared_kernel, class_weight

    def _read_targets(self, X: object, y: object, sample_weight: ArrayLike | None) -> Read:
        check_choice("multi_class", self.multi_class, list(MULTI_CLASS), {"multinomial": "softmax"})
        if sees_unlabelled(self.likelihood):
            return read_some_labels(self, X, y, sample_weight)
        inputs, labels = read(self, given_kernel(self.kernel), X, y)
        check_classification_targets(labels)
        sample = self._sample(inputs, labels, sample_weight)
        self.classes_, index = self._encoded(sample.y)
        self.n_classes_ = len(self.classes_)
        if self.n_classes_ == 1:
            raise ParameterError(f"y has one class only, {self.classes_[0]}; a classifier needs rows of two classes")
        self.class_shift_ = class_shift(self.class_weight, self.classes_, index, sample.weight)
        score = vars(self)["score"]
        if self.n_classes_ > 2:
            rest = self._class_likelihood(index, sample.weight)
            return Read(sample, index.astype(np.intp), rest, CLASS_VARIANCE, score)
        targets = 2.0 * index - 1.0
        likelihood = discrete(named(CLASS_LIKELIHOODS, self.likelihood, targets, sample.weight))
        return Read(sample, targets, likelihood, CLASS_VARIANCE, score)

    def _compare(self, X: object, y: object, sample_weight: ArrayLike | None, course: Course) -> None:
        self.__dict__.pop("unlabelled_", None)
        if sees_unlabelled(self.likelihood) and self.learn is not None:
            compare(self, X, y, sample_weight, course)

    @property
    def _learning(self) -> Learning | None:
        learning = super()._learning
        return held_in_learning(self, learning) if sees_unlabelled(self.likelihood) else learning

    def _course(self) -> Course:
        course = super()._course()
        return course.half() if sees_unlabelled(self.likelihood) and self.learn is not None else course

    def _likelihood_of(self, own: Rows) -> Likelihood | ClassLikelihood:
        if self.n_classes_ > 2:
            return self._class_likelihood(own, None)
        return named(CLASS_LIKELIHOODS, self.likelihood, 2.0 * own - 1.0)

    def _class_likelihood(self, labels: Rows, weight: Floats | None) -> ClassLikelihood:
        if isinstance(self.likelihood, ClassLikelihood):
            return self._given_class_likelihood(self.likelihood)
        if not isinstance(self.likelihood, str) or self.likelihood != "probit":
            raise ParameterError(
                f"likelihood={self.likelihood!r} is for two classes, y has {self.n_classes_}; for more choose by "
                "multi_class ('softmax' is the logistic one), for ordered ones use IVMOrdinalClassifier, for numbers "
                "IVMRegressor"
            )
        return MULTI_CLASS[self.multi_class].likelihood(class_bias(labels, self.n_classes_, weight))

    def _given_class_likelihood(self, likelihood: ClassLikelihood) -> ClassLikelihood:
        wanted = type(MULTI_CLASS[self.multi_class].likelihood(np.zeros(self.n_classes_)))
        if type(likelihood) is not wanted or likelihood.n_classes != self.n_classes_:
            raise ParameterError(
                f"likelihood={likelihood!r} does not go with multi_class={self.multi_class!r} and {self.n_classes_} "
                f"classes: give a {wanted.__name__} with as many biases, or 'probit'"
            )
        return replace(likelihood, weight=None)

    def _machine(self, read: Read, kernel: Kernel) -> Machine:
        if self.n_classes_ == 2:
            return super()._machine(read, kernel)
        criterion = self.learn.criterion if isinstance(self.learn, Learning) else self.learn
        coupling, weight, likelihood = MULTI_CLASS[self.multi_class], read.sample.weight, read.likelihood
        kind = coupling.machines[self.approximation]
        if not self.shared_kernel and not issubclass(kind, AgainstRest):
            raise ParameterError(
                f"shared_kernel=False is for multi_class='ovr', not {self.multi_class!r}; the functions behind "
                "the other forms, fit_factorised and fit_variational, take one kernel for each class"
            )
        if criterion not in ("ep", None) and self.shared_kernel:
            raise ParameterError(
                f"learn={criterion!r} is for two classes; for more use 'ep' or None, or shared_kernel=False"
            )
        if weight is not None and coupling.copies:
            _check_coupled(weight)
        if read.sample.folds is not None and not coupling.leaves_groups_out:
            raise ParameterError(
                "groups of rows left out together are not for multi_class='variational', whose auxiliary variables "
                "remember the rows that are left out; use 'ovr', 'probit' or 'softmax', or leave groups out"
            )
        assert isinstance(likelihood, ClassLikelihood)
        machine = self._made(kind, read._replace(likelihood=likelihood.weigh(weight)), kernel)
        if self.shared_kernel or not isinstance(machine, AgainstRest):
            return machine
        return replace(machine, kernels=(kernel,) * self.n_classes_)

    @for_far_rows
    def decision_function(self, X: object) -> Floats:
        """Return log odds: of the second class for two classes, of every class against the rest for more.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        log_odds : array of shape (n_samples,) or (n_samples, n_classes)
        """
        log_proba = self.predict_log_proba(X)
        if self.n_classes_ == 2:
            return log_proba[:, 1] - log_proba[:, 0]
        rest = [logsumexp(np.delete(log_proba, c, axis=1), axis=1) for c in range(self.n_classes_)]
        return np.asarray(log_proba - np.stack(rest, axis=1))


def _check_coupled(weight: Floats) -> None:
    if weight.max() > _MOST_COPIES:
        raise ParameterError(
            f"a row has weight {weight.max():.3g}, more equal rows than inference for coupled classes can cope with: "
            f"divide sample_weight so that none is above {_MOST_COPIES:g}, or use multi_class='ovr' or 'variational'"
        )
