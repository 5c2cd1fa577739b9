"""Text of unknown origin, made harmless to look at."""

__all__ = ["printable", "without_formula"]

_FORMULA = tuple("=+-@\t\r\n＝＋－＠")  # what a cell begins with that a spreadsheet computes


def printable(text: object, lines: bool = False) -> str:
    r"""Return a text in which all that is not shown as it is, but does something, is written as an escape.

    Names in tables and model files can be anything: sequences that move the cursor, set a terminal's title or fill the
    clipboard, marks that turn the direction of writing, halves of characters that no encoding has. Escape becomes
    ``\x1b``, and a line break ``\n``.

    Parameters
    ----------
    text : object
        Anything that is shown as text.
    lines : bool
        Whether lines may break: for a text that was put together from harmless ones.
    """
    text = str(text)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or (lines and c == "\n") else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def without_formula(word: str) -> str:
    """Return a word that a spreadsheet does not take for a formula: with ' before it if it would. Numbers stay."""
    if not word.lstrip(" ").startswith(_FORMULA):
        return word
    try:
        float(word)
    except ValueError:
        return f"'{word}"
    return word
