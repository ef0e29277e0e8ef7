"""A server with an empty data folder that is thrown away afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from groundwire import Client
from groundwire_server.cli.session import Session

__all__ = ["LIBRARY", "fresh_server", "write_results"]

LIBRARY = "eval"


@contextmanager
def fresh_server(session: Session, *, embedder: str) -> Iterator[Client]:
    """A client of a server of our own on a free port. `embedder` is "none" where no vector is needed."""
    from groundwire_server.rpc import running_server

    with tempfile.TemporaryDirectory(prefix="groundwire-eval-") as folder:
        settings = session.settings(
            data=Path(folder) / "data", server__port=0, log__level="error", embedding__backend=embedder
        )
        with running_server(settings) as address, Client(address) as client:
            yield client


def write_results(path: Path | None, text: str) -> None:
    """Write a result file, whole or not at all."""
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)
