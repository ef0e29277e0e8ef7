"""`groundwire ingest`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from groundwire import (
    Attribute,
    Client,
    DocumentOutcome,
    DocumentUpload,
    FileContent,
    IngestEvent,
    IngestSummary,
    Label,
    Period,
    Reconnecting,
)
from groundwire_server import evidence
from groundwire_server.cli.options import library_option
from groundwire_server.cli.progress import ProgressLine
from groundwire_server.cli.session import Session
from groundwire_server.errors import DocumentRefused
from groundwire_server.ingest import FolderFault, FolderFile, load_sidecar, walk_folder
from groundwire_server.readers import Metadata

__all__ = ["await_embeddings", "command"]

_POLL_SECONDS = 0.2


@click.command(name="ingest")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@library_option
@click.option("--chunker", default="", help="paragraph or whole. [the library's]")
@click.option("--label", type=click.Choice(["public", "internal", "confidential", "restricted"]), help="Sensitivity.")
@click.option("--include", multiple=True, metavar="PATTERN", help="Only files like this, e.g. '*.md'.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="No files like this.")
@click.option("--dry-run", is_flag=True, help="Say what would happen, and store nothing.")
@click.option("--wait/--no-wait", default=True, show_default=True, help="Wait until everything has its vector.")
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
) -> None:
    """Store the documents of PATHS, files or folders, under their paths relative to what was given.

    A document that is there already with the same content stays as it is; a file that cannot be read is named and the
    others go on. Exit code 3 when some were refused.
    """
    refused: list[str] = []
    uploads = _uploads(paths, chunker, label, include, exclude, refused)
    with session.client() as client:
        summary = None
        with client.ingest_documents(uploads, library=library, validate_only=dry_run) as events:
            for event in events:
                _tell(event, refused)
                if isinstance(event, IngestSummary):
                    summary = event
        if summary is not None:
            done = "would be stored" if dry_run else "stored"
            click.echo(f"{summary.stored} {done}, {summary.unchanged} unchanged, {len(refused)} refused")
        if wait and not dry_run:
            await_embeddings(client, library)
    if refused:
        raise SystemExit(3)


def _uploads(
    paths: tuple[Path, ...],
    chunker: str,
    label: str | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    refused: list[str],
) -> Iterator[DocumentUpload]:
    for path in paths:
        for found in walk_folder(path, include=include, exclude=exclude):
            try:
                if isinstance(found, FolderFault):
                    raise found.error
                yield _upload(found, chunker, Label.read(label) if label else Label.UNSPECIFIED)
            except DocumentRefused as error:
                refused.append(found.doc_id)
                click.echo(f"refused {found.doc_id}: {error} ({error.reason.name})", err=True)


def _upload(file: FolderFile, chunker: str, label: Label) -> DocumentUpload:
    """A file with what its `*.meta.toml` says of it; the label of the command and that of the file: the stricter."""
    said = load_sidecar(file.sidecar) if file.sidecar else Metadata()
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


def _tell(event: IngestEvent, refused: list[str]) -> None:
    match event:
        case DocumentOutcome(doc_id=doc_id, error=error) if error is not None:
            refused.append(doc_id)
            click.echo(f"refused {doc_id}: {error.message} ({error.reason.name})", err=True)
        case DocumentOutcome(unchanged=False):
            click.echo(f"{event.doc_id} revision {event.revision}, {event.chunks} chunks")
            for warning in event.warnings:
                click.echo(f"  look at {warning.locator}: {warning.message}")
        case Reconnecting(attempt=attempt, delay_seconds=delay):
            click.echo(f"connection lost, attempt {attempt} in {delay:.1f} s", err=True)


def await_embeddings(client: Client, library: str) -> None:
    """Wait until every chunk has its vector, with a line of progress; returns at once where there is no embedder."""
    line: ProgressLine | None = None
    while True:
        found = next((each for each in client.list_libraries() if each.library_id == library), None)
        if found is None or found.embedding_coverage is None:
            return
        done = round(found.embedding_coverage * found.active_chunks)
        if line is None:
            if done >= found.active_chunks:
                return
            line = ProgressLine("embedding", "chunks", found.active_chunks)
        if done >= found.active_chunks:
            line.finish(done)
            return
        line.update(done)
        time.sleep(_POLL_SECONDS)
