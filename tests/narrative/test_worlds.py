"""Several libraries, words and meaning: an answer depends on what the caller may read, and on nothing else.

Two worlds hold the same readable documents. One has them alone; the other has hidden ones among them, takes them in
another order and in other batches, merges, restarts, and searches with another number of helpers. Every frame is the
same, to the last bit of a score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.dense import HashEmbedder
from groundwire_server.evidence import (
    Attribute,
    Call,
    CallOptions,
    Filter,
    Header,
    Label,
    Operator,
    Predicate,
    Snippets,
    Summary,
)
from groundwire_server.glossary import Glossary
from groundwire_server.library import Library, LibraryConfig
from groundwire_server.narrative import RetrievalMode, RetrievalParts, RetrievalTuning, RetrieveRequest, retrieve
from groundwire_server.narrative import concurrent as helpers
from groundwire_server.security import local_principal
from tests.support.libraries import Doc, embed_all, new_document

EMBEDDER = HashEmbedder()
PARTS = RetrievalParts(embedder=EMBEDDER)
NAMES = ("alpha", "beta", "gamma")
DESCRIPTIONS = {"alpha": "revenue and sales 売上高", "beta": "staff and holidays 休暇", "gamma": ""}
GLOSSARY = """
[[metric]]
code = "REVENUE"
label = "revenue"
unit = "EUR"
synonyms = { en = ["sales"], ja = ["売上高"], zh = ["收入"] }
"""
WORDS = (
    "revenue",
    "sales",
    "売上高",
    "收入",
    "holidays",
    "休暇",
    "ﬁnance",
    "e\u0301té",
    "👩‍👩‍👧",
    "a\u2028b",
    "the",
    "the",
)
HIDDEN = (Label.CONFIDENTIAL, Label.RESTRICTED)


@dataclass(frozen=True)
class World:
    """How documents come in: their order, how many in a commit, whether the server starts anew, how many helpers."""

    order: int
    batch: int
    restart: bool
    helpers: int


PLAIN = World(0, 1, False, 1)


@st.composite
def texts(draw: st.DrawFn) -> str:
    return " ".join(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6)))


@st.composite
def documents(draw: st.DrawFn, labels: Sequence[Label], prefix: str, most: int) -> dict[str, list[Doc]]:
    return {
        name: [
            Doc(
                f"{prefix}{number}.md",
                draw(texts()),
                label=draw(st.sampled_from(labels)),
                attributes=(Attribute("odd", bool(number % 2)),),
            )
            for number in range(draw(st.integers(0, most)))
        ]
        for name in NAMES
    }


def build(folder: Path, name: str, docs: Sequence[Doc], world: World) -> Library:
    clock = iter(datetime(2025, 1, 1, tzinfo=UTC) + timedelta(minutes=minute) for minute in range(10_000))
    config = LibraryConfig(description=DESCRIPTIONS[name], vector_depth=4)
    library = Library(folder / name, name, secret=b"secret", config=config, now=lambda: next(clock))
    library.set_glossary(Glossary.from_toml(GLOSSARY))
    library.use_embedder(EMBEDDER)
    arranged = (
        sorted(docs, key=lambda doc: crc32(f"{world.order} {doc.doc_id}".encode())) if world.order else list(docs)
    )
    for start in range(0, len(arranged), world.batch):
        with library.writing() as writer:
            for doc in arranged[start : start + world.batch]:
                writer.replace_document(new_document(doc))
        embed_all(library, EMBEDDER)
    if world.restart:
        library.close()
        library = Library(folder / name, name, secret=b"secret", now=lambda: next(clock))
        library.use_embedder(EMBEDDER)
    return library


@contextmanager
def so_many_helpers(count: int) -> Iterator[None]:
    """Helpers of a machine with so many cores."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(helpers, "_HELPERS_A_CORE", 1)
        patch.setattr("os.cpu_count", lambda: count)
        helpers._helpers.cache_clear()
        try:
            yield
        finally:
            helpers._helpers().shutdown()
            helpers._helpers.cache_clear()


def told(frames: list[Header | Snippets | Summary]) -> list[Any]:
    """Frames without the clock: when a document came in, how long a stage took."""
    found: list[Any] = []
    for frame in frames:
        if isinstance(frame, Snippets):
            found += [replace(one, lineage=replace(one.lineage, ingested_at=None)) for one in frame.snippets]
        elif isinstance(frame, Summary):
            timings = tuple(replace(timing, elapsed=timedelta()) for timing in frame.timings)
            found.append(replace(frame, timings=timings))
        else:
            found.append(frame)
    return found


drawn = given(
    readable=documents((Label.PUBLIC, Label.INTERNAL), "", 7),
    hidden=documents(HIDDEN, "hidden", 5),
    world=st.builds(World, st.integers(1, 99), st.integers(1, 5), st.booleans(), st.integers(1, 6)),
    queries=st.lists(texts(), min_size=1, max_size=3),
    named=st.sampled_from([(), ("beta",), ("alpha", "gamma"), NAMES]),
    odd=st.none() | st.booleans(),
    top_k=st.integers(1, 12),
    mode=st.sampled_from(RetrievalMode),
    fusion=st.sampled_from(["", "rrf"]),
)


@settings(max_examples=5)
@drawn
def test_an_answer_depends_on_what_may_be_read_and_on_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, **case: Any
) -> None:
    check(tmp_path_factory, **case)


@pytest.mark.slow
@pytest.mark.timeout(600)
@settings(max_examples=40)
@drawn
def test_an_answer_depends_on_nothing_else_in_many_worlds(
    tmp_path_factory: pytest.TempPathFactory, **case: Any
) -> None:
    check(tmp_path_factory, **case)


def check(
    tmp_path_factory: pytest.TempPathFactory,
    readable: dict[str, list[Doc]],
    hidden: dict[str, list[Doc]],
    world: World,
    queries: list[str],
    named: tuple[str, ...],
    odd: bool | None,
    top_k: int,
    mode: RetrievalMode,
    fusion: str,
) -> None:
    answers: list[list[Any]] = []
    chosen: Filter | None = None if odd is None else Predicate("odd", Operator.EQ, (odd,))
    both = {name: [*readable[name], *hidden[name]] for name in NAMES}
    for docs, how in ((readable, PLAIN), (both, world)):
        folder = tmp_path_factory.mktemp("world")
        libraries = [build(folder, name, docs[name], how) for name in NAMES]
        with so_many_helpers(how.helpers):
            answers.append([])
            for query in queries:
                known = any(readable[name] for name in named or NAMES)
                options = CallOptions(library_ids=named, filter=chosen if known else None)
                call = Call(local_principal(), options, now=lambda: datetime(2026, 1, 1, tzinfo=UTC))
                request = RetrieveRequest(query, top_k, mode, RetrievalTuning(fusion=fusion))
                snapshots = [library.snapshot() for library in libraries]
                try:
                    answers[-1].append(told(list(retrieve(request, call, snapshots, PARTS))))
                except Exception as error:  # noqa: BLE001 - errors are answers too
                    answers[-1].append((type(error), str(error)))
        for library in libraries:
            library.close()
    assert answers[0] == answers[1]
