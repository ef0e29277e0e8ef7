"""What a vector file holds and how to tell that it is whole."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundwire_server.dense.code_folder import CodeState
from groundwire_server.dense.embedder import pack_vector, unpack_vector

__all__ = ["BLOCK_ROWS", "MANIFEST", "VectorManifest", "block_checksum", "read_manifest", "write_manifest"]

MANIFEST = "vectors.json"
FORMAT = 2
BLOCK_ROWS = 1024


@dataclass(frozen=True, slots=True, eq=False)
class VectorManifest:
    """Attributes:

    model: name of the model, for people; `version` and `dim` are what must fit.
    file: name of the vector file beside the manifest.
    present: bool [rows covered]; the rows that the file holds.
    checksums: CRC-32 per block of BLOCK_ROWS rows, over the present rows only: what a crash left in other rows is no
        damage.
    codes: what is kept of the codes beside the vectors; None where a file was written without.
    state: of the store when it had all of these rows.
    """

    model: str
    version: str
    dim: int
    file: str
    present: NDArray[np.bool_]
    checksums: tuple[int, ...]
    codes: CodeState | None = None
    state: str = ""


def block_checksum(matrix: NDArray[np.float32], present: NDArray[np.bool_], block: int) -> int:
    """Checksum of a block's present rows, in row order. 0 for a block without any."""
    part = slice(block * BLOCK_ROWS, (block + 1) * BLOCK_ROWS)
    rows, here = matrix[part], present[part]
    return zlib.crc32(np.ascontiguousarray(rows if here.all() else rows[here]).data) if here.any() else 0


def read_manifest(folder: Path) -> VectorManifest | None:
    """The manifest, or None when it is missing or not whole."""
    try:
        document = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        body = document["body"]
        if document["sha256"] != _digest(body) or body["format"] != FORMAT:
            return None
        packed = zlib.decompress(base64.b64decode(body["present"], validate=True))
        present = np.unpackbits(np.frombuffer(packed, np.uint8), count=body["rows"]).astype(np.bool_)
        return VectorManifest(
            body["model"],
            body["version"],
            body["dim"],
            body["file"],
            present,
            tuple(body["checksums"]),
            _read_codes(body.get("codes")),
            body["state"],
        )
    except (OSError, ValueError, KeyError, TypeError, zlib.error):
        return None


def write_manifest(folder: Path, manifest: VectorManifest) -> None:
    """Replace the manifest in one step; when this returns it is on disk. Raises OSError."""
    body: dict[str, Any] = {
        "format": FORMAT,
        "model": manifest.model,
        "version": manifest.version,
        "dim": manifest.dim,
        "file": manifest.file,
        "rows": len(manifest.present),
        "present": base64.b64encode(zlib.compress(np.packbits(manifest.present).tobytes(), 1)).decode(),
        "checksums": list(manifest.checksums),
        "state": manifest.state,
    }
    if manifest.codes is not None:
        centre = manifest.codes.centre
        body["codes"] = {
            "name": manifest.codes.name,
            "checksums": list(manifest.codes.checksums),
            "centre": None if centre is None else base64.b64encode(pack_vector(centre)).decode(),
        }
    fresh = folder / (MANIFEST + ".new")
    with fresh.open("w", encoding="utf-8") as file:
        json.dump({"sha256": _digest(body), "body": body}, file)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(folder / MANIFEST)
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _read_codes(body: Any) -> CodeState | None:
    if body is None:
        return None
    centre = None if body["centre"] is None else unpack_vector(base64.b64decode(body["centre"], validate=True))
    return CodeState(body["name"], tuple(body["checksums"]), centre)


def _digest(body: object) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
