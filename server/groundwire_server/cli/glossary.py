"""`groundwire glossary`."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click

from groundwire import Client, ErrorReason, GlossaryFinding, GroundwireError, TermDescription
from groundwire_server.cli.ending import FAILED
from groundwire_server.cli.groups import CommandGroup
from groundwire_server.cli.lint import LintFinding, lint_file, lint_terms
from groundwire_server.cli.options import json_option, library_option, server_options
from groundwire_server.cli.output import show_json
from groundwire_server.cli.session import Session
from groundwire_server.cli.stored_terms import stored_glossary
from groundwire_server.cli.streams import note, printable, say, say_exactly
from groundwire_server.cli.tables import Column, show_table
from groundwire_server.cli.terminal import paint
from groundwire_server.cli.values import as_words

__all__ = ["command"]


@click.group(name="glossary", cls=CommandGroup)
def command() -> None:
    """The names under which figures may be asked for.

    \b
    groundwire glossary lint glossary.toml
    groundwire glossary load glossary.toml
    groundwire glossary coverage
    """


@command.command(name="load")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@library_option
@click.option("--add", is_flag=True, help="Keep the terms that FILE does not name.")
@click.option("--dry-run", is_flag=True, help="Check, and change nothing.")
@json_option
@server_options
@click.pass_obj
def load(session: Session, file: Path, library: str, add: bool, dry_run: bool, as_json: bool) -> None:
    """Make FILE (TOML, YAML or JSON lines) the glossary of a library. All or nothing.

    \b
    groundwire glossary load glossary.toml --dry-run
    """
    from groundwire_server.cli.terms import read_placed_terms

    terms, places = read_placed_terms(file)
    with session.client(embedder=False) as client:
        try:
            update = client.update_glossary(terms, library=library, replace_all=not add, validate_only=dry_run)
        except GroundwireError as error:
            if error.reason is not ErrorReason.GLOSSARY_CONFLICT:
                raise
            said = re.sub(r"\bput\[(\d+)\]", lambda put: places[int(put[1])], error.message)
            allow = f"groundwire libraries set {shlex.quote(library)} --set ambiguous=report"
            raise click.ClickException(f"{file}: {said} For the latter: {allow} (GLOSSARY_CONFLICT)") from None
    if as_json:
        show_json(update)
        return
    for finding in update.findings:
        name = finding.term.code if finding.term else ""
        say(f"look at {name}: {_told(finding)}")
    if update.findings_omitted:
        say(f"and {update.findings_omitted} more; `groundwire glossary coverage` lists names without a term")
    say(f"{len(terms)} terms {'checked' if dry_run else 'loaded'}")


@command.command(name="lint")
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@library_option
@json_option
@server_options
@click.pass_obj
def lint(session: Session, file: Path | None, library: str, as_json: bool) -> int | None:
    """Check FILE, or without one the glossary of a library as it is.

    \b
    groundwire glossary lint glossary.toml
    groundwire glossary lint --library minutes

    Errors: a name that two terms of a kind share (both places are told; a library with the setting ambiguous=report
    takes it, and answers with all that it may mean), a derivation that is no formula, names an
    unknown metric or leads back to itself, a field that does not hold. To look at: additivity that was assumed,
    metrics without a unit or with another one than their facts, ratios that are added, identifiers that do not check,
    names in facts that no term has. Exit code 1 when there are errors.
    """
    if file is not None:
        terms, findings = lint_file(file)
    else:
        with session.client(embedder=False) as client:
            terms, findings = _lint_library(client, library)
    for each in findings:
        _show_finding(each, as_json)
    errors = sum(each.severity == "error" for each in findings)
    if not as_json:
        note(f"{terms} terms, {errors} errors, {len(findings) - errors} to look at")
    return FAILED if errors else None


@command.command(name="coverage")
@click.option("--missing", is_flag=True, help="Only terms without figures or with gaps, and names without a term.")
@library_option
@json_option
@server_options
@click.pass_obj
def coverage(session: Session, missing: bool, library: str, as_json: bool) -> None:
    """Show for which periods each term has figures, where there are gaps, and names in facts that no term has.

    \b
    groundwire glossary coverage --missing
    """
    with session.client(embedder=False) as client:
        described = list(client.describe_metrics(libraries=[library], unlisted=True))
    shown = [each for each in described if not missing or each.gaps or each.unlisted or not each.fact_count]
    if as_json:
        for row in shown:
            show_json(row)
        return
    columns = [
        Column("kind"),
        Column("code", shrinks=True),
        Column("label", shrinks=True),
        Column("units", shrinks=True),
        Column("facts", right=True, colour={"0": "yellow"}.get),
        Column("periods", right=True),
        Column("first"),
        Column("last"),
        Column("gaps", shrinks=True, colour=lambda _: "yellow"),
    ]
    show_table(columns, map(_coverage_row, shown))
    unlisted = sum(each.unlisted for each in described)
    with_figures = sum(each.fact_count > 0 for each in described) - unlisted
    note(f"{with_figures} of {len(described) - unlisted} terms have figures; {unlisted} names in facts have no term")


def _lint_library(client: Client, library: str) -> tuple[int, list[LintFinding]]:
    terms = [each.term for each in client.describe_metrics(libraries=[library])]
    glossary = stored_glossary(terms)
    findings = [each for each in lint_terms(glossary, with_places=False) if each.severity == "error"]
    update = client.update_glossary(library=library, validate_only=True)
    told = {(each.where, each.message) for each in findings}
    for each in update.findings:
        code = each.term.code if each.term else ""
        if (code, each.message) not in told:
            findings.append(LintFinding("look", code, _told(each)))
    if update.findings_omitted:
        findings.append(LintFinding("look", library, f"{update.findings_omitted} more findings are not listed"))
    return len(terms), findings


def _told(finding: GlossaryFinding) -> str:
    return f"{finding.message} ({finding.fact_count} facts)" if finding.fact_count else finding.message


def _show_finding(finding: LintFinding, as_json: bool) -> None:
    if as_json:
        show_json(finding)
        return
    colour = "red" if finding.severity == "error" else "yellow"
    say_exactly(f"{paint(f'{finding.severity:<5}', colour)}  {printable(f'{finding.where}: {finding.message}')}")


def _coverage_row(each: TermDescription) -> tuple[object, ...]:
    kind = as_words(each.term.kind.name)
    first, last = (each.periods[0], each.periods[-1]) if each.periods else ("", "")
    label = "(no term)" if each.unlisted else each.term.label
    gaps = ", ".join(each.gaps) + (f" and {more} more" if (more := each.gap_count - len(each.gaps)) > 0 else "")
    units = ", ".join(unit or "(none)" for unit in each.units)
    return (kind, each.term.code, label, units, each.fact_count, each.period_count, first, last, gaps)
