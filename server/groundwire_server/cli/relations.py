"""`groundwire relations`."""

from __future__ import annotations

import click

from groundwire_server.cli.groups import CommandGroup
from groundwire_server.cli.options import WORDS, json_option, library_option, server_options
from groundwire_server.cli.output import show_json
from groundwire_server.cli.session import Session
from groundwire_server.cli.streams import say_exactly
from groundwire_server.cli.tables import Column, show_table
from groundwire_server.cli.values import attributes_text

__all__ = ["command"]


@click.group(name="relations", cls=CommandGroup)
def command() -> None:
    """Stored relations. `groundwire facts load` brings them in, `groundwire trace` follows them.

    \b
    groundwire relations list --relation parent_of
    groundwire relations export > graph.graphml
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


@command.command(name="export")
@click.option("--relation", type=WORDS, metavar="RELATION", default="", help="Only of this name, e.g. parent_of.")
@click.option("--source", type=WORDS, metavar="DOCUMENT", default="", help="Only from this document.")
@click.option("--unverified", is_flag=True, help="Also what a model found and nobody has checked.")
@library_option
@server_options
@click.pass_obj
def export(session: Session, relation: str, source: str, unverified: bool, library: str) -> None:
    """Print relations as GraphML, an edge for each source, for graph tools and for another library.

    \b
    groundwire relations export --relation parent_of > owners.graphml
    groundwire facts load owners.graphml --library other
    """
    from groundwire_server.cli.graphml_export import export_graphml

    with session.client(embedder=False) as client:
        found = client.list_relations(library=library, relation=relation, source_doc=source)
        for line in export_graphml(found, unverified=unverified):
            say_exactly(line)
