"""A table in one mapped file that is derived from a store: whole and of a state that the store was in, or not there.

    GWADJ01 line · sha256 of all that follows, in hex, line · header length (8 bytes, little-endian) · header · arrays

The header is JSON: the state, its generation, names, and dtype and length of each array in order; the header is padded
and each array begins at a multiple of 64 bytes. All of it is read and compared before anything is taken: it decides who
may cross what. It is mapped privately, so that deaths can be noted in place and the file stays as it is.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from groundwire_server.adjacency.table import Table

__all__ = ["KeptTable", "read_table", "write_table"]

_MAGIC = b"GWADJ01\n"
_LEAD = len(_MAGIC) + 65
_ALIGNED = 64
_TEMPORARY = ".new"


@dataclass(frozen=True, slots=True)
class KeptTable:
    """A table, and what it is about: a state of the store, that state's generation, the last edge row that is in it."""

    table: Table
    state: str
    generation: int
    last_row: int


def write_table(path: Path, kept: KeptTable) -> None:
    """Put a file in place of the one that is there; whoever has that mapped keeps it.

    Raises:
        OSError: the disk does not take it; what stood there is untouched.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}{_TEMPORARY}")
    digest = hashlib.sha256()
    try:
        with beside.open("wb") as file:
            file.write(_MAGIC + b"0" * 64 + b"\n")
            for part in _parts(kept):
                digest.update(part)
                file.write(part)
            file.seek(len(_MAGIC))
            file.write(digest.hexdigest().encode())
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _parts(kept: KeptTable) -> Iterator[bytes | memoryview]:
    table = kept.table
    arrays = {
        name: np.ascontiguousarray(getattr(table, name), np.dtype(dtype).newbyteorder("<"))
        for name, dtype in Table.dtypes().items()
    }
    header = json.dumps(
        {
            "state": kept.state,
            "generation": kept.generation,
            "last_row": kept.last_row,
            "names": [table.relations, table.extractors, table.days],
            "lengths": {name: len(array) for name, array in arrays.items()},
        }
    ).encode()
    header += b" " * (-(_LEAD + 8 + len(header)) % _ALIGNED)
    yield len(header).to_bytes(8, "little") + header
    for array in arrays.values():
        if len(array):
            yield array.data.cast("B")
            yield b"\0" * (-array.nbytes % _ALIGNED)


def read_table(path: Path) -> KeptTable | None:
    """The table of a file, mapped; None where there is no such file or it is not as written."""
    try:
        with path.open("rb") as file:
            whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except (OSError, ValueError):
        return None
    view = memoryview(whole)
    if bytes(view[: len(_MAGIC)]) != _MAGIC:
        return None
    if hashlib.sha256(view[_LEAD:]).hexdigest().encode() + b"\n" != bytes(view[len(_MAGIC) : _LEAD]):
        return None
    at = _LEAD + 8 + int.from_bytes(view[_LEAD : _LEAD + 8], "little")
    header = json.loads(bytes(view[_LEAD + 8 : at]))
    arrays: dict[str, Any] = {}
    for name, dtype in Table.dtypes().items():
        little = np.dtype(dtype).newbyteorder("<")
        arrays[name] = np.frombuffer(whole, little, header["lengths"][name], at)
        at += -(-arrays[name].nbytes // _ALIGNED) * _ALIGNED
    names = [tuple(each) for each in header["names"]]
    table = Table(**arrays, relations=names[0], extractors=names[1], days=names[2])
    return KeptTable(table, str(header["state"]), int(header["generation"]), int(header["last_row"]))
