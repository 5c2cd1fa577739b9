"""Categories that were not there in the rows that something was fitted to."""

from ..plain import printable
from ..runtime import in_search
from .columns import CategoryColumn, Column, RankColumn
from .raw import Raw

__all__ = ["known_words", "strange"]

_SHARE = 0.5  # of a column's cells, beyond which they are told of if unknown
_LEAST = 5  # cells: in fewer rows, such as parts of a search, any may be the only one of its category
_SHOWN = 3


def strange(column: Column, raw: Raw) -> str:
    """Say of a column that some or most of its categories are unknown, or known in other spelling; else nothing.

    Every one that is missing in an order is told of: those who order categories have listed them all.
    """
    if not isinstance(column, CategoryColumn | RankColumn):
        return ""
    ordered = isinstance(column, RankColumn)
    known = known_words(column)
    counts, places = raw.counts(), frozenset(known)
    unseen = {word: n for word, n in counts.items() if word not in places}
    if not unseen:
        return ""
    alike = {_plain(word): word for word in known}
    respelt = [word for word in unseen if _plain(word) in alike]
    cells, total = sum(unseen.values()), sum(counts.values())
    few = cells < _LEAST or cells <= _SHARE * total
    if not ordered and not respelt and few and (cells < total or in_search()):
        return ""
    examples = sorted(respelt or unseen, key=lambda word: -unseen[word])[: _SHOWN if ordered else 1]
    shown = [alike[_plain(examples[0])]] if respelt else known[:_SHOWN]
    more = ", ..." if not respelt and len(known) > _SHOWN else ""
    return printable(
        f"{cells} of {total} cells of column {column.name!r} hold categories that were not there when the model was "
        f"fitted, such as {', '.join(map(repr, examples))}, where it knows {', '.join(map(repr, shown))}{more}"
    )


def known_words(column: CategoryColumn | RankColumn) -> tuple[str, ...]:
    """Return the categories that a column knows."""
    return column.order if isinstance(column, RankColumn) else column.categories


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
