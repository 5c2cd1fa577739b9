"""``python -m infovec.cli``."""

from . import main

main()
