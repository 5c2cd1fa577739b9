"""Sections of the papers, such as Thesis 4.4.2, are links to the page that says which paper that is."""

from typing import Any

from docutils import nodes
from places import PLACE
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

PAGE = "papers"
KEPT = (nodes.literal, nodes.literal_block, nodes.reference, nodes.title, nodes.math, nodes.math_block, nodes.comment,
        nodes.raw, nodes.term, addnodes.pending_xref, addnodes.desc_signature)  # fmt: skip


class LinkedPapers(SphinxTransform):
    """Replace short names of papers in texts by links."""

    default_priority = 700

    def apply(self, **kwargs: Any) -> None:
        """Link every text of a page that is neither code, formula, title nor link already."""
        if self.env.docname == PAGE:
            return
        for text in list(self.document.findall(nodes.Text)):
            parents, node = list[nodes.Node](), text.parent
            while node is not None:
                parents.append(node)
                node = node.parent
            if PLACE.search(text) and not any(isinstance(one, KEPT) for one in parents):
                text.parent.replace(text, _linked(text.astext(), self.env.docname))


def _linked(text: str, page: str) -> list[nodes.Node]:
    found, end = list[nodes.Node](), 0
    for match in PLACE.finditer(text):
        link = addnodes.pending_xref(
            "", nodes.inline("", match.group()), refdomain="std", reftype="ref", refexplicit=True, refwarn=True,
            refdoc=page, reftarget=f"paper-{match.group(1).lower()}",
        )  # fmt: skip
        found += [nodes.Text(text[end : match.start()]), link]
        end = match.end()
    return [*found, nodes.Text(text[end:])]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transform."""
    app.add_transform(LinkedPapers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
