"""A library with hidden rows answers, frame for frame, as one without them (semantics 2, 6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.dense import HashEmbedder
from groundwire_server.errors import GroundwireError
from groundwire_server.evidence import (
    Attribute,
    Call,
    CallOptions,
    ExplainLevel,
    Label,
    Operator,
    Predicate,
    Snippets,
    Summary,
)
from groundwire_server.library import Library, Snapshot
from groundwire_server.narrative import RetrievalMode, RetrievalParts, RetrieveRequest, retrieve
from groundwire_server.narrative.exit import Found, make_snippets
from groundwire_server.narrative.reach import Reach
from groundwire_server.narrative.state import Hit
from groundwire_server.security import local_principal
from tests.support.libraries import START, Doc, embed_all, make_library, new_document

EMBEDDER = HashEmbedder()
WORDS = ["revenue", "rose", "in", "the", "store", "売上", "増えた", "店舗", "收入", "增长", "😀", "2024"]
QUERIES = ["revenue store", "売上 増えた", "the the 收入", "2024", "nothing of it"]

TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
DOCS = st.builds(
    lambda name, text, year: Doc(f"{name}.md", text, attributes=(Attribute("year", year),)),
    st.integers(0, 8),
    TEXTS,
    st.integers(2020, 2023),
)
HIDDEN = st.builds(
    lambda name, text, label, year: Doc(
        f"{name}.md", text, label=label, attributes=(Attribute("year", year), Attribute("secret_code", year))
    ),
    st.integers(20, 28),
    TEXTS,
    st.sampled_from([Label.CONFIDENTIAL, Label.RESTRICTED]),
    st.integers(2020, 2030),
)
STEPS = st.lists(st.one_of(DOCS, HIDDEN), max_size=12)


def frames(snapshot: Snapshot, query: str, mode: RetrievalMode, **options: object) -> Iterator[object]:
    call = Call(
        local_principal(),
        CallOptions(explain=ExplainLevel.PLAN, **options),  # type: ignore[arg-type]
        now=lambda: START,
    )
    try:
        for frame in retrieve(RetrieveRequest(query, mode=mode), call, [snapshot], RetrievalParts(embedder=EMBEDDER)):
            if isinstance(frame, Snippets):
                yield [replace(one, lineage=replace(one.lineage, ingested_at=None)) for one in frame.snippets]
            elif isinstance(frame, Summary):
                counts = [(timing.stage, timing.items_in, timing.items_out) for timing in frame.timings]
                yield replace(frame, timings=()), counts
            else:
                yield frame
    except GroundwireError as error:
        yield error.status, error.reason, str(error), error.details


@settings(max_examples=40)
@given(steps=STEPS, query=st.sampled_from(QUERIES), mode=st.sampled_from(RetrievalMode), year=st.integers(2019, 2030))
def test_hidden_rows_show_in_no_frame_count_or_error(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Doc], query: str, mode: RetrievalMode, year: int
) -> None:
    folder = tmp_path_factory.mktemp("pair")
    full = make_library(folder, steps, library_id="full", embedder=EMBEDDER)
    bare = make_library(
        folder, [doc for doc in steps if doc.label is Label.INTERNAL], library_id="bare", embedder=EMBEDDER
    )
    options: list[dict[str, object]] = [
        {},
        {"hint": Predicate("year", Operator.EQ, (year,))},
        {"filter": Predicate("secret_code", Operator.EQ, (year,))},
    ]
    try:
        for each in options:
            assert list(frames(_as(full), query, mode, **each)) == list(frames(_as(bare), query, mode, **each))
    finally:
        full.close()
        bare.close()


def _as(library: Library) -> Snapshot:
    """The snapshot under one name and secret: ids hold the library's."""
    snapshot = library.snapshot()
    return replace(snapshot, library_id="default", _ids={}, _readable={})


def test_a_document_that_becomes_hidden_is_as_if_it_were_withdrawn(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("pair")
    full = make_library(folder, [Doc("a.md", "revenue"), Doc("b.md", "revenue store")], library_id="full")
    bare = make_library(folder, [Doc("b.md", "revenue store")], library_id="bare")
    with full.writing() as writer:
        writer.replace_document(new_document(Doc("a.md", "revenue", label=Label.RESTRICTED)))
    for library in (full, bare):
        library.use_embedder(EMBEDDER)
        embed_all(library, EMBEDDER)
    seen = [list(frames(_as(library), "revenue", RetrievalMode.AUTO)) for library in (full, bare)]
    assert seen[0][1:] == seen[1][1:]


def test_a_hidden_hit_does_not_pass_the_exit_and_the_next_takes_its_place(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    labels = [Label.INTERNAL, Label.RESTRICTED, Label.CONFIDENTIAL, Label.PUBLIC, Label.INTERNAL]
    docs = [Doc(f"{number}.md", "revenue", label=label) for number, label in enumerate(labels)]
    snapshot = make_library(tmp_path_factory.mktemp("exit"), docs).snapshot()
    call = Call(local_principal())
    # As if nothing before had kept them out.
    found = [Found(snapshot, Hit(row, fused=1.0)) for row in range(len(docs))]
    snippets = make_snippets(found, 2, call, frozenset(), Reach(call, [snapshot]))
    assert [one.lineage.doc_id for one in snippets] == ["0.md", "3.md"]
    everything = make_snippets(found, 10, call, frozenset(), Reach(call, [snapshot]))
    assert [one.lineage.doc_id for one in everything] == ["0.md", "3.md", "4.md"]
