# Every target does its own set-up: a machine with Python >= 3.11 and make needs nothing else.
# The first run makes .venv from requirements.lock (hashes checked); later runs reuse it.

PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
ARGS ?=
# Where byte code is not kept, each of the suite's workers and processes would compile everything anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help setup demo test lint types unit soak crash fuzz bench web lab house audit docs schemas lock wheel man deb clean

help: ## what can be made
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

$(STAMP): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "tablectl needs Python 3.11 or newer with its venv module (Debian: apt-get install python3 python3-venv)"; exit 1; }
	@echo "setting up $(VENV) with $(PYTHON) from requirements.lock"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

setup: $(STAMP) ## the virtual environment

demo: $(STAMP) ## one shoe on an emulated scanner, into the reference game server (ARGS="--shoe bee-tek")
	@$(BIN)/tablectl demo $(ARGS)

# mypy works on one core only: it runs beside the suite, and what it says is shown behind it.
test: lint ## lint, types, import directions and the suite with reduced counts
	@said=$$(mktemp); $(MAKE) --no-print-directory types >$$said 2>&1 & types=$$!; \
		trap 'kill $$types; rm -f $$said; exit 130' INT TERM; \
		$(MAKE) --no-print-directory unit; suite=$$?; \
		wait $$types; types=$$?; cat $$said; rm -f $$said; exit $$((suite | types))

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(STAMP)
	@$(BIN)/mypy

unit: $(STAMP)
	@$(BIN)/python -m pytest -q -n 4 --dist worksteal $(ARGS)

# Three on two cores: many of these tests wait half of their time. One at a time each, the longest first.
soak: $(STAMP) ## the heavy tests at the full counts
	@TABLECTL_SOAK=1 $(BIN)/python -m pytest -q -n 3 --dist load --maxschedchunk 1 --timeout 1800 -m soak $(ARGS)

crash: $(STAMP) ## daemon and game server killed at every boundary, each way, and 2,000 times at random (an hour and more)
	@$(BIN)/python -m tests.crash points $(ARGS)
	@$(BIN)/python -m tests.crash kills

fuzz: $(STAMP) ## ten million bytes of rubbish through every decoder (ARGS="--bytes N DRIVER")
	@$(BIN)/python -m tests.fuzz $(ARGS)

bench: $(STAMP) ## latency from the wire to the game server, beside its floors
	@$(BIN)/python -m tests.bench $(ARGS)

lab: $(STAMP) ## the installed daemon with USB devices in an emulated machine (docs/lab.md)
	@$(BIN)/python -m tests.lab $(ARGS)

web: $(STAMP) ## the pages in a real Chromium, against a running table (needs the packages chromium, chromium-driver)
	@$(BIN)/python -m tests.web $(ARGS)

audit: $(STAMP) ## every locked package asked about in the public advisory database
	@test -x $(VENV)-audit/bin/pip-audit || { $(PYTHON) -m venv --clear $(VENV)-audit && $(VENV)-audit/bin/pip install --quiet --disable-pip-version-check 'pip-audit>=2.9,<3' 2>/dev/null; } \
		|| { rm -rf $(VENV)-audit; echo "NOT AUDITED: pip-audit cannot be installed here"; }
	@test ! -x $(VENV)-audit/bin/pip-audit || PYTHONPATH=. $(VENV)-audit/bin/python -m tests.data_tools.audit $(ARGS)
	@test -x $(VENV)-audit/bin/pip-audit || test "$(ARGS)" = --lenient

house: $(STAMP) ## the package and its service under a real systemd, in a container (docs/lab.md; as root)
	@$(BIN)/python -m tests.house $(ARGS)

docs: $(STAMP) ## the generated documents: the table's diagram
	@$(BIN)/python -m tablectl.table.diagram > docs/table.md

schemas: $(STAMP) ## the JSON Schemas of the events
	@$(BIN)/python -m tablectl.schemas

lock: ## resolve requirements.lock anew (needs uv)
	uv pip compile --universal --generate-hashes --python-version 3.11 --extra dev --extra nats --extra console pyproject.toml -o requirements.lock --no-header --no-emit-index-url --upgrade

wheel: $(STAMP) ## dist/*.whl
	@$(BIN)/pip wheel --quiet --no-deps --no-build-isolation -w dist .

man: $(STAMP) ## dist/tablectl.1, the manual page of every command (`man -l dist/tablectl.1`)
	@mkdir -p dist
	@$(BIN)/python -m systemd.debian.manual > dist/tablectl.1

deb: $(STAMP) ## dist/*.deb with everything in it, for Debian 12 (ARGS="--python 3.13": Debian 13)
	@$(BIN)/python -m systemd.debian.build $(ARGS)

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
