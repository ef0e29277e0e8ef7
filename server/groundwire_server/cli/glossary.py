"""`groundwire glossary`."""

from __future__ import annotations

from pathlib import Path

import click

from groundwire_server.cli.groups import CommandGroup
from groundwire_server.cli.options import json_option, library_option, server_options
from groundwire_server.cli.output import show_json
from groundwire_server.cli.session import Session
from groundwire_server.cli.streams import say

__all__ = ["command"]


@click.group(name="glossary", cls=CommandGroup)
def command() -> None:
    """The names under which figures may be asked for."""


@command.command(name="load")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@library_option
@click.option("--add", is_flag=True, help="Keep the terms that FILE does not name.")
@click.option("--dry-run", is_flag=True, help="Check, and change nothing.")
@json_option
@server_options
@click.pass_obj
def load(session: Session, file: Path, library: str, add: bool, dry_run: bool, as_json: bool) -> None:
    """Make FILE (TOML or JSON lines) the glossary of a library. All or nothing."""
    from groundwire_server.cli.terms import read_terms

    terms = read_terms(file)
    with session.client(embedder=False) as client:
        update = client.update_glossary(terms, library=library, replace_all=not add, validate_only=dry_run)
    if as_json:
        show_json(update)
        return
    for finding in update.findings:
        name = finding.term.code if finding.term else ""
        say(f"look at {name}: {finding.message} ({finding.fact_count} facts)")
    say(f"{len(terms)} terms {'checked' if dry_run else 'loaded'}")
