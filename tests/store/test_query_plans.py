"""No everyday read walks through a whole table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest

from groundwire_server.evidence import Label, Period, PeriodKind, ReviewStatus
from groundwire_server.store import EdgePlace, FactKey, FactPlace, SqliteStore, StoreReader
from groundwire_server.store.conformance import START, make_document, make_edge, make_fact

CLEARANCE = Label.INTERNAL
DAYS = (date(2024, 1, 1), date(2024, 12, 31))
YEAR = Period("2024", PeriodKind.CALENDAR, *DAYS)
SHOWN = frozenset({ReviewStatus.AUTO_APPROVED, ReviewStatus.APPROVED})
FACT = FactPlace("REVENUE", "e1", *DAYS, "TOTAL", (), "report.pdf", "0", START, 1)
KEY = FactKey("REVENUE", "ACME", "TOTAL", *DAYS)
EDGE = EdgePlace("parent_of", "entity", "A", "entity", "B1", "0")
READS: dict[str, Callable[[StoreReader], object]] = {
    "facts by key": lambda r: r.facts(CLEARANCE, metric="REVENUE", entity="ACME", channel="TOTAL", days=DAYS),
    "facts by metric": lambda r: r.facts(CLEARANCE, metric="REVENUE"),
    "facts by entity": lambda r: r.facts(CLEARANCE, entity="ACME"),
    "facts known then": lambda r: r.facts(CLEARANCE, metric="REVENUE", entity="ACME", known_at=START),
    "facts by many keys": lambda r: r.facts_of(CLEARANCE, [KEY, KEY._replace(entity="e1")], known_at=START),
    "lines of facts": lambda r: r.fact_lines(CLEARANCE, metric="REVENUE", period=YEAR, channel="TOTAL", known_at=START),
    "how far facts of a metric reach": lambda r: r.fact_extent(CLEARANCE, metric="REVENUE"),
    "how far facts of an entity reach": lambda r: r.fact_extent(CLEARANCE, entity="ACME", metric="REVENUE"),
    "codes of metrics": lambda r: r.fact_codes(CLEARANCE, "metric"),
    "codes of entities": lambda r: r.fact_codes(CLEARANCE, "entity"),
    "codes of channels": lambda r: r.fact_codes(CLEARANCE, "channel"),
    "members": lambda r: r.fact_members(CLEARANCE),
    "all codes": lambda r: (r.stored_codes(), r.stored_members()),
    "codes of new rows": lambda r: r.stored_codes(1),
    "facts by row": lambda r: r.fact_rows(CLEARANCE, [1, 2]),
    "a fact": lambda r: r.fact(CLEARANCE, "0" * 32),
    "a fact that was": lambda r: r.retired_facts(CLEARANCE, "0" * 32),
    "edges from": lambda r: r.edges(CLEARANCE, [("entity", "ACME")], outgoing=True),
    "edges to": lambda r: r.edges(CLEARANCE, [("entity", "ACME")], outgoing=False),
    "an edge": lambda r: r.edge(CLEARANCE, "0" * 32),
    "a node": lambda r: r.has_node(CLEARANCE, "entity", "ACME"),
    "chunks": lambda r: r.chunks([1, 2]),
    "texts": lambda r: list(r.index_texts(1, 2)),
    "spans": lambda r: list(r.revision_spans(1)),
    "deaths": lambda r: list(r.retired_spans(0)),
    "details": lambda r: list(r.revision_details(1)),
    "a revision": lambda r: r.revision("a", 1, clearance=CLEARANCE),
    "the active revision": lambda r: r.active_revision("a", clearance=CLEARANCE),
    "a source text": lambda r: r.source_text("a", 1, clearance=CLEARANCE),
    "documents": lambda r: r.documents("a", "a", 10, clearance=CLEARANCE),
    "documents from the first": lambda r: r.documents("", "", 10, clearance=CLEARANCE),
    "documents with those withdrawn": lambda r: r.documents("d", "d2", 10, clearance=CLEARANCE, include_withdrawn=True),
    "revisions": lambda r: r.revisions("d1", 2, 10, clearance=CLEARANCE),
    "chunks of a revision": lambda r: r.chunks_of("d1", 1, 0, 10, clearance=CLEARANCE),
    "figures": lambda r: r.fact_page(CLEARANCE, statuses=SHOWN, limit=10),
    "figures of a metric": lambda r: r.fact_page(CLEARANCE, statuses=SHOWN, metric="REVENUE", limit=10),
    "figures of an entity": lambda r: r.fact_page(CLEARANCE, statuses=SHOWN, entity="e1", limit=10),
    "figures of a source": lambda r: r.fact_page(CLEARANCE, statuses=SHOWN, source_doc="report.pdf", limit=10),
    "figures behind a place": lambda r: r.fact_page(CLEARANCE, statuses=SHOWN, after=FACT, all_versions=True, limit=10),
    "relations": lambda r: r.edge_page(CLEARANCE, limit=10),
    "relations behind a place": lambda r: r.edge_page(CLEARANCE, after=EDGE, limit=10),
    "relations of a source": lambda r: r.edge_page(CLEARANCE, source_doc="group.csv", limit=10),
    "vectors": lambda r: list(r.embeddings("m", 1, 2)),
    "a digest": lambda r: r.content_digest(CLEARANCE),
    "an ingest": lambda r: (r.ingest("i"), r.spooled("i")),
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "store.sqlite")
    with store.writer() as writer:
        for number in range(50):
            writer.replace_document(make_document(f"d{number}", "x"))
            writer.put_facts([make_fact(str(number), entity=f"e{number}")])
            writer.put_edges([make_edge("A", f"B{number}")])
    yield store
    store.close()


@pytest.mark.parametrize("name", READS)
def test_reads_use_an_index(store: SqliteStore, name: str) -> None:
    reader = store.reader()
    statements: list[str] = []
    (connection,) = store._pool._idle
    connection.set_trace_callback(statements.append)
    READS[name](reader)
    connection.set_trace_callback(None)
    assert statements
    for statement in statements:
        plan = store._connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
        # "wanted" is the list of what was asked for, "step" goes from one code to the next.
        own = ("CONSTANT ROW", "SCAN wanted", "SCAN listed", "SCAN step")
        walks = [step for *_, step in plan if step.startswith("SCAN ") and not any(word in step for word in own)]
        assert walks == [], statement
