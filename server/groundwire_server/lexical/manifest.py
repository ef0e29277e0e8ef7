"""The manifest: which files make up the index, in which order, and which rows they cover.

Two lines: the sha256 of the second, and the second, JSON. It is replaced as a whole, after the files that it names.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from groundwire_server.lexical.durable import replace_file
from groundwire_server.lexical.segment_file import DamagedFile

__all__ = ["FORMAT", "MANIFEST_NAME", "Manifest", "SegmentEntry", "read_manifest", "write_manifest"]

FORMAT = 3
MANIFEST_NAME = "manifest.json"


@dataclass(frozen=True, slots=True)
class SegmentEntry:
    """One segment on disk.

    Attributes:
        file: name within the folder.
        sha256: of the file.
        head_sha256: of its header.
        stamp: what the file system said of it when it was found to be as it was written (`file_stamp`).
        rows: how many rows it covers; they follow those of the entry before.
        state: of the store when it had all of these rows.
        last_text_sha256: of the UTF-8 of the last row's text.
    """

    file: str
    sha256: str
    head_sha256: str
    stamp: str
    rows: int
    state: str
    last_text_sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What stands in the manifest."""

    tokenizer: str
    next_number: int
    segments: tuple[SegmentEntry, ...]
    format: int = FORMAT


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest of a folder.

    Raises:
        OSError: the disk does not take it; the manifest is as it was.
    """
    body = json.dumps(asdict(manifest)).encode()
    replace_file(folder / MANIFEST_NAME, [hashlib.sha256(body).hexdigest().encode(), b"\n", body, b"\n"])


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a folder; None where there is none.

    Raises:
        DamagedFile: there is one, and it is not as it was written.
    """
    try:
        content = (folder / MANIFEST_NAME).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise DamagedFile(MANIFEST_NAME) from error
    checksum, _, rest = content.partition(b"\n")
    body = rest.removesuffix(b"\n")
    if checksum != hashlib.sha256(body).hexdigest().encode():
        raise DamagedFile(MANIFEST_NAME)
    values = json.loads(body)
    if values["format"] != FORMAT:
        return Manifest(tokenizer="", next_number=0, segments=(), format=values["format"])
    entries = tuple(SegmentEntry(**entry) for entry in values["segments"])
    return Manifest(values["tokenizer"], values["next_number"], entries)
