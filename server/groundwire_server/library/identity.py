"""Ids of snapshots: opaque, equal for equal answers, and unmoved by what the caller may not see (formats.md)."""

from __future__ import annotations

import hashlib
import hmac

import numpy as np
from numpy.typing import NDArray

from groundwire_server.evidence import Label
from groundwire_server.library.columns import ChunkColumns

__all__ = ["embedding_state", "make_snapshot_id"]


def make_snapshot_id(
    secret: bytes, library_id: str, clearance: Label, digest: bytes, settings: str, glossary: str, embedded: str
) -> str:
    """128-bit hex under the server's secret.

    Args:
        digest: of all that the clearance may read.
        settings: the library's, tokenizer included.
        glossary: hash of its content.
        embedded: which of the readable chunks have a vector of which model.
    """
    mac = hmac.new(secret, digestmod=hashlib.sha256)
    for part in (library_id, clearance.name, digest.hex(), settings, glossary, embedded):
        raw = part.encode()
        mac.update(len(raw).to_bytes(8, "big") + raw)
    return mac.hexdigest()[:32]


def embedding_state(columns: ChunkColumns, readable: NDArray[np.bool_], present: NDArray[np.bool_]) -> str:
    """Which of the readable chunks have a vector: all, none, or the sum of the hashes of those that have."""
    with_vector = readable & present
    count = int(np.count_nonzero(with_vector))
    if count == int(np.count_nonzero(readable)):
        return "all"
    keys = columns.chunk_keys(np.flatnonzero(with_vector).astype(np.int64))
    return f"{count}:{int(keys.sum(dtype=np.uint64)):016x}"
