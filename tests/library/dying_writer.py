"""A process that writes numbered batches, says which are acknowledged, and is killed at a named point.

    python dying_writer.py FOLDER POINT before|after CALL

Each batch replaces two documents, a figure and a relation, and embeds what is new, so that a half-written one shows.
"""

from __future__ import annotations

import functools
import importlib
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from groundwire_server.dense import HashEmbedder
from groundwire_server.library import Library
from groundwire_server.store.conformance import make_document, make_edge, make_fact

BATCHES = 5
SECRET = b"secret"


def arm(point: str, moment: str, call: int) -> None:
    """Replace the function at `module:attribute.path` with one that kills the process at its n-th call."""
    module, _, path = point.partition(":")
    owner: Any = importlib.import_module(module)
    *parents, name = path.split(".")
    for parent in parents:
        owner = getattr(owner, parent)
    original: Callable[..., Any] = getattr(owner, name)
    calls = 0

    @functools.wraps(original)
    def deadly(*args: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == call and moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = original(*args, **options)
        if calls == call:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, deadly)


def write_batch(library: Library, number: int) -> None:
    """One batch, acknowledged when this returns."""
    with library.writing() as writer:
        writer.replace_document(make_document("a", f"version {number}\nshared words"))
        writer.replace_document(make_document("b", f"version {number}"))
        writer.put_facts([make_fact(str(number))])
        writer.put_edges([make_edge("ACME", f"C{number}")])


def embed(library: Library, embedder: HashEmbedder) -> None:
    """Vectors for whatever has none."""
    library.add_vectors([(row, embedder.embed_passage(text)) for row, text in library.rows_without_embedding()])


def say(what: object) -> None:
    """A line that the other process has even when this one dies now."""
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def main() -> None:
    folder, point, moment, call = sys.argv[1:]
    embedder = HashEmbedder()
    library = Library(Path(folder), "lib", secret=SECRET)
    library.use_embedder(embedder)
    write_batch(library, 1)
    embed(library, embedder)
    say(1)
    arm(point, moment, int(call))
    for number in range(2, BATCHES + 1):
        write_batch(library, number)
        say(number)
        embed(library, embedder)
        library.settle()  # what goes on behind the writes is passed as often as they are
    say("survived")


if __name__ == "__main__":
    main()
