#!/bin/sh
# From a fresh clone to predictions, as a newcomer would: an environment, an installation, the README's commands.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone --quiet "$root" "$work/infovec"
"${PYTHON:-python3}" -m venv "$work/venv"
extras=$(sed -n "s/^\`pip install 'infovec\(\[[a-z,]*\]\)'\`.*/\1/p" "$work/infovec/README.md" | head -n 1)
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$work/infovec$extras"
PATH="$work/venv/bin:$PATH" "$work/venv/bin/python" "$work/infovec/tests/newcomer.py" "$work/tables"
