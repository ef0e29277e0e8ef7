"""However a client cuts, repeats and loses its connection, the library and what it is told are the same in the end."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.errors import ErrorReason
from groundwire_server.evidence import Attribute, Label
from groundwire_server.ingest import (
    Ack,
    DocumentHead,
    DocumentOutcome,
    DocumentRules,
    IngestEvent,
    IngestLimits,
    IngestOpening,
    IngestSummary,
)
from groundwire_server.library import Library
from tests.ingest.support import INGEST, desk_for, make_library, texts
from tests.support.hostile_text import hostile_text

HEADS = st.builds(
    DocumentHead,
    st.sampled_from(["a.txt", "b.md", "c/d.txt", "e.odt", "f.jsonl"]),
    label=st.none() | st.sampled_from(Label),
    attributes=st.sampled_from([(), (Attribute("n", 1),), (Attribute("n", "one"),)]),
)
JSON_LINES = st.just(b'{"doc_id": "j1", "text": "one"}\n{"doc_id": "j2", "text": ""}\nno json')
FILES = st.lists(st.tuples(HEADS, hostile_text(12).map(str.encode) | JSON_LINES), min_size=1, max_size=5)


@dataclass(frozen=True)
class Part:
    seq: int
    head: DocumentHead | None
    content: bytes
    last: bool


def cut(files: list[tuple[DocumentHead, bytes]], lengths: list[int]) -> list[Part]:
    """The files in parts whose lengths are taken from a list, over and over; a part may be empty."""
    parts: list[Part] = []
    for head, raw in files:
        first, offset = True, 0
        while first or offset < len(raw):
            length = lengths[len(parts) % len(lengths)] if any(lengths) else len(raw)
            end = min(len(raw), offset + length)
            parts.append(Part(len(parts) + 1, head if first else None, raw[offset:end], end == len(raw)))
            first, offset = False, end
    return parts


class Client:
    """Sends the parts by the book and remembers what it was told; `disturb` says what goes wrong before each step."""

    def __init__(self, library: Callable[[], Library], parts: list[Part], limits: IngestLimits) -> None:
        self.library = library
        self.parts = parts
        self.limits = limits
        self.acknowledged = 0
        self.told: dict[int, list[DocumentOutcome]] = {}
        self.summary: IngestSummary | None = None

    def hear(self, events: list[IngestEvent]) -> None:
        fresh: dict[int, list[DocumentOutcome]] = {}
        for event in events:
            if isinstance(event, Ack):
                self.acknowledged = max(self.acknowledged, event.durable_seq)
            elif isinstance(event, DocumentOutcome):
                fresh.setdefault(event.seq, []).append(event)
            elif isinstance(event, IngestSummary):
                self.summary = event
        for seq, told in fresh.items():
            assert self.told.setdefault(seq, told) == told

    def connect(self, steps: list[str]) -> None:
        """One connection; it ends after the steps, or with the finish."""
        opening = IngestOpening(INGEST, resume_after_seq=self.acknowledged)
        library = self.library()
        with desk_for(library, limits=self.limits).open_documents(library, opening, DocumentRules) as ingest:
            self.hear(list(ingest.opening()))
            position = ingest.durable_seq
            assert position >= self.acknowledged
            for step in steps:
                if step == "flush":
                    self.hear(ingest.flush())
                elif step == "repeat":
                    position = max(0, position - 2)
                elif step == "lose what is said":
                    ingest.flush()
                    return
                elif position < len(self.parts):
                    part = self.parts[position]
                    self.hear(ingest.feed(part.seq, part.head, part.content, part.last))
                    position += 1
            if steps[-1:] == ["to the end"]:
                for part in self.parts[position:]:
                    self.hear(ingest.feed(part.seq, part.head, part.content, part.last))
                self.hear(ingest.finish(len(self.parts)))


STEPS = st.lists(st.sampled_from(["send", "send", "send", "flush", "repeat", "lose what is said"]), max_size=8)


@settings(max_examples=60)
@given(
    FILES,
    st.lists(st.integers(0, 40), min_size=1, max_size=4),
    st.lists(STEPS, max_size=4),
    st.sampled_from([1, 3, 128]),
    st.booleans(),
)
def test_the_end_is_the_same(
    files: list[tuple[DocumentHead, bytes]],
    lengths: list[int],
    connections: list[list[str]],
    group_parts: int,
    restarts: bool,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        plain = make_library(Path(folder), "plain")
        straight = Client(lambda: plain, cut(files, [0]), IngestLimits())
        straight.connect(["to the end"])

        torn = make_library(Path(folder), "torn")

        def current() -> Library:
            nonlocal torn
            if restarts:
                torn.close()
                torn = make_library(Path(folder), "torn")
            return torn

        parts = cut(files, lengths)
        client = Client(current, parts, IngestLimits(group_parts=group_parts))
        for steps in connections:
            client.connect(steps)
        client.connect(["to the end"])
        client.connect(["to the end"])

        assert client.summary == straight.summary
        assert client.acknowledged == len(parts)
        last_parts = [part.seq for part in parts if part.last]
        assert sorted(client.told) == last_parts
        assert [_facts_of(client.told[seq]) for seq in last_parts] == [
            _facts_of(straight.told[seq]) for seq in sorted(straight.told)
        ]
        assert texts(torn) == texts(plain)
        assert _histories(torn) == _histories(plain)
        for library in (torn, plain):
            assert library.store.reader().spooled(INGEST) == b""
            state = library.store.reader().ingest(INGEST)
            assert state is not None
            assert (state.finished, state.head) == (True, b"")
        digests = {library.store.reader().content_digest(Label.CONFIDENTIAL) for library in (torn, plain)}
        assert len(digests) == 1
        torn.close()
        plain.close()


def _facts_of(told: list[DocumentOutcome]) -> list[tuple[str, int, int, bool, ErrorReason | None]]:
    """All of an outcome but the number of its part."""
    return [(o.doc_id, o.revision, o.chunks, o.unchanged, o.error.reason if o.error else None) for o in told]


def _histories(library: Library) -> list[list[tuple[int, str, Label]]]:
    reader = library.store.reader()
    return [
        [(r.revision, r.title, r.label) for r in reader.revisions(doc_id, clearance=None)] for doc_id in texts(library)
    ]
