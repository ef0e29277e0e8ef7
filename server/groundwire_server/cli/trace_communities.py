"""`groundwire trace communities`."""

from __future__ import annotations

import click

from groundwire_server.cli.options import COUNT, WORDS, call_options
from groundwire_server.cli.session import Session
from groundwire_server.cli.trace_formats import settled_format, show_lines, show_trace
from groundwire_server.cli.walking_options import walking_options

__all__ = ["communities"]


@click.command(name="communities")
@click.argument("nodes", nargs=-1, type=WORDS)
@click.option("--most", type=COUNT, help="How many are shown. [10]")
@walking_options
@click.pass_obj
def communities(
    session: Session,
    nodes: tuple[str, ...],
    most: int | None,
    valid_in: str,
    unverified: bool,
    libraries: tuple[str, ...],
    language: str | None,
    strict: bool,
    as_json: bool,
    form: str | None,
) -> None:
    """Show what hangs together: the largest communities of nodes, or those of NODES, with sentences of their sources.

    \b
    groundwire trace communities --most 5
    groundwire trace communities Acme
    """
    with session.client(embedder=False) as client:
        stream = client.communities(
            nodes,
            max_communities=most or 0,
            valid_in=valid_in,
            include_unverified=unverified,
            **call_options(libraries, language, strict),
        )
        show_trace(stream, settled_format(form, as_json), show_lines)
