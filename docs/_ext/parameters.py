"""Pages of estimators begin with the parameters that matter first; the others stand under "Advanced"."""

import inspect
from typing import Any

__all__ = ["FIRST", "setup", "sorted_parameters"]

USUAL = ("n_active", "kernel", "likelihood", "learn", "max_time", "random_state")
FIRST = {
    "IVMClassifier": USUAL,
    "IVMRegressor": USUAL,
    "IVMOrdinalClassifier": ("categories", "n_active", "kernel", "learn", "max_time", "random_state"),
    "GPClassifier": ("kernel", "inference", "learn", "likelihood", "n_samples", "random_state"),
}
"""Of each estimator, in this order."""
LIKE = "IVMClassifier"
"""Whose texts others refer to."""


def sorted_parameters(lines: list[str], first: tuple[str, ...], like: list[str]) -> list[str]:
    """Return a docstring whose section of parameters has those first, and a second section with the others.

    What is said to be as elsewhere, in the docstring ``like``, is said in full where it is among the first.
    """
    begin, end = _section(lines)
    entries = {tuple(entry[0].partition(" :")[0].split(", ")): entry for entry in _entries(lines[begin:end])}
    there = {entry[0].partition(" :")[0]: entry for entry in _entries(like[slice(*_section(like))])}
    ahead, behind = list[str](), list[str]()
    for name in first:
        own = next(entry for names, entry in entries.items() if name in names)
        ahead += own if (name,) in entries else there[name]
    for names, entry in entries.items():
        left = [name for name in names if name not in first]
        if left:
            behind += [", ".join(left) + entry[0].removeprefix(", ".join(names)), *entry[1:]]
    return [*lines[:begin], *ahead, "", "Other Parameters", "----------------", *behind, "", *lines[end:]]


def _section(lines: list[str]) -> tuple[int, int]:
    """Where the entries of the section of parameters begin and end."""
    begin = lines.index("Parameters") + 2
    return begin, next((k - 1 for k in range(begin, len(lines)) if lines[k] and set(lines[k]) == {"-"}), len(lines))


def _entries(lines: list[str]) -> list[list[str]]:
    found = list[list[str]]()
    for line in filter(None, lines):
        if not line[0].isspace():
            found.append([])
        found[-1].append(line)
    return found


def _sort(app: Any, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    first = FIRST.get(name.rpartition(".")[2]) if what == "class" else None
    if first:
        import infovec

        like = inspect.getdoc(getattr(infovec, LIKE)) or ""
        sorted_ = sorted_parameters(lines, first, like.splitlines())
        lines[:] = [line.replace(f"As for {LIKE}", f"As for :class:`infovec.{LIKE}`") for line in sorted_]


def _rename(app: Any, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Put the others right behind the first ones, before the attributes, under a name that says what they are."""
    if ":Other Parameters:" not in lines or ":Attributes:" not in lines:
        return
    begin, ahead = lines.index(":Other Parameters:"), lines.index(":Attributes:")
    end = next((k for k in range(begin + 1, len(lines)) if lines[k] and not lines[k][0].isspace()), len(lines))
    block = [":Advanced:", *lines[begin + 1 : end]]
    lines[:] = [*lines[:ahead], *block, *lines[ahead:begin], *lines[end:]]


def setup(app: Any) -> dict[str, bool]:
    """Sort before numpydoc reads a docstring, which is at 500, and name the section after it."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", _sort, priority=400)
    app.connect("autodoc-process-docstring", _rename, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
