"""What is hidden from a reader does not exist for it, and the digest of what does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta

from groundwire_server.errors import GroundwireError
from groundwire_server.evidence import Attribute, Family, Label, ReviewStatus
from groundwire_server.store.conformance.check import Places, expect, same
from groundwire_server.store.conformance.samples import START, TickingClock, make_document, make_edge, make_fact
from groundwire_server.store.protocol import Store, StoreReader, StoreWriter
from groundwire_server.store.rows import make_fact_id

__all__ = ["CHECKS", "visible_state"]

Step = Callable[[StoreWriter], object]


def visible_state(reader: StoreReader, clearance: Label) -> dict[str, object]:
    """All that a reader with a clearance can learn, without what counts rows and generations of the whole store."""
    documents = reader.documents(clearance=clearance)
    revisions = [
        revision for document in documents for revision in reader.revisions(document.doc_id, clearance=clearance)
    ]
    facts = reader.facts(clearance)
    nodes = reader.nodes(clearance)
    edges = reader.edges(clearance, nodes, outgoing=True)
    return {
        "documents": [_plain(document) for document in documents],
        "revisions": [_plain(revision) for revision in revisions],
        "texts": [reader.source_text(r.doc_id, r.revision, clearance=clearance) for r in revisions],
        "schema": reader.attribute_schema(clearance),
        "facts": [(f.fact_id, f.record) for f in facts],
        "retired facts": [
            (f.fact_id, f.record)
            for fact_id in sorted({f.fact_id for f in facts})
            for f in reader.retired_facts(clearance, fact_id)
        ],
        "codes": [reader.fact_codes(clearance, axis) for axis in ("metric", "entity", "channel")],
        "members": reader.fact_members(clearance),
        "extents": [reader.fact_extent(clearance, metric=metric) for metric in reader.fact_codes(clearance, "metric")],
        "chunks": [(c.doc_id, c.revision, c.seq, c.text) for c in reader.iter_chunks(clearance=clearance)],
        "relations": reader.relations(clearance),
        "nodes": nodes,
        "edges": [(e.edge_id, e.record) for e in edges],
        "incoming": [(e.edge_id, e.record) for e in reader.edges(clearance, nodes, outgoing=False)],
        "sources": [[e.record for e in reader.edge(clearance, edge.edge_id)] for edge in edges],
        "counts": reader.counts(clearance),
        "digest": reader.content_digest(clearance),
    }


def _plain(revision: object) -> object:
    return replace(revision, born=0, died=None, ingested_at=START, retired_at=None)  # type: ignore[type-var]


def _written(places: Places, batches: Iterable[Iterable[Step]]) -> Store:
    store = places()(TickingClock())
    for steps in batches:
        with store.writer() as writer:
            for step in steps:
                step(writer)
    return store


_OPEN: tuple[Step, ...] = (
    lambda w: w.replace_document(make_document("a", "open text", label=Label.PUBLIC, attributes=(Attribute("k", 1),))),
    lambda w: w.replace_document(make_document("b", "inner text", attributes=(Attribute("k", 2), Attribute("m", "x")))),
    lambda w: w.put_facts([make_fact("1", label=Label.PUBLIC, filed_at=START), make_fact("2")]),
    lambda w: w.put_facts([make_fact("3", metric="PROFIT", review_status=ReviewStatus.PENDING)]),
    lambda w: w.put_edges([make_edge(label=Label.PUBLIC), make_edge("ACME", "C")]),
    lambda w: w.replace_document(make_document("a", "open text changed", label=Label.PUBLIC)),
    lambda w: w.put_facts([make_fact("3", metric="PROFIT", review_status=ReviewStatus.APPROVED), make_fact("2")]),
)


def _hidden(
    label: Label, attributes: tuple[Attribute, ...] = (Attribute("k", "another family"), Attribute("only_hidden", 1))
) -> tuple[Step, ...]:
    return (
        lambda w: w.replace_document(make_document("h", "open text\nhidden", label=label, attributes=attributes)),
        lambda w: w.replace_document(make_document("a/hidden", "hidden", label=label)),
        lambda w: w.put_facts(
            [
                make_fact("99", locator="h", label=label),
                make_fact("55", label=label),
                make_fact("7", metric="SECRET", label=label),
            ]
        ),
        lambda w: w.put_facts([make_fact("98", locator="h", filed_at=START + timedelta(days=1), label=label)]),
        lambda w: w.put_edges([make_edge("ACME", "SECRET_CO", label=label), make_edge(source_doc="h", label=label)]),
        lambda w: w.replace_document(make_document("h", "hidden again", label=label)),
        lambda w: w.withdraw_document("h"),
    )


def hidden_rows_do_not_exist(places: Places) -> None:
    """Rows with a stricter label do not exist for a reader: every read equals that of a store without them."""
    for label in (Label.CONFIDENTIAL, Label.RESTRICTED):
        bare = _written(places, [[step] for step in _OPEN])
        mixed = _written(places, [[h, o] for h, o in zip(_hidden(label), _OPEN, strict=True)])
        for clearance in (Label.PUBLIC, Label.INTERNAL):
            wanted, got = visible_state(bare.reader(), clearance), visible_state(mixed.reader(), clearance)
            for name in wanted:
                same(got[name], wanted[name], f"{name} beside {label.name} rows, as {clearance.name} reads")
        for doc_id, revision in (("h", 1), ("a/hidden", 1)):
            reader = mixed.reader()
            seen = (
                reader.revision(doc_id, revision, clearance=Label.INTERNAL),
                reader.active_revision(doc_id, clearance=Label.INTERNAL),
                reader.revisions(doc_id, clearance=Label.INTERNAL),
                reader.source_text(doc_id, revision, clearance=Label.INTERNAL),
            )
            same(seen, (None, None, [], None), f"what INTERNAL sees of {doc_id}")
            expect(reader.revision(doc_id, revision, clearance=None) is not None, "the house sees everything")
        bare.close()
        mixed.close()


def outcomes_tell_of_nothing_hidden(places: Places) -> None:
    """What becomes of a write is told as in a store without the rows that the writer may not read."""
    source, hidden, number = "h", Label.CONFIDENTIAL, (Attribute("k", 1),)
    beyond: tuple[Step, ...] = (
        lambda w: w.replace_document(make_document(source, "hidden", label=hidden, attributes=number)),
        lambda w: w.put_facts([make_fact("5", source_doc="f", label=hidden, attributes=number)]),
        lambda w: w.put_edges([make_edge(source_doc="e", label=hidden)]),
        lambda w: w.put_facts([make_fact("6", source_doc="v", locator="beside", label=hidden)]),
    )
    told: list[list[object]] = []
    for steps in ((), beyond):
        store = _written(places, [steps, [lambda w: w.put_facts([make_fact("7", source_doc="v")])]])
        told.append([_told(store, step) for step in _AGAIN])
        store.close()
    for place, (got, wanted) in enumerate(zip(told[1], told[0], strict=True)):
        same(got, wanted, f"what INTERNAL is told of step {place}")
    store = _written(places, [beyond])
    for step in _AGAIN:
        _told(store, step)
    same([r.doc_id for r in store.reader().documents(clearance=hidden)], [source, "i"], "what cannot be withdrawn")
    store.close()


# The same as what is hidden, once more; another family than a hidden one; withdrawals of what is hidden.
_AGAIN: tuple[Callable[[StoreWriter, Label], object], ...] = (
    lambda w, reader: w.replace_document(make_document("h", "hidden", label=Label.CONFIDENTIAL), clearance=reader),
    lambda w, reader: w.replace_document(
        make_document("i", "x", label=Label.CONFIDENTIAL, attributes=(Attribute("k", "text"),)), clearance=reader
    ),
    lambda w, reader: w.put_facts([make_fact("5", source_doc="f", label=Label.CONFIDENTIAL)], clearance=reader),
    lambda w, reader: w.put_facts([make_fact("5", source_doc="f", label=Label.CONFIDENTIAL)], clearance=reader),
    lambda w, reader: w.put_edges([make_edge(source_doc="e", label=Label.CONFIDENTIAL)], clearance=reader),
    lambda w, reader: w.withdraw_document("h", clearance=reader),
    lambda w, reader: w.withdraw_document("f", clearance=reader),
    lambda w, reader: w.withdraw_document("e", clearance=reader),
    lambda w, reader: w.withdraw_document("v", clearance=reader),
    lambda w, reader: w.withdraw_document("v", clearance=reader),
    lambda w, reader: w.put_facts([make_fact("8", source_doc="h")], clearance=reader),
    lambda w, reader: w.withdraw_document("h", clearance=reader),
    lambda w, reader: w.withdraw_document("h", clearance=reader),
)


def _told(store: Store, step: Callable[[StoreWriter, Label], object]) -> object:
    """What a step gives, or its refusal."""
    try:
        with store.writer() as writer:
            return step(writer, Label.INTERNAL)
    except GroundwireError as error:
        return error.reason, str(error), error.details


def restricted_never_does(places: Places) -> None:
    """RESTRICTED exists for no clearance, RESTRICTED included; CONFIDENTIAL exists for its readers."""
    store = _written(places, [_hidden(Label.RESTRICTED)[:5], [lambda w: w.put_edges([make_edge("p", "q")])]])
    reader = store.reader()
    for clearance in Label:
        state = visible_state(reader, clearance)
        same((state["documents"], state["facts"]), ([], []), f"what {clearance.name} reads")
        same(state["counts"], (0, 0, 0, 0 if clearance is Label.PUBLIC else 1), f"counts as {clearance.name} reads")
    same(len(reader.documents(clearance=None)), 2, "documents for the house's own work")
    store.close()
    store = _written(places, [_hidden(Label.CONFIDENTIAL)[:5]])
    same(store.reader().counts(Label.CONFIDENTIAL), (2, 3, 2, 2), "counts as CONFIDENTIAL reads")
    same(store.reader().counts(Label.RESTRICTED), (2, 3, 2, 2), "counts as RESTRICTED reads")
    store.close()


def lower_labels_fix_families(places: Places) -> None:
    """What is hidden fixes no family for what is open; where two labels fixed two families, the lower label's holds."""
    store = places()(TickingClock())
    with store.writer() as writer:
        writer.replace_document(make_document("h", label=Label.CONFIDENTIAL, attributes=(Attribute("k", 1),)))
        writer.replace_document(make_document("a", label=Label.PUBLIC, attributes=(Attribute("k", "text"),)))
        writer.put_facts([make_fact(label=Label.INTERNAL, attributes=(Attribute("n", True),))])
    reader = store.reader()
    same(reader.attribute_schema(Label.PUBLIC), {"k": Family.TEXT}, "families as PUBLIC reads")
    same(reader.attribute_schema(Label.INTERNAL), {"k": Family.TEXT, "n": Family.TRUTH}, "families as INTERNAL reads")
    same(reader.attribute_schema(Label.CONFIDENTIAL)["k"], Family.TEXT, "the family of k as CONFIDENTIAL reads")
    store.close()


def the_digest_knows_no_order(places: Places) -> None:
    """The digest is order-independent: batches and the order of unlike things leave it as it is."""
    apart = _written(places, [[step] for step in _OPEN])
    together = _written(places, [_OPEN])
    shuffled = _written(places, [[_OPEN[4], _OPEN[1]], [_OPEN[3], _OPEN[0]], [_OPEN[2]], [_OPEN[6], _OPEN[5]]])
    for clearance in Label:
        wanted = apart.reader().content_digest(clearance)
        same(len(wanted), 32, "bytes of a digest")
        same(together.reader().content_digest(clearance), wanted, f"the digest of one batch as {clearance.name} reads")
        same(shuffled.reader().content_digest(clearance), wanted, f"that of another order as {clearance.name} reads")
    for store in (apart, together, shuffled):
        store.close()


def the_digest_tells_states_apart(places: Places) -> None:
    """Every birth and every death of a readable row changes the digest; nothing else does."""
    store = places()(TickingClock())
    steps: list[Step] = [
        *_OPEN,
        lambda w: w.replace_document(make_document("b", "inner text", label=Label.PUBLIC)),
        lambda w: w.put_facts([make_fact("2", author="x")]),
        lambda w: w.put_edges([make_edge("ACME", "C", extractor="other")]),
        lambda w: w.withdraw_document("a"),
        lambda w: w.withdraw_document("report.pdf"),
        lambda w: w.withdraw_document("group.csv"),
        lambda w: w.replace_document(make_document("a", "open text changed", label=Label.PUBLIC)),
    ]
    seen = [store.reader().content_digest(Label.INTERNAL)]
    for step in steps:
        with store.writer() as writer:
            step(writer)
        seen.append(store.reader().content_digest(Label.INTERNAL))
    same(len(set(seen)), len(seen), "different digests")
    before = store.reader()
    for hidden in _hidden(Label.CONFIDENTIAL, attributes=()):
        with store.writer() as writer:
            hidden(writer)
    with store.writer() as writer:
        writer.start_ingest("i", "documents")
        writer.set_meta("name", "value")
    after = store.reader()
    same(after.content_digest(Label.INTERNAL), seen[-1], "the digest after hidden writes")
    expect(
        after.content_digest(Label.CONFIDENTIAL) != before.content_digest(Label.CONFIDENTIAL),
        "the digest of those who may read them",
    )
    same(before.content_digest(Label.INTERNAL), seen[-1], "the digest at an older generation")
    store.close()


def the_digest_knows_the_order_of_versions(places: Places) -> None:
    """Where the order of a fact's versions comes from the order of writing, another order is another digest."""
    first, second = make_fact("1", locator="x"), make_fact("2", locator="y")
    one = _written(places, [[lambda w: w.put_facts([first])], [lambda w: w.put_facts([second])]])
    two = _written(places, [[lambda w: w.put_facts([second])], [lambda w: w.put_facts([first])]])
    fact_id = make_fact_id(first)
    latest = [store.reader().fact(Label.INTERNAL, fact_id)[-1].record.value for store in (one, two)]
    same(latest, ["2", "1"], "the newest value")
    expect(
        one.reader().content_digest(Label.INTERNAL) != two.reader().content_digest(Label.INTERNAL),
        "two orders of versions have one digest",
    )
    one.close()
    two.close()


CHECKS = (
    hidden_rows_do_not_exist,
    outcomes_tell_of_nothing_hidden,
    restricted_never_does,
    lower_labels_fix_families,
    the_digest_knows_no_order,
    the_digest_tells_states_apart,
    the_digest_knows_the_order_of_versions,
)
