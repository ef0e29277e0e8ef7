"""Arrays in one file that is derived from a store: whole and of a state that the store was in, or not there at all.

    GWCOLS1 line · sha256 of all that follows, in hex, line · header length (8 bytes, little-endian) · header · arrays

The header is JSON: the state, and dtype and length of each array, in order. The checksum is compared before anything is
taken: these arrays decide who may read what.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundwire_server.library.kept_file import write_atomically

__all__ = ["read_columns", "write_columns"]

_MAGIC = b"GWCOLS1\n"
_SUM_BYTES = 65
_DTYPES = frozenset({"<u8", "<i8", "<u4", "<i4", "|u1"})


def write_columns(path: Path, state: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Put a file in place of the one that is there.

    Raises:
        OSError: the disk does not take it; what stood there is untouched.
    """
    held = {name: np.ascontiguousarray(array, array.dtype.newbyteorder("<")) for name, array in arrays.items()}
    shapes = {name: [array.dtype.str, len(array)] for name, array in held.items()}
    header = json.dumps({"state": state, "arrays": shapes}).encode()
    parts: list[bytes | memoryview] = [len(header).to_bytes(8, "little") + header]
    parts += [array.data.cast("B") for array in held.values() if len(array)]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, _MAGIC + digest.hexdigest().encode() + b"\n", *parts)


def read_columns(path: Path) -> tuple[str, dict[str, NDArray[Any]]] | None:
    """The state and the arrays, writable and in memory; None where there is no such file or it is not as written."""
    try:
        content = bytearray(path.stat().st_size)
        with path.open("rb", buffering=0) as file:
            if file.readinto(content) != len(content):
                return None
    except OSError:
        return None
    view = memoryview(content)
    lead = len(_MAGIC) + _SUM_BYTES
    if bytes(view[: len(_MAGIC)]) != _MAGIC:
        return None
    if hashlib.sha256(view[lead:]).hexdigest().encode() + b"\n" != bytes(view[len(_MAGIC) : lead]):
        return None
    at = lead + 8
    end = at + int.from_bytes(view[lead:at], "little")
    header = json.loads(bytes(view[at:end]))
    arrays: dict[str, NDArray[Any]] = {}
    for name, (dtype, length) in header["arrays"].items():
        if dtype not in _DTYPES:
            return None
        arrays[name] = np.frombuffer(content, dtype, length, end).copy()  # aligned, and free of the file's buffer
        end += arrays[name].nbytes
    return str(header["state"]), arrays
