"""Every class of the package that has the methods of a protocol, and a stand-in for one that is somewhere else."""

import importlib
import inspect
import pickle
import pkgutil

import numpy as np
from scipy import sparse

import infovec

_OPTIONAL = (
    "infovec.onnx_export",
    "infovec.plots",
    "infovec.report",
    "infovec.cli",
    "infovec.demo",
    "infovec.activeml",
)


def methods(protocol):
    """Names of the methods of a protocol."""
    bases = [c for c in protocol.__mro__ if c.__module__.startswith("infovec.")]
    return sorted({n for c in bases for n, v in vars(c).items() if inspect.isfunction(v) and not n.startswith("_")})


def implementations(protocol):
    """Concrete classes with all these methods, wherever they are defined."""
    found = set()
    for module in pkgutil.walk_packages(infovec.__path__, "infovec."):
        if module.name.startswith(_OPTIONAL) or module.name.endswith("__main__"):
            continue
        for thing in vars(importlib.import_module(module.name)).values():
            if inspect.isclass(thing) and thing.__module__.startswith("infovec."):
                found.add(thing)
    wanted = methods(protocol)
    return {
        cls
        for cls in found
        if not getattr(cls, "_is_protocol", False)
        and not inspect.isabstract(cls)
        and all(callable(getattr(cls, name, None)) for name in wanted)
    }


def check_plain(message):
    """Refuse what is no number, no array and no tuple of them."""
    if isinstance(message, tuple | list):
        for part in message:
            check_plain(part)
    else:
        plain = bool | int | float | str | np.generic | np.ndarray | sparse.csr_matrix | sparse.csr_array | None
        assert isinstance(message, plain), type(message)


class Elsewhere:
    """A shard in another process, as far as those who use it can tell: messages are pickled on both ways."""

    def __init__(self, shard, protocol):
        self._shard, self._methods = shard, methods(protocol)

    def __getattr__(self, name):
        if name.startswith("__") or name not in self._methods:
            raise AttributeError(f"{name} is no message to a shard")

        def call(*args):
            check_plain(args)
            answer = getattr(self._shard, name)(*pickle.loads(pickle.dumps(args)))
            check_plain(answer)
            return pickle.loads(pickle.dumps(answer))

        return call
