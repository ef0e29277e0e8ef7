"""`groundwire relations`."""

from __future__ import annotations

import click

from groundwire_server.cli.groups import CommandGroup
from groundwire_server.cli.options import WORDS, json_option, library_option, server_options
from groundwire_server.cli.output import show_json
from groundwire_server.cli.session import Session
from groundwire_server.cli.tables import Column, show_table
from groundwire_server.cli.values import attributes_text

__all__ = ["command"]


@click.group(name="relations", cls=CommandGroup)
def command() -> None:
    """Stored relations. `groundwire facts load` brings them in, `groundwire trace` follows them.

    \b
    groundwire relations list --relation parent_of
    """


@command.command(name="list")
@click.option("--relation", type=WORDS, metavar="RELATION", default="", help="Only of this name, e.g. parent_of.")
@click.option("--source", type=WORDS, metavar="DOCUMENT", default="", help="Only from this document.")
@library_option
@json_option
@server_options
@click.pass_obj
def list_(session: Session, relation: str, source: str, library: str, as_json: bool) -> None:
    """List relations, by name and ends, each with its first source.

    \b
    groundwire relations list --relation parent_of --source owners.jsonl
    """
    with session.client(embedder=False) as client:
        found = client.list_relations(library=library, relation=relation, source_doc=source)
        if as_json:
            for each in found:
                show_json(each)
            return
        columns = [
            Column("from", shrinks=True),
            Column("relation"),
            Column("to", shrinks=True),
            Column("since"),
            Column("until"),
            Column("attributes", shrinks=True),
            Column("source", shrinks=True),
            Column("place", shrinks=True),
        ]
        rows = (
            (
                each.edge.source.node_id,
                each.edge.relation,
                each.edge.target.node_id,
                each.edge.valid_from,
                each.edge.valid_to,
                attributes_text(each.edge.attributes),
                each.lineage.doc_id,
                each.lineage.source_locator,
            )
            for each in found
        )
        show_table(columns, rows)
