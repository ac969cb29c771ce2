# One target per task. Each target first creates .venv and installs into it, and does so again only
# when a pyproject.toml or constraints.txt has changed.

PYTHON ?= python3
PIP_VERSION := 26.3
BIN := .venv/bin
STAMP := .venv/installed
PARALLEL := -n logical --maxprocesses 4 --dist worksteal
DEMO := demo

.DEFAULT_GOAL := help
.PHONY: help install demo test test-all test-browser check audit bench fuzz chaos glove gpu-kit docs lowest dist

help:
	@echo "make install    install pinned versions into .venv"
	@echo "make demo       simulate annotators, compare methods, and write a report, in ./$(DEMO)"
	@echo "make test       run the tests, except slow ones"
	@echo "make test-all   run the tests, then the slow ones"
	@echo "make test-browser   open the report in Chromium (needs: apt-get install chromium)"
	@echo "make check      run ruff and mypy, and check the version in CHANGELOG.md"
	@echo "make audit      compare installed versions with constraints.txt, and run pip-audit"
	@echo "make bench      run the benchmarks"
	@echo "make fuzz       give every input in mutated form (SEED=0 COUNT=20000 SECONDS=600)"
	@echo "make chaos      disturb commands at every point of writing (SEED=0 COUNT=60)"
	@echo "make glove      write GloVe vectors for the words of the corpora, in ./glove"
	@echo "make gpu-kit RUN=name   collect what a run of benchmarks/gpu needs, in ./gpu-kit"
	@echo "make docs       update generated tables, build the site in ./site, and run all examples"
	@echo "make lowest     run a part of the tests with the lowest versions that pyproject.toml allows"
	@echo "make dist       build both packages in ./dist, install them into empty environments and use them"

$(STAMP): pyproject.toml papers/pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("dissensus needs Python 3.11 or newer; $(PYTHON) is %d.%d. Choose another one: make PYTHON=python3.12" % sys.version_info[:2])'
	@echo "Installing into .venv; the first time takes a few minutes."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check pip==$(PIP_VERSION)
	@$(BIN)/python -m pip install --quiet -c constraints.txt --build-constraint constraints.txt \
		-e ".[all]" -e papers --group dev
	@touch $@

install: $(STAMP)

demo: $(STAMP)
	$(BIN)/dissensus demo $(DEMO)

test: $(STAMP)
	$(BIN)/python -m pytest -m "not slow" $(PARALLEL)

test-all: test
	$(BIN)/python -m pip install --quiet -c constraints.txt --group docs
	$(BIN)/python -m pytest -m slow $(PARALLEL)

test-browser: $(STAMP)
	$(BIN)/python -m pip install --quiet -c constraints.txt --group browser
	$(BIN)/python -m pytest tests/report/test_browser.py

check: $(STAMP)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python .ci/check_version.py

audit: $(STAMP)
	$(BIN)/python .ci/audit.py

bench: $(STAMP)
	$(BIN)/python benchmarks/run.py

fuzz: $(STAMP)
	$(BIN)/python benchmarks/fuzzing/fuzz.py $(if $(SEED),--seed $(SEED)) $(if $(COUNT),--count $(COUNT)) \
		$(if $(SECONDS),--seconds $(SECONDS))

chaos: $(STAMP)
	$(BIN)/python benchmarks/fuzzing/chaos.py $(if $(SEED),--seed $(SEED)) $(if $(COUNT),--count $(COUNT)) \
		$(if $(SECONDS),--seconds $(SECONDS))

glove: $(STAMP)
	$(BIN)/python benchmarks/glove.py

gpu-kit: $(STAMP)
	$(BIN)/python benchmarks/gpu/kit.py $(RUN)

docs: $(STAMP)
	$(BIN)/python docs/update_commands.py
	$(BIN)/python docs/update_metrics.py
	$(BIN)/python docs/update_figures.py
	$(BIN)/python -m pip install --quiet -c constraints.txt --group docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet
	$(BIN)/python -m pytest README.md docs tests/test_commands.py tests/test_docs.py \
		tests/test_sessions.py tests/test_site.py

lowest: $(STAMP)
	$(BIN)/python .ci/lowest.py

dist: $(STAMP)
	$(BIN)/python -m pip install --quiet -c constraints.txt --group dist
	$(BIN)/python .ci/dist.py
