# The front door for developers. Needs git, make, and Python 3.11 or later with venv; everything else is installed into
# .venv, locked by hash. All paths are relative, so the folder may have any name.

.DEFAULT_GOAL := help
.PHONY: help setup venv demo serve test test-slow check format proto client proto-image lock bench bench-speed bench-peers fuzz samples clean

PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
RUN := .venv/bin/python -m
# Flags to pass on, e.g. make demo ARGS=--lexical, make test ARGS="tests/store -x"
ARGS ?=

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

setup: ## make .venv with all that tests and checks need (hash-locked; quick when nothing changed)
	@"$(PYTHON)" scripts/make_venv.py dev

venv: setup ## the same as setup

demo: ## ingest examples/ into .demo/ and ask six questions over gRPC (LEXICAL=1: without the embedding model)
	@"$(PYTHON)" scripts/make_venv.py runtime
	@.venv/bin/python examples/demo.py $(if $(LEXICAL),--lexical) $(ARGS)

serve: ## run the server on the data folder ./groundwire-data until it is stopped
	@"$(PYTHON)" scripts/make_venv.py runtime
	@exec $(RUN) groundwire_server.cli serve $(ARGS)

test: setup ## run the tests, on two cores, in random order
	$(RUN) pytest -q -n 2 -m "not slow" $(ARGS)

test-slow: setup ## run the tests that take longer
	$(RUN) pytest -q -n 2 -m slow $(ARGS)

check: setup ## lint, types, contract, generated code, import rules
	@"$(PYTHON)" scripts/make_venv.py proto
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy
	cd proto && ../.venv/bin/buf lint && ../.venv/bin/buf format --diff --exit-code
	cd proto && ../.venv/bin/buf breaking --against image.binpb
	.venv-proto/bin/python scripts/stubs.py check
	.venv/bin/python scripts/async_client.py check
	$(RUN) pytest -q -p no:randomly tests/test_import_rules.py tests/test_exports.py

format: setup ## format the code and mend what the linter can mend
	$(RUN) ruff check --fix .
	$(RUN) ruff format .
	cd proto && ../.venv/bin/buf format --write

proto: ## make the Python stubs of the contract anew
	@"$(PYTHON)" scripts/make_venv.py proto
	.venv-proto/bin/python scripts/stubs.py write

client: setup ## make the methods of the async client anew from those of the sync one
	.venv/bin/python scripts/async_client.py write

proto-image: setup ## remember the contract as released (RELEASE=x.y.z, on a release and at no other time)
	@test -n "$(RELEASE)" || { echo "make proto-image RELEASE=x.y.z: only on a release; until then breaking changes show"; exit 1; }
	cd proto && ../.venv/bin/buf build --exclude-source-info -o image.binpb

lock: ## lock all packages anew by version and hash (UPGRADE=1: at their newest)
	@"$(PYTHON)" scripts/make_venv.py lock
	sh scripts/lock.sh $(if $(UPGRADE),--upgrade)

bench: setup ## score retrieval on a folder (DATA=folder with corpus.jsonl, queries.jsonl, qrels.tsv; ARGS="--mode lexical")
	@test -n "$(DATA)" || { echo "make bench DATA=folder"; exit 1; }
	$(RUN) groundwire_server.cli eval retrieval "$(DATA)" $(ARGS)

bench-speed: setup ## measure speed, memory and growth into docs/performance.md (ARGS="--sizes 10000 --only query,wire"; after bench-peers)
	.venv/bin/python benchmarks/performance.py run $(ARGS)

bench-peers: setup ## put the engines that benchmarks measure beside ours into .venv
	$(RUN) pip install --disable-pip-version-check --quiet --require-hashes -r requirements/bench.txt

fuzz: setup ## fuzz decoding, filters, cursors, names and texts by coverage (SECONDS=20 for each)
	$(RUN) pip install --disable-pip-version-check --quiet --require-hashes -r requirements/fuzz.txt
	set -e; for target in request filter cursor page_token locator period text; do \
		PYTHONPATH=. .venv/bin/python tests/fuzz/fuzz.py $$target $(or $(SECONDS),20); done

samples: setup ## make the sample files of the readers' tests anew
	$(RUN) pip install --disable-pip-version-check --quiet --require-hashes -r requirements/samples.txt
	.venv/bin/python scripts/samples.py

clean: ## remove all that make made here (models and groundwire-data stay)
	rm -rf .venv .venv-proto .venv-lock .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
	rm -rf server/groundwire_server.egg-info clients/python/groundwire.egg-info
