"""A segment as one file of mapped arrays.

    GWLEX2 line · header length (8 bytes, little-endian) · header (JSON: dtype, length, place of each array) · arrays

Arrays are little-endian and begin at multiples of 64 bytes. The file never changes; its sha256 stands in the manifest,
and beside it that of the header and a stamp of the file system. A file whose stamp is another one is checked as a whole
before it is mapped. One whose stamp and header are right is mapped at once and checked afterwards (`check_segment`).
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundwire_server.lexical.durable import replace_file
from groundwire_server.lexical.segment import Segment

__all__ = [
    "DamagedFile",
    "SegmentSums",
    "check_segment",
    "file_stamp",
    "map_segment",
    "read_segment",
    "write_segment",
]

_MAGIC = b"GWLEX2\n"
_ALIGNMENT = 64
_NAMES = tuple(field.name for field in fields(Segment))
_CHUNK_BYTES = 1 << 20
_DTYPES = {"<u8", "<u4", "<u2", "|u1"}


class DamagedFile(Exception):
    """A file is not there, cannot be read, or is not the one that was written. Never leaves this room."""


@dataclass(frozen=True, slots=True)
class SegmentSums:
    """sha256 in hex of a whole file, and of its header alone."""

    sha256: str
    head_sha256: str


def file_stamp(path: Path) -> str:
    """What the file system says of a file; another after every write to it, its place or its permissions.

    Raises:
        DamagedFile: it is not there.
    """
    try:
        found = path.stat()
    except OSError as error:
        raise DamagedFile(path.name) from error
    return f"{found.st_size} {found.st_ino} {found.st_mtime_ns} {found.st_ctime_ns}"


def write_segment(path: Path, segment: Segment) -> SegmentSums:
    """Write a segment.

    Raises:
        OSError: the disk does not take it; nothing stands at `path` then.
    """
    arrays: dict[str, NDArray[Any]] = {}
    for name in _NAMES:
        array = np.ascontiguousarray(getattr(segment, name))
        arrays[name] = array.astype(array.dtype.newbyteorder("<"), copy=False)
    # Places are counted from the end of the header, which does not know its own length.
    places: dict[str, list[Any]] = {}
    end = 0
    for name, array in arrays.items():
        places[name] = [array.dtype.str, len(array), end]
        end += -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT
    header = json.dumps(places).encode()
    lead = _MAGIC + len(header).to_bytes(8, "little") + header
    parts: list[bytes | memoryview] = [lead, bytes(-len(lead) % _ALIGNMENT)]
    for array in arrays.values():
        parts.append(array.data.cast("B") if len(array) else b"")
        parts.append(bytes(-array.nbytes % _ALIGNMENT))
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    replace_file(path, parts)
    return SegmentSums(digest.hexdigest(), hashlib.sha256(lead).hexdigest())


def check_segment(path: Path, sha256: str, stop: Callable[[], bool] = lambda: False) -> bool:
    """Whether a file is still the one that `sha256` was taken of; True as well when `stop` said to leave off.

    It is read beside its map, so that no page of it counts as memory of this process.
    """
    digest = hashlib.sha256()
    try:
        with open(path, "rb", buffering=0) as file:
            while chunk := file.read(_CHUNK_BYTES):
                if stop():
                    return True
                digest.update(chunk)
    except OSError:
        return False
    return digest.hexdigest() == sha256


def read_segment(path: Path, sha256: str) -> Segment:
    """Map a segment after its checksum is found right.

    Raises:
        DamagedFile: the file is not the one that `sha256` was taken of.
    """
    if not check_segment(path, sha256):
        raise DamagedFile(path.name)
    return _segment_of(_map(path), path.name)


def map_segment(path: Path, head_sha256: str) -> Segment:
    """Map a segment whose stamp is right, or that this process has just written.

    Raises:
        DamagedFile: it is gone, or its header is not the one that `head_sha256` was taken of.
    """
    mapped = _map(path)
    if hashlib.sha256(mapped[: _header_end(mapped)]).hexdigest() != head_sha256:
        raise DamagedFile(path.name)
    return _segment_of(mapped, path.name)


def _header_end(mapped: mmap.mmap) -> int:
    lead = len(_MAGIC) + 8
    return min(len(mapped), lead + int.from_bytes(mapped[len(_MAGIC) : lead], "little"))


def _map(path: Path) -> mmap.mmap:
    try:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:  # ValueError: an empty file cannot be mapped
        raise DamagedFile(path.name) from error


def _segment_of(mapped: mmap.mmap, name: str) -> Segment:
    """The arrays of a file whose header is right; another format of an older or newer version still is refused."""
    if mapped[: len(_MAGIC)] != _MAGIC:
        raise DamagedFile(name)
    header_end = _header_end(mapped)
    places = json.loads(mapped[len(_MAGIC) + 8 : header_end])
    if sorted(places) != sorted(_NAMES) or any(dtype not in _DTYPES for dtype, _, _ in places.values()):
        raise DamagedFile(name)
    base = -(-header_end // _ALIGNMENT) * _ALIGNMENT
    return Segment(
        **{
            field: np.ndarray((length,), dtype=dtype, buffer=mapped, offset=base + place if length else 0)
            for field, (dtype, length, place) in places.items()
        }
    )
