"""A folder beside a library: what is new or changed in it, what to send of that, what is gone and may be withdrawn."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from groundwire import (
    Attribute,
    Cause,
    Client,
    DocumentOutcome,
    DocumentUpload,
    ErrorReason,
    GroundwireError,
    Label,
    Period,
)
from groundwire_server import evidence
from groundwire_server.cli.folder_file import FileRead, read_file, state_of
from groundwire_server.cli.ingest_report import IngestReport
from groundwire_server.errors import DocumentRefused
from groundwire_server.errors import ErrorReason as Reason
from groundwire_server.ingest import FolderFault, FolderFile, PathRules, load_sidecar, walk_folder
from groundwire_server.ingest.folder import SIDECAR_SUFFIX
from groundwire_server.readers import Metadata
from groundwire_server.store.folder_record import FileState, FolderRecord

__all__ = ["FolderSync", "SentFile", "SyncRules"]

# A file that was written this short a time before it was looked at may be written again without a trace in its times.
_SETTLED_NANOSECONDS = 2_000_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class SyncRules:
    """What the command was told about all files.

    verify: read and send every file, whatever the record says.
    lower_labels: a label may become a less strict one.
    refuse: kinds of warning that refuse a document.
    max_bytes: of a document. server_version: of the server; another one may read a file in another way.
    """

    chunker: str = ""
    label: Label = Label.UNSPECIFIED
    paths: PathRules = field(default_factory=PathRules)
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    verify: bool = False
    lower_labels: bool = False
    refuse: tuple[str, ...] = ()
    max_bytes: int = 64 * 1024 * 1024
    server_version: str = ""


@dataclass(frozen=True, slots=True)
class _Said:
    """What is said about a file beside its content. head: its hash."""

    metadata: Metadata
    label: Label
    attributes: tuple[Attribute, ...]
    head: bytes


@dataclass(slots=True)
class SentFile:
    """A file that was sent, and whether something of it was refused."""

    file_id: str
    read: FileRead
    said: _Said
    read_at: int
    refused: bool = False


class FolderSync:
    """One folder, or one file, on its way into one library.

    Args:
        data: the server's own data folder, which is no part of any other.
        claimed: which path has an id, where a command has several; the second one is refused.
    """

    def __init__(
        self,
        client: Client,
        root: Path,
        library: str,
        rules: SyncRules,
        record: FolderRecord,
        report: IngestReport,
        data: Path,
        claimed: dict[str, Path] | None = None,
    ) -> None:
        self.root, self.record = root, record
        self._client, self._library, self._rules, self._report = client, library, rules, report
        self._claimed = claimed
        self._data = _below(data, root)
        self._warned: set[str] = set()

    def look(self) -> None:
        """Find out what there is, here and there; nothing is read yet but what lies beside files."""
        self.record.next_run()
        if not self.record.is_empty:
            self._list_standing()
            self.record.take_up()
        looked = time.time_ns()
        for found in walk_folder(self.root, include=self._rules.include, exclude=self._rules.exclude):
            if self._data is not None and f"{found.doc_id}/".startswith(self._data):
                continue
            if isinstance(found, FolderFault):
                self._refuse(found.doc_id, found.error)
            elif self._is_ours(found):
                self._plan(found, looked)
        for file_id in self.record.unplanned_files():
            if _is_gone(self._path(file_id)):
                self.record.mark_gone(file_id)

    def uploads(self, sent: deque[tuple[FolderSync, SentFile]]) -> Iterator[DocumentUpload]:
        """What is to be sent, file by file in order of ids; each is added to `sent` before it goes out."""
        for file_id, _, has_sidecar in self.record.planned(to_read=True):
            try:
                said = self._said(file_id, has_sidecar)
                read_at = time.time_ns()
                read = read_file(file_id, self._path(file_id), self._rules.max_bytes)
                self._check_label(file_id, said.label)
            except DocumentRefused as error:
                self._refuse(file_id, error)
                continue
            if not self._rules.verify and self._is_known(file_id, read, said):
                self.record.keep_file(file_id, read.state, read_at)
                self._report.keep(self.record.documents_of(file_id))
                continue
            self.record.begin_file(file_id, read.sha256, time.time_ns() // 1000)
            sent.append((self, SentFile(file_id, read, said, read_at)))
            yield self._upload(file_id, read, said)

    def take(self, sent: SentFile, outcome: DocumentOutcome) -> None:
        """What became of a document of a file."""
        if outcome.error is not None:
            sent.refused = True
            return
        sha256 = sent.read.sha256 if outcome.doc_id == sent.file_id else None
        self.record.take(
            sent.file_id, outcome.doc_id, outcome.revision, outcome.chunks, sha256, unchanged=outcome.unchanged
        )

    def finish(self, sent: SentFile) -> None:
        """All documents of a file have been told."""
        if sent.refused:
            self.record.refuse_file(sent.file_id)
        else:
            read = sent.read
            label = int(sent.said.label)
            self.record.finish_file(sent.file_id, read.state, sent.read_at, read.sha256, sent.said.head, label)

    def settle(self) -> None:
        """After everything that was sent is stored: learn what of it the caller may not read, and so never lists."""
        self._list_standing()
        self.record.mark_hidden()
        self.record.learn_hashes()
        self.record.end_sending()

    def withdraw_vanished(self) -> Iterator[str]:
        """Withdraw what is gone from the folder. Gives each id when it is done."""
        last = ""
        while some := self.record.vanished(last):
            for known in some:
                last = known.doc_id
                try:
                    self._client.withdraw(known.doc_id, library=self._library)
                except GroundwireError as error:
                    if error.reason is not ErrorReason.UNKNOWN_DOCUMENT:
                        raise
                self.record.forget(known.doc_id)
                self.record.save()
                yield known.doc_id

    def _is_ours(self, found: FolderFile) -> bool:
        other = found.path if self._claimed is None else self._claimed.setdefault(found.doc_id, found.path)
        if other != found.path:
            # The one would silently become a revision of the other.
            message = f"another file of this call has the same path below its folder: {other}"
            self._refuse(found.doc_id, DocumentRefused(Reason.CONTRADICTION, message))
        return other == found.path

    def _plan(self, found: FolderFile, looked: int) -> None:
        try:
            state = state_of(found.path.stat())
        except OSError:
            state = FileState(found.size, 0, 0, 0)  # reading it says why
        self.record.plan(found.doc_id, state, sidecar=found.sidecar is not None)
        if not self._rules.verify and self._is_as_stored(found, state, looked):
            self.record.pass_over(found.doc_id)
            self._report.keep(self.record.documents_of(found.doc_id))

    def _is_as_stored(self, found: FolderFile, state: FileState, looked: int) -> bool:
        """Whether a file need not be read: system, record and library agree that nothing has changed."""
        stored = self.record.stored_state(found.doc_id)
        if stored is None or stored[0] != state or not self.record.stands(found.doc_id):
            return False
        if max(state.mtime, state.ctime) + _SETTLED_NANOSECONDS > min(stored[1], looked):
            return False
        try:
            said = self._said(found.doc_id, found.sidecar is not None)
        except DocumentRefused:
            return False
        return said.head == stored[3]

    def _is_known(self, file_id: str, read: FileRead, said: _Said) -> bool:
        """Whether a file holds what it held when it was stored, and the library still has it."""
        stored = self.record.stored_state(file_id)
        same = stored is not None and stored[2] == read.sha256 and stored[3] == said.head
        return same and self.record.stands(file_id)

    def _said(self, file_id: str, has_sidecar: bool) -> _Said:
        """What command, paths and sidecar say of a file: the sidecar before the path, of labels the strictest.

        Raises DocumentRefused when any of it cannot be read: a label might stand in it.
        """
        rules = self._rules
        metadata, raw = Metadata(), b""
        if has_sidecar:
            sidecar = self._path(file_id + SIDECAR_SUFFIX)
            metadata = load_sidecar(sidecar)
            for warning in metadata.warnings:
                self._warn(f"  look at {sidecar}: {warning}")
            raw = repr(metadata).encode()
        by_path = rules.paths.attributes(file_id)
        named = {each.name: each for each in (*by_path, *metadata.attributes)}
        attributes = tuple(Attribute(name, _value(named[name].value)) for name in sorted(named))
        said = [Label.read(each.name) for each in (rules.paths.label(file_id), metadata.label) if each is not None]
        label = max((rules.label, *said))
        form = [rules.server_version, rules.chunker, int(label), repr(by_path), raw.hex(), sorted(rules.refuse)]
        form.append(rules.paths.charset(file_id))
        return _Said(metadata, label, attributes, hashlib.sha256(json.dumps(form).encode()).digest())

    def _check_label(self, file_id: str, label: Label) -> None:
        """A label is never lowered in silence: it may have stood in a sidecar or an option that was forgotten."""
        before = Label(self.record.stored_label(file_id))
        if (label or Label.INTERNAL) < before and not self._rules.lower_labels:
            now = label.name if label else "the library's default"
            raise DocumentRefused(
                Reason.CONTRADICTION,
                f"It was stored as {before.name} and would become {now}.",
                hint="--lower-labels allows it.",
            )

    def _upload(self, file_id: str, read: FileRead, said: _Said) -> DocumentUpload:
        return DocumentUpload(
            file_id,
            read.content,
            title=said.metadata.title,
            label=said.label,
            valid_as_of=said.metadata.valid_as_of,
            attributes=said.attributes,
            charset=self._rules.paths.charset(file_id),
            content_sha256=read.sha256,
            chunker=self._rules.chunker,
        )

    def _refuse(self, doc_id: str, error: DocumentRefused) -> None:
        self.record.refuse_file(doc_id)
        self._report.refuse(doc_id, Cause(ErrorReason.read(error.reason.name), str(error)))

    def _warn(self, line: str) -> None:
        if line not in self._warned:
            self._warned.add(line)
            self._report.note(line)

    def _path(self, file_id: str) -> Path:
        return self.root / file_id if self.root.is_dir() else self.root.parent / file_id

    def _list_standing(self) -> None:
        self.record.forget_standing()
        try:
            for each in self._client.list_documents(library=self._library):
                if each.active:
                    at = each.ingested_at
                    micros = (at - _EPOCH) // _MICROSECOND if at else 0
                    self.record.add_standing(each.doc_id, each.revision, each.content_sha256, each.chunks, micros)
        except GroundwireError as error:
            if error.reason is not ErrorReason.UNKNOWN_LIBRARY:
                raise  # an ingest says so where it matters, and makes the one called "default"


def _is_gone(path: Path) -> bool:
    """Whether a file is no longer there. One that cannot be looked at (no rights, a broken disk) is not gone."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _below(data: Path, root: Path) -> str | None:
    """The data folder as ids below a path begin; None: it is elsewhere."""
    try:
        return f"{data.resolve().relative_to(root.resolve()).as_posix()}/"
    except ValueError:
        return None


def _value(value: Any) -> Any:
    """A value of ours as one of the client's: all are the same but periods."""
    return Period(value.canonical) if isinstance(value, evidence.Period) else value
