"""The files of a folder in a fixed order, each with the id that it gets: what a client sends of a folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from groundwire_server.errors import DocumentRefused, ErrorReason, InvalidRequest
from groundwire_server.ingest.documents import read_period
from groundwire_server.ingest.head import check_doc_id
from groundwire_server.ingest.path_pattern import PathPatterns
from groundwire_server.readers import Metadata, parse_metadata_toml

__all__ = ["SIDECAR_SUFFIX", "FolderFault", "FolderFile", "load_sidecar", "walk_folder"]

SIDECAR_SUFFIX = ".meta.toml"
_LONGEST_SIDECAR = 1024 * 1024
_MAY_NOT = "It may not be read."


@dataclass(frozen=True, slots=True)
class FolderFile:
    """A file to send. doc_id: its path relative to the folder, with slashes. sidecar: its `*.meta.toml`, if any."""

    doc_id: str
    path: Path
    size: int
    sidecar: Path | None = None


@dataclass(frozen=True, slots=True)
class FolderFault:
    """Something in the folder that cannot be sent, and why. The others go on.

    doc_id: its path relative to the folder, with what cannot be shown written out ("line\\nbreak.md").
    """

    doc_id: str
    error: DocumentRefused


def walk_folder(
    root: Path, include: Sequence[str] = (), exclude: Sequence[str] = ()
) -> Iterator[FolderFile | FolderFault]:
    """Every regular file below a folder, sorted by doc_id in code-point order; a folder that is a link is entered.

    Hidden files and folders (names that begin with a dot) are passed over. Memory does not grow with the folder.

    Args:
        root: the folder, or one file (its name is its id then).
        include: patterns; none: everything. A file counts when one fits it or a folder above it.
        exclude: patterns; they win.

    Raises:
        InvalidRequest: `root` is not there, or a pattern is malformed.
    """
    patterns = PathPatterns(include, exclude)
    try:
        status = root.stat()
    except OSError as error:
        raise InvalidRequest.one("path", ErrorReason.VALUE_MALFORMED, f"{root}: {_why(error)}") from None
    if not stat.S_ISDIR(status.st_mode):
        yield _file(root, root.name, status, frozenset(_names(root.parent)))
        return
    yield from _walk(root, patterns, _identity(status))


def load_sidecar(path: Path) -> Metadata:
    """What a `*.meta.toml` says about the file beside it.

    Raises:
        DocumentRefused: it cannot be read; a label might stand in it, so the file must not go without it.
    """
    try:
        if path.stat().st_size > _LONGEST_SIDECAR:
            raise DocumentRefused(ErrorReason.DOCUMENT_TOO_LARGE, f"{path.name}: it is over {_LONGEST_SIDECAR} bytes.")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DocumentRefused(ErrorReason.DOCUMENT_BROKEN, f"{path.name}: {_why(error)}") from None
    except UnicodeDecodeError:
        raise DocumentRefused(ErrorReason.DOCUMENT_BROKEN, f"{path.name}: it is no UTF-8.") from None
    return parse_metadata_toml(path.name, text, read_period)


_Identity = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder on the way down, with the folders above it, itself included, so that a loop is noticed."""

    prefix: str
    entries: Iterator[os.DirEntry[str]]
    names: frozenset[str]
    above: frozenset[_Identity]


def _walk(root: Path, patterns: PathPatterns, identity: _Identity) -> Iterator[FolderFile | FolderFault]:
    opened = _open(root, "", frozenset({identity}))
    if isinstance(opened, FolderFault):
        yield opened
        return
    stack = [opened]
    while stack:
        folder = stack[-1]
        entry = next(folder.entries, None)
        if entry is None:
            stack.pop()
            continue
        doc_id = folder.prefix + entry.name
        if entry.name.startswith(".") or patterns.excludes(doc_id):
            continue
        try:
            status = entry.stat()
        except OSError as error:
            if patterns.includes(doc_id):
                yield _fault(doc_id, _why(error))
            continue
        if stat.S_ISDIR(status.st_mode):
            below = _enter(entry, doc_id, status, folder.above)
            if isinstance(below, _Folder):
                stack.append(below)
            else:
                yield below
        elif patterns.includes(doc_id) and not _is_sidecar(entry.name, folder.names):
            yield _file(Path(entry.path), doc_id, status, folder.names)


def _enter(
    entry: os.DirEntry[str], doc_id: str, status: os.stat_result, above: frozenset[_Identity]
) -> _Folder | FolderFault:
    identity = _identity(status)
    if identity in above:
        return _fault(doc_id, "The link leads back to a folder above it.")
    return _open(Path(entry.path), f"{doc_id}/", above | {identity})


def _open(path: Path, prefix: str, above: frozenset[_Identity]) -> _Folder | FolderFault:
    try:
        with os.scandir(path) as scan:
            entries = sorted(scan, key=_sort_name)
    except OSError as error:
        return _fault(prefix.rstrip("/") or ".", _why(error))
    return _Folder(prefix, iter(entries), frozenset(entry.name for entry in entries), above)


def _sort_name(entry: os.DirEntry[str]) -> str:
    """So that whole paths come in order: `a-b` stands before what is in the folder `a`."""
    try:
        return f"{entry.name}/" if entry.is_dir() else entry.name
    except OSError:
        return entry.name


def _file(path: Path, doc_id: str, status: os.stat_result, names: frozenset[str]) -> FolderFile | FolderFault:
    if not stat.S_ISREG(status.st_mode):
        return _fault(doc_id, "It is no regular file.")
    try:
        doc_id.encode("utf-8")
        check_doc_id(doc_id)
    except UnicodeEncodeError:
        return _fault(doc_id, "The name is no UTF-8.", ErrorReason.INVALID_REQUEST)
    except DocumentRefused as error:
        return _fault(doc_id, error.message, error.reason)
    if not os.access(path, os.R_OK):
        return _fault(doc_id, _MAY_NOT)
    sidecar = path.name + SIDECAR_SUFFIX
    return FolderFile(doc_id, path, status.st_size, path.with_name(sidecar) if sidecar in names else None)


def _is_sidecar(name: str, names: frozenset[str]) -> bool:
    return name.endswith(SIDECAR_SUFFIX) and name.removesuffix(SIDECAR_SUFFIX) in names


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _identity(status: os.stat_result) -> _Identity:
    return status.st_dev, status.st_ino


def _fault(doc_id: str, why: str, reason: ErrorReason = ErrorReason.DOCUMENT_BROKEN) -> FolderFault:
    return FolderFault(_printable(doc_id), DocumentRefused(reason, why))


def _printable(doc_id: str) -> str:
    """The path with what cannot be shown written out."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in doc_id)


def _why(error: OSError) -> str:
    """Why a file cannot be had, in words of our own."""
    match error:
        case FileNotFoundError():
            return "It is not there, or the link leads nowhere."
        case PermissionError():
            return _MAY_NOT
        case NotADirectoryError():
            return "It is no folder."
        case _:
            return f"It cannot be read ({os.strerror(error.errno) if error.errno else 'unknown cause'})."
