"""A certificate: what is guaranteed of the error on new rows, and by which theorem."""

from dataclasses import dataclass, field
from functools import cached_property
from math import log
from typing import Any, NamedTuple

import numpy as np

from .._types import Array, Floats, Mask, Rows
from ..errors import ParameterError
from .bernoulli import binomial_upper
from .compression import compression_by_tail
from .confusion import Ball, confusion_ball
from .gibbs import Interval, bayes_upper, check_delta, gibbs_maurer, pay
from .margin import margin_bound
from .rules import Votes

__all__ = ["Bound", "Certificate", "Compressed", "Observed", "certificate"]


class Compressed(NamedTuple):
    """A classifier that was made again from some of its training rows."""

    active: int  # how many
    errors: int  # among the others
    unordered: int  # of the active rows, those whose order does not matter


class Observed(NamedTuple):
    """What a certificate is made of: n rows, what the rule said of them, and how far it is from the prior."""

    votes: Votes
    own: Rows  # the true class of every row
    relative_entropy: float
    log_choices: float = 0.0  # logarithm of the number of priors that the rows have chosen among
    compressed: Compressed | None = None
    test_errors: int | None = None  # of the predictions, on rows that the fit has not seen
    prior: str = "the prior was fixed before the rows were seen"

    @property
    def wrong(self) -> Floats:
        """Probability of every row that a draw is wrong."""
        return np.asarray(np.clip(1.0 - self.votes.probability[np.arange(len(self.own)), self.own], 0.0, 1.0))

    @property
    def outvoted(self) -> Mask:
        """Rows whose own class does not clearly have most votes."""
        votes, rows = self.votes.probability, np.arange(len(self.own))
        rest = votes.copy()
        rest[rows, self.own] = -1.0
        return np.asarray(votes[rows, self.own] - rest.max(axis=1) <= 2.0 * self.votes.error)

    @property
    def margins(self) -> Floats:
        """Votes for the own class less those against it."""
        return 1.0 - 2.0 * self.wrong

    def confusion(self, n_classes: int) -> Floats:
        """Share of rows of each true class (down) for which a draw says each class (across)."""
        shares = np.zeros((n_classes, n_classes))
        np.add.at(shares, self.own, np.clip(self.votes.probability, 0.0, 1.0))
        return shares / shares.sum()


class Bound(NamedTuple):
    """One of the bounds of a certificate."""

    name: str
    of: str  # whose error
    value: float
    theorem: str


@dataclass(frozen=True)
class Certificate:
    """What is guaranteed of the error on new rows that are drawn as the n rows were, independently.

    Every bound alone fails with a probability of at most ``delta`` over the draw of the rows. Who looks at several and
    takes the smallest has paid for that in ``best_bound`` only.

    Parameters
    ----------
    n : int
        Rows that the certificate is from.
    delta : float
    classes : tuple
        Labels.
    gibbs_error : float
        Mean probability over the rows that the Gibbs classifier, one draw of the posterior for each row, is wrong.
    gibbs_bound, gibbs_lower : float
        Between these is its error on new rows (theorem 3.1 with Maurer's constant; both hold together).
    bayes_error : float
        Share of the rows for which the vote of all draws is wrong. Of two classes the vote is what ``predict`` says.
    bayes_bound : float
        Twice the ``gibbs_bound``: of the vote.
    best_bound : float
        The smallest bound on the error of the vote, or of the predictions for rows held out, the choice paid for.
    best_by : str
        By which of them.
    relative_entropy : float
        Of posterior to prior, in nats.
    quadrature_error : float
        By which ``gibbs_error`` may be wrong; the bounds include it.
    margin_bound : float or None
        Theorem 3.4, of the vote; for two classes.
    compression_bound : float or None
        Theorem B.2, of the vote; for two classes and a classifier that its active rows determine.
    test_bound : float or None
        Of the predictions themselves, by the tail of the binomial distribution; for rows that the fit has not seen.
    log_choices : float
        Logarithm of the number of priors that the rows have chosen among, which all bounds have paid for.
    prior : str
        Why the prior does not depend on the rows, in words.
    confusion : Ball
        Where the joint distribution of true class and draw lies (theorem 3.2); ask ``confusion_bounds``.
    test_error : float or None
        Share of the rows for which the predictions are wrong; for rows that the fit has not seen. Of several classes
        predictions are another rule than the vote.
    """

    n: int
    delta: float
    classes: tuple[Any, ...]
    gibbs_error: float
    gibbs_bound: float
    gibbs_lower: float
    bayes_error: float
    bayes_bound: float
    best_bound: float
    best_by: str
    relative_entropy: float
    quadrature_error: float
    margin_bound: float | None
    compression_bound: float | None
    test_bound: float | None
    log_choices: float
    prior: str
    confusion: Ball = field(repr=False)
    test_error: float | None = None

    @cached_property
    def statement(self) -> str:
        """What is guaranteed, in plain words."""
        whose = "predictions" if self.test_bound is not None else "majority vote of all draws"
        if len(self.classes) == 2:
            whose = "predictions"
        seen = self.bayes_error if self.test_error is None else self.test_error
        return (
            f"With probability at least {1.0 - self.delta:g} over the draw of the {self.n} rows, the classifier that "
            f"draws its functions from the posterior anew for every row is wrong on at most {self.gibbs_bound:.2%} of "
            f"all rows that are drawn like these, independently; and, by a statement of the same probability on its "
            f"own, the {whose} on at most {self.best_bound:.2%} ({self.best_by}). On the {self.n} rows themselves such "
            f"draws were wrong on {self.gibbs_error:.2%}, the {whose} on {seen:.2%}. This holds because {self.prior}."
        )

    def confusion_bounds(self, true: Any, drawn: Any, of_class: bool = False) -> Interval:
        """Return both ends of the share of rows of class ``true`` that the Gibbs classifier takes for ``drawn``.

        Parameters
        ----------
        true, drawn : labels
        of_class : bool
            Share of the rows of that class, as in appendix B.1, instead of all rows.

        Notes
        -----
        All of these hold together with probability 1 - delta (theorem 3.2).
        """
        C = len(self.classes)
        part = np.zeros((C, C))
        part[self._place(true), self._place(drawn)] = 1.0
        if not of_class:
            return self.confusion.interval(part)
        of = np.zeros((C, C))
        of[self._place(true)] = 1.0
        return self.confusion.ratio(part, of)

    def cost_bounds(self, costs: Floats) -> Interval:
        """Return both ends of the mean cost of the Gibbs classifier, from a cost for each true class and each draw."""
        return self.confusion.interval(costs)

    def _place(self, label: Any) -> int:
        if label not in self.classes:
            raise ParameterError(f"{label!r} is none of the classes {list(self.classes)}")
        return self.classes.index(label)

    @property
    def bounds(self) -> list[Bound]:
        """All bounds there are, each on its own."""
        found = [
            Bound("Gibbs", "Gibbs classifier", self.gibbs_bound, "theorem 3.1 with Maurer's constant"),
            Bound("twice Gibbs", "majority vote", self.bayes_bound, "section 3.2.5"),
        ]
        rest = (
            ("margin", "majority vote", self.margin_bound, "theorem 3.4"),
            ("compression", "majority vote", self.compression_bound, "theorem B.2"),
            ("test set", "predictions", self.test_bound, "binomial tail"),
        )
        return found + [Bound(name, of, value, by) for name, of, value, by in rest if value is not None]

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and words, for JSON; of the confusion its shares and the radius of the ball."""
        known = {k: v for k, v in vars(self).items() if k not in ("confusion", "classes", "statement")}
        C = len(self.classes)
        return {
            **known, "classes": list(self.classes), "confusion": self.confusion.centre.reshape(C, C).tolist(),
            "confusion_radius": self.confusion.radius, "statement": self.statement,
        }  # fmt: skip

    def __str__(self) -> str:
        lines = [f"  {b.name:12s} {b.value:8.4f}  of the {b.of} ({b.theorem})" for b in self.bounds]
        return "\n".join([self.statement, *lines])


def certificate(observed: Observed, delta: float, classes: Array) -> Certificate:
    """Return the certificate of a rule for which a prior, and what it said of n rows, is known."""
    delta, n, C = check_delta(delta), len(observed.own), len(classes)
    if not n:
        raise ParameterError("no rows, no certificate")
    error, slack = float(np.mean(observed.wrong)), float(np.mean(observed.votes.error))
    events = _events(observed, C)
    alone = {name: event(delta) for name, event in events.items()}
    shared = {name: event(delta / len(events)) for name, event in events.items()}
    if observed.test_errors is not None and C > 2:  # the vote is another rule than the predictions
        shared = {"test set": alone["test set"]}
    best, gibbs = min(shared, key=lambda name: shared[name]), _gibbs(observed, delta)
    ball = confusion_ball(
        observed.confusion(C), observed.relative_entropy, n, delta, observed.log_choices, min(1.0, C * slack)
    )
    return Certificate(
        n=n, delta=delta, classes=tuple(np.asarray(classes).tolist()), gibbs_error=error, gibbs_bound=gibbs.upper,
        gibbs_lower=gibbs.lower, bayes_error=float(np.mean(observed.outvoted)), bayes_bound=alone["twice Gibbs"],
        best_bound=shared[best], best_by=best, relative_entropy=observed.relative_entropy, quadrature_error=slack,
        margin_bound=alone.get("margin"), compression_bound=alone.get("compression"), test_bound=alone.get("test set"),
        log_choices=observed.log_choices, prior=observed.prior, confusion=ball,
        test_error=None if observed.test_errors is None else observed.test_errors / n,
    )  # fmt: skip


def _gibbs(observed: Observed, delta: float) -> Interval:
    """Return both ends, from an empirical error that may be wrong by what the quadrature is."""
    error, slack, n = float(np.mean(observed.wrong)), float(np.mean(observed.votes.error)), len(observed.own)
    low, high = (
        gibbs_maurer(e, observed.relative_entropy, n, delta, observed.log_choices)
        for e in (max(0.0, error - slack), min(1.0, error + slack))
    )
    return Interval(low.lower, high.upper)


def _events(observed: Observed, n_classes: int) -> dict[str, Any]:
    """Return the bounds on the error of the vote or the predictions, as functions of delta: each fails on its own."""
    n, choices = len(observed.own), observed.log_choices
    found: dict[str, Any] = {"twice Gibbs": lambda delta: bayes_upper(_gibbs(observed, delta).upper)}
    if n_classes == 2:
        found["margin"] = lambda delta: margin_bound(observed.margins, observed.relative_entropy, delta, choices)
    if observed.compressed is not None and observed.compressed.active < n:
        d, errors, unordered = observed.compressed
        two = choices + log(2.0)  # ways to make it again were tried
        found["compression"] = lambda delta: compression_by_tail(errors, n, d, delta, unordered, two)
    if observed.test_errors is not None:
        k = observed.test_errors
        found["test set"] = lambda delta: binomial_upper(k, n, -pay(delta, choices))
    return found
