"""The version, which the build reads here."""

__all__ = ["__version__"]

__version__ = "0.1.0"
