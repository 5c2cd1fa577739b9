"""Estimators that can be written to a file."""

from collections.abc import Mapping
from os import PathLike

from .fitted import Fitted
from .pickled import Pickled
from .saving import save

__all__ = ["Savable"]


class Savable(Pickled, Fitted):
    """Has ``save``. What is saved is what the record of the class says, which ``in_files`` makes."""

    def save(
        self,
        path: str | PathLike[str],
        extra: Mapping[str, object] | None = None,
        provenance: Mapping[str, object] | None = None,
    ) -> None:
        """Write the fitted model to a file that ``infovec.load`` reads.

        The file is data, never code: a zip of JSON and arrays (see docs/model_files.md). It takes the place of what was
        at ``path`` only when it is complete. What ``warm_start`` keeps is not saved, nor are functions given as
        ``score`` or ``callback``: the loaded model has the defaults instead, and says so in its provenance.

        Parameters
        ----------
        path : str or path
        extra : dict, optional
            Anything to keep with the model: numbers, texts, arrays, lists and dicts of them.
        provenance : dict, optional
            More about where the model comes from, as JSON has it. Version, time, command, shape of the data and
            seconds of the fit are there already.
        """
        save(self, path, extra, provenance)
