"""Transactions, generations and time."""

from __future__ import annotations

import threading
from datetime import timedelta

from groundwire_server.evidence import Label
from groundwire_server.store.conformance.check import Places, expect, raises, same
from groundwire_server.store.conformance.samples import START, TickingClock, make_document, make_edge, make_fact

__all__ = ["CHECKS"]


class _Wilful(Exception):
    pass


def a_transaction_is_whole(places: Places) -> None:
    """All of a transaction becomes visible at once, at its generation."""
    store = places()(TickingClock())
    with store.writer() as writer:
        writer.replace_document(make_document("a"))
        writer.put_facts([make_fact()])
        before = store.reader()
        same(before.active_revision("a", clearance=None), None, "a document of an open transaction")
        same(before.facts(Label.INTERNAL), [], "figures of an open transaction")
        writer.put_edges([make_edge()])
        promised = writer.generation
    after = store.reader()
    same(after.generation, promised, "the generation that is read after the commit")
    same(after.counts(Label.INTERNAL), (1, 2, 1, 1), "counts after the commit")
    same(before.counts(Label.INTERNAL), (0, 0, 0, 0), "counts of the state before")
    store.close()


def an_exception_undoes_everything(places: Places) -> None:
    """An exception undoes the transaction, and nothing of it can be seen afterwards."""
    store = places()(TickingClock())
    with store.writer() as writer:
        writer.replace_document(make_document("a"))
    before = store.reader()

    def fail() -> None:
        with store.writer() as writer:
            writer.replace_document(make_document("a", "other"))
            writer.replace_document(make_document("b"))
            writer.put_facts([make_fact()])
            writer.put_edges([make_edge()])
            writer.set_meta("name", "value")
            writer.start_ingest("i", "documents")
            writer.withdraw_document("a")
            raise _Wilful

    raises(_Wilful, fail, "a transaction that fails")
    after = store.reader()
    same(after.generation, before.generation, "the generation after a failed transaction")
    same(after.counts(Label.INTERNAL), (1, 2, 0, 0), "counts after a failed transaction")
    same(after.content_digest(Label.INTERNAL), before.content_digest(Label.INTERNAL), "the digest after it")
    same((after.meta("name"), after.ingest("i")), (None, None), "meta and ledger after it")
    with store.writer() as writer:
        same(writer.replace_document(make_document("a", "third")).revision, 2, "the revision after it")
    store.close()


def a_commit_outlives_the_store(places: Places) -> None:
    """A transaction is committed durably on a clean exit."""
    place = places()
    store = place(TickingClock())
    with store.writer() as writer:
        writer.replace_document(make_document("a"))
        writer.put_facts([make_fact()])
        writer.put_edges([make_edge()])
        writer.set_meta("name", "value")
    before = store.reader()
    digest, generation = before.content_digest(Label.INTERNAL), before.generation
    document = before.active_revision("a", clearance=None)
    store.close()
    reopened = place(TickingClock())
    after = reopened.reader()
    same(after.generation, generation, "the generation after opening again")
    same(after.active_revision("a", clearance=None), document, "the document after opening again")
    same(after.counts(Label.INTERNAL), (1, 2, 1, 1), "counts after opening again")
    same(after.content_digest(Label.INTERNAL), digest, "the digest after opening again")
    same(after.meta("name"), "value", "meta after opening again")
    reopened.close()


def a_reader_stays_as_it_was(places: Places) -> None:
    """A reader gives one consistent state: all that is visible at its generation, whatever is written later."""
    store = places()(TickingClock())
    with store.writer() as writer:
        writer.replace_document(make_document("a", "one\ntwo"))
        writer.replace_document(make_document("b", "three"))
        writer.put_facts([make_fact("10")])
        writer.put_edges([make_edge()])
        writer.set_meta("name", "old")
    reader = store.reader()

    def look() -> tuple[object, ...]:
        return (
            reader.documents(clearance=None),
            reader.revisions("a", clearance=None),
            list(reader.chunk_metas()),
            list(reader.revision_spans()),
            list(reader.revision_details()),
            reader.chunk_count(),
            list(reader.index_texts(1, 99)),
            reader.facts(Label.INTERNAL),
            reader.retired_facts(Label.INTERNAL, reader.facts(Label.INTERNAL)[0].fact_id),
            reader.edges(Label.INTERNAL, [("entity", "ACME")], outgoing=True),
            reader.nodes(Label.INTERNAL),
            reader.counts(Label.INTERNAL),
            reader.content_digest(Label.INTERNAL),
            reader.attribute_schema(None),
            reader.meta("name"),
        )

    before = look()
    with store.writer() as writer:
        writer.replace_document(make_document("a", "changed", label=Label.PUBLIC))
        writer.withdraw_document("b")
        writer.replace_document(make_document("c"))
        writer.put_facts([make_fact("12"), make_fact("10", author="somebody")])
        writer.withdraw_document("group.csv")
        writer.set_meta("name", "new")
    for number, (got, wanted) in enumerate(zip(look(), before, strict=True)):
        same(got, wanted, f"read {number} of an older reader")
    again = store.reader(reader.generation)
    same(again.documents(clearance=None), before[0], "documents of a reader at the older generation")
    store.close()


def only_what_changed_makes_a_generation(places: Places) -> None:
    """A transaction that changed nothing visible commits its ledger entries without a new generation."""
    store = places()(TickingClock())
    with store.writer() as writer:
        writer.replace_document(make_document())
        writer.put_facts([make_fact()])
        writer.put_edges([make_edge()])
        writer.set_meta("name", "value")
    first = store.reader().generation
    with store.writer() as writer:
        writer.replace_document(make_document())
        writer.put_facts([make_fact()])
        writer.put_edges([make_edge()])
        writer.set_meta("name", "value")
        writer.start_ingest("i", "documents")
    same(store.reader().generation, first, "the generation after nothing changed")
    expect(store.reader().ingest("i") is not None, "the ledger entry was lost")
    with store.writer() as writer:
        writer.set_meta("name", "other")
    expect(store.reader().generation > first, "a changed meta makes a generation")
    store.close()


def time_never_goes_back(places: Places) -> None:
    """committed_at never goes back, whatever the clock says; generation_at finds the last one at or before a moment."""
    clock = TickingClock()
    store = places()(clock)
    for text, moment in (("one", START + timedelta(hours=2)), ("two", START), ("three", START + timedelta(hours=3))):
        clock.moment = moment
        with store.writer() as writer:
            writer.replace_document(make_document("a", text))
    marks = store.generations()
    same(len(marks), 3, "generations")
    times = [mark.committed_at for mark in marks]
    same(times, sorted(times), "commit times")
    same([mark.generation for mark in marks], sorted({mark.generation for mark in marks}), "generations in order")
    same(store.generation_at(START), 0, "the generation before all")
    same(store.generation_at(START + timedelta(hours=1)), 0, "the generation before the first commit")
    same(store.generation_at(times[1]), marks[1].generation, "the generation at the second commit")
    same(store.generation_at(START + timedelta(days=9)), marks[2].generation, "the generation long after")
    then = store.reader(store.generation_at(times[0] + timedelta(hours=0.5)))
    same([r.revision for r in then.documents(clearance=None)], [2], "the revision that was known then")
    store.close()


def one_writer_at_a_time(places: Places) -> None:
    """There is one transaction at a time; a second writer waits for the first, readers do not."""
    store = places()(TickingClock())
    order: list[str] = []
    started = threading.Event()

    def second() -> None:
        started.set()
        with store.writer() as writer:
            order.append("second")
            writer.replace_document(make_document("b"))

    with store.writer() as writer:
        thread = threading.Thread(target=second)
        thread.start()
        started.wait()
        writer.replace_document(make_document("a"))
        same(store.reader().counts(Label.INTERNAL), (0, 0, 0, 0), "what a reader sees beside a writer")
        thread.join(0.05)
        order.append("first")
    thread.join()
    same(order, ["first", "second"], "the order of two writers")
    same([r.doc_id for r in store.reader().documents(clearance=None)], ["a", "b"], "documents of both")
    store.close()


def any_thread_may_read(places: Places) -> None:
    """A reader is usable from any thread."""
    store = places()(TickingClock())
    with store.writer() as writer:
        for number in range(20):
            writer.replace_document(make_document(f"d{number}", f"text {number}"))
    reader = store.reader()
    wanted = reader.chunks(range(1, 21))
    seen: list[bool] = []
    threads = [
        threading.Thread(target=lambda: seen.append(all(reader.chunks(range(1, 21)) == wanted for _ in range(5))))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    same(seen, [True] * 6, "what six threads read")
    store.close()


def no_reader_of_the_future(places: Places) -> None:
    """The state at a generation that was not committed yet cannot be read."""
    store = places()(TickingClock())
    raises(ValueError, lambda: store.reader(1), "a reader of the future")
    same(store.reader(0).counts(Label.INTERNAL), (0, 0, 0, 0), "counts before everything")
    store.close()


CHECKS = (
    a_transaction_is_whole,
    an_exception_undoes_everything,
    a_commit_outlives_the_store,
    a_reader_stays_as_it_was,
    only_what_changed_makes_a_generation,
    time_never_goes_back,
    one_writer_at_a_time,
    any_thread_may_read,
    no_reader_of_the_future,
)
