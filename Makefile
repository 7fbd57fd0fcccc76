# Two commands for everybody: `make demo` and `make test`. Each does its own set-up.
# With STRICT=1, or where CI=true, a part that is missing is a failure and no skip.
PYTHON ?= python3
BIN := .venv/bin
SANDBOX := src/twinsmith/adapters/sandbox
TASK := Create a REST API in Python that keeps notes: notes with a title and a text are added, listed, read and deleted

.PHONY: help demo test check static format bench kills storm lock setup setup-dev clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    set up; then a sentence becomes a service that runs, leaks and is healed"
	@echo "make test    set up, then run all tests (STRICT=1: what is missing is a failure)"
	@echo "make check   what has to be green: format, lint, types, contracts, tests"
	@echo "make bench   the figures (make kills: a hundred kill -9s of builds; make storm: of workers)"
	@echo "make lock    pin dependencies anew;  make clean: remove .venv"

demo: setup
	@$(BIN)/python scripts/demo.py "$(TASK)"

test: setup-dev
	@$(BIN)/python -m pytest -q -n 3 --dist loadgroup

check: static test

static: setup-dev
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

format: setup-dev
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: setup-dev
	@$(BIN)/python -m bench.engine

storm: setup-dev
	@$(BIN)/python -m bench.workers

kills: setup-dev
	@$(BIN)/python -m bench.kills

setup: .venv/.installed
	@scripts/bootstrap

setup-dev: .venv/.installed-dev
	@scripts/bootstrap test

.venv/bin/python:
	@scripts/bootstrap
	@$(PYTHON) -m venv .venv

.venv/.installed: .venv/bin/python requirements.lock pyproject.toml
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

.venv/.installed-dev: .venv/.installed requirements-dev.lock
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements-dev.lock
	@touch $@

lock:
	@$(PYTHON) -m venv .venv-lock && .venv-lock/bin/pip install -q uv
	@.venv-lock/bin/uv pip compile -q --universal --generate-hashes --no-header --no-annotate \
	  --upgrade pyproject.toml scripts/build-requirements.txt -o requirements.lock
	@.venv-lock/bin/uv pip compile -q --universal --generate-hashes --no-header --no-annotate \
	  --upgrade --extra dev -c requirements.lock pyproject.toml -o requirements-dev.lock
	@.venv-lock/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header \
	  --upgrade $(SANDBOX)/python-layer.in -o $(SANDBOX)/python-layer.lock
	@$(BIN)/python -m twinsmith.adapters.packaging.licences $(SANDBOX)/python-layer.lock
	@rm -rf .venv-lock

clean:
	@rm -rf .venv
