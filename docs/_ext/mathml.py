"""Formulas as MathML: browsers draw it themselves, so the pages need neither a script nor the network."""

import re

import latex2mathml.converter
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

_LOOKS = (
    (r"\\setminus(?![a-zA-Z])", r"\\backslash "),  # which more fonts have
    (r"\\sim(?![a-zA-Z])", r"\\;\\sim\\;"),
    (r"\\(log|arcsin)(?![a-zA-Z])\s*(?=[A-Za-z\\])", r"\\\1\\,"),
)


def convert(tex: str, display: str) -> str:
    """Return a formula in LaTeX as MathML."""
    for pattern, better in _LOOKS:
        tex = re.sub(pattern, better, tex)
    if display == "block" and ("\\\\" in tex or "&" in tex) and "\\begin" not in tex:
        tex = rf"\begin{{aligned}} {tex} \end{{aligned}}"
    return str(latex2mathml.converter.convert(tex, display=display))


def visit_math(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula inside a line."""
    self.body.append(f'<span class="math">{convert(node.astext(), "inline")}</span>')
    raise nodes.SkipNode


def visit_displaymath(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on a line of its own."""
    number = f'<span class="eqno">({get_node_equation_number(self, node)})</span>' if node["number"] else ""
    self.body.append(self.starttag(node, "div", CLASS="math display"))
    self.body.append(f"{number}{convert(node.astext(), 'block')}</div>")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
