"""``python -m infovec`` is the command ``infovec``."""

from .cli import main

main()
