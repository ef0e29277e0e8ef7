"""Stored figures and relations as lists over the wire."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from groundwire.v1 import admin_pb2, evidence_pb2, ingest_pb2, metric_pb2
from groundwire_server.evidence import Label, Principal
from tests.rpc.house import House, fact, glossary, house, snippets
from tests.rpc.serving import failure_of

AUTO, APPROVED, PENDING = (
    evidence_pb2.REVIEW_STATUS_AUTO_APPROVED,
    evidence_pb2.REVIEW_STATUS_APPROVED,
    evidence_pb2.REVIEW_STATUS_PENDING,
)
CONFIDENTIAL, RESTRICTED = ingest_pb2.LABEL_CONFIDENTIAL, ingest_pb2.LABEL_RESTRICTED


@pytest.fixture
def here(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path / "data") as running:
        running.admin.UpdateGlossary(admin_pb2.UpdateGlossaryRequest(library_id="default", put=glossary()))
        yield running


def listed(here: House, **fields: Any) -> list[admin_pb2.ListedFact]:
    request = admin_pb2.ListFactsRequest(**{"library_id": "default", **fields})
    found: list[admin_pb2.ListedFact] = []
    while True:
        page = here.admin.ListFacts(request)
        assert page.ByteSize() <= 1 << 20
        found += page.facts
        if not page.next_page_token:
            return found
        request.page_token = page.next_page_token


def values(here: House, **fields: Any) -> list[str]:
    return [each.fact.value for each in listed(here, **fields)]


def relations(here: House, **fields: Any) -> list[admin_pb2.ListedRelation]:
    request = admin_pb2.ListRelationsRequest(**{"library_id": "default", **fields})
    found: list[admin_pb2.ListedRelation] = []
    while True:
        page = here.admin.ListRelations(request)
        assert page.ByteSize() <= 1 << 20
        found += page.relations
        if not page.next_page_token:
            return found
        request.page_token = page.next_page_token


def put(here: House, *records: ingest_pb2.FactRecord) -> None:
    frames = here.store_facts(ingest_pb2.FactRecords(facts=records))
    assert frames[-1].summary.failed == 0, frames


def day(number: int) -> Timestamp:
    moment = Timestamp()
    moment.FromDatetime(datetime(2024, 1, number, tzinfo=UTC))
    return moment


def relation(subject: str, name: str, target: str, **more: Any) -> ingest_pb2.RelationRecord:
    given = {"source_doc": "regions.jsonl", "locator": "line=1", "object_kind": "entity", **more}
    return ingest_pb2.RelationRecord(subject=subject, relation=name, object=target, **given)


def place(each: admin_pb2.ListedFact) -> tuple[str, ...]:
    return (each.fact.metric, each.fact.entity, each.fact.period, each.fact.channel, each.lineage.doc_id)


# ---- figures -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 1000])
def test_figures_are_listed_as_a_query_gives_them(furnished: House, size: int) -> None:
    found = listed(furnished, page_size=size)
    assert [(*place(each), each.fact.value) for each in found] == [
        ("POPULATION", "JPN", "2020", "TOTAL", "report.csv", "126261000"),
        ("POPULATION", "JPN", "2021", "TOTAL", "report.csv", "125681593"),
        ("REVENUE", "ACME", "2020", "TOTAL", "other.csv", "1300.00"),
        ("REVENUE", "ACME", "2020", "TOTAL", "report.csv", "1234.50"),
    ]
    assert [each.fact.conflicting for each in found] == [False, False, True, True]
    query = metric_pb2.QueryMetricRequest(
        queries=[{"metric": "sales", "entity": "Acme", "period": "2020"}], options={"language": "en"}
    )
    asked = snippets(furnished.metric.QueryMetric(query))
    assert [(each.fact, each.lineage) for each in asked] == [(each.fact, each.lineage) for each in found[2:]]


@pytest.mark.parametrize(
    ("fields", "count"),
    [
        ({"metric": "人口"}, 2),
        ({"metric": "REVENUE"}, 2),
        ({"metric": "sales", "entity": "Acme"}, 2),
        ({"entity": "日本"}, 2),
        ({"metric": "population", "entity": "ACME"}, 0),
        ({"source_doc": "other.csv"}, 1),
        ({"source_doc": "report.csv", "metric": "revenue"}, 1),
        ({"source_doc": "none.csv"}, 0),
        ({"review_status": AUTO}, 4),
        ({"review_status": APPROVED}, 0),
        ({"review_status": PENDING}, 0),
        ({"include_versions": True}, 4),
    ],
)
def test_figures_are_narrowed(furnished: House, fields: dict[str, Any], count: int) -> None:
    assert len(listed(furnished, page_size=1, **fields)) == count


@pytest.mark.parametrize(
    ("axis", "raw"), [("metric", "reveneu"), ("entity", "日木"), ("metric", "\x00"), ("entity", " ")]
)
def test_a_name_that_nothing_knows_is_refused(furnished: House, axis: str, raw: str) -> None:
    failure = failure_of(lambda: listed(furnished, **{axis: raw}))
    assert [(field, reason) for field, reason, _ in failure.violations] == [(axis, "UNKNOWN_NAME")]


def test_a_statement_speaks_the_language_of_the_names(furnished: House) -> None:
    assert listed(furnished, metric="population")[0].fact.statement.startswith("POPULATION of JPN for 2020")
    assert "为" in listed(furnished, metric="人口")[0].fact.statement


def test_versions_are_listed_in_order_of_filing(here: House) -> None:
    put(
        here,
        *(
            fact("REVENUE", "ACME", "2020", str(n), unit="USD", filed_at=day(n), author=f"author {n}")
            for n in (3, 1, 2)
        ),
        *(fact("REVENUE", "ACME", "2020", f"2{n}", unit="USD", filed_at=day(2), locator=f"row={n}") for n in range(5)),
    )
    assert values(here) == ["3"]
    for size in (1, 2, 3, 100):
        found = listed(here, include_versions=True, page_size=size)
        assert [each.fact.value for each in found] == ["1", "2", "20", "21", "22", "23", "24", "3"]
        assert [each.fact.version.version for each in found] == list(range(1, 9))
        assert {each.fact.version.latest_version for each in found} == {8}
    assert found[-1].fact.version.author == "author 3"


def test_pages_of_versions_are_stable_while_versions_come(here: House) -> None:
    put(here, *(fact("REVENUE", "ACME", "2020", str(n), unit="USD", filed_at=day(2 * n)) for n in range(1, 11)))
    request = admin_pb2.ListFactsRequest(library_id="default", include_versions=True, page_size=1)
    found: list[str] = []
    for step in range(30):
        page = here.admin.ListFacts(request)
        found += [each.fact.value for each in page.facts]
        if not page.next_page_token:
            break
        request.page_token = page.next_page_token
        # One that was filed before everything, and one that comes at once behind what was listed last.
        put(here, fact("REVENUE", "ACME", "2020", f"0.{step}", unit="USD", filed_at=day(1), locator=f"early={step}"))
    assert [value for value in found if "." not in value] == [str(n) for n in range(1, 11)]
    assert len(found) == len(set(found))


def test_figures_that_wait_are_for_those_who_may_write(here: House, monkeypatch: pytest.MonkeyPatch) -> None:
    put(
        here,
        fact("REVENUE", "ACME", "2020", "10", unit="USD", filed_at=day(1)),
        fact("REVENUE", "ACME", "2020", "11", unit="USD", filed_at=day(2), review_status=PENDING, author="reader"),
        fact("売上", "日本商事", "2020", "5", unit="JPY", review_status=PENDING),
        fact("REVENUE", "ACME", "2021", "12", unit="USD", review_status=APPROVED),
    )
    assert values(here) == ["10", "12"]
    assert values(here, review_status=APPROVED) == ["12"]
    waiting = listed(here, review_status=PENDING, page_size=1)
    assert [(each.fact.value, each.fact.review_status) for each in waiting] == [("11", PENDING), ("5", PENDING)]
    version = waiting[0].fact.version
    assert (version.version, version.latest_version, version.author) == (2, 2, "reader")
    assert values(here, review_status=PENDING, metric="売上", entity="日本商事") == ["5"]
    assert failure_of(lambda: listed(here, metric="売上")).violations[0][1] == "UNKNOWN_NAME"


def test_without_the_right_to_write_nothing_that_waits_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with house(tmp_path / "data") as here:
        put(here, fact("REVENUE", "ACME", "2020", "10", unit="USD", review_status=PENDING))
    reader = Principal("reader", Label.INTERNAL, may_write=False, may_administer=False)
    monkeypatch.setattr("groundwire_server.engine.engine.local_principal", lambda *_: reader)
    with house(tmp_path / "data") as here:
        failure = failure_of(lambda: listed(here, review_status=PENDING))
        assert (failure.code, failure.reason) == (grpc.StatusCode.PERMISSION_DENIED, "NOT_PERMITTED")
        assert values(here) == []


# ---- relations -----------------------------------------------------------------------------------------------------


def test_relations_are_listed_once_with_their_sources(here: House) -> None:
    records = [
        relation("ASIA", "parent_of", "JPN"),
        relation("ASIA", "parent_of", "JPN", source_doc="b.csv", locator="row=2"),
        relation("ASIA", "parent_of", "JPN", source_doc="b.csv", locator="row=9", label=CONFIDENTIAL),
        relation("ASIA", "parent_of", "CHN", valid_from="2020-01-01"),
        relation("A", "competes_with", "日本商事", source_doc="b.csv"),
        relation("A", "competes_with", "hidden", label=CONFIDENTIAL),
        relation("A", "competes_with", "never", label=RESTRICTED),
    ]
    here.store_facts(ingest_pb2.FactRecords(relations=records))
    for size in (1, 2, 100):
        found = relations(here, page_size=size)
        assert [(r.edge.relation, r.edge.source.node_id, r.edge.target.node_id) for r in found] == [
            ("competes_with", "entity:A", "entity:日本商事"),
            ("parent_of", "entity:ASIA", "entity:CHN"),
            ("parent_of", "entity:ASIA", "entity:JPN"),
        ]
        sources = [[r.lineage.doc_id, *(member.doc_id for member in r.lineage.members)] for r in found]
        assert sources == [["b.csv"], ["regions.jsonl"], ["b.csv", "regions.jsonl"]]
    assert len(relations(here, relation="parent_of", page_size=1)) == 2
    assert [len(r.lineage.members) for r in relations(here, source_doc="b.csv", page_size=1)] == [0, 0]
    assert relations(here, relation="owns") == relations(here, source_doc="none") == []


# ---- both ----------------------------------------------------------------------------------------------------------


def test_hidden_rows_are_in_no_list_and_no_token(tmp_path: Path) -> None:
    seen: list[list[bytes]] = []
    for name, hidden in (("bare", False), ("mixed", True)):
        with house(tmp_path / name, secret="0" * 64) as here:
            for number in range(5):
                if hidden:
                    for label in (CONFIDENTIAL, RESTRICTED):
                        put(
                            here,
                            fact("REVENUE", "ACME", str(2000 + number), "9", unit="USD", label=label),
                            fact(
                                "REVENUE", "ACME", str(2000 + number), "8", source_doc="h.csv", unit="USD", label=label
                            ),
                            fact("SECRET", f"E{number}", "2020", "7", label=label),
                        )
                        hidden_ones = [relation("A", "owns", f"H{number}", label=label)]
                        hidden_ones.append(relation("A", "owns", f"B{number}", label=label, source_doc="h.csv"))
                        here.store_facts(ingest_pb2.FactRecords(relations=hidden_ones))
                put(here, fact("REVENUE", "ACME", str(2000 + number), str(number), unit="USD"))
                here.store_facts(ingest_pb2.FactRecords(relations=[relation("A", "owns", f"B{number}")]))
            pages: list[bytes] = []
            for method, request in (
                (here.admin.ListFacts, admin_pb2.ListFactsRequest(library_id="default", page_size=2)),
                (here.admin.ListRelations, admin_pb2.ListRelationsRequest(library_id="default", page_size=2)),
            ):
                asked: Any = request
                while True:
                    page: Any = method(asked)
                    for each in (*getattr(page, "facts", ()), *getattr(page, "relations", ())):
                        each.lineage.ClearField("ingested_at")
                    pages.append(page.SerializeToString(deterministic=True))
                    if not page.next_page_token:
                        break
                    asked.page_token = page.next_page_token
            seen.append(pages)
    assert len(seen[0]) == 6
    assert seen[0] == seen[1]


def test_lists_are_stable_while_others_write(here: House) -> None:
    put(here, *(fact("REVENUE", f"E{n:03}", "2020", str(n), unit="USD") for n in range(40)))
    stays = [relation("A", "owns", f"B{n:03}") for n in range(40)]
    here.store_facts(ingest_pb2.FactRecords(relations=stays))
    done = threading.Event()
    faults: list[BaseException] = []

    def write() -> None:
        try:
            for step in range(200):
                if done.is_set():
                    return
                records = [fact("REVENUE", f"E{step % 40:03}x", "2020", str(step), unit="USD")]
                between = [relation("A", "owns", f"B{step % 40:03}x{step}")]
                here.store_facts(ingest_pb2.FactRecords(facts=records, relations=between))
        except BaseException as fault:  # noqa: BLE001 - shown where the test waits
            faults.append(fault)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(3):
            entities = [each.fact.entity for each in listed(here, page_size=3) if "x" not in each.fact.entity]
            assert entities == [f"E{n:03}" for n in range(40)]
            targets = [each.edge.target.node_id for each in relations(here, page_size=3)]
            assert [t for t in targets if "x" not in t] == [f"entity:B{n:03}" for n in range(40)]
    finally:
        done.set()
        writer.join()
    assert faults == []


def test_hostile_names_come_back_as_they_are(here: House) -> None:
    names = ["a b#c@1,d=e%20?", "売上\u3000高", "e\u0301", "'; DROP TABLE fact; --", "\U0010ffff", "%_[a-z]*"]
    put(here, *(fact(name, name, "2020", "1", unit="x", source_doc=name) for name in names))
    here.store_facts(
        ingest_pb2.FactRecords(relations=[relation(name, "owns", name, source_doc=name) for name in names])
    )
    found = listed(here, page_size=1)
    assert sorted(each.lineage.doc_id for each in found) == sorted(names)
    for each in found:
        assert values(here, metric=each.fact.metric, entity=each.fact.entity, source_doc=each.lineage.doc_id) == ["1"]
    assert sorted(each.lineage.doc_id for each in relations(here, page_size=1)) == sorted(names)
    assert all(len(relations(here, source_doc=name)) == 1 for name in names)


@pytest.mark.parametrize("method", ["ListFacts", "ListRelations"])
def test_every_fault_of_a_request_is_named(furnished: House, method: str) -> None:
    request: Any = getattr(admin_pb2, f"{method}Request")(page_size=-1, page_token="x")
    if method == "ListFacts":
        request.review_status = 99
    failure = failure_of(lambda: getattr(furnished.admin, method)(request))
    fields = [field for field, _, _ in failure.violations]
    assert fields == ["library_id", *(["review_status"] if method == "ListFacts" else []), "page_size", "page_token"]
    unknown = getattr(admin_pb2, f"{method}Request")(library_id="nowhere")
    assert failure_of(lambda: getattr(furnished.admin, method)(unknown)).reason == "UNKNOWN_LIBRARY"
