"""From contents to a file."""

from collections.abc import Sequence
from os import PathLike
from typing import Any

from .._version import __version__
from ..pac_bayes import Certificate
from ..persistence import check_output, writing
from .columns import columns
from .contents import Contents, contents
from .fit import details, drawing, progress, summary
from .guarantee import guarantee
from .judgement import judgement
from .page import escape, page, section
from .pictures import Pictures
from .points import active_points
from .surprises import surprises

__all__ = ["write_contents", "write_report"]


def write_report(
    model: Any,
    path: str | PathLike[str],
    X_test: Any = None,
    y_test: Any = None,
    *,
    plan: Any = None,
    feature_names: Sequence[str] | None = None,
    image_shape: Any = "auto",
    certificate: Certificate | None = None,
    X_train: Any = None,
    y_train: Any = None,
) -> None:
    """Write a report of a fitted estimator; the parameters are those of its method ``report``."""
    write_contents(
        contents(model, X_test, y_test, plan, feature_names, image_shape, certificate, X_train, y_train), path
    )


def write_contents(about: Contents, path: str | PathLike[str]) -> None:
    """Write a report, completely or not at all."""
    check_output(path)
    text = render(about)
    with writing(path) as file:
        file.write(text.encode("utf-8"))


def render(about: Contents) -> str:
    """Return the report as HTML."""
    picture = Pictures()
    title = type(about.model).__name__ + (f" of {about.target}" if about.target else "")
    return page(
        title,
        [
            f"<h1>{escape(title)}</h1>",
            f'<p class="soft">Report of infovec {__version__}</p>',
            summary(about),
            judgement(about, picture),
            surprises(about),
            columns(about, picture),
            drawing(about, picture),
            guarantee(about),
            progress(about, picture),
            section("Active rows", active_points(about)),
            details(about, picture),
        ],
    )
