"""The oldest versions that pyproject.toml allows, as constraints for pip: ``python tests/oldest.py > constraints.txt``.

What is said without a lower bound (tools of the developers) is left to pip.
"""

import re
import tomllib
from pathlib import Path

EXTRAS = ("all", "dev")


def oldest(pyproject):
    """Return ``name==version`` for every lower bound."""
    project = tomllib.loads(Path(pyproject).read_text())["project"]
    listed = [*project["dependencies"], *(one for extra in EXTRAS for one in project["optional-dependencies"][extra])]
    found = {match[1]: match[2] for one in listed if (match := re.fullmatch(r"([\w.-]+)>=([\w.]+)", one))}
    return [f"{name}=={version}" for name, version in sorted(found.items())]


if __name__ == "__main__":
    print("\n".join(oldest(Path(__file__).parents[1] / "pyproject.toml")))
