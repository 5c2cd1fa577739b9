"""One HTML file about a fitted model, which needs nothing else to be looked at."""

from .baselines import MOST
from .contents import Contents, compared, contents
from .dependences import dependences
from .write import write_contents, write_report

__all__ = ["MOST", "Contents", "compared", "contents", "dependences", "write_contents", "write_report"]
