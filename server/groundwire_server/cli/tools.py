"""`groundwire tools`."""

from __future__ import annotations

import json

import click

from groundwire_server.cli.options import WORDS, json_option, server_options
from groundwire_server.cli.output import show_json
from groundwire_server.cli.session import Session
from groundwire_server.cli.streams import say_exactly, speaks_unicode
from groundwire_server.cli.tables import Column, show_table

__all__ = ["command"]


@click.command(name="tools")
@click.option(
    "--form",
    type=click.Choice(["mcp", "openai", "anthropic"]),
    default="mcp",
    show_default=True,
    help="Whose shape the definitions have.",
)
@click.option(
    "--language", type=click.Choice(["en", "zh", "ja"]), default="en", show_default=True, help="Of the descriptions."
)
@click.option(
    "--in", "libraries", type=WORDS, multiple=True, metavar="LIBRARY", help="Library to name in them; may be repeated."
)
@click.option("--definitions", is_flag=True, help="Print the definitions as one JSON array, to hand to a model.")
@json_option
@server_options
@click.pass_obj
def command(
    session: Session, form: str, language: str, libraries: tuple[str, ...], definitions: bool, as_json: bool
) -> None:
    """Describe what an agent can call, for function calling or the Model Context Protocol.

    \b
    groundwire tools
    groundwire tools --form openai --definitions > tools.json
    """
    with session.client(embedder=False) as client:
        listed = client.list_tools(libraries=libraries, form=form.upper(), language=language)
    if definitions:
        whole = [json.loads(each.definition_json) for each in listed.tools]
        say_exactly(json.dumps(whole, ensure_ascii=not speaks_unicode(), indent=1))
    elif as_json:
        for each in listed.tools:
            show_json(each)
    else:
        columns = [Column("tool"), Column("method"), Column("description", shrinks=True)]
        show_table(columns, [(each.name, each.grpc_method, each.description) for each in listed.tools])
