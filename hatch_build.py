"""What a package index is told beyond ``pyproject.toml``: addresses, and a README whose links work there.

Both come from one line of CITATION.cff, ``repository-code: https://...``. While it is not there no address is known:
links into the repository become their text, and pictures what they show.
"""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|mailto:|#)([^)\s]+)\)")


def repository(citation: str) -> str | None:
    """Return the address of the repository that CITATION.cff names, if it names one."""
    found = re.search(r"^repository-code: *[\"']?(https?://[^\s\"']+?)/?[\"']?\s*$", citation, flags=re.M)
    return found[1] if found else None


def standalone(readme: str, address: str | None, version: str) -> str:
    """Return a README without links that lead nowhere outside of the repository."""

    def replaced(link: re.Match[str]) -> str:
        picture, text, path = link.groups()
        if address is not None:
            return f"{picture}[{text}]({address}/{'raw' if picture else 'blob'}/v{version}/{path.removeprefix('./')})"
        return f"*{text}*" if picture else text

    return LINK.sub(replaced, readme)


def urls(address: str | None) -> dict[str, str]:
    """Return the addresses that a package index shows beside the project."""
    if address is None:
        return {}
    return {
        "Homepage": address,
        "Source": address,
        "Issues": f"{address}/issues",
        "Changelog": f"{address}/blob/main/CHANGELOG.md",
        "Documentation": f"{address}/tree/main/docs",
    }


class Metadata(MetadataHookInterface):
    """Fills in the dynamic fields."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, object]) -> None:
        """Set readme and addresses."""
        root = Path(self.root)
        address = repository((root / "CITATION.cff").read_text(encoding="utf-8"))
        source = (root / "src" / "infovec" / "_version.py").read_text(encoding="utf-8")
        version = re.search(r'^__version__ = "(.+)"', source, flags=re.M)
        assert version is not None
        readme = (root / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": standalone(readme, address, version[1])}
        if found := urls(address):
            metadata["urls"] = found
