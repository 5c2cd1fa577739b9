"""The command line. Needs click and rich (the ``cli`` extra)."""

import sys

from .start import start_without_pandas

__all__ = ["main"]


def main() -> None:
    """Run the command ``infovec``."""
    start_without_pandas()
    try:
        from .commands import infovec
    except ImportError as error:
        if error.name not in ("click", "rich"):
            raise
        sys.exit(f"the command line needs {error.name}, which is not installed: pip install 'infovec[cli]'")
    infovec(prog_name="infovec")
