"""Pictures inside the page: drawings as SVG in the colours of the page, images as PNG."""

import base64
import io
import re
import warnings
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from .._types import Array
from ..errors import ParameterError
from .page import escape
from .style import INKS

__all__ = ["Pictures", "image"]

_INK = list(INKS)[-1]
_REFERENCES = re.compile(r'(\bid="|xlink:href="#|url\(#)')
_HEX = re.compile("|".join(INKS), flags=re.IGNORECASE)


class Pictures:
    """Draws one picture after the other; names inside them differ from picture to picture."""

    def __init__(self) -> None:
        self._number = count(1)

    def __call__(
        self, draw: Callable[[Any], Any], said: str, note: str = "", size: tuple[float, float] = (4.6, 3.2)
    ) -> str:
        """Return a figure with what ``draw`` does to the axes it is given.

        Parameters
        ----------
        draw : callable
        said : str
            What is to be seen, for those who do not see it.
        note : str
            Below the picture.
        size : (float, float)
            Width and height in inches.
        """
        svg = _HEX.sub(lambda m: INKS[m[0].lower()], _svg(draw, size))
        svg = _REFERENCES.sub(rf"\g<1>f{next(self._number)}-", svg)
        svg = svg.replace("<svg ", f'<svg role="img" aria-label="{escape(said)}" ', 1)
        below = f"<figcaption>{escape(note)}</figcaption>" if note else ""
        return f"<figure>{svg}{below}</figure>"


def _svg(draw: Callable[[Any], Any], size: tuple[float, float]) -> str:
    """Draw without pyplot, which belongs to the user; letters become shapes, so that none is cut off."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ParameterError("a report needs matplotlib for its pictures: pip install 'infovec[plot]'") from error
    inks = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    settings: dict[Any, Any] = {
        **mpl.rcParamsDefault, **dict.fromkeys(inks, _INK), "axes.facecolor": "none", "figure.facecolor": "none",
        "savefig.facecolor": "none", "svg.fonttype": "path", "svg.hashsalt": "infovec", "font.size": 10.0,
    }  # fmt: skip
    settings.pop("backend", None)  # which is the user's, too
    buffer = io.StringIO()
    with mpl.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.subplots())
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.S)
    return re.sub(r' (width|height)="[0-9.]+pt"', "", text, count=2)


def image(pixels: Array, low: float, high: float) -> str:
    """Return an image in shades of grey as a data address; white is high.

    Parameters
    ----------
    pixels : array of shape (height, width)
    low, high : float
        What is black and what is white.
    """
    from PIL import Image  # comes with matplotlib

    grey = np.clip(255.0 * (pixels - low) / ((high - low) or 1.0), 0.0, 255.0).round().astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(grey).save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
