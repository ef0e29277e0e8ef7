"""`groundwire glossary`."""

from __future__ import annotations

from pathlib import Path

import click

from groundwire_server.cli.options import library_option
from groundwire_server.cli.session import Session

__all__ = ["command"]


@click.group(name="glossary")
def command() -> None:
    """The names under which figures may be asked for."""


@command.command(name="load")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@library_option
@click.option("--add", is_flag=True, help="Keep the terms that FILE does not name.")
@click.option("--dry-run", is_flag=True, help="Check, and change nothing.")
@click.pass_obj
def load(session: Session, file: Path, library: str, add: bool, dry_run: bool) -> None:
    """Make FILE (TOML or JSON lines) the glossary of a library. All or nothing."""
    from groundwire_server.cli.terms import read_terms

    terms = read_terms(file)
    with session.client() as client:
        update = client.update_glossary(terms, library=library, replace_all=not add, validate_only=dry_run)
    for finding in update.findings:
        name = finding.term.code if finding.term else ""
        click.echo(f"look at {name}: {finding.message} ({finding.fact_count} facts)")
    click.echo(f"{len(terms)} terms {'checked' if dry_run else 'loaded'}")
