"""The errors that infovec raises on purpose. Each message names the cause and the remedy."""


class InfovecError(Exception):
    """Base of all errors raised by infovec."""


class ParameterError(InfovecError, ValueError):
    """A parameter has a value that the model cannot have."""


class NotPositiveDefinite(InfovecError, ValueError):
    """The kernel is not a covariance function on the rows at hand."""


class ModelFileError(InfovecError, ValueError):
    """A model cannot be saved, or a file is not a model that can be loaded."""
