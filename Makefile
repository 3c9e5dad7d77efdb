# Runwatch. Two commands matter: `make demo` shows it working, `make test` proves it.
# Each target makes its own .venv first and needs only Python 3.11 or newer, git and make.

PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3.14 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV ?= .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
PYTEST := $(BIN)/python -m pytest
# Whoever has no test left takes some of another's: a folder of real processes takes longer than a thousand small tests.
AT_ONCE := -n auto --dist worksteal
# Tests start hundreds of processes: compiled once, not by each of them, in an environment that asks for no bytecode too.
test check: export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo test check format lint types scenarios live gpu bench chaos figures fuzz soak lock clean

help: ## Show what can be made
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(VENV)/runs ## Run the main job here: private Redis, local workspace page, watchers on runs that go wrong
	@$(BIN)/runwatch demo $(DEMO)

test: $(VENV)/ready ## Run the test suite (no root, no network, no GPU)
	@$(PYTEST) $(AT_ONCE) tests $(TEST)

check: $(VENV)/ready ## Format, lint, strict types, import table and tests: what must be green before a commit
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(PYTEST) $(AT_ONCE) tests

format: $(VENV)/ready ## Format and mend what can be mended by itself
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

lint: $(VENV)/ready ## Lint only
	@$(BIN)/ruff check .

types: $(VENV)/ready ## Strict types only
	@$(BIN)/mypy

scenarios: $(VENV)/scenarios-ready ## Stories that need root, namespaces, Chromium or Debian's redis-server
	@$(PYTEST) -o addopts="-ra -p no:valkey -p no:cacheprovider --strict-markers" -m scenario -rs --timeout=600 tests $(TEST)

chaos: $(VENV)/ready ## Kill bots, Redis and watchers by hundreds while findings flow: 0 lost, 0 twice (about half an hour; CHAOS= changes counts)
	@$(BIN)/python -m tests.scenarios.chaos --forked --say-every-seconds 30 --findings 3000 --runs 150 --bot-kills 200 \
		--redis-kills 40 --watcher-kills 40 --pauses 10 --blackouts 5 --pace-seconds 3 --progress-seconds 15 --limit-seconds 300 $(CHAOS)

figures: $(VENV)/ready ## Each promise of docs/durability.md as often as its full figure says (hours; root for power cuts; TEST= picks)
	@RUNWATCH_TEST_FULL=1 $(PYTEST) -o addopts="-ra -p no:valkey -p no:cacheprovider --strict-markers" -m figure -s --timeout=7200 tests $(TEST)

FUZZ ?= 20
fuzz: $(VENV)/ready ## Generated tests with new examples, FUZZ=20 times as many (the suite's are the same in every run)
	@RUNWATCH_TEST_FUZZ=$(FUZZ) $(PYTEST) $(AT_ONCE) -m hypothesis --timeout=7200 tests $(TEST)

SOAK_MINUTES ?= 120
soak: $(VENV)/ready ## Let everything run for SOAK_MINUTES=120 with a fault each minute: nothing lost, nothing grows
	@$(BIN)/python -m tests.scenarios.soak --minutes $(SOAK_MINUTES) $(SOAK)

live: $(VENV)/ready .venv-live/tried ## Jobs of a real PyTorch over gloo, in a venv of its own (about 5 GB); says why where there is none
	@RUNWATCH_LIVE_PYTHON=$(CURDIR)/.venv-live/bin/python $(PYTEST) -o addopts="-ra -p no:valkey -p no:cacheprovider --strict-markers" -m live -rs tests/live $(TEST)

gpu: $(VENV)/ready ## What needs a real NVIDIA GPU (with PyTorch where the machine has one); says why where there is none
	@$(PYTEST) -o addopts="-ra -p no:valkey -p no:cacheprovider --strict-markers" -m gpu -rs --junitxml=out/gpu.xml tests/gpu $(TEST)

bench: $(VENV)/ready ## Measure, side by side in one run, what docs/performance.md claims
	@$(BIN)/python -m benchmarks $(BENCH)

lock: ## Write the lock files anew (needs uv); names and hashes only, no host names
	uv pip compile -q --universal --generate-hashes --no-header --no-annotate pyproject.toml --group build -o requirements.lock
	uv pip compile -q --universal --generate-hashes --no-header --no-annotate -c requirements.lock pyproject.toml --group build --group dev -o requirements-dev.lock
	for group in watcher bot scenarios; do \
		uv pip compile -q --universal --generate-hashes --no-header --no-annotate -c requirements.lock --group build --group $$group -o requirements-$$group.lock; done

clean: ## Remove what was made here
	rm -rf $(VENV) .venv-live build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

# What running it needs; development tools come on top. uv installs faster when it is there; pip gives the same result.
$(VENV)/runs: requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Runwatch needs Python 3.11 or newer on the PATH; found none." >&2; exit 2; }
	@echo "setting up 1/3: a virtual environment in $(VENV) with $$($(PYTHON) --version)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) >/dev/null 2>&1 \
		|| { rm -rf $(VENV); uv venv -q --seed --python $(PYTHON) $(VENV) 2>/dev/null; } \
		|| { rm -rf $(VENV); $(PYTHON) -m virtualenv -q $(VENV) 2>/dev/null; } \
		|| { echo "$(PYTHON) has no venv module. On Debian or Ubuntu: sudo apt install python3-venv" >&2; exit 2; }
	@echo "setting up 2/3: $$(grep -c == requirements.lock) pinned packages (up to a minute the first time)"
	@$(call install,requirements.lock)
	@# Compiled while it is imported, this one costs every watcher 10 MiB that it never gives back.
	@$(BIN)/python -m compileall -q $(VENV)/lib/python3*/site-packages/redis
	@echo "setting up 3/3: runwatch itself"
	@if command -v uv >/dev/null 2>&1; then VIRTUAL_ENV=$(VENV) uv pip install -q --no-deps --no-build-isolation -e .; \
		else $(BIN)/python -m pip install -q --no-deps --no-build-isolation -e .; fi
	@touch $@

$(VENV)/ready: $(VENV)/runs requirements-dev.lock
	@echo "setting up: the tools of development, $$(grep -c == requirements-dev.lock) packages in all"
	@$(call install,requirements-dev.lock)
	@touch $@

$(VENV)/scenarios-ready: $(VENV)/ready requirements-scenarios.lock
	@$(call install,requirements-scenarios.lock)
	@touch $@

.venv-live/tried:
	@echo "setting up: PyTorch in .venv-live (some minutes; without it the tests skip)"
	@$(PYTHON) -m venv .venv-live && .venv-live/bin/python -m pip install -q torch numpy \
		|| echo "PyTorch could not be installed here, so these tests will skip."
	@test -d .venv-live && touch $@

define install
if command -v uv >/dev/null 2>&1; then VIRTUAL_ENV=$(VENV) uv pip install -q --require-hashes -r $(1); \
	else $(BIN)/python -m pip install -q --no-compile --require-hashes --only-binary=:all: -r $(1); fi
endef
