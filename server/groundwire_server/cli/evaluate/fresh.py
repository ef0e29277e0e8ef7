"""A server with an empty data folder; both are gone afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from groundwire import Client
from groundwire_server.cli.session import Session, own_server

__all__ = ["LIBRARY", "MOST_PASSAGES", "fresh_server"]

LIBRARY = "eval"
MOST_PASSAGES = 10_000


@contextmanager
def fresh_server(session: Session, *, embedder: str) -> Iterator[Client]:
    """A client of a server of our own on a free port, with the user's settings but for what a measurement needs.

    Args:
        embedder: "none" where no vector is needed, "onnx" where there must be some.
    """
    with tempfile.TemporaryDirectory(prefix="groundwire-eval-") as folder:
        settings = session.settings(
            data=Path(folder) / "data",
            server__host="127.0.0.1",
            server__port=0,
            log__level="error",
            embedding__backend=embedder,
            access__local_clearance="internal",
            limits__max_top_k=MOST_PASSAGES,
        )
        with own_server(settings) as (server, client):
            server.engine.wait_for_embedder()
            yield client
