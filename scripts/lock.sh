#!/bin/sh
# Write requirements/*.txt from what pyproject.toml and requirements/*.in ask for. Run by `make lock`.
set -eu
cd -- "$(dirname -- "$0")/.."

compile() {
    .venv-lock/bin/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --quiet \
        --no-emit-package groundwire "$@"
}

compile "$@" requirements/lock.in -o requirements/lock.txt
compile "$@" requirements/proto.in -o requirements/proto.txt
compile "$@" pyproject.toml requirements/runtime.in --extra fast --extra models -o requirements/runtime.txt
compile "$@" pyproject.toml requirements/runtime.in requirements/dev.in --extra fast --extra models --extra eval --extra parquet \
    --extra networkx --extra otel \
    -c requirements/runtime.txt -o requirements/dev.txt
compile "$@" requirements/bench.in -c requirements/dev.txt -o requirements/bench.txt
compile "$@" requirements/samples.in -c requirements/dev.txt -o requirements/samples.txt
compile "$@" requirements/fuzz.in -c requirements/dev.txt -o requirements/fuzz.txt
