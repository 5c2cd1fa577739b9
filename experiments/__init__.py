"""Experiments of the papers, run again: ``python -m experiments run NAME [--quick]``."""
