"""Where experiments are, how one is loaded, and where its figures go."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

__all__ = ["HERE", "figure_folder", "load", "names"]

HERE = Path(__file__).parent


def names() -> list[str]:
    """Return the names of all experiments: the folders with a ``run.py``."""
    return sorted(path.parent.name for path in HERE.glob("*/run.py"))


def load(name: str) -> ModuleType:
    """Import an experiment's ``run.py`` as a package, so that it can import the files beside it."""
    folder = HERE / name
    module_name = f"experiments.{name.replace('-', '_')}"
    spec = importlib.util.spec_from_file_location(
        module_name, folder / "run.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"no experiment {name!r}; there are: {', '.join(names())}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    return module


def figure_folder(name: str) -> Path:
    """Return ``out/NAME`` under the working directory; make it if need be."""
    folder = Path("out") / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder
