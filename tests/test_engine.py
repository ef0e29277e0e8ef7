"""The engine: every setting has its effect, the embedder never goes away in silence, libraries change as asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire_server.dense import Embedder, HashEmbedder
from groundwire_server.engine import Engine, GlossaryChange
from groundwire_server.engine.libraries import Libraries
from groundwire_server.errors import (
    Aborted,
    ErrorReason,
    FailedPrecondition,
    GlossaryConflict,
    InvalidRequest,
    NotPermitted,
    UnknownResource,
)
from groundwire_server.evidence import (
    Call,
    DegradationKind,
    EndReason,
    Header,
    Label,
    Principal,
    Snippet,
    Snippets,
    Summary,
)
from groundwire_server.glossary import EntityTerm, MetricTerm, Synonym, TermKind
from groundwire_server.ingest import DocumentHead, IngestOpening
from groundwire_server.library import Library, LibraryConfig
from groundwire_server.narrative import RetrievalMode, RetrieveRequest
from groundwire_server.settings import load_settings
from tests.support.eventually import eventually

INGEST = "00000000-0000-4000-8000-00000000000"
LOCAL = Principal("local", Label.INTERNAL)


@contextmanager
def engine(data: Path, **settings: object) -> Iterator[Engine]:
    named = {name.replace("__", "."): value for name, value in settings.items()}
    made = Engine(load_settings({"data": data, "embedding.backend": "none", **named}, environ={}))
    try:
        yield made
    finally:
        made.close()


def store(here: Engine, texts: dict[str, str], *, library: str = "default", ingest: int = 0, **head: Any) -> None:
    opening = IngestOpening(f"{INGEST}{ingest}")
    with here.open_documents(library, opening, here.local_principal) as stream:
        list(stream.opening())
        for seq, (doc_id, text) in enumerate(texts.items(), 1):
            stream.feed(seq, DocumentHead(doc_id, **head), text.encode(), True)
        stream.finish(len(texts))
    here.wake_embedding(library)


def read(here: Engine, query: str, mode: RetrievalMode | None = None) -> tuple[Header, list[Snippet], Summary]:
    request = RetrieveRequest(query, mode=mode or here.default_mode)
    header, *between, summary = here.retrieve(request, Call(here.local_principal))
    assert isinstance(header, Header)
    assert isinstance(summary, Summary)
    return header, [each for frame in between if isinstance(frame, Snippets) for each in frame.snippets], summary


def ids(snippets: list[Snippet]) -> list[str]:
    return [each.lineage.doc_id for each in snippets]


# ---- settings have effects -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("clearance", "seen"), [("public", []), ("internal", ["i"]), ("confidential", ["c", "i"])])
def test_the_local_clearance_bounds_what_is_read(tmp_path: Path, clearance: str, seen: list[str]) -> None:
    with engine(tmp_path, access__local_clearance=clearance) as here:
        store(here, {"i": "a fox"}, label=Label.INTERNAL)
        store(here, {"c": "a fox"}, ingest=1, label=Label.CONFIDENTIAL)
        store(here, {"r": "a fox"}, ingest=2, label=Label.RESTRICTED)
        assert sorted(ids(read(here, "fox")[1])) == seen


def test_outside_names_are_not_answered_about(tmp_path: Path) -> None:
    with engine(tmp_path, gate__outside_names="Acme, 外部社") as here:
        store(here, {"a": "Acme sells anvils"})
        for question in ("What does ＡＣＭＥ sell?", "外 部 社 は何を売るか"):
            assert read(here, question)[2].end_reason is EndReason.REFUSED
        assert read(here, "anvils")[2].end_reason is EndReason.EXHAUSTED


def test_the_chunker_of_new_libraries_is_the_servers(tmp_path: Path) -> None:
    text = "\n\n".join(f"Paragraph {n} is about foxes. " * 10 for n in range(5))
    with engine(tmp_path / "whole", ingest__chunker="whole") as here:
        store(here, {"a": text})
        assert len(read(here, "foxes")[1]) == 1
    with engine(tmp_path / "paragraph") as here:
        store(here, {"a": text})
        assert len(read(here, "foxes")[1]) > 1


@pytest.mark.parametrize(
    ("setting", "value", "request_", "field"),
    [
        ("limits__max_top_k", 3, RetrieveRequest("fox", top_k=4), "top_k"),
        ("limits__max_query_chars", 5, RetrieveRequest("foxes!"), "query"),
    ],
)
def test_limits_of_a_retrieval_are_the_servers(
    tmp_path: Path, setting: str, value: int, request_: RetrieveRequest, field: str
) -> None:
    with engine(tmp_path, **{setting: value}) as here:
        with pytest.raises(InvalidRequest) as caught:
            list(here.retrieve(request_, Call(LOCAL)))
        assert [each.field for each in caught.value.violations] == [field]


def test_a_document_over_the_limit_is_refused(tmp_path: Path) -> None:
    with engine(tmp_path, limits__max_document_bytes=10) as here:
        store(here, {"small": "a fox", "large": "a fox that is too long to be kept"})
        assert ids(read(here, "fox")[1]) == ["small"]


def test_servers_with_one_secret_give_one_snapshot_id(tmp_path: Path) -> None:
    seen = []
    for folder, secret in (("a", "s"), ("b", "s"), ("c", ""), ("d", "")):
        with engine(tmp_path / folder, **({"secret": secret} if secret else {})) as here:
            store(here, {"x": "a fox"})
            seen.append(here.snapshot_id("default", LOCAL))
    assert seen[0] == seen[1]
    assert len(set(seen)) == 3


def test_settings_are_shown_to_who_may_administer(tmp_path: Path) -> None:
    with engine(tmp_path, secret="hush") as here:
        shown = {each.name: (each.value, each.origin) for each in here.server_info(LOCAL).settings}
        assert shown["secret"] == ("***", "argument")
        assert here.server_info(Principal("x", Label.PUBLIC, may_administer=False)).settings == ()


# ---- the embedder --------------------------------------------------------------------------------------------------


def embedder_of(here: Engine) -> tuple[bool, str]:
    (found,) = [each for each in here.server_info(LOCAL).components if each.kind == "embedder"]
    return found.active, found.inactive_reason or found.version


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"embedding__backend": "none"}, "embedding.backend = none"),
        ({"embedding__backend": "deterministic", "retrieval__mode": "lexical"}, "retrieval.mode = lexical"),
        ({"embedding__backend": "auto"}, "is not prepared"),
    ],
)
def test_no_embedder_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], words: str
) -> None:
    monkeypatch.setattr("groundwire_server.engine.embedding.find_model", lambda *_: None)
    monkeypatch.setattr("groundwire_server.engine.embedding.make_embedder", _must_not_load)
    with engine(tmp_path, **settings) as here:
        store(here, {"a": "a fox"})
        active, reason = embedder_of(here)
        assert not active
        assert words in reason
        summary = read(here, "fox", RetrievalMode.AUTO)[2]
        (off,) = summary.degradations
        assert (off.kind, off.component) == (DegradationKind.VECTOR_OFF, "embedder")
        assert off.cause is not None
        assert words in off.cause.message
        with pytest.raises(FailedPrecondition) as caught:
            read(here, "fox", RetrievalMode.HYBRID)
        assert caught.value.reason is ErrorReason.NO_EMBEDDER


def _must_not_load(*_args: object, **_kwargs: object) -> None:
    raise AssertionError("an embedder was built")


def test_words_answer_while_the_embedder_loads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()

    def slow(*_args: object, **_kwargs: object) -> HashEmbedder:
        assert go_on.wait(10)
        return HashEmbedder()

    monkeypatch.setattr("groundwire_server.engine.embedding.make_embedder", slow)
    with engine(tmp_path, embedding__backend="deterministic") as here:
        store(here, {"a": "a fox"})
        _, snippets, summary = read(here, "fox")
        assert ids(snippets) == ["a"]
        assert [(each.kind, each.component) for each in summary.degradations] == [
            (DegradationKind.VECTOR_OFF, "embedder:loading")
        ]
        assert embedder_of(here) == (False, "The embedder is loading.")
        assert here.list_libraries(LOCAL, after="", limit=9).libraries[0].embedding_coverage == 0.0
        go_on.set()
        here.wait_for_embedder(10)
        assert embedder_of(here)[0]
        assert eventually(lambda: not read(here, "fox")[2].degradations)
        header, snippets, _ = read(here, "fox", RetrievalMode.HYBRID)
        (dense,) = [step for step in header.plan if step.stage == "dense"]
        assert dense.backend.endswith(f"@{HashEmbedder().version}")
        assert dense.coverage == 1.0
        assert snippets[0].scores is not None
        assert snippets[0].scores.vector is not None


def test_a_library_that_has_vectors_is_searched_by_them_from_the_first_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with engine(tmp_path, embedding__backend="deterministic") as here:
        store(here, {"a": "a fox"})
        here.wait_for_embedder(10)
        assert eventually(lambda: not read(here, "fox")[2].degradations)
    begin, given, asked, go_on = (threading.Event() for _ in range(4))
    give, faults = Library.use_embedder, Libraries.vector_faults

    def wanted(*_args: object, **_kwargs: object) -> HashEmbedder:
        assert begin.wait(10)
        return HashEmbedder()

    def slow(library: Library, embedder: Embedder | None) -> None:
        give(library, embedder)
        given.set()
        assert go_on.wait(10)

    def noted(libraries: Libraries) -> object:
        asked.set()
        return faults(libraries)

    monkeypatch.setattr("groundwire_server.engine.embedding.make_embedder", wanted)
    monkeypatch.setattr(Library, "use_embedder", slow)
    monkeypatch.setattr(Libraries, "vector_faults", noted)
    with engine(tmp_path, embedding__backend="deterministic") as here, ThreadPoolExecutor(1) as pool:
        assert read(here, "fox")[2].degradations  # the library is open now
        begin.set()
        assert given.wait(10)
        asked.clear()
        reading = pool.submit(read, here, "fox")
        assert asked.wait(10)
        go_on.set()
        assert reading.result()[2].degradations == ()


def test_a_library_that_keeps_no_vectors_says_so(tmp_path: Path) -> None:
    with engine(tmp_path, embedding__backend="deterministic") as here:
        config = LibraryConfig(embedder="none")
        here.administration.save_library("default", config, LOCAL, validate_only=False, if_snapshot_id="")
        store(here, {"a": "a fox"})
        here.wait_for_embedder(10)
        (off,) = read(here, "fox")[2].degradations
        assert (off.kind, off.component) == (DegradationKind.VECTOR_OFF, "embedder")
        assert off.cause is not None
        assert off.cause.message == "The library keeps no vectors."


def test_a_model_that_cannot_be_loaded_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: object, **_kwargs: object) -> None:
        raise RuntimeError("kanarienvogel")

    monkeypatch.setattr("groundwire_server.engine.embedding.make_embedder", broken)
    with engine(tmp_path, embedding__backend="deterministic") as here:
        here.wait_for_embedder(10)
        store(here, {"a": "a fox"})
        assert embedder_of(here) == (False, "The embedder cannot be loaded.")
        (off,) = read(here, "fox")[2].degradations
        assert off.component == "embedder:failed"
        assert "kanarienvogel" not in repr(off)


def test_what_a_crash_left_without_vectors_is_embedded_after_the_start(tmp_path: Path) -> None:
    with engine(tmp_path) as here:
        store(here, {"a": "a fox", "b": "a heron"})
    with engine(tmp_path, embedding__backend="deterministic", embedding__workers=1) as here:
        here.wait_for_embedder(10)
        assert eventually(lambda: here.list_libraries(LOCAL, after="", limit=9).libraries[0].embedding_coverage == 1.0)


def test_equal_texts_of_two_libraries_are_embedded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Counting(HashEmbedder):
        def embed_passage(self, text: str) -> NDArray[np.float32]:
            asked.append(text)
            return super().embed_passage(text)

    monkeypatch.setattr("groundwire_server.engine.embedding.make_embedder", lambda *_, **__: Counting())

    def whole(here: Engine, library: str) -> bool:
        shown: dict[str, Any] = {
            each.library_id: each for each in here.list_libraries(LOCAL, after="", limit=9).libraries
        }
        return bool(shown[library].embedding_coverage == 1.0)

    with engine(tmp_path, embedding__backend="deterministic", embedding__workers=1) as here:
        here.wait_for_embedder(60)
        store(here, {"a": "a fox", "b": "狐は赤い"})
        assert eventually(lambda: whole(here, "default"))
        here.administration.save_library("second", LibraryConfig(), LOCAL, validate_only=False, if_snapshot_id="")
        store(here, {"c": "a fox", "d": "a heron"}, library="second", ingest=1)
        assert eventually(lambda: whole(here, "second"))
        assert sorted(asked) == ["a fox", "a heron", "狐は赤い"]
    with engine(tmp_path, embedding__backend="deterministic", embedding__workers=1) as here:  # over a restart, too
        here.wait_for_embedder(60)
        store(here, {"e": "狐は赤い"}, library="second", ingest=2)
        assert eventually(lambda: whole(here, "second"))
        # A stricter text lends its vector to nobody below: its readers alone could tell that it was there.
        store(here, {"f": "a secret"}, ingest=3, label=Label.PUBLIC)
        assert eventually(lambda: whole(here, "default"))
        assert sorted(asked) == ["a fox", "a heron", "a secret", "狐は赤い"]
        store(here, {"g": "a public secret"}, ingest=4, label=Label.INTERNAL)
        assert eventually(lambda: whole(here, "default"))
        store(here, {"h": "a public secret"}, library="second", ingest=5, label=Label.PUBLIC)
        assert eventually(lambda: whole(here, "second"))
        assert asked.count("a public secret") == 2


def test_vectors_of_another_model_are_neither_used_nor_thrown_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with engine(tmp_path, embedding__backend="deterministic") as here:
        here.wait_for_embedder(10)
        store(here, {"a": "a fox"})
        assert eventually(lambda: not read(here, "fox")[2].degradations)

    other = HashEmbedder()
    other.version = "f" * 64
    monkeypatch.setattr("groundwire_server.engine.embedding.make_embedder", lambda *_, **__: other)
    with engine(tmp_path, embedding__backend="deterministic") as here:
        here.wait_for_embedder(10)
        (off,) = read(here, "fox", RetrievalMode.AUTO)[2].degradations
        assert off.cause is not None
        assert off.cause.reason is ErrorReason.INDEX_MISMATCH
        with pytest.raises(FailedPrecondition) as caught:
            read(here, "fox", RetrievalMode.VECTOR)
        assert caught.value.reason is ErrorReason.INDEX_MISMATCH


def test_a_library_may_leave_the_embedder(tmp_path: Path) -> None:
    with engine(tmp_path, embedding__backend="deterministic") as here:
        here.wait_for_embedder(10)
        store(here, {"a": "a fox"})
        assert eventually(lambda: not read(here, "fox")[2].degradations)
        here.administration.save_library(
            "default", LibraryConfig(embedder="none"), LOCAL, validate_only=False, if_snapshot_id=""
        )
        assert [each.kind for each in read(here, "fox")[2].degradations] == [DegradationKind.VECTOR_OFF]
        here.administration.save_library("default", LibraryConfig(), LOCAL, validate_only=False, if_snapshot_id="")
        assert eventually(lambda: not read(here, "fox")[2].degradations)


def test_an_ingest_is_known_for_a_week(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with engine(tmp_path) as here:
        store(here, {"a": "a fox"})
        store(here, {"b": "a heron"}, ingest=1)
        library = here._libraries.for_reading("default")
        assert library.store.reader().ingest(f"{INGEST}0") is not None
    monkeypatch.setattr("groundwire_server.engine.libraries.RESUME_WINDOW", timedelta(seconds=-1))
    with engine(tmp_path) as here:
        store(here, {"c": "an otter"}, ingest=2)
        library = here._libraries.for_reading("default")
        known = [library.store.reader().ingest(f"{INGEST}{n}") is not None for n in range(3)]
        assert known == [False, False, True]


# ---- libraries and glossaries --------------------------------------------------------------------------------------


def test_only_the_default_library_is_made_by_writing(tmp_path: Path) -> None:
    with engine(tmp_path) as here:
        assert here.list_libraries(LOCAL, after="", limit=9).libraries == ()
        store(here, {"a": "a fox"})
        with pytest.raises(UnknownResource):
            store(here, {"a": "a fox"}, library="other", ingest=1)
        assert [each.library_id for each in here.list_libraries(LOCAL, after="", limit=9).libraries] == ["default"]


def test_pages_of_libraries_follow_one_another(tmp_path: Path) -> None:
    with engine(tmp_path) as here:
        for name in ("c", "a", "b"):
            here.administration.save_library(name, LibraryConfig(), LOCAL, validate_only=False, if_snapshot_id="")
        first = here.list_libraries(LOCAL, after="", limit=2)
        assert ([each.library_id for each in first.libraries], first.more) == (["a", "b"], True)
        second = here.list_libraries(LOCAL, after="b", limit=2)
        assert ([each.library_id for each in second.libraries], second.more) == (["c"], False)


def test_counts_are_of_what_the_caller_may_read(tmp_path: Path) -> None:
    with engine(tmp_path) as here:
        store(here, {"i": "a fox"})
        store(here, {"c": "a fox"}, ingest=1, label=Label.CONFIDENTIAL)
        for label, count in ((Label.PUBLIC, 0), (Label.INTERNAL, 1), (Label.CONFIDENTIAL, 2)):
            (library,) = here.list_libraries(Principal("x", label), after="", limit=9).libraries
            assert (library.documents, library.chunks) == (count, count)


def test_saving_a_library_checks_what_it_changes(tmp_path: Path) -> None:
    with engine(tmp_path) as here:
        imagined = here.administration.save_library(
            "new", LibraryConfig(k1=2.0), LOCAL, validate_only=True, if_snapshot_id=""
        ).library
        assert imagined.config.k1 == 2.0
        assert here.list_libraries(LOCAL, after="", limit=9).libraries == ()
        made = here.administration.save_library(
            "new", LibraryConfig(), LOCAL, validate_only=False, if_snapshot_id=""
        ).library
        with pytest.raises(Aborted):
            here.administration.save_library(
                "new", LibraryConfig(k1=9.0), LOCAL, validate_only=False, if_snapshot_id="stale"
            )
        changed = here.administration.save_library(
            "new", LibraryConfig(k1=9.0), LOCAL, validate_only=False, if_snapshot_id=made.snapshot_id
        ).library
        assert changed.config.k1 == 9.0
        assert changed.snapshot_id != made.snapshot_id
        for library_id, config in (("Bad Id", LibraryConfig()), ("new", LibraryConfig(chunk_chars=0))):
            for validate_only in (True, False):
                with pytest.raises(InvalidRequest):
                    here.administration.save_library(
                        library_id, config, LOCAL, validate_only=validate_only, if_snapshot_id=""
                    )


def change(here: Engine, *put: MetricTerm | EntityTerm, **more: Any) -> Any:
    options = {"validate_only": False, "if_snapshot_id": "", **{k: v for k, v in more.items() if k in _OPTIONS}}
    rest = {name: value for name, value in more.items() if name not in _OPTIONS}
    return here.administration.update_glossary("default", GlossaryChange(put, **rest), LOCAL, **options)


_OPTIONS = ("validate_only", "if_snapshot_id")


def test_a_glossary_changes_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    revenue = MetricTerm("REVENUE", synonyms=(Synonym("turnover"),))
    clash = MetricTerm("TURNOVER_RATE", synonyms=(Synonym("Turnover"),))
    with engine(tmp_path) as here:
        first = change(here, revenue, EntityTerm("ACME"))
        with pytest.raises(GlossaryConflict):
            change(here, clash)
        with pytest.raises(InvalidRequest) as caught:
            change(here, MetricTerm(" "), EntityTerm("X", parent_code="NOBODY"))
        assert {each.field.partition(".")[0] for each in caught.value.violations} == {"put[0]"}
        assert here.snapshot_id("default", LOCAL) == first.snapshot_id
        assert change(here, clash, validate_only=True, remove=[(TermKind.METRIC, "", "REVENUE")]).snapshot_id == ""
        assert here.snapshot_id("default", LOCAL) == first.snapshot_id
        with pytest.raises(Aborted):
            change(here, revenue, if_snapshot_id="stale")
        only = change(here, EntityTerm("ZETA"), replace_all=True)
        assert only.snapshot_id != first.snapshot_id


def test_who_may_not_write_changes_nothing(tmp_path: Path) -> None:
    reader = Principal("reader", Label.INTERNAL, may_write=False)
    attempts: list[Callable[[Engine], object]] = [
        lambda here: here.open_documents("default", IngestOpening(f"{INGEST}0"), reader),
        lambda here: here.open_facts("default", IngestOpening(f"{INGEST}0"), reader),
        lambda here: here.withdraw("default", "a", reader),
        lambda here: here.administration.save_library(
            "x", LibraryConfig(), reader, validate_only=False, if_snapshot_id=""
        ),
        lambda here: here.administration.update_glossary(
            "x", GlossaryChange(), reader, validate_only=True, if_snapshot_id=""
        ),
    ]
    with engine(tmp_path) as here:
        for attempt in attempts:
            with pytest.raises(NotPermitted):
                attempt(here)
        assert here.list_libraries(LOCAL, after="", limit=9).libraries == ()
