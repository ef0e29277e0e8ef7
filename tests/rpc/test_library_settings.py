"""What a library says takes effect: for each setting an answer or a plan that changes, and a call's own word wins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groundwire.v1 import admin_pb2, ingest_pb2, narrative_pb2, router_pb2, stream_pb2
from tests.rpc.house import Documents, Facts, House, fact, finish, furnish, glossary, house, snippets, start, term
from tests.rpc.serving import Failure, failure_of
from tests.support.eventually import eventually

Library = admin_pb2.Library
OUTPUT_ONLY = ("snapshot_id", "documents", "active_chunks", "facts", "relations", "embedding_coverage")
TEXTS = {
    "a.txt": "bread bread bread bread bread bread and rivers",
    "b.txt": "bread and the price of bread, told at great length in a text of many more words than the other ones have",
    "c.txt": "a loaf is baked of flour; revenue of the bakery grew",
    "d.txt": "rivers and bridges",
}


@pytest.fixture
def here(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path / "data") as running:
        yield running


@pytest.fixture
def embedding(tmp_path: Path) -> Iterator[House]:
    """A server with vectors of hashes."""
    with house(tmp_path / "data", embedding__backend="deterministic") as running:
        running.server.engine.wait_for_embedder()
        yield running


def save(here: House, library_id: str = "default", *, validate_only: bool = False, **fields: Any) -> Library:
    made = Library(library_id=library_id, **fields)
    return here.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=made, validate_only=validate_only)).library


def shown(here: House, library_id: str = "default") -> Library:
    listed = here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries
    return next(each for each in listed if each.library_id == library_id)


def as_read(library: Library) -> dict[str, Any]:
    """The fields of a library that was read, to save again."""
    return {
        field.name: value for field, value in library.ListFields() if field.name not in {"library_id", *OUTPUT_ONLY}
    }


def setting(name: str, value: str, **more: str) -> dict[str, str]:
    return {"name": name, "value": value, **more}


def retrieve(here: House, query: str = "bread", **fields: Any) -> list[narrative_pb2.NarrativeRetrieveResponse]:
    return list(here.narrative.NarrativeRetrieve(narrative_pb2.NarrativeRetrieveRequest(query=query, **fields)))


def ask(here: House, question: str = "What is said of bread?") -> list[router_pb2.AskResponse]:
    return list(here.router.Ask(router_pb2.AskRequest(question=question)))


def plan(frames: list[Any]) -> dict[str, stream_pb2.PlanStep]:
    """Steps of the retrieval by their stage; of an Ask those of its branches."""
    steps = [*frames[0].header.plan]
    for frame in frames:
        if frame.WhichOneof("frame") == "sub_call":
            steps += frame.sub_call.plan
    return {step.stage: step for step in steps}


def scores(here: House, **fields: Any) -> list[tuple[str, float]]:
    return [(each.lineage.doc_id, each.scores.bm25) for each in snippets(retrieve(here, **fields))]


def wait_until_embedded(here: House, library_id: str = "default") -> None:
    assert eventually(lambda: shown(here, library_id).embedding_coverage == 1)


# ---- one test a setting ----------------------------------------------------------------------------------------------


def test_k1_and_b_change_scores_and_order(here: House) -> None:
    here.store(TEXTS)
    before = scores(here)
    assert [doc_id for doc_id, _ in before] == ["a.txt", "b.txt"]
    save(here, settings=[setting("k1", "0")])
    without_frequency = scores(here)
    assert without_frequency[0][1] == without_frequency[1][1]
    save(here, settings=[setting("b", "0")])
    without_length = scores(here)
    assert without_length != before
    assert without_length != without_frequency
    assert [each.lineage.doc_id for frame in ask(here) for each in frame.batch.snippets]
    asked = [each.scores.bm25 for frame in ask(here) for each in frame.batch.snippets]
    save(here)
    assert [each.scores.bm25 for frame in ask(here) for each in frame.batch.snippets] != asked
    assert scores(here) == before


def test_fusion_changes_plan_and_scores_and_a_call_has_the_last_word(embedding: House) -> None:
    embedding.store(TEXTS)
    wait_until_embedded(embedding)
    fused = {}
    for name in ("linear", "rrf"):
        save(embedding, tuning={"fusion": name})
        frames = retrieve(embedding)
        fused[name] = [each.scores.fused for each in snippets(frames)]
        assert plan(frames)["fuse"].backend == plan(ask(embedding))["fuse"].backend == name
        assert shown(embedding).tuning.fusion == name
    assert fused["linear"] != fused["rrf"]
    assert plan(retrieve(embedding, tuning={"fusion": "linear"}))["fuse"].backend == "linear"
    save(embedding, settings=[setting("fusion", "rrf")])
    assert shown(embedding).tuning.fusion == "rrf"


def test_vector_depth_cuts_the_list_of_vectors(embedding: House) -> None:
    embedding.store(TEXTS)
    wait_until_embedded(embedding)
    assert plan(retrieve(embedding, top_k=1))["dense"].detail == "exact,depth=200"
    save(embedding, settings=[setting("vector_depth", "2")])
    frames = retrieve(embedding, top_k=1)
    assert plan(frames)["dense"].detail == plan(ask(embedding))["dense"].detail.replace("11", "2") == "exact,depth=2"
    (dense,) = [each for each in frames[-1].summary.timings if each.stage == "dense"]
    assert dense.items_out == 2


def test_variants_of_the_glossary_can_be_left_out_and_a_call_has_the_last_word(here: House) -> None:
    here.store(TEXTS)
    names = [term(1, "REVENUE", "revenue", "takings"), *(each for each in glossary() if each.code != "REVENUE")]
    here.admin.UpdateGlossary(admin_pb2.UpdateGlossaryRequest(library_id="default", put=names))

    def found(**fields: Any) -> list[str]:
        return [each.lineage.doc_id for each in snippets(retrieve(here, "takings", **fields))]

    assert found() == ["c.txt"]
    save(here, tuning={"glossary_variants": False})
    assert found() == []
    assert "rewrite" not in plan(ask(here, "Why did takings grow?"))
    assert found(tuning={"glossary_variants": True}) == ["c.txt"]
    save(here, settings=[setting("glossary_variants", "true")])
    assert found() == ["c.txt"]
    assert found(tuning={"glossary_variants": False}) == []


def test_the_default_label_is_that_of_what_comes_without_one(here: House) -> None:
    save(here, settings=[setting("default_label", "confidential")])
    here.store({"a.txt": "bread"})
    here.store({"b.txt": "bread"}, label=ingest_pb2.LABEL_INTERNAL)
    here.store_facts(ingest_pb2.FactRecords(facts=[fact("REVENUE", "ACME", "2020", "1", unit="USD")]))
    assert [each.lineage.doc_id for each in snippets(retrieve(here))] == ["b.txt"]
    assert (shown(here).documents, shown(here).facts) == (1, 0)


def test_a_stream_that_is_open_reads_by_the_settings_of_the_moment(here: House) -> None:
    """Each next part goes out when the one before is stored, with the settings changed in between."""
    here.store({"a.txt": "bread"})

    def documents() -> Iterator[Any]:
        yield start(Documents)
        for seq, label in enumerate(("internal", "confidential"), 1):
            save(here, settings=[setting("default_label", label)], index={"chunk_chars": 30 * seq, "overlap_chars": 0})
            content = b"bread of today\n\nbread of tomorrow"
            head = ingest_pb2.DocumentHead(doc_id=f"{label}.txt")
            yield Documents(part=ingest_pb2.DocumentPart(seq=seq, head=head, content=content, last_part=True))
            assert eventually(lambda seq=seq: any(each.ack.durable_seq == seq for each in heard))
        yield finish(Documents, 2)

    heard: list[Any] = []
    heard.extend(here.ingest.IngestDocuments(documents()))
    assert [each.outcome.chunks for each in heard if each.WhichOneof("message") == "outcome"] == [2, 1]
    assert [each.lineage.doc_id for each in snippets(retrieve(here, "tomorrow"))] == ["internal.txt"]

    def figures() -> Iterator[Any]:
        yield start(Facts)
        for seq, label in enumerate(("internal", "confidential"), 1):
            save(here, settings=[setting("default_label", label)])
            record = fact("REVENUE", "ACME", f"202{seq}", "1", unit="USD")
            yield Facts(part=ingest_pb2.FactPart(seq=seq, records=ingest_pb2.FactRecords(facts=[record])))
            assert eventually(lambda seq=seq: any(each.ack.durable_seq == seq for each in told))
        yield finish(Facts, 2)

    told: list[Any] = []
    told.extend(here.ingest.IngestFacts(figures()))
    assert shown(here).facts == 1


def test_a_library_without_vectors_says_so(embedding: House) -> None:
    embedding.store(TEXTS)
    wait_until_embedded(embedding)
    save(embedding, index={"embedder": "none"})
    frames = retrieve(embedding)
    assert "dense" not in plan(frames)
    (lost,) = frames[-1].summary.degradations
    assert (lost.kind, lost.library_id) == (stream_pb2.DEGRADATION_KIND_VECTOR_OFF, "default")
    failure = failure_of(lambda: retrieve(embedding, mode="RETRIEVAL_MODE_HYBRID"))
    assert (failure.reason, failure.metadata["library_id"]) == ("NO_EMBEDDER", "default")
    assert not shown(embedding).HasField("embedding_coverage")
    save(embedding)
    wait_until_embedded(embedding)
    assert "dense" in plan(retrieve(embedding))


def test_a_library_that_wants_another_embedder_than_there_is_has_no_vectors_and_says_why(embedding: House) -> None:
    embedding.store(TEXTS)
    save(embedding, index={"embedder": "onnx"})
    frames = retrieve(embedding)
    assert "dense" not in plan(frames)
    (lost,) = frames[-1].summary.degradations
    assert lost.kind == stream_pb2.DEGRADATION_KIND_VECTOR_OFF
    assert "set to the embedder onnx" in lost.cause.message
    assert shown(embedding).index.embedder == "onnx"


def test_the_description_leads_questions_to_a_library(here: House) -> None:
    for name, about in (("one", "bakeries and bread"), ("two", "rivers and bridges")):
        save(here, name, description=about)
        here.store(TEXTS, library=name)
    assert [each.library_id for each in retrieve(here)[0].header.snapshots] == ["one"]
    save(here, "one", description="rivers")
    save(here, "two", description="bakeries and bread")
    assert [each.library_id for each in retrieve(here)[0].header.snapshots] == ["two"]


def test_the_chunker_and_its_budget_cut_what_comes(here: House) -> None:
    text = "\n\n".join(f"Paragraph {number} about bread and its price." for number in range(8))
    chunks = {}
    for name, index in {
        "default": {},
        "small": {"chunk_chars": 60, "overlap_chars": 0},
        "lapped": {"chunk_chars": 90, "overlap_chars": 45},
        "whole": {"chunker": "whole"},
    }.items():
        save(here, name, index=index)
        here.store({"a.txt": text}, library=name)
        chunks[name] = shown(here, name).active_chunks
    assert chunks["whole"] == chunks["default"] == 1
    assert (chunks["small"], chunks["lapped"]) == (8, 7)


# ---- attributes ------------------------------------------------------------------------------------------------------


def attribute(name: str, **value: Any) -> dict[str, Any]:
    return {"name": name, "value": value}


def store_with(here: House, *documents: tuple[str, dict[str, Any]], label: int = 0) -> list[Any]:
    """Ingest documents with one attribute each; outcomes in order."""
    parts = []
    for seq, (doc_id, given) in enumerate(documents, 1):
        head = ingest_pb2.DocumentHead(doc_id=doc_id, attributes=[given], label=label)  # type: ignore[arg-type]
        parts.append(Documents(part=ingest_pb2.DocumentPart(seq=seq, head=head, content=b"bread", last_part=True)))
    frames = here.ingest.IngestDocuments(iter([start(Documents), *parts, finish(Documents, len(parts))]))
    return [each.outcome for each in frames if each.WhichOneof("message") == "outcome"]


def by_year(here: House, **test: Any) -> list[str]:
    filter_ = {"predicate": {"field": "year", **test}}
    return [each.lineage.doc_id for each in snippets(retrieve(here, options={"filter": filter_}))]


YEAR = {"name": "year", "value_type": admin_pb2.ATTRIBUTE_TYPE_INTEGER}


def test_an_attribute_is_declared_before_its_first_use(here: House) -> None:
    here.store({"a.txt": "bread"})
    unknown = failure_of(lambda: by_year(here, eq={"int_value": 2024}))
    assert [each[1] for each in unknown.violations] == ["FILTER_UNKNOWN_FIELD"]
    before = shown(here).snapshot_id
    save(here, attributes=[YEAR])
    assert shown(here).snapshot_id != before
    assert YEAR["value_type"] in {each.value_type for each in shown(here).attributes if each.name == "year"}
    assert by_year(here, eq={"int_value": 2024}) == []
    outcomes = store_with(
        here,
        ("text", attribute("year", string_value="2024")),
        ("half", attribute("year", decimal_value="2024.5")),
        ("good", attribute("year", int_value=2024)),
        ("also", attribute("year", decimal_value="2024.0")),
    )
    reasons = [each.error.reason for each in outcomes]
    assert reasons == [106, 106, 0, 0]
    assert by_year(here, eq={"int_value": 2024}) == ["also", "good"]
    records = ingest_pb2.FactRecords(
        facts=[fact("REVENUE", "ACME", "2020", "1", attributes=[attribute("year", string_value="x")])]
    )
    rejected = [row for frame in here.store_facts(records) for row in frame.rejected.rows]
    assert [row.reason for row in rejected] == [106]
    save(here)
    assert by_year(here, eq={"int_value": 2024}) == ["also", "good"]
    assert [each.error.reason for each in store_with(here, ("half", attribute("year", double_value=0.5)))] == [0]


def test_a_declaration_cannot_contradict_what_the_caller_has_found(here: House) -> None:
    store_with(here, ("a", attribute("year", string_value="MMXXIV")))
    refused = failure_of(lambda: save(here, attributes=[{"name": "k", "value_type": 1}, YEAR]))
    assert [each[:2] for each in refused.violations] == [("library.attributes[1]", "CONTRADICTION")]


def test_a_declaration_tells_nothing_of_hidden_attributes(here: House) -> None:
    store_with(here, ("a", attribute("year", string_value="MMXXIV")), label=ingest_pb2.LABEL_CONFIDENTIAL)
    assert "year" not in {each.name for each in shown(here).attributes}
    save(here, attributes=[YEAR])
    assert [each.error.reason for each in store_with(here, ("b", attribute("year", int_value=1)))] == [0]
    assert by_year(here, eq={"int_value": 1}) == ["b"]


def test_saving_what_was_read_declares_nothing_that_others_may_not_know(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        furnish(here)
        store_with(here, ("a", attribute("codename", string_value="x")))
        before = shown(here)
        assert "codename" in {each.name for each in before.attributes}
        after = save(here, **as_read(before))
        assert (after.snapshot_id, after.attributes) == (before.snapshot_id, before.attributes)
    with house(tmp_path / "data", access__local_clearance="public") as here:
        assert "codename" not in {each.name for each in shown(here).attributes}


# ---- the whole -------------------------------------------------------------------------------------------------------


def test_settings_say_where_they_come_from_and_can_be_given_back(here: House) -> None:
    save(here, settings=[setting("k1", "0.9"), setting("default_label", "PUBLIC")], tuning={"glossary_variants": False})
    read = shown(here)
    assert {each.name: (each.value, each.origin) for each in read.settings} == {
        "ambiguous": ("refuse", "default"),
        "b": ("0.75", "default"),
        "budget_unit": ("characters", "default"),
        "default_label": ("PUBLIC", "library"),
        "k1": ("0.9", "library"),
        "relations_from": ("glossary,metadata", "default"),
        "vector_depth": ("200", "default"),
    }
    assert (read.tuning.fusion, read.tuning.glossary_variants, read.tuning.reranker) == ("linear", False, "none")
    assert save(here, **as_read(read)) == read
    info = here.admin.GetServerInfo(admin_pb2.GetServerInfoRequest())
    assert {each.name: each.origin for each in info.settings}["embedding.backend"] == "argument"
    assert {each.name: each.origin for each in info.settings}["ingest.chunker"] == "default"


def test_every_setting_changes_the_snapshot(here: House) -> None:
    here.store(TEXTS)
    seen = {shown(here).snapshot_id}
    changes: list[dict[str, Any]] = [
        {"description": "x"},
        {"attributes": [YEAR]},
        {"index": {"embedder": "none"}},
        {"tuning": {"fusion": "rrf"}},
        {"tuning": {"glossary_variants": False}},
        *({"settings": [setting(name, value)]} for name, value in (("k1", "1"), ("b", "1"), ("vector_depth", "9"))),
        {"settings": [setting("ambiguous", "report")]},
        {"settings": [setting("default_label", "PUBLIC")]},
    ]
    for change in changes:
        save(here, **change)
        seen.add(shown(here).snapshot_id)
    assert len(seen) == len(changes) + 1
    save(here)
    assert shown(here).snapshot_id in seen


def test_a_rehearsal_shows_the_library_as_it_would_be_and_changes_nothing(here: House) -> None:
    here.store(TEXTS)
    before = shown(here)
    would_be = save(here, validate_only=True, description="new", attributes=[YEAR], settings=[setting("k1", "0.5")])
    assert (would_be.description, would_be.snapshot_id, would_be.documents) == ("new", before.snapshot_id, len(TEXTS))
    assert "year" in {each.name for each in would_be.attributes}
    assert shown(here) == before
    made = save(here, "other", validate_only=True, description="x")
    assert (made.description, made.snapshot_id) == ("x", "")
    assert [each.library_id for each in here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries] == [
        "default"
    ]


def test_a_change_holds_only_for_the_state_that_was_read(here: House) -> None:
    here.store(TEXTS)
    read = shown(here).snapshot_id

    def saved_if(snapshot_id: str, description: str) -> Library:
        library = Library(library_id="default", description=description)
        request = admin_pb2.SaveLibraryRequest(library=library, if_snapshot_id=snapshot_id)
        return here.admin.SaveLibrary(request).library

    after = saved_if(read, "first")
    failure = failure_of(lambda: saved_if(read, "second"))
    assert (failure.reason, failure.metadata["snapshot_id"]) == ("CONFLICTING_CHANGE", read)
    assert saved_if(after.snapshot_id, "third").description == "third"
    missing = Library(library_id="nowhere")
    request = admin_pb2.SaveLibraryRequest(library=missing, if_snapshot_id=read)
    assert failure_of(lambda: here.admin.SaveLibrary(request)).reason == "UNKNOWN_LIBRARY"


def test_an_unknown_setting_is_answered_with_the_valid_ones(here: House) -> None:
    failure = failure_of(lambda: save(here, settings=[setting("colour", "red")]))
    ((field, reason, said),) = failure.violations
    assert (field, reason) == ("library.settings[0].name", "UNKNOWN_NAME")
    valid = "adaptive, ambiguous, b, budget_unit, corrective, corrective_judge, decomposition, default_label"
    more = "filter_extractor, fusion, glossary_variants, graph, k1, query_transform, relations_from, vector_depth"
    assert f"{valid}, {more}" in said


def test_settings_outlive_the_server(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        made = save(here, attributes=[YEAR], tuning={"fusion": "rrf", "glossary_variants": False})
    with house(tmp_path / "data") as here:
        assert shown(here) == made


# ---- two libraries with other settings in one call -------------------------------------------------------------------


def test_libraries_with_other_settings_are_searched_each_by_its_own(embedding: House) -> None:
    save(embedding, "one", tuning={"fusion": "rrf"}, index={"chunker": "whole"}, settings=[setting("k1", "0.5")])
    save(embedding, "two", tuning={"fusion": "linear"}, index={"chunk_chars": 40, "overlap_chars": 0})
    save(embedding, "three", index={"embedder": "none"})
    for name in ("one", "two", "three"):
        embedding.store(TEXTS, library=name)
    for name in ("one", "two"):
        wait_until_embedded(embedding, name)
    both = {"library_ids": ["one", "two", "three"]}
    frames = retrieve(embedding, options=both)
    steps = {(step.stage, step.library_id): step for step in frames[0].header.plan}
    assert (steps["fuse", "one"].backend, steps["fuse", "two"].backend) == ("rrf", "linear")
    assert ("dense", "three") not in steps
    assert steps["join", ""].backend == "rrf"
    assert [(each.kind, each.library_id) for each in frames[-1].summary.degradations] == [
        (stream_pb2.DEGRADATION_KIND_VECTOR_OFF, "three")
    ]
    alone = {
        name: [
            (each.lineage.chunk_id, each.scores.bm25)
            for each in snippets(retrieve(embedding, options={"library_ids": [name]}))
        ]
        for name in both["library_ids"]
    }
    together: dict[str, list[tuple[str, float]]] = {name: [] for name in alone}
    for each in snippets(retrieve(embedding, options=both, top_k=100)):
        together[each.lineage.library_id].append((each.lineage.chunk_id, each.scores.bm25))
    assert together == alone


def test_a_mode_that_one_library_cannot_serve_is_refused_with_its_name(embedding: House) -> None:
    save(embedding, "one")
    save(embedding, "two", index={"embedder": "none"})
    failure = failure_of(lambda: retrieve(embedding, mode="RETRIEVAL_MODE_VECTOR"))
    assert (failure.reason, failure.metadata["library_id"], failure.metadata["mode"]) == (
        "NO_EMBEDDER",
        "two",
        "VECTOR",
    )


def test_an_attribute_of_another_type_in_another_library_is_tested_where_it_fits(here: House) -> None:
    save(here, "one", attributes=[YEAR], description="bread")
    save(here, "two", attributes=[{"name": "year", "value_type": admin_pb2.ATTRIBUTE_TYPE_STRING}], description="bread")
    for name, value in (("one", {"int_value": 7}), ("two", {"string_value": "7"})):
        head = ingest_pb2.DocumentHead(doc_id=name, attributes=[attribute("year", **value)])
        part = Documents(part=ingest_pb2.DocumentPart(seq=1, head=head, content=b"bread", last_part=True))
        list(here.ingest.IngestDocuments(iter([start(Documents, name), part, finish(Documents, 1)])))
    both = {"library_ids": ["one", "two"]}
    for value, found in (({"int_value": 7}, ["one"]), ({"string_value": "7"}, ["two"])):
        options = {**both, "filter": {"predicate": {"field": "year", "eq": value}}}
        assert [each.lineage.doc_id for each in snippets(retrieve(here, options=options))] == found
        request = router_pb2.AskRequest(question="What is said of bread?", options=options)
        answered = [each.lineage.doc_id for frame in here.router.Ask(request) for each in frame.batch.snippets]
        assert answered == found
    wrong = {**both, "filter": {"predicate": {"field": "year", "eq": {"bool_value": True}}}}
    refused: list[Failure] = [
        failure_of(lambda: retrieve(here, options=wrong)),
        failure_of(lambda: here.router.Ask(router_pb2.AskRequest(question="What is said of bread?", options=wrong))),
    ]
    for failure in refused:
        assert [each[:2] for each in failure.violations] == [("options.filter.predicate.eq", "FILTER_TYPE_MISMATCH")]
