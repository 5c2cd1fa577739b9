"""How places in the papers are written, such as Thesis 4.4.2."""

import re

__all__ = ["PLACE"]

KINDS = r"sections?|chapter|ch\.|appendix|app\.|eq\.|table|figure|fig\.|algorithm"
NUMBER = r"(?:[A-E](?:\.\d+)*|\d+(?:\.\d+)*)\b"
PLACE = re.compile(rf"\b(NIPS03|LSH05|SLH|Thesis|GR06)\b(?: (?:{KINDS}))?(?: {NUMBER})?")
