# The first two commands a newcomer types: `make train` and `make test`. Both do all of their own set-up.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup train test check doctor bench docs lock clean

PYTHON ?= $(firstword $(shell command -v python3.11 python3.12 python3.13 python3 2>/dev/null))
BIN := .venv/bin
TOOL := .venv/.tool
DEV := .venv/.dev
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(TOOL) ## the tool's own .venv, from lockfiles/tool.txt with hashes required

train: $(TOOL) ## everything: set up, build the locked training venv, check the machine, train the embedded default
	$(BIN)/dflash-env rebuild
	$(BIN)/dflash-env run train

test: $(DEV) ## everything: set up, then the whole test suite, the trainer's inside the locked training venv
	@# 1 is a finding, such as an edit that is not committed yet; the tests judge that themselves.
	$(BIN)/dflash-env rebuild || [ $$? -eq 1 ]
	$(BIN)/python -m pytest tests --ignore tests/trainer
	$(BIN)/python tests/inside.py tests/trainer

check: $(DEV) ## format, lint, types, and generated pages up to date
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python docs/make.py --check

doctor: $(TOOL) ## is this machine fit to launch?
	$(BIN)/dflash-env doctor

bench: $(TOOL) ## measure what the environment half costs, as ratios in one run, into docs/measurements/
	$(BIN)/dflash-env rebuild || [ $$? -eq 1 ]
	$(BIN)/python bench/environment.py

docs: $(DEV) ## write the generated pages and the pictures
	$(BIN)/python docs/make.py
	$(BIN)/python docs/picture.py

lock: $(TOOL) ## write the lockfiles again from their .in files, as of the date in each
	$(BIN)/dflash-env lock

clean: ## remove the tool's .venv and what the linters kept; venvs, runs and caches in .dflash stay
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache

$(TOOL): lockfiles/tool.txt pyproject.toml
	@[ -n "$(PYTHON)" ] && "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "error: there is no Python 3.11 or newer on the PATH (found: $(PYTHON))" >&2; \
	  echo "fix:   install python3.11, or name one: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 2; }
	@"$(PYTHON)" -c 'import ensurepip' 2>/dev/null || { \
	  echo "error: $(PYTHON) has no ensurepip, so it cannot make a virtual environment" >&2; \
	  echo "fix:   install it (Debian: apt install python3.11-venv), or make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 2; }
	@echo "· making the tool's own .venv with $(PYTHON)"
	@rm -rf .venv
	@"$(PYTHON)" -m venv .venv
	@$(PIP) --require-hashes -r lockfiles/tool.txt
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV): $(TOOL) lockfiles/dev.txt
	@echo "· adding the development tools to .venv"
	@$(PIP) --require-hashes -r lockfiles/dev.txt
	@touch $@
