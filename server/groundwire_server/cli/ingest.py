"""`groundwire ingest`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import click

from groundwire import (
    Client,
    DocumentOutcome,
    DocumentUpload,
    IngestEvent,
    IngestSummary,
    Label,
    Reconnecting,
)
from groundwire_server.cli.options import library_option
from groundwire_server.cli.progress import ProgressLine
from groundwire_server.cli.session import Session

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
    from groundwire_server.ingest import FolderFile, walk_folder

    for path in paths:
        for found in walk_folder(path, include=include, exclude=exclude):
            if isinstance(found, FolderFile):
                yield DocumentUpload(
                    found.doc_id,
                    found.path.read_bytes(),
                    chunker=chunker,
                    label=Label.read(label) if label else Label.UNSPECIFIED,
                )
            else:
                refused.append(found.doc_id)
                click.echo(f"refused {found.doc_id}: {found.error}", err=True)


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
