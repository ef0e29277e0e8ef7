"""What any store of relations must pass, also one that keeps nothing else."""

from __future__ import annotations

from groundwire_server.errors import UnknownResource
from groundwire_server.evidence import Label
from groundwire_server.store.conformance import edges, lists
from groundwire_server.store.conformance.check import Check, GraphPlaces, raises, same
from groundwire_server.store.conformance.samples import TickingClock, make_edge
from groundwire_server.store.rows import WriteCounts

__all__ = ["GRAPH_CHECKS"]

_NODE = [("entity", "ACME")]


def a_change_of_relations_is_whole(places: GraphPlaces) -> None:
    """An exception undoes all of a transaction; one that changes nothing makes no generation."""
    store = places()(TickingClock())
    with store.writer() as writer:
        writer.put_edges([make_edge(), make_edge("x", "y", source_doc="other")])
    before = store.reader()

    def broken() -> None:
        with store.writer() as writer:
            writer.put_edges([make_edge("u", "v"), make_edge(label=Label.PUBLIC)])
            writer.withdraw_document("other")
            raise KeyError

    raises(KeyError, broken, "a transaction that ends badly")
    with store.writer() as writer:
        same(writer.put_edges([make_edge()]), WriteCounts(0, 1), "a repeat")
    after = store.reader()
    same((after.generation, after.state()), (before.generation, before.state()), "the state")
    same(after.nodes(Label.CONFIDENTIAL), before.nodes(Label.CONFIDENTIAL), "nodes")
    same([e.record for e in after.edges(Label.INTERNAL, _NODE, outgoing=True)], [make_edge()], "what was there")
    same(after.edge_count(), 2, "rows")
    with store.writer() as writer:
        writer.put_edges([make_edge("u", "v")])
    same(store.reader().generation, before.generation + 1, "the next generation")
    states = [before.state(), store.reader().state(), "other:1"]
    same([store.was(state) for state in states], [True, True, False], "which states it was in")
    store.close()


def hidden_relations_do_not_exist(places: GraphPlaces) -> None:
    """A reader finds nothing of rows above its clearance, and nobody those that are RESTRICTED."""
    store = places()(TickingClock())
    with store.writer() as writer:
        writer.put_edges(
            [
                make_edge(label=Label.PUBLIC),
                make_edge("ACME", "CONF", relation="audits", label=Label.CONFIDENTIAL),
                make_edge("ACME", "REST", relation="hides", label=Label.RESTRICTED),
            ]
        )
    reader = store.reader()
    rows = [row for columns in reader.edge_columns() for row in columns.edge_row]
    ids = [edge_id for columns in reader.edge_columns() for edge_id in columns.edge_id]
    for clearance, count in ((Label.PUBLIC, 1), (Label.INTERNAL, 1), (Label.CONFIDENTIAL, 2), (Label.RESTRICTED, 2)):
        who = f"as {clearance.name} reads"
        same(len(reader.edges(clearance, _NODE, outgoing=True)), count, f"edges {who}")
        same(len(reader.edge_rows(clearance, rows)), count, f"rows {who}")
        same(sum(bool(reader.edge(clearance, each)) for each in ids), count, f"edges by id {who}")
        same(len(reader.relations(clearance)), count, f"relations {who}")
        same(len(reader.nodes(clearance)), count + 1, f"nodes {who}")
        same(reader.has_node(clearance, "entity", "REST"), False, f"a restricted node {who}")
        same(len(reader.edge_page(clearance, limit=9)), count, f"the list {who}")
    with store.writer() as writer:
        hidden = [make_edge("ACME", "CONF", relation="audits", label=Label.CONFIDENTIAL)]
        same(writer.put_edges(hidden, clearance=Label.INTERNAL), WriteCounts(1, 0), "what is told of a hidden repeat")
    store.close()


def a_source_takes_its_relations_along(places: GraphPlaces) -> None:
    """A source that is withdrawn takes its rows along, those of others stay; one that never was is unknown."""
    store = places()(TickingClock())
    with store.writer() as writer:
        writer.put_edges([make_edge(source_doc="a"), make_edge(source_doc="b"), make_edge("x", "y", source_doc="a")])
    with store.writer() as writer:
        same(writer.withdraw_document("a").withdrawn_now, True, "the first time")
    with store.writer() as writer:
        same(writer.withdraw_document("a").withdrawn_now, False, "the second time")
    with store.writer() as writer:
        raises(UnknownResource, lambda: writer.withdraw_document("c"), "a source that never was")
    reader = store.reader()
    same([e.record.source_doc for e in reader.edges(Label.INTERNAL, _NODE, outgoing=True)], ["b"], "what is left")
    same(reader.has_node(Label.INTERNAL, "entity", "x"), False, "a node of a withdrawn source")
    same(len(store.reader(1).edges(Label.INTERNAL, _NODE, outgoing=True)), 2, "what was there before")
    store.close()


def relations_without_utf8_are_refused(places: GraphPlaces) -> None:
    """A record whose text has no UTF-8 form is refused, and the others go on."""
    store = places()(TickingClock())
    with store.writer() as writer:
        counts = writer.put_edges([make_edge("\ud800"), make_edge()])
    same((counts.stored, [place for place, _ in counts.refused]), (1, [0]), "what was stored and refused")
    store.close()


GRAPH_CHECKS: tuple[Check, ...] = tuple(
    Check.of(function)
    for function in (
        edges.an_edge_comes_out_as_it_went_in,
        edges.sources_of_one_edge_share_its_id,
        edges.a_changed_source_is_replaced,
        edges.nodes_are_what_edges_touch,
        edges.rows_of_edges_come_as_columns,
        edges.what_an_extractor_found_is_replaced_whole,
        edges.the_edges_of_one_node_are_replaced_alone,
        lists.relations_are_listed_in_order,
        a_change_of_relations_is_whole,
        hidden_relations_do_not_exist,
        a_source_takes_its_relations_along,
        relations_without_utf8_are_refused,
    )
)
