"""`groundwire facts`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from groundwire import FactFile, IngestSummary, Label, Reconnecting, RowsRejected
from groundwire_server.cli.options import library_option
from groundwire_server.cli.session import Session

__all__ = ["command"]


@click.group(name="facts")
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
@click.option("--label", type=click.Choice(["public", "internal", "confidential", "restricted"]), help="Sensitivity.")
@click.option("--dry-run", is_flag=True, help="Say what would happen, and store nothing.")
@click.pass_obj
def load(
    session: Session,
    files: tuple[Path, ...],
    library: str,
    form: str | None,
    mapping: Path | None,
    label: str | None,
    dry_run: bool,
) -> None:
    """Store the figures or relations of FILES. A bad row is named with its column and reason; good rows land.

    \b
    groundwire facts load facts.jsonl
    groundwire facts load regions.jsonl --form relations_jsonl --mapping relations.toml

    Loading the same again changes nothing. Exit code 3 when some rows were refused.
    """
    mapping_toml = mapping.read_text(encoding="utf-8") if mapping else ""
    uploads = [
        replace(
            FactFile.from_file(file, form=form or "", mapping_toml=mapping_toml),
            label=Label.read(label) if label else Label.UNSPECIFIED,
        )
        for file in files
    ]
    refused = 0
    with session.client() as client, client.ingest_facts(uploads, library=library, validate_only=dry_run) as events:
        for event in events:
            match event:
                case RowsRejected(rows=rows):
                    for row in rows:
                        where = f"{row.file} row {row.row}, {row.column} = {row.value!r}"
                        click.echo(f"refused {where}: {row.message} ({row.reason.name})", err=True)
                case Reconnecting(attempt=attempt, delay_seconds=delay):
                    click.echo(f"connection lost, attempt {attempt} in {delay:.1f} s", err=True)
                case IngestSummary(stored=stored, unchanged=unchanged, failed=refused):
                    done = "would be stored" if dry_run else "stored"
                    click.echo(f"{stored} {done}, {unchanged} unchanged, {refused} refused")
    if refused:
        raise SystemExit(3)
