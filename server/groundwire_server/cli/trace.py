"""`groundwire trace`."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

import click

from groundwire import GraphEdge, GraphPath, Snippet, SnippetBatch, StreamSummary, Trace
from groundwire_server.cli.groups import CommandGroup
from groundwire_server.cli.options import COUNT, WORDS, call_options
from groundwire_server.cli.output import describe
from groundwire_server.cli.session import Session
from groundwire_server.cli.streams import note
from groundwire_server.cli.tables import Column, show_table
from groundwire_server.cli.trace_communities import communities
from groundwire_server.cli.trace_figures import compare, derivation, rollup
from groundwire_server.cli.trace_formats import settled_format, show_trace
from groundwire_server.cli.walking_options import walking_options
from groundwire_server.cli.walks import chain_text

__all__ = ["command"]

_relations = click.option(
    "--relation", "relations", type=WORDS, multiple=True, metavar="RELATION", help="Follow only this; may be repeated."
)
_direction = click.option(
    "--direction", type=click.Choice(["out", "in", "both"]), help="From subject to object, back, or either way."
)


@click.group(name="trace", cls=CommandGroup)
def command() -> None:
    """Follow relations. Nodes are named by id (entity:ACME_JP) or by a name of the glossary.

    \b
    groundwire trace around Acme
    groundwire trace paths Acme Globex
    groundwire trace closure Acme --relation parent_of
    groundwire trace ancestors Acme Globex
    groundwire trace communities
    groundwire trace rollup revenue Acme FY2024
    groundwire trace compare revenue FY2024 Acme Globex
    groundwire trace derivation "gross margin" Acme FY2024

    Each of them as a picture, with relations, figures and where they stand:

    \b
    groundwire trace rollup revenue Acme FY2024 --format svg > acme.svg
    """


@command.command(name="around")
@click.argument("nodes", nargs=-1, required=True, type=WORDS)
@_relations
@_direction
@click.option("--hops", type=COUNT, help="How far to go. [1]")
@walking_options
@click.pass_obj
def around(
    session: Session,
    nodes: tuple[str, ...],
    relations: tuple[str, ...],
    direction: str | None,
    hops: int | None,
    valid_in: str,
    unverified: bool,
    libraries: tuple[str, ...],
    language: str | None,
    strict: bool,
    as_json: bool,
    form: str | None,
) -> None:
    """Show the relations around NODES, the nearest first.

    \b
    groundwire trace around Acme --relation parent_of --direction in --valid-in 2024
    """
    with session.client(embedder=False) as client:
        found = client.neighborhood(
            nodes,
            relations=relations,
            direction=(direction or "both").upper(),
            max_hops=hops or 0,
            valid_in=valid_in,
            include_unverified=unverified,
            **call_options(libraries, language, strict),
        )
        show_trace(found, settled_format(form, as_json), _show_table)


@command.command(name="paths")
@click.argument("start", metavar="FROM", type=WORDS)
@click.argument("end", metavar="TO", type=WORDS)
@_relations
@click.option(
    "--pattern", type=WORDS, metavar="A,B,C", default="", help="Relations step by step; instead of --relation."
)
@_direction
@click.option(
    "--choice",
    type=click.Choice(["shortest", "k_shortest", "all"]),
    default="shortest",
    show_default=True,
    help="One shortest path, the --most shortest, or all.",
)
@click.option("--hops", type=COUNT, help="The longest path. [as far as the server goes]")
@click.option("--most", type=COUNT, help="How many paths at most. [10]")
@walking_options
@click.pass_obj
def paths(
    session: Session,
    start: str,
    end: str,
    relations: tuple[str, ...],
    pattern: str,
    direction: str | None,
    choice: str,
    hops: int | None,
    most: int | None,
    valid_in: str,
    unverified: bool,
    libraries: tuple[str, ...],
    language: str | None,
    strict: bool,
    as_json: bool,
    form: str | None,
) -> None:
    """Show how FROM and TO hang together, the shortest way first.

    \b
    groundwire trace paths Acme Globex
    groundwire trace paths Acme Globex --pattern owned_by,owned_by
    """
    with session.client(embedder=False) as client:
        found = client.paths(
            start,
            end,
            relations=relations,
            pattern=tuple(part.strip() for part in pattern.split(",")) if pattern else (),
            direction=(direction or "both").upper(),
            choice=choice.upper(),
            max_hops=hops or 0,
            max_paths=most or 0,
            valid_in=valid_in,
            include_unverified=unverified,
            **call_options(libraries, language, strict),
        )
        show_trace(found, settled_format(form, as_json), _show_table)


@command.command(name="closure")
@click.argument("nodes", nargs=-1, required=True, type=WORDS)
@click.option(
    "--relation",
    "relations",
    type=WORDS,
    multiple=True,
    required=True,
    metavar="RELATION",
    help="Relation to follow; may be repeated.",
)
@_direction
@click.option("--depth", type=COUNT, help="How many levels. [all]")
@walking_options
@click.pass_obj
def closure(
    session: Session,
    nodes: tuple[str, ...],
    relations: tuple[str, ...],
    direction: str | None,
    depth: int | None,
    valid_in: str,
    unverified: bool,
    libraries: tuple[str, ...],
    language: str | None,
    strict: bool,
    as_json: bool,
    form: str | None,
) -> None:
    """Show all that can be reached from NODES at any depth, the nearest first, each with the shortest way there.

    \b
    groundwire trace closure Acme --relation parent_of                  # all subsidiaries
    groundwire trace closure Acme --relation parent_of --direction in   # all owners
    """
    with session.client(embedder=False) as client:
        found = client.closure(
            nodes,
            relations,
            direction=(direction or "out").upper(),
            max_depth=depth or 0,
            valid_in=valid_in,
            include_unverified=unverified,
            **call_options(libraries, language, strict),
        )
        show_trace(found, settled_format(form, as_json), _show_table)


@command.command(name="ancestors")
@click.argument("nodes", nargs=-1, required=True, type=WORDS)
@click.option("--relation", type=WORDS, metavar="RELATION", default="", help="Relation that leads down. [parent_of]")
@walking_options
@click.pass_obj
def ancestors(
    session: Session,
    nodes: tuple[str, ...],
    relation: str,
    valid_in: str,
    unverified: bool,
    libraries: tuple[str, ...],
    language: str | None,
    strict: bool,
    as_json: bool,
    form: str | None,
) -> None:
    """Show what lies above all of NODES, two or more, the nearest first, with the ways up to it.

    \b
    groundwire trace ancestors Acme Globex

    What lies above one: `groundwire trace closure Acme --relation parent_of --direction in`.
    """
    if len(nodes) == 1:
        alone = (
            f"trace closure {shlex.quote(nodes[0])} --relation {shlex.quote(relation or 'parent_of')} --direction in"
        )
        raise click.UsageError(f"What two or more have in common is shown here; for one: groundwire {alone}")
    with session.client(embedder=False) as client:
        found = client.common_ancestors(
            nodes,
            relation=relation,
            valid_in=valid_in,
            include_unverified=unverified,
            **call_options(libraries, language, strict),
        )
        show_trace(found, settled_format(form, as_json), _show_table)


command.add_command(communities)
command.add_command(rollup)
command.add_command(compare)
command.add_command(derivation)


def _show_table(frames: Iterable[Trace]) -> None:
    """A table of edges, of chains, or both one after the other; the summary stands beside it."""
    snippets: list[Snippet] = []
    for frame in frames:
        match frame:
            case SnippetBatch():
                snippets += frame.snippets
            case StreamSummary():
                _show_snippets(snippets)
                for line in describe(frame, {}):
                    note(line)
            case _:
                pass


def _show_snippets(snippets: list[Snippet]) -> None:
    """Edges, then chains."""
    edges = [each for each in snippets if isinstance(each.payload, GraphEdge)]
    chains = [each for each in snippets if isinstance(each.payload, GraphPath)]
    if edges:
        columns = [
            Column("#", right=True),
            Column("from", shrinks=True),
            Column("relation"),
            Column("to", shrinks=True),
        ]
        columns += [Column("since"), Column("until"), Column("source", shrinks=True), Column("place", shrinks=True)]
        show_table(columns, map(_edge_row, edges))
    if chains:
        columns = [Column("#", right=True), Column("hops", right=True), Column("path", shrinks=True)]
        columns += [Column("sources", shrinks=True)]
        show_table(columns, map(_chain_row, chains))


def _edge_row(snippet: Snippet) -> tuple[object, ...]:
    edge = snippet.payload
    assert isinstance(edge, GraphEdge)
    source, target = (node.label or node.node_id for node in (edge.source, edge.target))
    place = (snippet.lineage.doc_id, snippet.lineage.source_locator)
    return (snippet.rank, source, edge.relation, target, edge.valid_from, edge.valid_to, *place)


def _chain_row(snippet: Snippet) -> tuple[object, ...]:
    path = snippet.payload
    assert isinstance(path, GraphPath)
    documents = dict.fromkeys(source.doc_id for edge in path.edges for source in edge.sources)
    return (snippet.rank, len(path.edges), chain_text(path), ", ".join(documents))
