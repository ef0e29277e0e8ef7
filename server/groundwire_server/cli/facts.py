"""`groundwire facts`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from groundwire import FactFile, IngestSummary, Label, Reconnecting, RejectedRow, RowsRejected
from groundwire_server.cli.ending import SOME_REFUSED
from groundwire_server.cli.files import read_text
from groundwire_server.cli.groups import CommandGroup
from groundwire_server.cli.options import json_option, label_option, library_option, server_options
from groundwire_server.cli.output import show_json
from groundwire_server.cli.session import Session
from groundwire_server.cli.streams import note, say

__all__ = ["command"]


@click.group(name="facts", cls=CommandGroup)
def command() -> None:
    """Figures and relations."""


@command.command(name="load")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@library_option
@click.option(
    "--form",
    type=click.Choice(["jsonl", "csv", "relations_jsonl"]),
    help="What the files hold. [by their names: figures]",
)
@click.option(
    "--mapping",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="TOML beside the files: names of relations (relations.toml), or of columns.",
)
@label_option
@click.option("--dry-run", is_flag=True, help="Say what would happen, and store nothing.")
@json_option
@server_options
@click.pass_obj
def load(
    session: Session,
    files: tuple[Path, ...],
    library: str,
    form: str | None,
    mapping: Path | None,
    label: str | None,
    dry_run: bool,
    as_json: bool,
) -> int | None:
    """Store the figures or relations of FILES. A bad row is named with its column and reason; good rows land.

    \b
    groundwire facts load facts.jsonl
    groundwire facts load regions.jsonl --form relations_jsonl --mapping relations.toml

    Loading the same again changes nothing. Exit code 3 when some rows were refused.
    """
    mapping_toml = read_text(mapping) if mapping else ""
    uploads = [
        replace(
            FactFile.from_file(file, form=form or "", mapping_toml=mapping_toml),
            label=Label.read(label) if label else Label.UNSPECIFIED,
        )
        for file in files
    ]
    refused = 0
    with (
        session.client(embedder=False) as client,
        client.ingest_facts(uploads, library=library, validate_only=dry_run) as events,
    ):
        for event in events:
            if as_json:
                show_json(event)
            match event:
                case RowsRejected(rows=rows) if not as_json:
                    for row in rows:
                        note(_refusal(row))
                case Reconnecting(attempt=attempt, delay_seconds=delay):
                    note(f"connection lost, attempt {attempt} in {delay:.1f} s")
                case IngestSummary(stored=stored, unchanged=unchanged, failed=failed):
                    refused = failed
                    if not as_json:
                        done = "would be stored" if dry_run else "stored"
                        say(f"{stored} {done}, {unchanged} unchanged, {refused} refused")
    return SOME_REFUSED if refused else None


def _refusal(row: RejectedRow) -> str:
    """Where a row is wrong, and why. Row 0 is the file as a whole."""
    if row.row == 0:
        where = "" if row.message.startswith(row.file) else f"{row.file}: "
    else:
        value = f"{row.column} = {row.value!r}" if row.column else repr(row.value) if row.value else ""
        where = f"{row.file} row {row.row}{f', {value}' if value else ''}: "
    return f"refused {where}{row.message} ({row.reason.name})"
