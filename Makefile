# make demo   explain and check a few sentences with a bundled model, and write a page to look at
# make test   lint and tests, as CI runs them
# make lint   ruff, mypy, import-linter, generated docs
# make sweep  every architecture of transformers x every method beside slow loops (an hour of one core; goes on where it stopped)
# make bench  side by side with other libraries, in one run

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test lint bench docs sweep clean

demo: $(VENV)/demo.stamp
	@$(BIN)/python examples/demo.py

test: lint
	@$(BIN)/python -m pytest -n 2 tests zoo/tests studies/tests

lint: $(VENV)/dev.stamp
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/python docs/generate.py --check

docs: $(VENV)/dev.stamp
	@$(BIN)/python docs/generate.py

bench: $(VENV)/dev.stamp
	@OMP_WAIT_POLICY=PASSIVE $(BIN)/python benchmarks/engine.py
	@OMP_WAIT_POLICY=PASSIVE $(BIN)/python benchmarks/peers.py

sweep: $(VENV)/dev.stamp
	@OMP_NUM_THREADS=1 $(BIN)/python tests/sweep/run.py

$(VENV)/demo.stamp: pyproject.toml constraints.txt zoo/pyproject.toml
	@echo "making $(VENV) (once, a few minutes)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(INSTALL) --editable . --editable ./zoo
	@touch $@

$(VENV)/dev.stamp: $(VENV)/demo.stamp studies/pyproject.toml
	@$(INSTALL) --editable '.[dev,oracles]' --editable ./zoo --editable ./studies
	@touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
