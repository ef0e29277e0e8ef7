"""`groundwire why`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import click

from groundwire import CallOptions, Client, ErrorReason, GroundwireError, Retrieval, StoredDocument, field
from groundwire_server.cli.options import WORDS, json_option, library_option, mode_option, server_options
from groundwire_server.cli.output import show_json
from groundwire_server.cli.session import Session
from groundwire_server.cli.streams import printable, say_exactly
from groundwire_server.cli.terminal import paint
from groundwire_server.cli.values import when
from groundwire_server.text import tokenize

__all__ = ["command"]

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Reason:
    """One step on the way of a passage into an answer. holds: it does not keep the document out."""

    step: str
    holds: bool
    message: str


@click.command(name="why")
@click.argument("query", type=WORDS)
@click.argument("document", type=WORDS)
@mode_option
@library_option
@json_option
@server_options
@click.pass_obj
def command(session: Session, query: str, document: str, mode: str, library: str, as_json: bool) -> None:
    """Say why passages of DOCUMENT were returned for QUERY or were not, step by step.

    \b
    groundwire why "energy contract" reports/2024.md
    groundwire why "エネルギー契約" reports/2024.md --mode lexical

    Is it stored, is it active, has it chunks and vectors, do its words match, which rank has its best passage.
    """
    with session.client(embedder=mode != "lexical") as client:
        for reason in _reasons(client, query, document, mode, library):
            if as_json:
                show_json(reason)
            else:
                mark = paint("yes", "green") if reason.holds else paint("no ", "yellow")
                say_exactly(f"{mark}  {reason.step:<9} {printable(reason.message)}")


def _reasons(client: Client, query: str, document: str, mode: str, library: str) -> Iterator[Reason]:
    stored = _stored(client, document, library)
    if stored is None:
        near = [each.doc_id for each, _ in zip(client.list_documents(library=library), range(3), strict=False)]
        names = f"; there are for example {', '.join(near)}" if near else "; it holds no document at all"
        yield Reason("stored", False, f"the library {library} has no document {document}{names}")
        return
    revision = stored.revision
    yield Reason("stored", True, f"revision {revision.revision}, stored {when(revision.ingested_at)}")
    if not revision.active:
        when_out = f"withdrawn {when(revision.retired_at)}; `groundwire ingest` brings it back"
        yield Reason("active", False, when_out)
        return
    yield Reason("active", True, f"{revision.chunks} chunks of {revision.text_chars} characters answer questions")
    if mode != "lexical":
        yield _vectors(stored)
    if mode != "vector":
        yield _words(stored, query)
    yield _rank(client, query, document, mode, library)


def _stored(client: Client, document: str, library: str) -> StoredDocument | None:
    try:
        return client.get_document(document, library=library, include_text=True, include_chunks=True)
    except GroundwireError as error:
        if error.reason is ErrorReason.UNKNOWN_DOCUMENT:
            return None
        raise


def _vectors(stored: StoredDocument) -> Reason:
    done, chunks = sum(chunk.embedded for chunk in stored.chunks), len(stored.chunks)
    if done == chunks:
        return Reason("vectors", True, "every chunk can be found by its meaning")
    return Reason("vectors", False, f"{done} of {chunks} chunks can be found by meaning; see `groundwire doctor`")


def _words(stored: StoredDocument, query: str) -> Reason:
    """Which words of the query stand in the document: what a search by words finds is exactly these."""
    asked = list(dict.fromkeys(tokenize(query)))
    there = set(tokenize(f"{stored.revision.title}\n{stored.text}"))
    found, missing = [each for each in asked if each in there], [each for each in asked if each not in there]
    absent = f"; not in it: {', '.join(missing)}" if missing else ""
    if not found:
        return Reason("words", False, f"none of the words of the query stands in it{absent}")
    return Reason("words", True, f"in it: {', '.join(found)}{absent}")


def _rank(client: Client, query: str, document: str, mode: str, library: str) -> Reason:
    limits = client.server_info().limits
    most = limits.max_top_k if limits else 200
    everywhere = _retrieve(client, query, mode, most, {"libraries": [library]})
    best = next((each for each in everywhere.snippets if each.lineage.doc_id == document), None)
    if best is not None:
        ahead = f"of {everywhere.summary.candidates} candidates; --top-k {best.rank} or more returns it"
        return Reason("rank", best.rank <= _SHOWN, f"{best.rank} {ahead}: {best.lineage.source_locator}")
    alone = _retrieve(client, query, mode, 1, {"libraries": [library], "filter": field("doc_id") == document})
    if not alone.snippets:
        return Reason("rank", False, "no passage of it matches, even when no other document is searched")
    last = f"the {len(everywhere.snippets)} passages that the server returns at most are all ahead of it"
    return Reason("rank", False, f"{last}; alone, its best is {alone.snippets[0].lineage.source_locator}")


def _retrieve(client: Client, query: str, mode: str, top_k: int, options: CallOptions) -> Retrieval:
    return client.retrieve(query, top_k=top_k, mode=mode.upper(), **options).collect()
