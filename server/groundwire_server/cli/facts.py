"""`groundwire facts`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from groundwire import FactFile, IngestSummary, Label, ListedFact, Reconnecting, RejectedRow, RowsRejected
from groundwire_server.cli.corrections import correct, withdraw
from groundwire_server.cli.ending import SOME_REFUSED
from groundwire_server.cli.files import read_text
from groundwire_server.cli.groups import CommandGroup
from groundwire_server.cli.options import WORDS, json_option, label_option, library_option, server_options
from groundwire_server.cli.output import show_json
from groundwire_server.cli.session import Session
from groundwire_server.cli.streams import note, say
from groundwire_server.cli.tables import Column, show_table
from groundwire_server.cli.values import as_words

__all__ = ["command"]


@click.group(name="facts", cls=CommandGroup)
def command() -> None:
    """Figures and relations in, a look at the figures that are stored, and a word about one of them.

    \b
    groundwire facts load figures.csv
    groundwire facts list --metric revenue
    """


command.add_command(correct)
command.add_command(withdraw)


@command.command(name="load")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@library_option
@click.option(
    "--form",
    type=click.Choice(["csv", "graphml", "jsonl", "parquet", "relations_csv", "relations_jsonl", "xbrl_json", "xlsx"]),
    help="What the files hold. [by their names: figures]",
)
@click.option(
    "--mapping",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="TOML that says which column is which field, or how relations are named.",
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
    groundwire facts load turnover.csv --mapping turnover.toml
    groundwire facts load accounts.xlsx --mapping accounts.toml --dry-run
    groundwire facts load regions.jsonl --form relations_jsonl --mapping relations.toml
    groundwire facts load owners.graphml

    A figure needs metric, entity, period and value, in columns of these names; what names no source_doc and locator has
    the file and its row or cell. Where a file has other columns, or lacks one that is the same everywhere, a mapping
    says so, and `groundwire facts mapping FILE` drafts one:

    \b
    [columns]
    entity = "Company"
    value = "Turnover (USD)"
    [constants]
    metric = "REVENUE"
    source_doc = "reports/2024.md"

    A relation needs subject, relation and object. Its mapping has the same tables, and names each relation that is
    another one read backwards: part_of = {inverse = "parent_of"}. With ends = "known" both ends must be terms.

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


@command.command(name="mapping")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--form", type=click.Choice(["csv", "parquet", "xlsx"]), help="What the file holds. [by its name]")
def mapping_(file: Path, form: str | None) -> None:
    """Draft the mapping of a table, in TOML, from what stands in it. It asks no server and stores nothing.

    \b
    groundwire facts mapping accounts.xlsx > accounts.toml
    groundwire facts load accounts.xlsx --mapping accounts.toml --dry-run

    Look it over before it is used: what nothing in the file tells is marked FILL IN, and is refused as long as it is.
    """
    from groundwire_server.ingest import propose_mapping

    said = form or {".parquet": "parquet", ".xlsx": "xlsx", ".xlsm": "xlsx"}.get(file.suffix.casefold(), "csv")
    for line in propose_mapping(file.name, said, file.read_bytes()).splitlines():
        say(line)


@command.command(name="list")
@click.option("--metric", type=WORDS, metavar="METRIC", default="", help="Only of this metric, name or code.")
@click.option("--entity", type=WORDS, metavar="ENTITY", default="", help="Only of this entity, name or code.")
@click.option("--source", type=WORDS, metavar="DOCUMENT", default="", help="Only from this document.")
@click.option(
    "--status",
    type=click.Choice(["auto_approved", "approved", "pending"]),
    help="Only in this state of review. [approved, by somebody or by itself]",
)
@click.option("--versions", is_flag=True, help="Every version that a source has given. [the latest]")
@library_option
@json_option
@server_options
@click.pass_obj
def list_(
    session: Session,
    metric: str,
    entity: str,
    source: str,
    status: str | None,
    versions: bool,
    library: str,
    as_json: bool,
) -> None:
    """List stored figures, digit for digit, each with its source.

    \b
    groundwire facts list --metric revenue --entity Acme
    groundwire facts list --versions --json > figures.jsonl
    """
    with session.client(embedder=False) as client:
        found = client.list_facts(
            library=library,
            metric=metric,
            entity=entity,
            source_doc=source,
            review_status=(status or "unspecified").upper(),
            include_versions=versions,
        )
        if as_json:
            for each in found:
                show_json(each)
            return
        columns = [
            Column("metric", shrinks=True),
            Column("entity", shrinks=True),
            Column("period"),
            Column("channel", shrinks=True),
            Column("value", right=True),
            Column("unit"),
            Column("source", shrinks=True),
            Column("place", shrinks=True),
            Column("version", right=True),
            Column("review", colour={"pending": "yellow"}.get),
        ]
        show_table(columns, (_row(each) for each in found))


def _row(each: ListedFact) -> tuple[object, ...]:
    fact = each.fact
    further = "".join(f", {axis.name}={axis.member}" for axis in fact.dimensions)
    return (
        fact.metric,
        fact.entity,
        fact.period,
        f"{fact.channel}{further}",
        fact.value,
        fact.unit,
        each.lineage.doc_id,
        each.lineage.source_locator,
        fact.version.version if fact.version else "",
        as_words(fact.review_status.name),
    )


def _refusal(row: RejectedRow) -> str:
    """Where a row is wrong, and why. Row 0 is the file as a whole."""
    if row.row == 0:
        where = "" if row.message.startswith(row.file) else f"{row.file}: "
    else:
        value = f"{row.column} = {row.value!r}" if row.column else repr(row.value) if row.value else ""
        where = f"{row.file} row {row.row}{f', {value}' if value else ''}: "
    return f"refused {where}{row.message} ({row.reason.name})"
