# Everything a developer runs. Each target makes the virtual environment by itself when it is missing or out of date.
PYTHON ?= python3
BIN := .venv/bin
VERSION := $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' src/telltree/__init__.py)
# The stamp carries the version, because an installed package keeps the one it was installed with.
READY := .venv/.ready-$(VERSION)

# Where Python is told to keep no bytecode, each of the many programs that tests start would compile telltree anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo quick test test-all check lowest newest bench soak mutants site clean
SECONDS ?= 300
NUMBER ?= 150
# A file of tests is run by one process, so that what its tests share is made once; tests/conftest.py puts long ones first.
PYTEST := -m pytest -n 2 --dist loadfile --no-loadscope-reorder
# Quick tests that go through every package; files, so that no others are even read.
QUICK := $(addprefix tests/,\
  cli/test_wrapping.py cli/test_labels.py datasets/test_auslan.py engine/test_meaning.py engine/test_alignment.py \
  engine/test_user_functions.py english/test_normal_form.py english/test_values.py estimators/test_weights.py \
  experiments/test_trials.py explain/test_rules.py explain/test_paper_english.py grammar/test_parse.py \
  grammar/test_errors.py logic/test_codes.py models/test_golden.py panel/test_csv.py panel/test_panel.py \
  panel/test_schema.py project/test_amounts.py project/test_architecture.py project/test_imports.py \
  report/test_layout.py report/test_safety.py scale/test_shards.py search/test_by_size.py tree/test_mdl.py \
  tree/test_paper_example.py)

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

demo: $(READY)  ## learn from aircraft encounters of a real study, and write telltree-demo.html
	$(BIN)/telltree demo --output telltree-demo.html --force
	@echo "To go on with telltree in this shell: . $(BIN)/activate"

quick: $(READY)  ## formatting, lint, and some tests of every package, in a minute
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python $(PYTEST) $(QUICK) -m "not slow" $(ARGS)

test: check  ## run the checks, then all tests but slow ones, in five minutes (ARGS="-k panel" to choose)
	$(BIN)/python $(PYTEST) -m "not slow" $(ARGS)

# The soak runs the same cases every time, so that a commit never fails for a case that another would fail for.
test-all: check  ## run everything: slow tests too, random tests at their largest, and 2,000 cases of the soak
	$(BIN)/python $(PYTEST) --hypothesis-profile=large $(ARGS)
	$(BIN)/python -m tests.soak.soak --seed 0 --cases 2000 --seconds 1200

check: $(READY)  ## formatting, lint, types and import directions
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

lowest: $(READY)  ## run the tests with the oldest libraries that are promised to do (ARGS="-k panel" to choose)
	$(call tested_with,lowest,lowest-direct,-W ignore::DeprecationWarning)

newest: $(READY)  ## run the tests with the newest libraries there are (ARGS="-k panel" to choose)
	$(call tested_with,newest,highest,)

# What is old is warned by newer libraries that it calls. The tools that test come at the newest versions that go with the libraries, which stay as they were resolved.
define tested_with
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-$(1)
	$(BIN)/uv pip compile --quiet --resolution $(2) --python .venv-$(1) --all-extras --group frames \
	  --output-file .venv-$(1)/versions.txt pyproject.toml
	$(BIN)/uv pip install --quiet --python .venv-$(1) --constraint .venv-$(1)/versions.txt --editable '.[all]' --group dev
	NUMBA_CACHE_DIR=$(CURDIR)/.venv-$(1)/kernels .venv-$(1)/bin/python $(PYTEST) $(3) $(ARGS)
endef

site: $(READY)  ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(READY)  ## measure, and write benchmarks/results.md
	$(BIN)/python benchmarks/run.py

soak: $(READY)  ## attack with random cases (SECONDS=3600 for an hour; ARGS="--seed 7 --cases 1" for one again)
	$(BIN)/python -m tests.soak.soak --seconds $(SECONDS) $(ARGS)

mutants: $(READY)  ## see whether the tests notice changes to the program (NUMBER=150, ARGS="--seed 1 --folder DIR")
	$(BIN)/python benchmarks/mutants.py --number $(NUMBER) $(ARGS)

clean:  ## remove the virtual environment, caches and built files
	rm -rf .venv dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .numba_cache* .venv-lowest .venv-newest .venv-peers site .node
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Dependency groups need pip 25.1; the pip a new environment starts with may be older. Bytecode is made of what is imported,
# when it is first: that is a third of what is installed.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "telltree needs Python 3.11 or newer, and '$(PYTHON)' is not one: try 'make PYTHON=python3.12 $(MAKECMDGOALS)'" >&2; \
	  exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --no-compile --editable '.[all]' --group dev
	@rm -f .venv/.ready-* && touch $@
