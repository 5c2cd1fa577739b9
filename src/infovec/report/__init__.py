"""One HTML file about a fitted model, which needs nothing else to be looked at."""

from .contents import Contents, contents
from .write import write_contents, write_report

__all__ = ["Contents", "contents", "write_contents", "write_report"]
