"""`groundwire documents`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

import click

from groundwire import Client, DocumentRevision, Span, TextChange
from groundwire_server.cli.document_purge import command as purge
from groundwire_server.cli.groups import CommandGroup
from groundwire_server.cli.options import WORDS, json_option, library_option, server_options
from groundwire_server.cli.output import show_json
from groundwire_server.cli.session import Session
from groundwire_server.cli.streams import printable, say, say_exactly
from groundwire_server.cli.tables import Column, show_heading, show_pairs, show_table
from groundwire_server.cli.terminal import paint
from groundwire_server.cli.values import as_size, attributes_text, when

__all__ = ["command"]

_document = click.argument("document", type=WORDS)
_STATE = Column("state", colour=lambda text: "green" if text == "active" else "yellow")
_REVISION = click.IntRange(1, 2**31 - 1)
_CONTEXT = 40  # characters beside a change, within its line


@click.group(name="documents", cls=CommandGroup)
def command() -> None:
    """What is stored: list, look at, compare, withdraw and purge documents.

    \b
    groundwire documents list
    groundwire documents diff reports/2024.md
    """


@command.command(name="list")
@click.argument("prefix", type=WORDS, default="")
@click.option("--withdrawn", is_flag=True, help="Also those that were taken out.")
@library_option
@json_option
@server_options
@click.pass_obj
def list_(session: Session, prefix: str, withdrawn: bool, library: str, as_json: bool) -> None:
    """List documents by id, all or those whose id starts with PREFIX, each with its last revision.

    \b
    groundwire documents list reports/ --withdrawn
    """
    with session.client(embedder=False) as client:
        found = client.list_documents(library=library, prefix=prefix, include_withdrawn=withdrawn)
        if as_json:
            for each in found:
                show_json(each)
            return
        columns = [
            Column("document", shrinks=True),
            Column("revision", right=True),
            _STATE,
            Column("chunks", right=True),
            Column("stored"),
            Column("title", shrinks=True),
        ]
        rows = (
            (each.doc_id, each.revision, _state(each), each.chunks, when(each.ingested_at), each.title)
            for each in found
        )
        show_table(columns, rows)


@command.command(name="show")
@_document
@click.option("--revision", type=_REVISION, help="Which one. [the active one, else the last]")
@click.option("--text", "with_text", is_flag=True, help="Print the stored text and nothing else.")
@click.option("--chunks", "with_chunks", is_flag=True, help="List the chunks, and whether each has its vector.")
@library_option
@json_option
@server_options
@click.pass_obj
def show(
    session: Session,
    document: str,
    revision: int | None,
    with_text: bool,
    with_chunks: bool,
    library: str,
    as_json: bool,
) -> None:
    """Show what is known about DOCUMENT: revision, title, hash, sizes, attributes; its text and chunks if asked for.

    \b
    groundwire documents show reports/2024.md --chunks
    groundwire documents show reports/2024.md --revision 1 --text > old.md
    """
    with session.client(embedder=True) as client:
        found = client.get_document(
            document, library=library, revision=revision or 0, include_text=with_text, include_chunks=with_chunks
        )
    if as_json:
        show_json(found)
        return
    if with_text:
        click.echo(found.text, nl=not found.text.endswith("\n"))
        return
    _describe(found.revision)
    if with_chunks:
        show_heading("Chunks")
        columns = [Column("chunk"), Column("span"), Column("place", shrinks=True), Column("heading", shrinks=True)]
        columns.append(Column("vector", colour=lambda text: "green" if text == "yes" else "yellow"))
        rows = [
            (
                each.chunk_id,
                f"{each.span.start}-{each.span.end}",
                each.source_locator,
                each.heading,
                "yes" if each.embedded else "no",
            )
            for each in found.chunks
        ]
        show_table(columns, rows)


@command.command(name="history")
@_document
@library_option
@json_option
@server_options
@click.pass_obj
def history(session: Session, document: str, library: str, as_json: bool) -> None:
    """List every revision of DOCUMENT, the newest first, with the time from and to which it answered.

    \b
    groundwire documents history reports/2024.md
    """
    with session.client(embedder=False) as client:
        found = client.list_revisions(document, library=library)
        if as_json:
            for each in found:
                show_json(each)
            return
        columns = [
            Column("revision", right=True),
            _STATE,
            Column("chunks", right=True),
            Column("characters", right=True),
            Column("stored"),
            Column("retired"),
            Column("title", shrinks=True),
        ]
        show_table(columns, map(_revision_row, found))


@command.command(name="diff")
@_document
@click.option("--from", "old", type=_REVISION, help="Older revision. [the one before the newer]")
@click.option("--to", "new", type=_REVISION, help="Newer revision. [the last]")
@library_option
@json_option
@server_options
@click.pass_obj
def diff(session: Session, document: str, old: int | None, new: int | None, library: str, as_json: bool) -> None:
    """Show what changed in DOCUMENT from one revision to the next: what stood there with -, what stands there with +.

    \b
    groundwire documents diff reports/2024.md
    groundwire documents diff reports/2024.md --from 1 --to 3
    """
    with session.client(embedder=False) as client:
        changes = client.diff_revisions(document, library=library, old_revision=old or 0, new_revision=new or 0)
        shown = sum(1 for _ in _show_changes(changes, _texts(client, document, library, old, new), as_json))
    if not shown and not as_json:
        say("the texts are equal")


@command.command(name="withdraw")
@click.argument("documents", nargs=-1, required=True, type=WORDS)
@library_option
@json_option
@server_options
@click.pass_obj
def withdraw(session: Session, documents: tuple[str, ...], library: str, as_json: bool) -> None:
    """Take DOCUMENTS out of every answer, with their figures and relations.

    \b
    groundwire documents withdraw reports/2024.md
    groundwire documents list --withdrawn

    Nothing is deleted: revisions stay, so that old citations can be verified; `groundwire ingest` brings it back.
    """
    with session.client(embedder=False) as client:
        for document in documents:
            if as_json:
                show_json(client.withdraw(document, library=library))
                continue
            named_by = _named_by(client, document, library)
            done = client.withdraw(document, library=library)
            state = f"is withdrawn{named_by}" if done.withdrawn_now else "was withdrawn already"
            say(f"{document} {state}; its last revision was {done.revision}")


command.add_command(purge)


def _named_by(client: Client, document: str, library: str) -> str:
    """How many figures and relations go with a document, as far as the caller may see them."""
    figures = sum(1 for _ in client.list_facts(library=library, source_doc=document))
    relations = sum(1 for _ in client.list_relations(library=library, source_doc=document))
    told = [
        f"{count} {name if count == 1 else f'{name}s'}"
        for count, name in ((figures, "figure"), (relations, "relation"))
        if count
    ]
    return f", with {' and '.join(told)} from it" if told else ""


def _texts(client: Client, document: str, library: str, old: int | None, new: int | None) -> Callable[[bool], str]:
    """The texts that are compared, each fetched when it is first asked for: True the newer, False the older."""

    def text(newer: bool) -> str:
        last = new or next(iter(client.list_revisions(document, library=library))).revision
        revision = last if newer else old or last - 1
        return client.get_document(document, library=library, revision=revision, include_text=True).text

    return cache(text)


def _revision_row(each: DocumentRevision) -> tuple[object, ...]:
    retired = when(each.retired_at)
    return (each.revision, _state(each), each.chunks, each.text_chars, when(each.ingested_at), retired, each.title)


def _state(revision: DocumentRevision) -> str:
    return "active" if revision.active else "retired"


def _describe(revision: DocumentRevision) -> None:
    show_pairs(
        [
            ("document", revision.doc_id),
            ("revision", revision.revision),
            ("state", _state(revision)),
            ("title", revision.title),
            ("media type", revision.media_type),
            ("sha256", revision.content_sha256.hex()),
            ("size", as_size(revision.content_bytes)),
            ("characters", revision.text_chars),
            ("chunks", revision.chunks),
            ("valid as of", when(revision.valid_as_of)),
            ("stored", when(revision.ingested_at)),
            ("retired", when(revision.retired_at)),
            ("attributes", attributes_text(revision.attributes)),
        ]
    )


def _show_changes(changes: Iterable[TextChange], text: Callable[[bool], str], as_json: bool) -> Iterable[TextChange]:
    """Each change within its line: a letter or two alone says little. `text` gives the newer text, else the older."""
    for change in changes:
        if as_json:
            show_json(change)
        else:
            old, new = change.old_span, change.new_span
            say_exactly(paint(f"@@ {old.start}-{old.end} -> {new.start}-{new.end} @@", "cyan"))
            for mark, changed, span, newer, colour in (
                ("-", change.old_text, old, False, "red"),
                ("+", change.new_text, new, True, "green"),
            ):
                lines = in_its_line(text(newer), span).splitlines() if changed else ()
                for line in lines:
                    say_exactly(paint(f"{mark} {printable(line)}", colour))
        yield change


def in_its_line(text: str, span: Span) -> str:
    """What stands at a span with what is beside it in its line, cut where that is long.

    >>> in_its_line("One line.\\nIt makes batteries for buses.", Span(34, 38))
    'It makes batteries for buses.'
    """
    line = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", span.end)
    end = len(text) if end < 0 else end
    first, last = max(line, span.start - _CONTEXT), min(end, span.end + _CONTEXT)
    return f"{'…' if first > line else ''}{text[first:last]}{'…' if last < end else ''}"
