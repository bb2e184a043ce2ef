# Two commands: `make run` and `make test`. Each does all set-up on a machine with git, make and Python 3.11 to 3.13.
SHELL := /bin/bash
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	command -v $$p >/dev/null && $$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && { echo $$p; break; }; done)
BIN := .venv/bin
FETCH := $(BIN)/offhook models fetch fast
PURE := tests/wire tests/core tests/state

.PHONY: run setup test lint lock clean
.DELETE_ON_ERROR:

run: .venv/run.stamp .venv/system-run.stamp
	@$(FETCH) || echo "Going on without the model: suggestions come from your own code only."
	@if [ -z "$$DISPLAY$$WAYLAND_DISPLAY" ]; then \
		echo "No display here. In a terminal: $(BIN)/offhook complete FILE:LINE:COL, $(BIN)/offhook serve, $(BIN)/offhook bench line"; \
	else $(BIN)/offhook $(ARGS); fi

setup: .venv/run.stamp .venv/system-run.stamp
	@$(FETCH)

.venv/pyvenv.cfg:
	@test -n "$(PYTHON)" || { echo "Offhook needs Python 3.11 to 3.13; none was found."; exit 1; }
	@packaging/system-packages.sh python
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --require-hashes -r requirements/build.txt

.venv/system-%.stamp: packaging/system-packages.txt packaging/system-packages.sh | .venv/pyvenv.cfg
	@packaging/system-packages.sh $*
	@touch $@

.venv/%.stamp: requirements/%.txt requirements/build.txt pyproject.toml | .venv/pyvenv.cfg
	$(BIN)/python -m pip install -q --require-hashes -r requirements/$*.txt
	$(BIN)/python -m pip install -q --no-deps --no-build-isolation -e .
	@touch $@

test: setup .venv/dev.stamp .venv/system-test.stamp lint
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -q $(PURE)
	$(BIN)/coverage report
	$(BIN)/python -m pytest -q $(filter-out $(PURE) tests/support tests/__pycache__,$(patsubst %/,%,$(wildcard tests/*/)))

lint: .venv/run.stamp .venv/dev.stamp
	$(BIN)/ruff check -q .
	$(BIN)/ruff format -q --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

lock:
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --no-emit-index-url --extra bench pyproject.toml -o requirements/run.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --no-emit-index-url --extra bench --extra dev pyproject.toml -o requirements/dev.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --no-emit-index-url requirements/build.in -o requirements/build.txt

clean:
	rm -rf .venv
