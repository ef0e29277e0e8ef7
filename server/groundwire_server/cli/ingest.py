"""`groundwire ingest`."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import click

from groundwire import (
    Attribute,
    Cause,
    Client,
    DocumentOutcome,
    DocumentUpload,
    ErrorReason,
    FileContent,
    GroundwireError,
    IngestEvent,
    IngestSummary,
    Label,
    Period,
    Reconnecting,
)
from groundwire_server import evidence
from groundwire_server.chunking import CHUNKERS
from groundwire_server.cli.embeddings import await_embeddings
from groundwire_server.cli.ending import SOME_REFUSED
from groundwire_server.cli.options import WORDS, json_option, label_option, library_option, server_options
from groundwire_server.cli.output import show_json
from groundwire_server.cli.session import Session
from groundwire_server.cli.streams import note, say
from groundwire_server.errors import DocumentRefused
from groundwire_server.ingest import FolderFault, FolderFile, load_sidecar, walk_folder
from groundwire_server.readers import Metadata, can_read

__all__ = ["await_vectors", "command"]

_ENDINGS_TOLD = 3


@click.command(name="ingest")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@library_option
@click.option("--chunker", type=WORDS, metavar="CHUNKER", default="", help=f"{', '.join(CHUNKERS)}. [the library's]")
@label_option
@click.option("--include", type=WORDS, multiple=True, metavar="PATTERN", help="Only files like this, e.g. '*.md'.")
@click.option("--exclude", type=WORDS, multiple=True, metavar="PATTERN", help="No files like this.")
@click.option("--dry-run", is_flag=True, help="Say what would happen, and store nothing.")
@click.option("--wait/--no-wait", default=True, show_default=True, help="Wait until everything has its vector.")
@json_option
@server_options
@click.pass_obj
def command(
    session: Session,
    paths: tuple[Path, ...],
    library: str,
    chunker: str,
    label: str | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    dry_run: bool,
    wait: bool,
    as_json: bool,
) -> int | None:
    """Store the documents of PATHS, files or folders, under their paths relative to what was given.

    \b
    groundwire ingest ./reports --include '*.md'
    groundwire ingest ./minutes --library minutes --dry-run

    A document that is there already with the same content stays as it is; a file that cannot be read is named and the
    others go on. Exit code 3 when some were refused.
    """
    report = _Report(as_json)
    files = _Files(paths, include, exclude, Path(session.settings().data))
    said = Label.read(label) if label else Label.UNSPECIFIED
    with session.client(embedder=True) as client:
        uploads = _uploads(files, chunker, said, report)
        try:
            with client.ingest_documents(uploads, library=library, validate_only=dry_run) as events:
                for event in events:
                    report.take(event)
            report.sum_up(paths, dry_run=dry_run)
            if wait and not dry_run:
                await_vectors(client, library)
        except KeyboardInterrupt:
            if not dry_run:
                note("what was named above is stored; the same command goes on from there")
            raise
    return SOME_REFUSED if report.refused else None


def await_vectors(client: Client, library: str) -> None:
    """Wait for the vectors of what is stored by now. Raises ClickException when the server goes away meanwhile."""
    try:
        await_embeddings(client, library)
    except GroundwireError as error:
        if error.status != "UNAVAILABLE":
            raise
        raise click.ClickException(
            "the server has stopped. What was named is stored; the vectors are made on once it runs again: "
            "`groundwire jobs watch`"
        ) from None


class _Files:
    """The files of several paths, in order. The server's own data folder is passed over."""

    def __init__(self, paths: tuple[Path, ...], include: tuple[str, ...], exclude: tuple[str, ...], data: Path) -> None:
        self._paths = paths
        self._include = include
        self._exclude = exclude
        self._data = data.resolve()

    def __iter__(self) -> Iterator[FolderFile | FolderFault]:
        for path in self._paths:
            inside = self._below(path)
            for found in walk_folder(path, include=self._include, exclude=self._exclude):
                if inside is None or not f"{found.doc_id}/".startswith(inside):
                    yield found

    def _below(self, path: Path) -> str | None:
        """The data folder as ids below a path begin; None: it is elsewhere."""
        try:
            return f"{self._data.relative_to(path.resolve()).as_posix()}/"
        except ValueError:
            return None


class _Report:
    """Tells what happens, document by document; what is refused here in the thread that sends, the rest in ours."""

    def __init__(self, as_json: bool) -> None:
        self.refused = 0
        self._as_json = as_json
        self._told = 0
        self._no_text: set[str] = set()  # endings of files that no reader takes
        self._summary: IngestSummary | None = None
        self._choices: set[str] = set()
        self._telling = threading.Lock()

    def refuse(self, doc_id: str, error: Cause) -> None:
        """A file that is not sent at all."""
        self.take(DocumentOutcome(doc_id, 0, error=error))

    def take(self, event: IngestEvent) -> None:
        """An event, as it comes."""
        with self._telling:
            if self._as_json:
                show_json(event)
            match event:
                case DocumentOutcome(error=error):
                    self._told += 1
                    self.refused += error is not None
                    if error is not None and not can_read(event.doc_id):
                        self._no_text.add(PurePosixPath(event.doc_id).suffix)
                    if not self._as_json:
                        self._tell(event)
                case IngestSummary():
                    self._summary = event
                case Reconnecting(attempt=attempt, delay_seconds=delay):
                    note(f"connection lost, attempt {attempt} in {delay:.1f} s")

    def sum_up(self, paths: tuple[Path, ...], *, dry_run: bool) -> None:
        """Counts of the whole, and a word when there was nothing at all."""
        if not self._told:
            note(f"nothing to store: no file in {', '.join(map(str, paths))} that is asked for")
        if self._summary is not None and not self._as_json:
            done = "would be stored" if dry_run else "stored"
            say(f"{self._summary.stored} {done}, {self._summary.unchanged} unchanged, {self.refused} refused")
        if endings := sorted(self._no_text - {""}):
            passed_over = " ".join(f"--exclude '*{ending}'" for ending in endings[:_ENDINGS_TOLD])
            note(f"files that are no documents are passed over with {passed_over}")

    def _tell(self, outcome: DocumentOutcome) -> None:
        if outcome.error is not None:
            message = outcome.error.message
            where = "" if message.startswith(outcome.doc_id) else f"{outcome.doc_id}: "
            note(f"refused {where}{self._short(message)} ({outcome.error.reason.name})")
        elif not outcome.unchanged:
            say(f"{outcome.doc_id} revision {outcome.revision}, {outcome.chunks} chunks")
        for warning in outcome.warnings:
            note(f"  look at {warning.locator}: {warning.message}")

    def _short(self, message: str) -> str:
        """The message; what is read instead is told once and not with each of a folder's files."""
        what, others, choices = message.partition("; those read are ")
        if choices not in self._choices:
            self._choices.add(choices)
            return message
        return f"{what}." if others else message


def _uploads(files: _Files, chunker: str, label: Label, report: _Report) -> Iterator[DocumentUpload]:
    sent: dict[str, Path] = {}
    for found in files:
        try:
            if isinstance(found, FolderFault):
                raise found.error
            said = load_sidecar(found.sidecar) if found.sidecar else Metadata()
        except DocumentRefused as error:
            report.refuse(found.doc_id, Cause(ErrorReason.read(error.reason.name), str(error)))
            continue
        other = sent.setdefault(found.doc_id, found.path)
        if other != found.path:
            # The one would silently become a revision of the other.
            message = f"another file of this call has the same path below its folder: {other}"
            report.refuse(found.doc_id, Cause(ErrorReason.CONTRADICTION, message))
            continue
        for warning in said.warnings:
            note(f"  look at {found.sidecar}: {warning}")
        yield _upload(found, said, chunker, label)


def _upload(file: FolderFile, said: Metadata, chunker: str, label: Label) -> DocumentUpload:
    """A file with what its `*.meta.toml` says of it; the label of the command and that of the file: the stricter."""
    return DocumentUpload(
        file.doc_id,
        FileContent(file.path),
        title=said.title,
        label=max(label, Label.read(said.label.name)) if said.label else label,
        valid_as_of=said.valid_as_of,
        attributes=tuple(Attribute(each.name, _value(each.value)) for each in said.attributes),
        chunker=chunker,
    )


def _value(value: Any) -> Any:
    """A value of ours as one of the client's: all are the same but periods."""
    return Period(value.canonical) if isinstance(value, evidence.Period) else value
