"""Chunkers, parents, windows and contextual headers, over the wire."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from groundwire.v1 import admin_pb2, errors_pb2, evidence_pb2, ingest_pb2, narrative_pb2, tools_pb2
from groundwire_server.chunking import CHUNKERS
from groundwire_server.dense import HashEmbedder
from groundwire_server.engine import embedding
from groundwire_server.evidence import Label
from groundwire_server.store import StoredChunk
from tests.rpc.house import Documents, House, document_part, finish, house, snippets, start
from tests.rpc.serving import Failure, failure_of
from tests.support.canonical import canonical_message

# Of every kind of structure, so that no two chunkers cut it alike.
GUIDE = """---
entity: ACME
period: FY2024
---
# Guide to bread

Bread is baked from flour. It rises for 3.5 hours. Dr. Baker kneads it. The oven is hot. Crust comes last.
It cools. People eat it. Nothing is left.

| flour | price |
|---|---|
| wheat | 12 |
| rye | 15 |

## 質問

Q: How long does bread keep?
A: Three days, or five in a cloth.
Nobody keeps it longer.

パンは何日もちますか？
三日です。

第一章 总则
第一条 为了规范面包的价格，制定本法。
第二条 面包的价格由市场决定。
第１条の規定は、準用する。

Chapter 2 Yeast

Yeast is alive. It eats sugar.
"""
OTHERS = {"rye.txt": "Rye bread is dark. It keeps for a week. Its crust is hard.", "tea.txt": "Tea is no bread."}
WORDS = narrative_pb2.RETRIEVAL_MODE_LEXICAL
SMALL: dict[str, Any] = {"chunk_chars": 60, "overlap_chars": 0}


class Model(HashEmbedder):
    """Stands for a real model, where a server must believe that it has one."""

    name = "stand-in"
    for_tests = False


@pytest.fixture
def here(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path / "data") as running:
        yield running


@pytest.fixture
def modelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    """A server with an embedder."""
    monkeypatch.setattr(embedding, "make_embedder", lambda *_, **__: Model())
    with house(tmp_path / "modelled", embedding__backend="deterministic") as running:
        running.server.engine.wait_for_embedder()
        yield running


def save(here: House, library: str = "default", settings: dict[str, str] | None = None, **index: Any) -> Any:
    named = [admin_pb2.Setting(name=name, value=value) for name, value in (settings or {}).items()]
    wanted = admin_pb2.Library(library_id=library, index=admin_pb2.IndexSettings(**index), settings=named)
    return here.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=wanted))


def ended(here: House, job: admin_pb2.Job) -> admin_pb2.Job:
    return [each.job for each in here.admin.WatchJob(admin_pb2.WatchJobRequest(job_id=job.job_id))][-1]


def retrieve(here: House, query: str, **fields: Any) -> list[Any]:
    return list(here.narrative.NarrativeRetrieve(narrative_pb2.NarrativeRetrieveRequest(query=query, **fields)))


def found(here: House, query: str, **fields: Any) -> list[evidence_pb2.Snippet]:
    return snippets(retrieve(here, query, **fields))


def chunks(here: House, library: str = "default") -> list[StoredChunk]:
    reader = here.server.engine._libraries.for_reading(library).store.reader()
    return list(reader.iter_chunks(clearance=Label.CONFIDENTIAL))


def source(here: House, doc_id: str, library: str = "default") -> str:
    reader = here.server.engine._libraries.for_reading(library).store.reader()
    (revision,) = reader.documents(doc_id, limit=1, clearance=None)
    return reader.source_text(doc_id, revision.revision, clearance=None) or ""


def cuts(here: House, library: str = "default") -> set[str]:
    reader = here.server.engine._libraries.for_reading(library).store.reader()
    return {each.chunker for each in reader.documents(clearance=None)}


@pytest.mark.parametrize("name", [*CHUNKERS, "small_to_big"])
def test_each_can_be_set_and_cuts_slices(modelled: House, name: str) -> None:
    save(modelled, chunker=name, **SMALL)
    modelled.store({"guide.md": GUIDE, **OTHERS})
    wanted = "parent_child" if name == "small_to_big" else name
    assert {cut.partition("(")[0] for cut in cuts(modelled)} == {wanted}
    stored = chunks(modelled)
    assert stored
    for chunk in stored:
        text = source(modelled, chunk.doc_id)
        assert text[chunk.span.start : chunk.span.end] == chunk.text
        assert "entity: ACME" not in chunk.text
        if chunk.parent_span is not None:
            assert chunk.text in text[chunk.parent_span.start : chunk.parent_span.end]


def test_no_two_cut_alike(modelled: House) -> None:
    seen: dict[tuple[Any, ...], str] = {}
    for name in CHUNKERS:
        save(modelled, name, chunker=name, **SMALL)
        modelled.store({"guide.md": GUIDE}, library=name)
        said = tuple((each.span, each.parent_span, each.heading) for each in chunks(modelled, name))
        assert said not in seen, f"{name} cuts as {seen[said]}"
        seen[said] = name


def test_documents_are_cut_anew_by_each_and_back(modelled: House) -> None:
    modelled.store({"guide.md": GUIDE, **OTHERS})
    first = [(each.doc_id, each.span, each.locator, each.heading, each.header) for each in chunks(modelled)]
    for name in [*CHUNKERS, "paragraph"]:
        said = save(modelled, chunker=name)
        if said.HasField("job"):
            assert ended(modelled, said.job).state == admin_pb2.JOB_STATE_SUCCEEDED
        assert {cut.partition("(")[0] for cut in cuts(modelled)} == {name}
    assert [(each.doc_id, each.span, each.locator, each.heading, each.header) for each in chunks(modelled)] == first


def test_a_document_may_come_with_its_own(modelled: House) -> None:
    parts = [
        Documents(part=document_part(1, "guide.md", GUIDE.encode(), chunker="laws")),
        Documents(part=document_part(2, "rye.txt", OTHERS["rye.txt"].encode(), chunker="small_to_big")),
    ]
    list(modelled.ingest.IngestDocuments(iter([start(Documents), *parts, finish(Documents, 2)])))
    assert cuts(modelled) == {"laws(480,80)", "parent_child(480,80)"}


@pytest.mark.parametrize("name", CHUNKERS)
def test_neither_order_nor_company_nor_settings_of_before_change_a_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(embedding, "make_embedder", lambda *_, **__: Model())
    texts = {"guide.md": GUIDE, **OTHERS}
    said: list[list[tuple[Any, ...]]] = []
    for way in ("at once", "backwards", "beside hidden ones", "cut anew"):
        with house(tmp_path / way, embedding__backend="deterministic", embedding__workers=1 + len(said)) as here:
            if way != "cut anew":
                save(here, chunker=name, **SMALL)
            if way == "beside hidden ones":
                here.store(HIDDEN_TEXTS, label=ingest_pb2.LABEL_CONFIDENTIAL)
            here.store(dict(reversed(texts.items())) if way == "backwards" else texts)
            if way == "cut anew":
                assert ended(here, save(here, chunker=name, **SMALL).job).state == admin_pb2.JOB_STATE_SUCCEEDED
            shown = [
                (each.doc_id, each.seq, each.span, each.heading, each.parent_id, each.parent_span, each.parent_locator)
                for each in chunks(here)
                if each.doc_id in texts
            ]
            said.append(sorted(shown, key=lambda each: each[:2]))
    assert said[0]
    assert all(each == said[0] for each in said)


# ---- parents and windows


@pytest.mark.parametrize("name", ["parent_child", "sentence_window", "laws", "qa"])
def test_a_hit_brings_its_parent_once_and_stays_itself(here: House, name: str) -> None:
    save(here, chunker=name, **SMALL)
    here.store({"guide.md": GUIDE, **OTHERS})
    frames = retrieve(here, "bread keep price yeast 面包 三日", top_k=50)
    text = {name: source(here, name) for name in ("guide.md", *OTHERS)}
    stored = {(each.doc_id, each.seq): each for each in chunks(here)}
    brought: set[tuple[str, Any]] = set()
    given = snippets(frames)
    for each in given:
        doc_id, seq = each.lineage.doc_id, int(each.lineage.chunk_id.rpartition("#c")[2])
        chunk = stored[doc_id, seq]
        assert (each.text.text, each.lineage.source_locator) == (chunk.text, chunk.locator)
        assert text[doc_id][each.lineage.span.start : each.lineage.span.end] == each.text.text
        assert each.lineage.parent_id == chunk.parent_id
        assert each.lineage.parent_locator == chunk.parent_locator
        if chunk.parent_span is None or (doc_id, chunk.parent_span) in brought:
            assert not each.text.prompt_text
        else:
            brought.add((doc_id, chunk.parent_span))
            assert each.text.prompt_text == text[doc_id][chunk.parent_span.start : chunk.parent_span.end]
    assert brought
    (header,) = [frame.header for frame in frames if frame.WhichOneof("frame") == "header"]
    assert header.plan[-1].detail == "rows_once,parents_once"
    for each in given:
        said = here.tools.VerifyCitation(tools_pb2.VerifyCitationRequest(lineage=each.lineage, quote=each.text.text))
        assert said.verdict == tools_pb2.CITATION_VERDICT_EXACT
        if each.text.prompt_text:
            request = tools_pb2.VerifyCitationRequest(lineage=each.lineage, quote=each.text.prompt_text)
            assert here.tools.VerifyCitation(request).verdict == tools_pb2.CITATION_VERDICT_NOT_FOUND


def test_a_question_and_its_answer_share_their_parent(here: House) -> None:
    save(here, chunker="qa", chunk_chars=40, overlap_chars=0)
    here.store({"guide.md": GUIDE})
    (answer,) = found(here, "cloth", top_k=1)
    (question,) = found(here, "How long does", top_k=1)
    assert answer.lineage.parent_id == question.lineage.parent_id != ""
    assert answer.lineage.chunk_id != question.lineage.chunk_id
    assert answer.text.prompt_text.endswith(
        "Q: How long does bread keep?\nA: Three days, or five in a cloth.\nNobody keeps it longer."
    )


HIDDEN_TEXTS = {
    "hidden.txt": "Bread is baked at night. The kanarienvogel sings. Bread rises. Bread cools. Bread is sold.",
    "copy.txt": "Bread is baked from flour. It rises for 3.5 hours. The kanarienvogel is secret.",
}


@pytest.mark.parametrize("name", ["parent_child", "sentence_window", "laws", "qa"])
@pytest.mark.parametrize("contextual", [False, True])
def test_a_hidden_child_takes_its_parent_along(tmp_path: Path, name: str, contextual: bool) -> None:
    """Two servers with the same open documents, one with hidden ones beside: no frame differs."""
    told: list[list[Any]] = []
    for beside in (False, True):
        with house(tmp_path / str(beside), secret="s") as here:
            save(here, chunker=name, contextual_header=contextual, **SMALL)
            if beside:
                here.store(HIDDEN_TEXTS, label=ingest_pb2.LABEL_CONFIDENTIAL)
                here.store(
                    {f"r/{name}": text for name, text in HIDDEN_TEXTS.items()}, label=ingest_pb2.LABEL_RESTRICTED
                )
            here.store({"guide.md": GUIDE, **OTHERS})
            seen = []
            for query in ("bread", "bread rises flour", "kanarienvogel", "secret", "面包 三日", "keep"):
                for top_k in (1, 3, 50):
                    frames = retrieve(here, query, top_k=top_k, options={"explain": 1})
                    assert not any("kanarienvogel" in str(frame) for frame in frames if query != "kanarienvogel")
                    seen.append([canonical_message(frame) for frame in frames])
            told.append(seen)
    assert told[0] == told[1]


@pytest.mark.parametrize("name", ["parent_child", "sentence_window"])
def test_an_open_sibling_does_not_show_what_was_hidden_with_the_others(here: House, name: str) -> None:
    """A document whose revisions have different labels: each brings the parent of its own revision, or nothing."""
    save(here, chunker=name, **SMALL)
    old = "Bread is open. Bread was cheap. Bread was dark."
    here.store({"a.txt": old, "b.txt": "Bread stays open. Butter too."})
    library = here.server.engine._libraries.for_reading("default")
    moment = library.store.generations()[-1].committed_at
    here.store(
        {"a.txt": "Bread is open. The kanarienvogel costs 7. Bread was dark."}, label=ingest_pb2.LABEL_CONFIDENTIAL
    )
    now = found(here, "bread open dark", top_k=50)
    assert {each.lineage.doc_id for each in now} == {"b.txt"}
    known_at = {"seconds": int(moment.timestamp()), "nanos": moment.microsecond * 1000}
    before = found(here, "bread open dark", top_k=50, options={"known_at": known_at})
    assert {each.lineage.doc_id for each in before} == {"a.txt", "b.txt"}
    for each in before:
        assert "kanarienvogel" not in str(each)
        if each.lineage.doc_id == "a.txt":
            assert each.text.prompt_text in ("", old)


# ---- contextual headers


def without_scores(here: House, library: str, query: str) -> dict[str, bytes]:
    """Every passage found, by its chunk, without what a header may change (scores, ranks) and the library's name."""
    shown = {}
    for each in found(here, query, top_k=200, options={"library_ids": [library]}):
        each.ClearField("scores")
        each.ClearField("rank")
        each.ClearField("snippet_id")
        each.lineage.ClearField("library_id")
        each.lineage.ClearField("ingested_at")
        each.text.ClearField("prompt_text")  # of siblings the one that stands first brings it
        shown[each.lineage.chunk_id] = each.SerializeToString(deterministic=True)
    return shown


@pytest.mark.parametrize("name", CHUNKERS)
def test_a_header_changes_nothing_but_scores_and_order(modelled: House, name: str) -> None:
    everything = (
        "bread flour rises keep 面包 价格 yeast crust nothing people tea rye third パン 三 long chapter 2 hours it"
    )
    for library, contextual in (("plain", False), ("headed", True)):
        save(modelled, library, chunker=name, contextual_header=contextual, **SMALL)
        modelled.store({"guide.md": GUIDE, **OTHERS}, library=library)
    plain, headed = (without_scores(modelled, library, everything) for library in ("plain", "headed"))
    assert plain
    # A header makes more passages be found, and changes none of them.
    assert plain.keys() <= headed.keys()
    assert {chunk_id: headed[chunk_id] for chunk_id in plain} == plain
    assert not found(modelled, "ACME FY2024", mode=WORDS, options={"library_ids": ["plain"]})
    given = found(modelled, "ACME FY2024", top_k=200, mode=WORDS, options={"library_ids": ["headed"]})
    assert {each.lineage.doc_id for each in given} == {"guide.md"}
    assert not any("ACME" in each.text.text or "ACME" in each.text.prompt_text for each in given)


def test_a_header_names_title_entity_period_and_heading(here: House) -> None:
    save(here, chunker="layout", contextual_header=True)
    here.store({"guide.md": GUIDE})
    assert chunks(here)[0].header == "Guide to bread · ACME · FY2024 · Guide to bread"
    assert {each.header.rpartition(" · ")[2] for each in chunks(here)} == {"Guide to bread", "Guide to bread > 質問"}


def test_changing_the_header_indexes_anew_and_citations_hold(here: House) -> None:
    lines = b'{"doc_id": "x", "title": "Rolls", "text": "Soft and white."}'
    here.store({"guide.md": GUIDE})
    part = Documents(part=document_part(1, "lines.jsonl", lines))
    list(here.ingest.IngestDocuments(iter([start(Documents), part, finish(Documents, 1)])))
    plain = chunks(here)
    (given,) = found(here, "Rolls", top_k=1)
    for contextual in (True, False):
        said = save(here, contextual_header=contextual)
        assert said.library.index.contextual_header == contextual
        assert ended(here, said.job).state == admin_pb2.JOB_STATE_SUCCEEDED
        assert bool(found(here, "ACME")) == contextual
        assert [(each.text, each.span, each.locator) for each in chunks(here)] == [
            (each.text, each.span, each.locator) for each in plain
        ]
        assert len(found(here, "Rolls")) == 1
        request = tools_pb2.VerifyCitationRequest(lineage=given.lineage, quote=given.text.text)
        assert here.tools.VerifyCitation(request).verdict == tools_pb2.CITATION_VERDICT_SUPERSEDED
    assert [each.header for each in chunks(here)] == [each.header for each in plain]
    assert not save(here).HasField("job")


def test_the_servers_settings_are_those_of_new_libraries(tmp_path: Path) -> None:
    with house(tmp_path, ingest__chunker="small_to_big", ingest__contextual=True) as here:
        here.store({"guide.md": GUIDE})
        (library,) = here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries
        assert (library.index.chunker, library.index.contextual_header) == ("parent_child", True)
        assert save(here, "other").library.index.contextual_header
        assert not save(here, "plain", contextual_header=False).library.index.contextual_header


# ---- models and budgets


def refused(here: House, **index: Any) -> Failure:
    return failure_of(lambda: save(here, **index))


@pytest.mark.parametrize("backend", ["none", "deterministic"])
@pytest.mark.parametrize(
    "asked", [{"chunker": "semantic"}, {"settings": {"budget_unit": "tokens"}}], ids=["semantic", "tokens"]
)
def test_without_a_real_model_nothing_is_cut_by_one(tmp_path: Path, backend: str, asked: dict[str, Any]) -> None:
    with house(tmp_path, embedding__backend=backend) as here:
        told = refused(here, **asked)
        assert (told.code, told.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "NO_EMBEDDER")
        assert "groundwire models prepare" in told.message
        here.store(OTHERS)
        assert refused(here, **asked).reason == "NO_EMBEDDER"
        assert cuts(here) == {"paragraph(480,80)"}


def test_the_server_says_whether_it_can_cut_by_meaning(here: House, modelled: House) -> None:
    for house_, active in ((here, False), (modelled, True)):
        info = house_.admin.GetServerInfo(admin_pb2.GetServerInfoRequest())
        chunkers = {each.name: each for each in info.components if each.kind == "chunker"}
        assert set(chunkers) == set(CHUNKERS)
        assert [name for name, each in chunkers.items() if not each.active] == ([] if active else ["semantic"])
        assert bool(chunkers["semantic"].inactive_reason) is not active


def test_a_document_that_asks_for_a_model_that_is_not_there_is_refused_by_itself(here: House) -> None:
    parts = [
        Documents(part=document_part(1, "a.txt", b"One.", chunker="semantic")),
        Documents(part=document_part(2, "b.txt", b"Two.", chunker="sentence_window")),
    ]
    frames = here.ingest.IngestDocuments(iter([start(Documents), *parts, finish(Documents, 2)]))
    told = [each.outcome for each in frames if each.WhichOneof("message") == "outcome"]
    assert [(each.doc_id, each.HasField("error")) for each in told] == [("a.txt", True), ("b.txt", False)]
    assert told[0].error.message.startswith("a.txt: The server is set to embedding.backend = none.")


def test_a_model_that_has_gone_leaves_its_documents_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(embedding, "make_embedder", lambda *_, **__: Model())
        with house(tmp_path, embedding__backend="deterministic") as here:
            save(here, chunker="semantic")
            here.store({"guide.md": GUIDE})
            assert cuts(here) == {"semantic(480,80)"}
    with house(tmp_path) as here:
        (library,) = here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries
        assert library.index.chunker == "semantic"
        assert found(here, "flour")
        assert save(here, chunker="semantic").library.index.chunker == "semantic"
        done = ended(here, save(here, chunker="laws", chunk_chars=200).job)
        assert done.state == admin_pb2.JOB_STATE_SUCCEEDED
        assert cuts(here) == {"laws(200,80)"}


@pytest.mark.parametrize("hidden", [False, True])
def test_a_hidden_document_that_lacks_its_model_ends_no_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hidden: bool
) -> None:
    """Who may read the document is told that it stayed as it was; for the others there is none."""
    with monkeypatch.context() as patched:
        patched.setattr(embedding, "make_embedder", lambda *_, **__: Model())
        with house(tmp_path, embedding__backend="deterministic") as here:
            label = ingest_pb2.LABEL_CONFIDENTIAL if hidden else ingest_pb2.LABEL_INTERNAL
            part = Documents(part=document_part(1, "own.md", GUIDE.encode(), chunker="semantic", label=label))
            list(here.ingest.IngestDocuments(iter([start(Documents), part, finish(Documents, 1)])))
            here.store(OTHERS)
    with house(tmp_path) as here:
        done = ended(here, save(here, chunk_chars=30, overlap_chars=0).job)
        assert cuts(here) == {"semantic(480,80)", "paragraph(30,0)"}
        if hidden:
            assert done.state == admin_pb2.JOB_STATE_SUCCEEDED
            assert (done.progress.done, done.progress.total) == (len(OTHERS), len(OTHERS))
        else:
            assert done.state == admin_pb2.JOB_STATE_FAILED
            assert done.error.reason == errors_pb2.ERROR_REASON_NO_EMBEDDER


def test_a_budget_in_tokens_counts_the_models_tokens(modelled: House) -> None:
    save(modelled, settings={"budget_unit": "tokens"}, chunk_chars=5, overlap_chars=0)
    modelled.store({"a.txt": "one two three four five six seven\neight nine"})
    assert cuts(modelled) == {"paragraph(5,0,tokens)"}
    assert all(len(Model().token_starts(each.text)) <= 5 for each in chunks(modelled))
    assert len(chunks(modelled)) == 3


@pytest.mark.parametrize(
    ("index", "field"),
    [
        ({"chunk_chars": 0}, "library.index.chunk_chars"),
        ({"chunk_chars": -5}, "library.index.chunk_chars"),
        ({"overlap_chars": -1}, "library.index.overlap_chars"),
        ({"chunk_chars": 10, "overlap_chars": 10}, "library.index.overlap_chars"),
        ({"settings": {"budget_unit": "words"}}, "library.settings[0].value"),
        ({"chunker": "scissors"}, "library.index.chunker"),
    ],
)
def test_a_bad_budget_is_an_invalid_argument(here: House, index: dict[str, Any], field: str) -> None:
    told = refused(here, **index)
    assert told.code is grpc.StatusCode.INVALID_ARGUMENT
    assert field in [violation[0] for violation in told.violations]
