"""What lies outside the package: the demonstration, experiments and benchmarks of a source tree."""

import subprocess
import sys
from pathlib import Path

import click

from ..errors import InfovecError

__all__ = ["names", "run_demo", "run_outside", "source_tree"]

_NOT_RUN = {
    "__init__", "__main__", "defaults", "drawing", "forms", "measure", "peers", "sides", "tasks",
}  # of the benchmarks  # fmt: skip


def run_demo(out: str) -> None:
    """Run the demonstration."""
    from ..demo import run

    run(Path(out))


def run_outside(package: str, name: str | None, arguments: list[str], listed: bool) -> None:
    """Run an experiment or a benchmark in a process of its own; exit with its code."""
    tree = source_tree(package)
    known = names(tree, package)
    if listed:
        click.echo("\n".join(known))
        return
    if name not in known:
        raise click.UsageError(
            f"{'no name given' if name is None else f'no such name: {name}'}; there are {', '.join(known)}"
        )
    module = package if package == "experiments" else f"{package}.{name}"
    done = subprocess.run([sys.executable, "-m", module, *arguments], cwd=tree, check=False)
    sys.exit(0 if done.returncode == 0 else 1)


def source_tree(package: str) -> Path:
    """Return the folder of the source: where we are, one above, or where this package comes from."""
    here = Path.cwd()
    for folder in (here, *here.parents, Path(__file__).parents[3]):
        if (folder / package / "__init__.py").is_file() and (folder / "src" / "infovec").is_dir():
            return folder
    raise InfovecError(
        f"{package} are not part of the installed package: get the source (git clone), and run this in its folder"
    )


def names(tree: Path, package: str) -> list[str]:
    """Return what can be run."""
    folder = tree / package
    if package == "experiments":
        return sorted(path.parent.name for path in folder.glob("*/run.py"))
    return sorted(path.stem for path in folder.glob("*.py") if path.stem not in _NOT_RUN)
