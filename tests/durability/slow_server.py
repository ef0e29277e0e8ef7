"""The real server with an embedder that takes its time: `python -m tests.durability.slow_server ARGUMENTS`."""

from __future__ import annotations

import time
from typing import Any

from groundwire_server.cli import main
from groundwire_server.dense import HashEmbedder

_embed = HashEmbedder.embed_passage


def _slowly(embedder: HashEmbedder, text: str) -> Any:
    time.sleep(0.01)
    return _embed(embedder, text)


if __name__ == "__main__":
    HashEmbedder.embed_passage = _slowly  # type: ignore[method-assign]
    main()
