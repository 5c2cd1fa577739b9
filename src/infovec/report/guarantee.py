"""The section about what is guaranteed."""

from .contents import Contents
from .page import card, cards, paragraph, section, table

__all__ = ["guarantee"]

_MOST = 6  # classes whose confusions are shown
_NOTE = (
    "Each number fails with a probability of at most delta on its own. It says nothing about rows that are drawn in "
    "another way, about single rows, or about the probabilities that are predicted."
)


def guarantee(contents: Contents) -> str:
    """What a certificate says, if there is one."""
    found = contents.certificate
    if found is None:
        return ""
    bounds = table(
        ["bound", "of the error of", "by", "at most"],
        [(b.name, b.of, b.theorem, f"{b.value:.2%}") for b in found.bounds],
        3,
    )
    tested = [] if found.test_error is None else [("error of the predictions on the rows", f"{found.test_error:.2%}")]
    terms = table(
        ["", "value"],
        [
            ("rows", found.n), ("delta", f"{found.delta:g}"),
            ("relative entropy of posterior to prior, nats", f"{found.relative_entropy:.4g}"),
            ("error of the Gibbs classifier on the rows", f"{found.gibbs_error:.2%}"),
            ("and on new rows at least", f"{found.gibbs_lower:.2%}"),
            ("error of the vote of all draws on the rows", f"{found.bayes_error:.2%}"),
            *tested,
            ("smallest bound, the choice paid for", f"{found.best_bound:.2%}"),
        ],
    )  # fmt: skip
    boxes = cards(card(bounds, "Bounds", _NOTE), card(terms, "What they are made of"))
    shares = ""
    if len(found.classes) <= _MOST:
        ends = [[found.confusion_bounds(a, b, of_class=True) for b in found.classes] for a in found.classes]
        shown = [
            (a, *(f"{e.lower:.1%} to {e.upper:.1%}" for e in row)) for a, row in zip(found.classes, ends, strict=True)
        ]
        note = "Down: the true class; across: what the Gibbs classifier says. All of these hold together."
        shares = card(table(["", *map(str, found.classes)], shown), "Share of each class", note)  # as wide as the page
    return section("Certificate", paragraph(found.statement), boxes, shares)
