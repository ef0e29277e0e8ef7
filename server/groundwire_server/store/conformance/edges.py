"""Relations and their sources."""

from __future__ import annotations

from dataclasses import replace

from groundwire_server.evidence import Attribute, Label
from groundwire_server.store.conformance.check import GraphPlaces, Places, expect, raises, same
from groundwire_server.store.conformance.samples import TickingClock, every_attribute, make_edge
from groundwire_server.store.graph_protocol import GraphStore
from groundwire_server.store.rows import EdgeRecord, WriteCounts

__all__ = ["CHECKS"]

_ALL = Label.CONFIDENTIAL


def _put(store: GraphStore, *records: EdgeRecord) -> WriteCounts:
    with store.writer() as writer:
        return writer.put_edges(records)


def an_edge_comes_out_as_it_went_in(places: GraphPlaces) -> None:
    """A relation comes out as it went in, found from either end; its id is that of ends, relation and days."""
    store = places()(TickingClock())
    record = make_edge("日本", "a:b%", valid_from="2019-04-01", valid_to="2020", attributes=every_attribute())
    same(_put(store, record), WriteCounts(1, 0), "counts")
    reader = store.reader()
    outgoing = reader.edges(Label.INTERNAL, [("entity", "日本"), ("entity", "日本")], outgoing=True)
    same([e.record for e in outgoing], [record], "the relation from its start")
    same(reader.edges(Label.INTERNAL, [("entity", "a:b%")], outgoing=False), outgoing, "the relation from its end")
    same(reader.edge(Label.INTERNAL, outgoing[0].edge_id), outgoing, "the relation by its id")
    same(reader.edges(Label.INTERNAL, [("metric", "日本"), ("entity", "a:b%")], outgoing=True), [], "from other nodes")
    store.close()


def sources_of_one_edge_share_its_id(places: GraphPlaces) -> None:
    """Rows with one edge_id are the sources of one edge, ordered by (source_doc, locator); a repeat changes nothing."""
    store = places()(TickingClock())
    base = make_edge()
    sources = [replace(base, source_doc=doc, locator=place) for doc, place in (("b", "2"), ("a", "9"), ("b", "1"))]
    others = [
        replace(base, relation="owned_by"),
        replace(base, valid_from="2020"),
        replace(base, valid_to="2020"),
        replace(base, target_kind="literal"),
        replace(base, target="C"),
    ]
    same(_put(store, *sources, *others), WriteCounts(8, 0), "the first run")
    before = store.reader()
    same(_put(store, *others, *sources), WriteCounts(0, 8), "the second run")
    reader = store.reader()
    same(reader.generation, before.generation, "the generation")
    edges = reader.edges(Label.INTERNAL, [("entity", "ACME")], outgoing=True)
    order = [(e.edge_id, e.record.source_doc, e.record.locator) for e in edges]
    same(order, sorted(order), "the order")
    same(len({e.edge_id for e in edges}), 6, "edges")
    (shared,) = {e.edge_id for e in edges if e.record.source_doc in ("a", "b")}
    places_of_it = [(e.record.source_doc, e.record.locator) for e in reader.edge(Label.INTERNAL, shared)]
    same(places_of_it, [("a", "9"), ("b", "1"), ("b", "2")], "sources of one edge")
    store.close()


def an_edge_counts_once(places: Places) -> None:
    """However many sources an edge has, it is one where relations are counted."""
    store = places()(TickingClock())
    _put(store, make_edge(), make_edge(source_doc="b"), make_edge(source_doc="c"), make_edge("B", "C"))
    same(store.reader().counts(Label.INTERNAL)[3], 2, "edges that count")
    store.close()


def a_changed_source_is_replaced(places: GraphPlaces) -> None:
    """A source of an edge that comes again with something else changed replaces the old row."""
    store = places()(TickingClock())
    _put(store, make_edge(attributes=(Attribute("pct", 40),)))
    then = store.reader()
    same(_put(store, make_edge(attributes=(Attribute("pct", 51),))), WriteCounts(1, 0), "counts")
    nodes = [("entity", "ACME")]
    now = store.reader().edges(Label.INTERNAL, nodes, outgoing=True)
    same([e.record.attributes[0].value for e in now], [51], "the relation now")
    same([e.record.attributes[0].value for e in then.edges(Label.INTERNAL, nodes, outgoing=True)], [40], "and then")
    edge_id = now[0].edge_id
    gone = store.reader().retired_edge(Label.INTERNAL, edge_id)
    same([e.record.attributes[0].value for e in gone], [40], "the relation that is there no more")
    same(then.retired_edge(Label.INTERNAL, edge_id), [], "what was gone then")
    _put(store, make_edge(label=Label.RESTRICTED))
    same(store.reader().edges(Label.CONFIDENTIAL, nodes, outgoing=True), [], "under a stricter label")
    same(len(store.reader().retired_edge(Label.INTERNAL, edge_id)), 2, "both that were")
    other, first, second = make_edge("x", "y"), make_edge("u", "v"), make_edge("u", "v", label=Label.PUBLIC)
    same(_put(store, other, first, other, second, other), WriteCounts(3, 2), "several times in one go")
    found = store.reader().edges(Label.PUBLIC, [("entity", "u"), ("entity", "x")], outgoing=True)
    same([e.record for e in found], [second], "what came last")
    same(len(store.reader().edges(Label.INTERNAL, [("entity", "x")], outgoing=True)), 1, "what came thrice")
    store.close()


def nodes_are_what_edges_touch(places: GraphPlaces) -> None:
    """A node is there when a readable edge touches it; nodes are sorted."""
    store = places()(TickingClock())
    _put(
        store,
        make_edge("b", "a"),
        make_edge("a", "c", target_kind="literal"),
        make_edge("x", "y", label=Label.CONFIDENTIAL),
    )
    reader = store.reader()
    same(reader.nodes(Label.INTERNAL), [("entity", "a"), ("entity", "b"), ("literal", "c")], "nodes")
    for kind, code, there in (
        ("entity", "a", True),
        ("literal", "c", True),
        ("entity", "c", False),
        ("entity", "x", False),
    ):
        same(reader.has_node(Label.INTERNAL, kind, code), there, f"whether {kind}:{code} is there")
    expect(reader.has_node(Label.CONFIDENTIAL, "entity", "y"), "a reader with more clearance sees y")
    _put(
        store, make_edge("a", "c", relation="supplies"), make_edge("x", "z", relation="audits", label=Label.RESTRICTED)
    )
    common = make_edge().relation
    same(store.reader().relations(Label.CONFIDENTIAL), sorted([common, "supplies"]), "names of relations")
    same(reader.relations(Label.INTERNAL), [common], "and as they were")
    store.close()


def what_an_extractor_found_is_replaced_whole(places: GraphPlaces) -> None:
    """What some extractors found in one source is replaced whole; what is equal, by others or elsewhere stays."""
    store = places()(TickingClock())
    by = {name: make_edge(source_doc="d", extractor=name, locator="1") for name in ("one", "two", "file")}
    stays = replace(by["one"], locator="0", label=Label.CONFIDENTIAL)
    elsewhere = replace(by["one"], source_doc="e")
    hidden = replace(by["two"], locator="2", label=Label.RESTRICTED)
    with store.writer() as writer:
        writer.put_edges([replace(by["two"], locator="3"), replace(by["file"], locator="4"), stays, elsewhere, hidden])
    node = [("entity", by["one"].source)]
    new = replace(by["two"], locator="5")
    for counts in (WriteCounts(1, 1), WriteCounts(0, 2)):
        with store.writer() as writer:
            same(writer.replace_edges("d", ("one", "two"), [stays, new]), counts, "counts")
        held = sorted((e.record.source_doc, e.record.locator) for e in store.reader().edges(_ALL, node, outgoing=True))
        same(held, [("d", "0"), ("d", "4"), ("d", "5"), ("e", "1")], "sources")
    generation = store.reader().generation
    with store.writer() as writer:
        same(writer.replace_edges("nowhere", ("one",), []), WriteCounts(0, 0), "nothing to replace")
    same(store.reader().generation, generation, "the generation")
    with store.writer() as writer:
        raises(ValueError, lambda: writer.replace_edges("d", ("one",), [elsewhere]), "another source")
        raises(ValueError, lambda: writer.replace_edges("d", ("one",), [by["file"]]), "another extractor")
    with store.writer() as writer:
        writer.replace_edges("d", ("one", "two"), [])
    left = store.reader().edges(_ALL, node, outgoing=True)
    same(sorted(e.record.locator for e in left), ["1", "4"], "what is left")
    store.close()


def a_relation_is_taken_back(places: GraphPlaces) -> None:
    """What an extractor found in a source of one relation ends, wherever in it, as far as it can be read."""
    store = places()(TickingClock())
    there = make_edge(source_doc="d", locator="1", attributes=(Attribute("pct", 40),))
    hidden = replace(there, locator="3", label=Label.CONFIDENTIAL)
    others = [
        replace(there, source_doc="e"),
        replace(there, extractor="other"),
        replace(there, valid_from="2020-01-01"),
        replace(there, target="C"),
    ]
    _put(store, there, replace(there, locator="2"), hidden, *others)
    back = replace(there, locator="", attributes=())
    with store.writer() as writer:
        same(
            writer.take_back_edges([back, replace(back, target="Z")], clearance=Label.INTERNAL), WriteCounts(1, 1), "it"
        )
    node = [("entity", there.source)]
    then = store.reader()
    same(len(then.edges(Label.INTERNAL, node, outgoing=True)), len(others), "what is left to be read")
    same(len(then.edges(_ALL, node, outgoing=True)), len(others) + 1, "what is left")
    with store.writer() as writer:
        same(writer.take_back_edges([back], clearance=Label.INTERNAL), WriteCounts(0, 1), "what is hidden is not there")
    same(store.reader().generation, then.generation, "the generation")
    with store.writer() as writer:
        same(writer.take_back_edges([back]), WriteCounts(1, 0), "the house takes it back")
    same(len(store.reader().edges(_ALL, node, outgoing=True)), len(others), "the others")
    edge_id = next(e.edge_id for e in then.edges(_ALL, node, outgoing=True) if e.record == others[0])
    same(len(store.reader().retired_edge(_ALL, edge_id)), 3, "what old citations name")
    store.close()


def the_edges_of_one_node_are_replaced_alone(places: GraphPlaces) -> None:
    """Replacing what an extractor found in a source can be kept to the edges from one node."""
    store = places()(TickingClock())
    of_a, of_b = (make_edge(source, "x", source_doc="d", extractor="one", locator="1") for source in "ab")
    with store.writer() as writer:
        writer.put_edges([of_a, of_b])
    with store.writer() as writer:
        moved = replace(of_a, locator="2")
        same(writer.replace_edges("d", ("one",), [moved], start=("entity", "a")), WriteCounts(1, 0), "counts")
        raises(ValueError, lambda: writer.replace_edges("d", ("one",), [of_b], start=("entity", "a")), "another node")
    left = store.reader().edges(_ALL, [("entity", "a"), ("entity", "b")], outgoing=True)
    same(sorted((e.record.source, e.record.locator) for e in left), [("a", "2"), ("b", "1")], "what is there")
    store.close()


def what_is_derived_is_no_content(places: Places) -> None:
    """Edges of glossary, metadata and facts leave the digest alone; those of the glossary outlive its namesake."""
    store = places()(TickingClock())
    _put(store, make_edge(source_doc="d"))
    before = store.reader()
    for place, extractor in enumerate(("facts", "glossary", "metadata")):
        with store.writer() as writer:
            writer.replace_edges("d", (extractor,), [make_edge(source_doc="d", extractor=extractor)])
        expect(store.reader().generation == before.generation + place + 1, "a generation each")
    same(store.reader().content_digest(_ALL), before.content_digest(_ALL), "the digest")
    found_by = [e.record.extractor for e in store.reader().edges(_ALL, [("entity", "ACME")], outgoing=True)]
    same(sorted(found_by), ["facts", "file", "glossary", "metadata"], "who found it")
    with store.writer() as writer:
        writer.withdraw_document("d")
    found_by = [e.record.extractor for e in store.reader().edges(_ALL, [("entity", "ACME")], outgoing=True)]
    same(found_by, ["glossary"], "who found what is left")
    store.close()


def rows_of_edges_come_as_columns(places: GraphPlaces) -> None:
    """Edge rows come as columns, ascending, dead and hidden ones too; rows come back by their numbers, readable ones.

    What died since a generation is told, at every state what it knows.
    """
    store = places()(TickingClock())
    days = {"valid_from": "2020-01-01", "valid_to": "2021-12-31"}
    first, hidden = make_edge(**days), make_edge("x", "y", label=Label.RESTRICTED)
    _put(store, first, hidden)
    then = store.reader()
    _put(store, make_edge(attributes=(Attribute("pct", 1),), **days), make_edge("b", "c", target_kind="literal"))
    with store.writer() as writer:
        writer.withdraw_document(hidden.source_doc)
    reader = store.reader()
    (columns,) = reader.edge_columns()
    same(len(columns.edge_row), 4, "rows")
    same(list(columns.edge_row), sorted(columns.edge_row), "their order")
    same(columns.label[:2], (int(Label.INTERNAL), int(Label.RESTRICTED)), "labels")
    same(len(set(columns.edge_id[::2])), 1, "one edge, twice born")
    same([reader.edge_count(), then.edge_count()], [4, 2], "how many there are, and were")
    same([d is not None for d in columns.died], [True] * 4, "which of them died")
    ends = (columns.source_kind[3], columns.source[3], columns.relation[3], columns.target_kind[3], columns.target[3])
    same(ends, ("entity", "b", make_edge().relation, "literal", "c"), "the last one's ends")
    same((columns.valid_from[0], columns.valid_to[0]), ("2020-01-01", "2021-12-31"), "the first one's days")
    same(columns.extractor[0], first.extractor, "who found it")
    (tail,) = reader.edge_columns(columns.edge_row[2])
    same(tail.edge_row, columns.edge_row[3:], "those above a row")
    same(list(reader.edge_columns(columns.edge_row[3])), [], "those above the last one")
    (old,) = then.edge_columns()
    same((old.edge_row, old.died), (columns.edge_row[:2], (None, None)), "rows as they were")
    same(then.retired_edges(0), [], "what had died")
    gone = sorted(zip(columns.edge_row, columns.died, strict=True))
    same(sorted(reader.retired_edges(0)), gone, "what died")
    same(sorted(reader.retired_edges(gone[0][1] or 0)), gone[1:], "and since the first death")
    found = then.edge_rows(Label.CONFIDENTIAL, list(columns.edge_row))
    same([e.record for e in found], [first], "rows by their numbers, at a state")
    same(reader.edge_rows(Label.CONFIDENTIAL, list(columns.edge_row)), [], "rows that died")
    store.close()


CHECKS = (
    an_edge_comes_out_as_it_went_in,
    sources_of_one_edge_share_its_id,
    an_edge_counts_once,
    a_changed_source_is_replaced,
    nodes_are_what_edges_touch,
    rows_of_edges_come_as_columns,
    what_an_extractor_found_is_replaced_whole,
    a_relation_is_taken_back,
    the_edges_of_one_node_are_replaced_alone,
    what_is_derived_is_no_content,
)
