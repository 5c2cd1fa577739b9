"""The style sheet: light and dark, narrow and wide."""

from typing import Final

__all__ = ["CSS", "INKS"]

INKS: Final = {
    "#1565c0": "var(--blue)", "#c62828": "var(--red)", "#2e7d32": "var(--green)", "#6a1b9a": "var(--violet)",
    "#ef6c00": "var(--orange)", "#9a9a9a": "var(--faint)", "#e5e5e5": "var(--grid)", "#010203": "currentColor",
}  # fmt: skip
"""Colours of pictures, and what stands for them on the page; the last is that of text and axes."""

CSS: Final = """
:root {
  color-scheme: light dark;
  --paper: #fafafa; --card: #ffffff; --ink: #1d2127; --soft: #5c6470; --line: #dfe3e8; --grid: #e5e5e5;
  --faint: #9a9a9a; --blue: #1565c0; --red: #c62828; --green: #2e7d32; --violet: #6a1b9a; --orange: #c75b00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171b; --card: #1c2026; --ink: #e6e9ee; --soft: #a3acb8; --line: #323943; --grid: #333a44;
    --faint: #828a95; --blue: #6cb0ff; --red: #ff8078; --green: #74c97a; --violet: #c79bff; --orange: #ffab5e;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
main { max-width: 76rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2rem 0 .6rem; }
h3 { font-size: 1rem; margin: 0 0 .4rem; overflow-wrap: anywhere; }
p { margin: .3rem 0; max-width: 48rem; overflow-wrap: anywhere; }
.soft, figcaption { color: var(--soft); font-size: .88rem; }
.cards { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 23rem), 1fr)); }
.card + .cards, .cards + .card, p + .card, p + .cards { margin-top: 1rem; }
.card {
  background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .9rem 1rem; min-width: 0;
}
figure { margin: 0; }
figure svg { display: block; width: 100%; height: auto; max-width: 34rem; margin: 0 auto; }
dl { display: grid; grid-template-columns: minmax(7rem, max-content) minmax(0, 1fr); gap: .25rem 1rem; margin: 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; color: var(--soft); font-size: .88rem; }
td.number, th.number { text-align: right; }
td.number { white-space: nowrap; }
.whole { container-type: inline-size; }
.confusion {
  table-layout: fixed; width: min(100%, calc(max(2.9rem, .62rem * var(--digits) + .8rem) * var(--columns)));
  font-size: min(.88rem, calc(100cqw / var(--columns) / (.62 * max(var(--digits), 2) + .3)));
}
.confusion th, .confusion td {
  padding: .3em 0; text-align: center; font-size: 1em; line-height: 1.35; border: 1px solid var(--card);
  overflow: hidden;
}
.confusion th:first-child { width: var(--first); text-align: left; white-space: nowrap; text-overflow: ellipsis; }
.confusion td.none { color: var(--faint); }
summary { cursor: pointer; font-size: 1.15rem; font-weight: 600; margin: 2rem 0 .6rem; }
.bars { display: grid; grid-template-columns: minmax(0, 14rem) max-content minmax(0, 1fr); gap: .2rem .8rem; }
.bars > span { overflow-wrap: anywhere; font-size: .92rem; }
.bars > .bar { align-self: center; height: .7rem; border-radius: .2rem; background: var(--blue); min-width: 1px; }
.images { display: grid; gap: .7rem; grid-template-columns: repeat(auto-fill, minmax(5.2rem, 1fr)); }
.images img { width: 100%; image-rendering: pixelated; display: block; border: 1px solid var(--line); }
.images figcaption { font-size: .78rem; line-height: 1.3; overflow-wrap: anywhere; }
@media (max-width: 40rem) {
  dl { grid-template-columns: minmax(0, 1fr); gap: 0; }
  dd { margin-bottom: .4rem; }
  table { font-size: .88rem; }
  th, td { padding: .25rem .35rem; }
  td.number { white-space: normal; }
  .bars { grid-template-columns: minmax(0, 1fr) max-content; }
  .bars > .bar { grid-column: 1 / -1; margin-bottom: .4rem; }
}
@media print { body { background: none; } .card { break-inside: avoid; } }
"""
