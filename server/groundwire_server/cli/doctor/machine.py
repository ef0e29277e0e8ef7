"""Checks of this machine: versions, extras, settings, model files. They need no server."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

import groundwire
import groundwire_server
from groundwire_server.cli.doctor.finding import Finding, fail, ok, warn
from groundwire_server.cli.values import as_size
from groundwire_server.dense import DEFAULT_MODEL, PreparedModel, find_model, list_models
from groundwire_server.errors import FailedPrecondition
from groundwire_server.settings import Settings

__all__ = ["check_extras", "check_models", "check_settings", "check_versions", "check_workers"]

_PARTS = ("grpcio", "protobuf", "numpy", "onnxruntime", "tokenizers", "uvloop", "click")
# Extra, the modules that it brings, and what needs them.
_EXTRAS = (
    ("models", ("onnx", "sentencepiece"), "`groundwire models prepare`"),
    ("eval", ("ir_measures",), "`groundwire eval retrieval`"),
    ("fast", ("numba",), "faster search, with the same results,"),
)


def check_versions() -> Iterator[Finding]:
    """Of ourselves, the client and the parts that results depend on."""
    ours, client = groundwire_server.__version__, groundwire.__version__
    system = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    if ours == client:
        yield ok("version", f"groundwire-server {ours}, {system}")
    else:
        words = f"groundwire-server {ours} beside the client groundwire {client}"
        yield warn("version", words, "install both from one checkout: make setup")
    yield ok("engines", ", ".join(f"{name} {_version(name)}" for name in _PARTS))


def check_extras() -> Iterator[Finding]:
    """What is installed beside the core; something that is missing is needed by its command alone."""
    for extra, modules, needed_by in _EXTRAS:
        missing = [name for name in modules if find_spec(name) is None]
        if not missing:
            yield ok("extra", f"{extra} is installed ({', '.join(modules)})")
        else:
            how = f"pip install 'groundwire-server[{extra}]'"
            yield ok("extra", f"{extra} is not installed ({', '.join(missing)}); only {needed_by} needs it: {how}")


def check_settings(settings: Settings) -> Iterator[Finding]:
    """The settings that are not the default, with where they come from."""
    said = [each for each in settings.in_force() if each.origin != "default"]
    if not said:
        yield ok("settings", "all are the default; `groundwire serve --help` lists them")
    for each in said:
        yield ok("settings", f"{each.name} = {each.value} ({each.origin})")


def check_workers(settings: Settings) -> Iterator[Finding]:
    """How many threads work here."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    embedding = settings.embedding.workers or cores
    message = f"{settings.reading_threads} threads answer, {embedding} embed, on {cores} cores"
    if embedding > cores:
        advice = f"set embedding.workers to 0 (one a core) or at most {cores}"
        yield warn("workers", f"{message}; they get in each other's way", advice)
    else:
        yield ok("workers", message)


def check_models(settings: Settings) -> Iterator[Finding]:
    """Whether the embedding model is there, as its manifest says, byte for byte."""
    backend, origin = settings.embedding.backend, settings.origin("embedding.backend")
    if backend == "none":
        yield ok("model", f"embedding.backend = none ({origin}): search by words alone")
        return
    if backend == "deterministic":
        yield warn("model", f"embedding.backend = deterministic ({origin}): hashes, no meaning", "for tests only")
        return
    if settings.retrieval.mode == "lexical":
        yield ok("model", f"retrieval.mode = lexical ({settings.origin('retrieval.mode')}): search by words alone")
        return
    used = find_model(DEFAULT_MODEL, folder=settings.models)
    if used is None:
        say = fail if backend == "onnx" else warn
        advice = "run `groundwire models prepare`, then start the server anew; or set embedding.backend = none"
        yield say("model", f"{DEFAULT_MODEL} is not prepared: no search by meaning", advice)
    for entry in list_models(settings.models):
        if entry.prepared is not None:
            yield _check_files(entry.prepared, in_use=entry.prepared == used)


def _check_files(model: PreparedModel, *, in_use: bool) -> Finding:
    name = f"{model.spec.name}:{model.variant}"
    try:
        model.verify()
    except FailedPrecondition as error:
        say = fail if in_use else warn
        return say("model", f"{name} in {model.folder}: {error.message}", error.hint)
    used = "in use" if in_use else "another one is in use"
    return ok("model", f"{name} ({used}), {as_size(model.size)}, sha256 {model.version} verified, {model.folder}")


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "is not installed"
