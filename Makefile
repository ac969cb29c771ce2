# One target per chore. Each makes .venv and installs by itself, and does so again only when
# pyproject.toml or constraints.txt has changed.

PYTHON ?= python3
PIP_VERSION := 26.3
BIN := .venv/bin
STAMP := .venv/installed
DEMO := demo
METHODS := prior annotator-majority single annotator-heads

.DEFAULT_GOAL := help
.PHONY: help install demo test test-all check bench glove gpu-kit docs

help:
	@echo "make install    .venv with every version that constraints.txt pins"
	@echo "make demo       the whole way on a simulated crowd, into ./$(DEMO)"
	@echo "make test       the tests, but for the slow ones"
	@echo "make test-all   the tests, and then the slow ones"
	@echo "make check      ruff, mypy, and the version in CHANGELOG.md"
	@echo "make bench      what takes how long"
	@echo "make glove      word vectors for the words of the corpora, into ./glove"
	@echo "make gpu-kit RUN=name   what a run of benchmarks/gpu needs, into ./gpu-kit"
	@echo "make docs       write the tables of options anew, run every example of the docs"

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("dissensus needs Python 3.11 or newer; $(PYTHON) is %d.%d. Name another one: make PYTHON=python3.12" % sys.version_info[:2])'
	@echo "Installing into .venv; the first time this takes some minutes."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check pip==$(PIP_VERSION)
	@$(BIN)/python -m pip install --quiet -c constraints.txt --build-constraint constraints.txt \
		-e ".[all]" --group dev
	@touch $@

install: $(STAMP)

demo: $(STAMP)
	$(BIN)/dissensus simulate $(DEMO)/corpus
	$(BIN)/dissensus describe $(DEMO)/corpus
	for method in $(METHODS); do \
		$(BIN)/dissensus train $(DEMO)/corpus --method $$method --hold-out 0.2 -o $(DEMO)/$$method && \
		$(BIN)/dissensus predict $(DEMO)/$$method $(DEMO)/corpus -o $(DEMO)/$$method-says || exit 1; \
	done
	$(BIN)/dissensus evaluate $(DEMO)/prior-says $(DEMO)/corpus \
		$(foreach method,$(wordlist 2,9,$(METHODS)),--against $(DEMO)/$(method)-says)

test: $(STAMP)
	$(BIN)/python -m pytest -m "not slow"

test-all: test
	$(BIN)/python -m pytest -m slow

check: $(STAMP)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python .ci/check_version.py

bench: $(STAMP)
	$(BIN)/python benchmarks/run.py

glove: $(STAMP)
	$(BIN)/python benchmarks/glove.py

gpu-kit: $(STAMP)
	$(BIN)/python benchmarks/gpu/kit.py $(RUN)

docs: $(STAMP)
	$(BIN)/python docs/update_commands.py
	$(BIN)/python -m pytest README.md docs tests/test_commands.py tests/test_docs.py
