"""Sets of texts and questions of the shared data, each in a library of its own, one document a chunk."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from groundwire_server.evidence import Attribute, Label, Span
from groundwire_server.glossary import Glossary
from groundwire_server.library import Library, Snapshot
from groundwire_server.store import NewChunk, NewDocument

__all__ = ["read_lines", "set_library", "stored_texts", "whole_document"]


def read_lines(path: Path) -> list[dict[str, Any]]:
    """One JSON object a line; lines end at newline alone."""
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


@contextmanager
def stored_texts(documents: Iterable[NewDocument], glossary: Glossary | None = None) -> Iterator[Snapshot]:
    """Documents in a library of their own."""
    with tempfile.TemporaryDirectory() as place:
        made = Library(Path(place) / "default", "default", secret=b"benchmark")
        if glossary is not None:
            made.set_glossary(glossary)
        with made.writing() as writer:
            for document in documents:
                writer.replace_document(document)
        yield made.snapshot()
        made.close()


@contextmanager
def set_library(folder: Path) -> Iterator[Snapshot]:
    """The documents of a set in a library of their own."""
    lines = read_lines(folder / "corpus.jsonl")
    with stored_texts(whole_document(line["doc_id"], line["title"], line["text"]) for line in lines) as snapshot:
        yield snapshot


def whole_document(doc_id: str, title: str, text: str, attributes: Sequence[Attribute] = ()) -> NewDocument:
    """One chunk, the whole text; the title is indexed with it."""
    raw = text.encode("utf-8", "surrogatepass")
    chunks = (NewChunk(Span(0, len(text)), f"{len(doc_id)}", header=title),)
    digest = hashlib.sha256(raw).digest()
    return NewDocument(
        doc_id,
        title,
        "text/plain",
        text,
        digest,
        len(raw),
        "whole",
        chunks,
        Label.INTERNAL,
        attributes=tuple(attributes),
    )
