"""Steps of a client: what it sends, and what changes with each part of it that becomes durable."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from groundwire import Attribute, DocumentUpload, FactFile, FactRecord, RelationRecord, Term
from tests.durability.state import Change, LearnNames, PutDocument, PutFigure, PutRelation, State, WithdrawDocument

__all__ = [
    "PART_BYTES",
    "DocumentStep",
    "FactStep",
    "GlossaryStep",
    "SentDocument",
    "SentRows",
    "Step",
    "WithdrawStep",
    "json_lines",
    "records",
    "rows",
    "states_of",
    "text_file",
]

PART_BYTES = 256 * 1024
"""What the client puts into one part."""

Row = FactRecord | RelationRecord


@dataclass(frozen=True)
class SentDocument:
    """A file, and what it changes once its last part is durable.

    alone: it is sent once all before it is acknowledged, and so is each of its parts: they are committed one by one.
    refused: it comes with a wrong checksum, so that nothing of it is stored.
    """

    doc_id: str
    content: bytes
    changes: tuple[Change, ...] = ()
    alone: bool = False
    refused: bool = False
    attributes: tuple[Attribute, ...] = ()

    @property
    def parts(self) -> int:
        """Messages that it takes."""
        return _parts(self.content)

    def upload(self, content: bytes | Iterable[bytes]) -> DocumentUpload:
        """It, with its content as it is to be read."""
        digest = bytes(31) + b"?" if self.refused else b""
        return DocumentUpload(self.doc_id, content, attributes=self.attributes, content_sha256=digest)


@dataclass(frozen=True)
class SentRows:
    """Records that travel in one part, or a file of rows; and what they change."""

    records: tuple[Row, ...] = ()
    file: str = ""
    content: bytes = b""
    changes: tuple[Change, ...] = ()
    alone: bool = False

    @property
    def parts(self) -> int:
        """Messages that they take."""
        return _parts(self.content)

    def upload(self, content: bytes | Iterable[bytes]) -> tuple[Row | FactFile, ...]:
        """They, a file with its content as it is to be read."""
        return self.records or (FactFile(self.file, content),)


@dataclass(frozen=True)
class DocumentStep:
    """A stream of documents."""

    ingest_id: str
    sent: tuple[SentDocument, ...]


@dataclass(frozen=True)
class FactStep:
    """A stream of figures and relations. `refused` rows come back, and are stored nowhere."""

    ingest_id: str
    sent: tuple[SentRows, ...]
    refused: int = 0


@dataclass(frozen=True)
class WithdrawStep:
    """A call that takes a document out."""

    doc_id: str


@dataclass(frozen=True)
class GlossaryStep:
    """A call that puts terms into the glossary."""

    terms: tuple[Term, ...]


Step = DocumentStep | FactStep | WithdrawStep | GlossaryStep


def states_of(state: State, step: Step) -> list[State]:
    """The states that a step makes, part by part, the one before it first; a part in the midst of a file makes none."""
    match step:
        case WithdrawStep(doc_id):
            return [state, state.after([WithdrawDocument(doc_id)])]
        case GlossaryStep(terms):
            names = tuple((word.text, term.code) for term in terms for word in term.synonyms)
            return [state, state.after([LearnNames(names)])]
        case DocumentStep(_, sent) | FactStep(_, sent):
            states = [state]
            for each in sent:
                states += [states[-1]] * (each.parts - 1)
                states.append(states[-1].after(each.changes))
            return states


def text_file(
    doc_id: str, text: str, *, bom: bool = False, alone: bool = False, attributes: tuple[Attribute, ...] = ()
) -> SentDocument:
    """A document of this text."""
    content = (b"\xef\xbb\xbf" if bom else b"") + text.encode()
    return SentDocument(doc_id, content, (PutDocument(doc_id, text),), alone, attributes=attributes)


def json_lines(name: str, texts: dict[str, str], *, alone: bool = False) -> SentDocument:
    """Several documents in one file."""
    lines = [json.dumps({"doc_id": doc_id, "title": f"Title of {doc_id}", "text": texts[doc_id]}) for doc_id in texts]
    changes = tuple(PutDocument(doc_id, text) for doc_id, text in texts.items())
    return SentDocument(name, "\n".join(lines).encode(), changes, alone)


def records(*given: Row, refused: Row | None = None, alone: bool = False) -> SentRows:
    """Records in one part; `refused` is among them, and bad."""
    changes = tuple(_change(each) for each in given)
    return SentRows(given if refused is None else (refused, *given), changes=changes, alone=alone)


def rows(name: str, given: Iterable[dict[str, str]], refused: Iterable[int] = (), *, alone: bool = False) -> SentRows:
    """A file of JSON lines; those with the numbers `refused`, from 0, are bad."""
    given, bad = list(given), set(refused)
    changes = tuple(_change_of_row(row) for number, row in enumerate(given) if number not in bad)
    content = "\n".join(json.dumps(row, ensure_ascii=False) for row in given).encode()
    return SentRows(file=name, content=content, changes=changes, alone=alone)


def _change(record: Row) -> Change:
    if isinstance(record, FactRecord):
        return PutFigure((record.metric, record.entity, record.period), str(record.value))
    return PutRelation((f"entity:{record.subject}", record.relation, f"entity:{record.object}"))


def _change_of_row(row: dict[str, str]) -> Change:
    if "value" in row:
        return PutFigure((row["metric"], row["entity"], row["period"]), row["value"])
    return PutRelation((f"entity:{row['subject']}", row["relation"], f"entity:{row['object']}"))


def _parts(content: bytes) -> int:
    return max(1, -(-len(content) // PART_BYTES))
