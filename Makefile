# make demo   train on real data and draw a figure      make test   everything that must hold
# make docs   the documentation site, in out/docs
# make dist   sdist and wheel in dist/, as a package index wants them
# make test-oldest, test-newest   the tests with the oldest versions that pyproject.toml allows, and with the newest
# there are; make test-versions   both
# Each does all its own set-up in .venv; a second run is fast.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
OLDEST ?= .venv-oldest
NEWEST ?= .venv-newest
DIST   := .venv-dist

.PHONY: demo test test-oldest test-newest test-versions dist docs format lint types layers pytest lock clean

demo: $(VENV)/ready
	$(BIN)/python -m infovec.demo --out out

test: lint types layers pytest

lint: $(VENV)/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/ready
	$(BIN)/mypy

layers: $(VENV)/ready
	$(BIN)/lint-imports

# Two processes with one thread of linear algebra each: with more they would wait for each other.
# scikit-learn skips one of its checks unless SciPy runs in this mode from the start.
pytest: export OPENBLAS_NUM_THREADS = 1
pytest: export OMP_NUM_THREADS = 1
pytest: $(VENV)/ready
	SCIPY_ARRAY_API=1 $(BIN)/python -m pytest -q tests/contracts/test_estimators.py -k array_api
	$(BIN)/python -m pytest -n 2

# In an environment of its own; warnings that only old versions of others give are not ours.
test-oldest: export OPENBLAS_NUM_THREADS = 1
test-oldest: export OMP_NUM_THREADS = 1
test-oldest: $(OLDEST)/ready
	$(OLDEST)/bin/python -m pytest -n 2

$(OLDEST)/ready: pyproject.toml tests/oldest.py
	$(PYTHON) -m venv $(OLDEST)
	$(PYTHON) tests/oldest.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check -c $(OLDEST)/constraints.txt -e ".[all,dev]"
	@touch $@

# Resolved anew by every call: what is the newest changes.
test-newest: export OPENBLAS_NUM_THREADS = 1
test-newest: export OMP_NUM_THREADS = 1
test-newest:
	$(PYTHON) -m venv $(NEWEST)
	$(NEWEST)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade --upgrade-strategy eager -e ".[all,dev]"
	$(NEWEST)/bin/python -m pip list --disable-pip-version-check
	$(NEWEST)/bin/python -m pytest -n 2

test-versions: test-oldest test-newest

# The wheel is built from the sdist, so that both are whole; twine reads them as an index does.
dist:
	$(PYTHON) -m venv $(DIST)
	$(DIST)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade build twine
	rm -rf dist
	$(DIST)/bin/python -m build --outdir dist .
	$(DIST)/bin/python -m twine check --strict dist/*

# Warnings are errors. Examples that want data in $INFOVEC_DATA are run where it is set, and shown in any case.
docs: export OPENBLAS_NUM_THREADS = 1
docs: $(VENV)/docs-ready
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs out/docs
	@echo "out/docs/index.html"

format: $(VENV)/ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(VENV)/ready: pyproject.toml requirements.lock
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'infovec needs Python 3.11 or newer; set PYTHON=...')"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/docs-ready: $(VENV)/ready docs/requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r docs/requirements.lock
	@touch $@

# Resolve the dependencies anew and pin them, with the hashes of their files. No host is named in what is written.
COMPILE := pip-compile --quiet --no-header --strip-extras --allow-unsafe --generate-hashes --no-emit-index-url \
    --no-emit-trusted-host --no-emit-find-links
lock: $(VENV)/ready
	$(BIN)/python -m pip install --quiet pip-tools
	$(BIN)/$(COMPILE) --extra dev --output-file requirements.lock pyproject.toml
	$(BIN)/$(COMPILE) --extra docs --constraint requirements.lock --output-file docs/requirements.lock pyproject.toml

clean:
	rm -rf $(VENV) $(OLDEST) $(NEWEST) $(DIST) dist out docs/auto_examples docs/generated .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
