"""Lists in pages, and revisions as each reader counts them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import groupby

from groundwire_server.evidence import Dimension, Label, ReviewStatus
from groundwire_server.store.conformance.check import Places, expect, same
from groundwire_server.store.conformance.isolation import visible_state
from groundwire_server.store.conformance.samples import START, TickingClock, make_document, make_edge, make_fact
from groundwire_server.store.protocol import Store, StoreReader, StoreWriter
from groundwire_server.store.rows import EdgePlace, FactPlace, FactRecord, NewDocument, StoredEdge, StoredFact

__all__ = ["CHECKS"]

Step = Callable[[StoreWriter], object]

_READERS = (Label.PUBLIC, Label.INTERNAL, Label.CONFIDENTIAL)
_DAY = timedelta(days=1)
_MOST = 100
_SHOWN = frozenset({ReviewStatus.AUTO_APPROVED, ReviewStatus.APPROVED})


def _write(store: Store, steps: Iterable[Step]) -> None:
    for step in steps:
        with store.writer() as writer:
            step(writer)


def _put(document: NewDocument) -> Step:
    return lambda writer: writer.replace_document(document)


def _is_seen(label: Label, clearance: Label | None) -> bool:
    return clearance is None or label <= min(clearance, Label.CONFIDENTIAL)


def revisions_are_counted_as_they_are_seen(places: Places) -> None:
    """A reader counts revisions from 1 over those that it may read; who reads everything counts all of them."""
    store = places()(TickingClock())
    labels = (Label.INTERNAL, Label.CONFIDENTIAL, Label.RESTRICTED, Label.PUBLIC, Label.INTERNAL, Label.CONFIDENTIAL)
    texts = [f"text {number}" for number in range(len(labels))]
    _write(store, (_put(make_document("a", text, label=label)) for text, label in zip(texts, labels, strict=True)))
    reader = store.reader()
    for clearance in (*_READERS, Label.RESTRICTED, None):
        seen = [text for text, label in zip(texts, labels, strict=True) if _is_seen(label, clearance)]
        found = reader.revisions("a", clearance=clearance)
        as_who = f"as {clearance.name if clearance else 'the house'} reads"
        same([r.revision for r in found], list(range(len(seen), 0, -1)), f"revisions {as_who}")
        for number, text in enumerate(seen, 1):
            one = reader.revision("a", number, clearance=clearance)
            same(None if one is None else one.revision, number, f"revision {number} {as_who}")
            same(reader.source_text("a", number, clearance=clearance), text, f"text {number} {as_who}")
            chunks = reader.chunks_of("a", number, clearance=clearance)
            same([(c.revision, c.text) for c in chunks], [(number, text)], f"chunks of revision {number} {as_who}")
        beyond = len(seen) + 1
        same(reader.revision("a", beyond, clearance=clearance), None, f"revision {beyond} {as_who}")
        same(reader.source_text("a", beyond, clearance=clearance), None, f"text {beyond} {as_who}")
        listed = [(c.revision, c.text) for c in reader.iter_chunks(clearance=clearance, include_inactive=True)]
        same(listed, list(enumerate(seen, 1)), f"all chunks {as_who}")
    rows = [(c.revision, c.text) for c in reader.chunks([1, 2, 4, 5], clearance=Label.INTERNAL)]
    same(rows, [(1, texts[0]), (1, texts[1]), (2, texts[3]), (3, texts[4])], "chunk rows as INTERNAL counts")
    spans = [(s.revision, s.number) for s in reader.revision_spans()]
    same(spans, [(1, 1), (2, 2), (3, 3), (4, 1), (5, 3), (6, 5)], "numbers among all, and up to the own label")
    store.close()


def a_hidden_revision_leaves_no_trace(places: Places) -> None:
    """A hidden revision in between looks like a withdrawal: numbers, outcomes and digest are those of one."""
    first, last = make_document("a", "one", label=Label.PUBLIC), make_document("a", "three")
    hidden = make_document("a", "two", label=Label.CONFIDENTIAL)
    told: list[list[object]] = []
    states: list[dict[str, object]] = []
    for between in (lambda writer: writer.withdraw_document("a"), _put(hidden)):
        store = places()(TickingClock())
        _write(store, [_put(first), between])
        with store.writer() as writer:
            outcomes: list[object] = [writer.replace_document(last, clearance=Label.INTERNAL)]
            outcomes.append(writer.replace_document(last, clearance=Label.INTERNAL))
            outcomes.append(writer.withdraw_document("a", clearance=Label.INTERNAL))
            outcomes.append(writer.replace_document(make_document("a", "four"), clearance=Label.INTERNAL))
        told.append(outcomes)
        states.append(visible_state(store.reader(), Label.INTERNAL))
        store.close()
    same(told[1], told[0], "what the writer is told")
    for name in states[0]:
        same(states[1][name], states[0][name], f"{name} as INTERNAL reads")


def the_last_readable_revision_is_listed(places: Places) -> None:
    """With those that were withdrawn, a list holds of each document the last revision that the reader may read."""
    store = places()(TickingClock())
    history: dict[str, tuple[Label, ...]] = {
        "gone": (Label.INTERNAL, Label.PUBLIC),
        "here": (Label.PUBLIC, Label.INTERNAL),
        "hidden": (Label.CONFIDENTIAL, Label.CONFIDENTIAL),
        "never": (Label.RESTRICTED,),
        "relabelled": (Label.INTERNAL, Label.INTERNAL, Label.CONFIDENTIAL),
        "日本/一": (Label.INTERNAL,),
    }
    for doc_id, labels in history.items():
        _write(store, (_put(make_document(doc_id, str(n), label=label)) for n, label in enumerate(labels)))
    _write(store, [lambda writer: writer.withdraw_document("gone")])
    reader = store.reader()
    for clearance in (*_READERS, None):
        wanted: list[tuple[str, int, bool]] = []
        for doc_id, labels in sorted(history.items()):
            readable = [at for at, label in enumerate(labels) if _is_seen(label, clearance)]
            if readable:
                active = readable[-1] == len(labels) - 1 and doc_id != "gone"
                wanted.append((doc_id, len(readable), active))
        as_who = f"as {clearance.name if clearance else 'the house'} reads"
        for page in range(1, len(history) + 1):
            same(_documents(reader, clearance, page, everything=True), wanted, f"pages of {page} {as_who}")
            alive = [each for each in wanted if each[2]]
            same(_documents(reader, clearance, page, everything=False), alive, f"active pages of {page} {as_who}")
    found = reader.documents("日本/", clearance=Label.INTERNAL, include_withdrawn=True)
    same([r.doc_id for r in found], ["日本/一"], "those that start so")
    store.close()


def _documents(
    reader: StoreReader, clearance: Label | None, page: int, *, everything: bool
) -> list[tuple[str, int, bool]]:
    found: list[tuple[str, int, bool]] = []
    after = ""
    while some := reader.documents("", after, page, clearance=clearance, include_withdrawn=everything):
        expect(len(some) <= page and len(found) < _MOST, "a page is longer than asked, or there is no end")
        found += [(r.doc_id, r.revision, r.died is None) for r in some]
        after = some[-1].doc_id
    return found


def revisions_and_chunks_come_in_pages(places: Places) -> None:
    """Revisions come newest first below a number, chunks of a revision by seq from a place on, up to a limit."""
    store = places()(TickingClock())
    many = "\n".join(f"line {number}" for number in range(7))
    _write(store, (_put(make_document("a", f"{many}\n{number}")) for number in range(4)))
    _write(store, [_put(make_document("b", "other"))])
    reader = store.reader()
    for before, limit, wanted in ((None, 2, [4, 3]), (3, 2, [2, 1]), (2, None, [1]), (1, 5, [])):
        found = reader.revisions("a", before, limit, clearance=Label.INTERNAL)
        same([r.revision for r in found], wanted, f"revisions below {before}, {limit} of them")
    for revision in (1, 4):
        texts = [*many.split("\n"), str(revision - 1)]
        for first, limit in ((0, None), (3, 2), (7, 5), (8, None)):
            chunks = reader.chunks_of("a", revision, first, limit, clearance=Label.INTERNAL)
            wanted_texts = texts[first:][:limit]
            same([c.text for c in chunks], wanted_texts, f"chunks of {revision} from {first}, {limit} of them")
            same([c.seq for c in chunks], list(range(first, first + len(wanted_texts))), "their places")
    same(reader.chunks_of("a", 5, clearance=Label.INTERNAL), [], "chunks of no revision")
    same(reader.chunks_of("c", 1, clearance=Label.INTERNAL), [], "chunks of no document")
    store.close()


def _some_facts() -> list[FactRecord]:
    """Figures that differ in each part of the order, with versions, states and labels."""
    records = [
        make_fact("1", metric=metric, entity=entity, label=label)
        for metric in ("REVENUE", "売上", "A")
        for entity, label in (("ACME", Label.PUBLIC), ("Z", Label.CONFIDENTIAL), ("é", Label.INTERNAL))
    ]
    first, last = date(2024, 4, 1), date(2025, 3, 31)
    records += [
        make_fact("2", period="FY2024", period_first=first, period_last=last),
        make_fact("3", period="2024-12-31", period_first=date(2024, 12, 31)),
        make_fact("4", channel="ONLINE", label=Label.PUBLIC),
        make_fact("5", dimensions=(Dimension("region", "EMEA"), Dimension("segment", "Cloud"))),
        make_fact("6", unit="EUR", source_doc="b.csv"),
        make_fact("7", source="a filer", source_doc="b.csv"),
    ]
    records += [make_fact(f"8{n}", filed_at=START + n * _DAY, metric="MANY", locator=str(n)) for n in (3, 1, 2)]
    records += [make_fact(f"9{n}", filed_at=START, metric="MANY", locator=f"tie {n}") for n in range(3)]
    records += [
        make_fact("99", filed_at=START + 9 * _DAY, metric="MANY", review_status=ReviewStatus.PENDING),
        make_fact("98", filed_at=START + 8 * _DAY, metric="MANY", review_status=ReviewStatus.APPROVED),
        make_fact("97", filed_at=START + 10 * _DAY, metric="MANY", label=Label.CONFIDENTIAL),
        make_fact("96", filed_at=START + 10 * _DAY, metric="MANY", label=Label.RESTRICTED),
    ]
    return records


def _place_of(fact: StoredFact) -> tuple[str | date, ...]:
    record = fact.record
    pairs = [[each.name, each.member] for each in record.dimensions]
    axes = json.dumps(pairs, ensure_ascii=False, separators=(",", ":")) if pairs else ""
    key = (record.metric, record.entity, record.period_first, record.period_last, record.channel, axes)
    return (*key, record.source or record.source_doc, fact.fact_id)


def figures_are_listed_in_order(places: Places) -> None:
    """Figures come by key and source, the versions of each by filing: all of a state, or of each fact the last."""
    store = places()(TickingClock())
    for record in _some_facts():
        _write(store, [lambda writer, record=record: writer.put_facts([record])])  # type: ignore[misc]
    dead = make_fact("0", metric="A", source_doc="dead.csv")
    _write(store, [lambda writer: writer.put_facts([dead]), lambda writer: writer.withdraw_document("dead.csv")])
    reader = store.reader()
    states: Sequence[frozenset[ReviewStatus]] = (_SHOWN, *(frozenset({status}) for status in ReviewStatus))
    for clearance in _READERS:
        by_version = reader.facts(clearance)
        ordered = [fact for _, fact in sorted(enumerate(by_version), key=lambda one: (_place_of(one[1]), one[0]))]
        for statuses in states:
            for wanted in (
                {},
                {"metric": "MANY"},
                {"entity": "ACME"},
                {"metric": "REVENUE", "entity": "ACME"},
                {"source_doc": "b.csv"},
                {"source_doc": "report.pdf", "metric": "売上"},
                {"metric": "none"},
            ):
                kept = [
                    fact
                    for fact in ordered
                    if fact.record.review_status in statuses
                    and all(getattr(fact.record, name) == value for name, value in wanted.items())
                ]
                what = f"{sorted(statuses)} of {wanted} as {clearance.name} reads"
                for page in (1, 2, 5, 100):
                    found = _figures(reader, clearance, statuses, wanted, page, all_versions=True)
                    same(found, kept, f"all versions, {what}, in pages of {page}")
                    found = _figures(reader, clearance, statuses, wanted, page, all_versions=False)
                    same(found, _last_of_each(ordered, statuses, wanted), f"last ones, {what}, in pages of {page}")
    store.close()


def _last_of_each(
    ordered: list[StoredFact], statuses: frozenset[ReviewStatus], wanted: dict[str, str]
) -> list[StoredFact]:
    found = []
    for _, versions in groupby(ordered, key=lambda fact: fact.fact_id):
        of_state = [fact for fact in versions if fact.record.review_status in statuses]
        found += of_state[-1:]
    return [fact for fact in found if all(getattr(fact.record, name) == value for name, value in wanted.items())]


def _figures(
    reader: StoreReader,
    clearance: Label,
    statuses: frozenset[ReviewStatus],
    wanted: dict[str, str],
    page: int,
    *,
    all_versions: bool,
) -> list[StoredFact]:
    found: list[StoredFact] = []
    after: FactPlace | None = None
    while some := reader.fact_page(
        clearance, statuses=statuses, all_versions=all_versions, after=after, limit=page, **wanted
    ):
        expect(len(some) <= page and len(found) < _MOST, "a page is longer than asked, or there is no end")
        found += some
        after = _fact_place(found, whole=not all_versions)
    return found


def _fact_place(sent: list[StoredFact], *, whole: bool) -> FactPlace:
    last = sent[-1]
    record = last.record
    stated = record.filed_at or last.recorded_at
    equals = sum(f.fact_id == last.fact_id and (f.record.filed_at or f.recorded_at) == stated for f in sent)
    return FactPlace(
        metric=record.metric,
        entity=record.entity,
        period_first=record.period_first,
        period_last=record.period_last,
        channel=record.channel,
        dimensions=record.dimensions,
        source=record.source or record.source_doc,
        fact_id=last.fact_id,
        stated_at=None if whole else stated,
        equals=0 if whole else equals,
    )


def relations_are_listed_in_order(places: Places) -> None:
    """Relations come by name, ends and id, each once with its readable sources, or with those of one source_doc."""
    store = places()(TickingClock())
    base = make_edge(label=Label.PUBLIC)
    records = [
        base,
        replace(base, source_doc="b.csv", label=Label.INTERNAL),
        replace(base, source_doc="b.csv", locator="9", label=Label.CONFIDENTIAL),
        replace(base, valid_from="2020"),
        replace(base, relation="competes_with", source_doc="b.csv"),
        replace(base, source_kind="doc", label=Label.INTERNAL),
        replace(base, target="日本"),
        replace(base, target="B", label=Label.CONFIDENTIAL),
        replace(base, target="C", label=Label.RESTRICTED),
        replace(base, source="é"),
        replace(base, source="dead", source_doc="dead.csv"),
    ]
    _write(store, [lambda w: w.put_edges(records), lambda w: w.withdraw_document("dead.csv")])
    reader = store.reader()
    for clearance in _READERS:
        rows = reader.edges(clearance, reader.nodes(clearance), outgoing=True)
        expect(bool(rows), f"there are relations that {clearance.name} reads")
        rows.sort(key=lambda edge: (_ends(edge), edge.record.source_doc, edge.record.locator))
        for wanted in (
            {},
            {"relation": "parent_of"},
            {"source_doc": "b.csv"},
            {"relation": "parent_of", "source_doc": "b.csv"},
            {"relation": "none"},
        ):
            kept = [row for row in rows if all(getattr(row.record, name) == value for name, value in wanted.items())]
            grouped = [list(sources) for _, sources in groupby(kept, key=_ends)]
            for page in (1, 2, 100):
                found = _relations(reader, clearance, wanted, page)
                same(found, grouped, f"relations of {wanted} as {clearance.name} reads, in pages of {page}")
    store.close()


def _ends(edge: StoredEdge) -> tuple[str, ...]:
    record = edge.record
    return (
        record.relation,
        record.source_kind,
        record.source,
        record.target_kind,
        record.target,
        edge.edge_id,
    )


def _relations(reader: StoreReader, clearance: Label, wanted: dict[str, str], page: int) -> list[list[StoredEdge]]:
    found: list[list[StoredEdge]] = []
    after: EdgePlace | None = None
    while some := reader.edge_page(clearance, after=after, limit=page, **wanted):
        expect(len(some) <= page and len(found) < _MOST, "a page is longer than asked, or there is no end")
        found += some
        after = EdgePlace(*_ends(some[-1][0]))
    return found


def what_stays_is_listed_once(places: Places) -> None:
    """What is there all the while comes exactly once in pages between which others write."""
    store = places()(TickingClock())
    for number in range(10):
        _write(
            store,
            [
                _put(make_document(f"d{number}", "x")),
                lambda w, n=number: w.put_facts([make_fact(str(n), entity=f"e{n}")]),  # type: ignore[misc]
                lambda w, n=number: w.put_edges([make_edge("A", f"t{n}")]),  # type: ignore[misc]
            ],
        )
    documents: list[str] = []
    figures: list[StoredFact] = []
    relations: list[list[StoredEdge]] = []
    for step in range(20):
        reader = store.reader()
        more = reader.documents("", documents[-1] if documents else "", 1, clearance=Label.INTERNAL)
        documents += [r.doc_id for r in more]
        after = _fact_place(figures, whole=False) if figures else None
        figures += reader.fact_page(Label.INTERNAL, statuses=_SHOWN, all_versions=True, after=after, limit=1)
        place = EdgePlace(*_ends(relations[-1][0])) if relations else None
        relations += reader.edge_page(Label.INTERNAL, after=place, limit=1)
        _write(
            store,
            [
                _put(make_document(f"c{step}", "before")),
                _put(make_document(f"d{step // 2}", f"again {step}")),
                lambda w, n=step: w.put_facts([make_fact("0", entity=f"a{n}"), make_fact("0", entity=f"e{n}!")]),  # type: ignore[misc]
                lambda w, n=step: w.put_edges([make_edge("A", f"a{n}"), make_edge("A", f"t{n}!")]),  # type: ignore[misc]
            ],
        )
    stays = [f"{number}" for number in range(10)]
    same([d for d in documents if d in {f"d{n}" for n in stays}], [f"d{n}" for n in stays], "documents")
    entities = [f.record.entity for f in figures]
    same([e for e in entities if e in {f"e{n}" for n in stays}], [f"e{n}" for n in stays], "figures")
    targets = [edge[0].record.target for edge in relations]
    same([t for t in targets if t in {f"t{n}" for n in stays}], [f"t{n}" for n in stays], "relations")
    store.close()


CHECKS = (
    revisions_are_counted_as_they_are_seen,
    a_hidden_revision_leaves_no_trace,
    the_last_readable_revision_is_listed,
    revisions_and_chunks_come_in_pages,
    figures_are_listed_in_order,
    relations_are_listed_in_order,
    what_stays_is_listed_once,
)
