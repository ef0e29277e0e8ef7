"""`groundwire libraries`."""

from __future__ import annotations

import sys
from typing import Any

import click

from groundwire import Client, IndexPart, Job, JobState, Library
from groundwire_server.cli.ending import FAILED
from groundwire_server.cli.groups import CommandGroup
from groundwire_server.cli.library_settings import asks_for_model, changed_library, library_settings_options
from groundwire_server.cli.options import WORDS, json_option, server_options
from groundwire_server.cli.output import show_json
from groundwire_server.cli.session import Session
from groundwire_server.cli.streams import note, say
from groundwire_server.cli.tables import Column, show_heading, show_pairs, show_table
from groundwire_server.cli.values import as_words, share
from groundwire_server.cli.watching import outcome, watch_job

__all__ = ["command"]

_library = click.argument("library_id", metavar="LIBRARY", type=WORDS)
_wait = click.option("--wait/--no-wait", default=True, show_default=True, help="Wait for the job that this begins.")


@click.group(name="libraries", cls=CommandGroup)
def command() -> None:
    """Several collections in one server, each with its own documents, figures, relations, glossary and settings.

    \b
    groundwire libraries create minutes --description "Minutes of the board"
    groundwire ingest ./minutes --library minutes
    """


@command.command(name="list")
@json_option
@server_options
@click.pass_obj
def list_(session: Session, as_json: bool) -> None:
    """List libraries with what is in them; `vectors` is the share that can be found by meaning.

    \b
    groundwire libraries list
    """
    with session.client(embedder=True) as client:
        libraries = client.list_libraries()
    if as_json:
        for each in libraries:
            show_json(each)
        return
    numbers = [Column(name, right=True) for name in ("documents", "chunks", "facts", "relations", "vectors")]
    fault = Column("fault", shrinks=True, colour=lambda _: "red")
    show_table([Column("library"), *numbers, Column("description", shrinks=True), fault], map(_row, libraries))


@command.command(name="show")
@_library
@json_option
@server_options
@click.pass_obj
def show(session: Session, library_id: str, as_json: bool) -> None:
    """Show LIBRARY whole: counts, settings with their origin, attributes that filters may name.

    \b
    groundwire libraries show default
    """
    with session.client(embedder=True) as client:
        library = _find(client, library_id)
    if as_json:
        show_json(library)
    else:
        _describe(library)


@command.command(name="create")
@_library
@library_settings_options
@json_option
@server_options
@click.pass_obj
def create(session: Session, /, library_id: str, dry_run: bool, as_json: bool, **said: Any) -> None:
    """Make LIBRARY, empty.

    \b
    groundwire libraries create minutes --description "Minutes of the board" --chunk-chars 800
    """
    asks = asks_for_model(said, session.settings().ingest.chunker)
    with session.client(embedder=asks) as client:
        if any(each.library_id == library_id for each in client.list_libraries()):
            hint = f"`groundwire libraries set {library_id}` changes it"
            raise click.ClickException(f"the library {library_id} is there already; {hint}")
        update = client.save_library(changed_library(Library(library_id), said), validate_only=dry_run)
    if as_json:
        show_json(update)
    else:
        say(f"{library_id} {'would be made' if dry_run else 'is made'}")


@command.command(name="set")
@_library
@library_settings_options
@_wait
@json_option
@server_options
@click.pass_obj
def set_(session: Session, /, library_id: str, dry_run: bool, wait: bool, as_json: bool, **said: Any) -> int | None:
    """Change settings of LIBRARY; what is not named stays as it is.

    \b
    groundwire libraries set default --chunk-chars 800
    groundwire libraries set default --set fusion=rrf --set ambiguous=report

    Another chunker or budget cuts the documents anew, in a job; old citations can still be verified.
    """
    if all(value in (None, ()) for value in said.values()):
        raise click.UsageError("No setting is named that is to change.")
    with session.client(embedder=True) as client:
        before = _find(client, library_id)
        update = client.save_library(changed_library(before, said), validate_only=dry_run)
        job = _follow(client, update.job, wait and not dry_run, as_json)
    if as_json:
        show_json(update)
    else:
        say(f"{library_id} {'would be changed' if dry_run else 'is changed'}")
        _tell(job)
    return _code(job, wait)


@command.command(name="reindex")
@_library
@click.option(
    "--part",
    "parts",
    type=click.Choice(["lexical", "vectors", "graph"]),
    multiple=True,
    help="Only this; may be repeated. [whatever is missing or damaged]",
)
@_wait
@json_option
@server_options
@click.pass_obj
def reindex(session: Session, library_id: str, parts: tuple[str, ...], wait: bool, as_json: bool) -> int | None:
    """Build the indexes of LIBRARY anew from its store. It answers meanwhile.

    \b
    groundwire libraries reindex default --part lexical
    """
    with session.client(embedder=True) as client:
        job = client.start_reindex(library_id, parts=[IndexPart.read(part.upper()) for part in parts])
        job = _follow(client, job, wait, as_json) or job
    if as_json:
        show_json(job)
    else:
        _tell(job)
    return _code(job, wait)


@command.command(name="delete")
@_library
@click.option("--yes", is_flag=True, help="Do not ask.")
@_wait
@json_option
@server_options
@click.pass_obj
def delete(session: Session, library_id: str, yes: bool, wait: bool, as_json: bool) -> int | None:
    """Delete LIBRARY with all that is in it, for good. On a terminal it asks for the name again.

    \b
    groundwire libraries delete minutes
    groundwire libraries delete minutes --yes

    One document is taken out with `groundwire documents withdraw`, and can come back.
    """
    with session.client(embedder=False) as client:
        planned = client.delete_library(library_id, validate_only=True)
        if not yes:
            _confirm(planned.library)
        deleted = client.delete_library(library_id, confirmation=planned.confirmation)
        job = _follow(client, deleted.job, wait, as_json)
    if as_json:
        show_json(deleted)
    else:
        say(f"{library_id} is deleted")
    return _code(job, wait)


def _find(client: Client, library_id: str) -> Library:
    libraries = client.list_libraries()
    found = next((each for each in libraries if each.library_id == library_id), None)
    if found is None:
        known = ", ".join(each.library_id for each in libraries) or "none yet"
        raise click.ClickException(f"there is no library {library_id}; there are: {known}")
    return found


def _confirm(library: Library) -> None:
    """Ask for the name again. Raises when there is nobody to ask, or the answer is another."""
    if not sys.stdin.isatty():
        raise click.UsageError("There is nobody to ask: --yes deletes without asking.")
    held = f"{library.documents} documents, {library.facts} facts, {library.relations} relations"
    note(f"{library.library_id} holds {held}. They cannot be brought back.")
    answer = click.prompt("Name of the library to delete", default="", show_default=False, err=True)
    if answer.strip() != library.library_id:
        raise click.ClickException("nothing was deleted")


def _follow(client: Client, job: Job | None, wait: bool, as_json: bool) -> Job | None:
    """The job at its end where it is waited for, else as it began."""
    return watch_job(client, job.job_id, as_json=as_json) if job is not None and job.job_id and wait else job


def _tell(job: Job | None) -> None:
    if job is None:
        return
    say(outcome(job) if job.ended else f"{as_words(job.kind.name)} goes on: groundwire jobs watch {job.job_id}")


def _code(job: Job | None, wait: bool) -> int | None:
    return FAILED if wait and job is not None and job.ended and job.state is not JobState.SUCCEEDED else None


def _row(library: Library) -> tuple[object, ...]:
    return (
        library.library_id,
        library.documents,
        library.active_chunks,
        library.facts,
        library.relations,
        share(library.embedding_coverage),
        library.description,
        library.fault.message if library.fault else "",
    )


def _describe(library: Library) -> None:
    show_pairs(
        [
            ("library", library.library_id),
            ("description", library.description),
            ("fault", library.fault.message if library.fault else ""),
            ("snapshot", library.snapshot_id),
            ("documents", library.documents),
            ("chunks", library.active_chunks),
            ("facts", library.facts),
            ("relations", library.relations),
            ("vectors", share(library.embedding_coverage)),
        ]
    )
    if index := library.index:
        show_heading("Index")
        show_pairs(
            [
                ("tokenizer", index.tokenizer),
                ("chunker", index.chunker),
                ("chunk_chars", index.chunk_chars),
                ("overlap_chars", index.overlap_chars),
                ("embedder", index.embedder),
                ("contextual_header", str(bool(index.contextual_header)).lower()),
            ]
        )
    if tuning := library.tuning:
        show_heading("Retrieval")
        switches = ("glossary_variants", "graph", "corrective", "adaptive")
        names = ("fusion", "query_transform", "filter_extractor", "corrective_judge", "decomposition")
        show_pairs(
            [
                *((name, getattr(tuning, name)) for name in names),
                *((name, "" if (on := getattr(tuning, name)) is None else str(on).lower()) for name in switches),
            ]
        )
    if library.settings:
        show_heading("Settings")
        columns = [Column("setting"), Column("value", shrinks=True), Column("origin")]
        show_table(columns, [(each.name, each.value, each.origin) for each in library.settings])
    show_heading("Attributes that filters may name")
    show_table(
        [Column("attribute"), Column("type")], [(a.name, as_words(a.value_type.name)) for a in library.attributes]
    )
