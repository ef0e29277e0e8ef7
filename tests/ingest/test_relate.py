"""Relations found in documents: with them, or by the job; in the end as if all had come under the same settings."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.errors import ErrorReason, GroundwireError
from groundwire_server.evidence import Label, slice_text
from groundwire_server.glossary import EntityTerm, Glossary, Synonym
from groundwire_server.ingest import DocumentHead, DocumentRules, documents_to_relate, recut, relate
from groundwire_server.jobs import JobState, JobStopped
from groundwire_server.library import Library, LibraryConfig, Snapshot
from groundwire_server.readers import WarningKind
from groundwire_server.relations.extractors import (
    Check,
    Extraction,
    FoundRelation,
    RelationExtractor,
    SourceDocument,
    Worked,
    evidence_span,
    make_extractor,
)
from groundwire_server.store import EdgeRecord
from tests.ingest import dying_relate
from tests.ingest.dying_recut import control_of
from tests.ingest.support import make_library, opened, outcomes
from tests.ingest.test_recut import told

FOUND = LibraryConfig(relation_extractor="co_occurrence", relations_from="none")
NONE = LibraryConfig(relations_from="none")
NAMES = Glossary(
    [
        EntityTerm("ACME", "Acme", (Synonym("アクメ", "ja"),)),
        EntityTerm("BETA", "Beta Works", (Synonym("贝塔", "zh"),)),
        EntityTerm("KYOTO", "Kyoto", (Synonym("京都", "ja"),)),
    ]
)
FEWER = Glossary([EntityTerm("ACME", "Acme"), EntityTerm("KYOTO", "Kyoto", (Synonym("贝塔"),))])
TEXTS = (
    "Acme owns Beta Works.\n\nBeta Works sits in Kyoto.",
    "アクメは京都にある。贝塔。",
    "Nothing of it.",
    "Kyoto\r\n\tAcme\u2028e\u0301 Beta Works 👩\u200d👩",
)

FAR = "Acme owns Beta Works.\n\nBeta Works sits in Kyoto"


def extractor_of(snapshot: Snapshot) -> RelationExtractor:
    return make_extractor(snapshot.config.relation_extractor, snapshot.glossary)


def edges(library: Library, label: Label = Label.CONFIDENTIAL) -> list[EdgeRecord]:
    """Every readable source of an edge that living documents state."""
    reader = library.store.reader()
    found = [source.record for edge in reader.edge_page(label, after=None, limit=10_000) for source in edge]
    return sorted(found, key=repr)


def put(library: Library, doc_id: str, text: str, label: Label = Label.INTERNAL, *, left_to_job: bool = False) -> None:
    """Send one document, as the server does. left_to_job: as with an extractor that is not asked meanwhile."""
    snapshot = library.snapshot()
    extractor = extractor_of(snapshot)
    rules = DocumentRules.of(snapshot.config, None, extractor if extractor.immediate and not left_to_job else None)
    with opened(library, f"00000000-0000-4000-8000-{put.count:012}", rules=rules) as (ingest, _):  # type: ignore[attr-defined]
        put.count += 1  # type: ignore[attr-defined]
        events = ingest.feed(1, DocumentHead(doc_id, label=label), text.encode(), True) + ingest.finish(1)
    assert [event.error for event in outcomes(events)] == [None]


put.count = 1  # type: ignore[attr-defined]


def work(library: Library, folder: Path, *, anew: bool = False) -> dict[Label, tuple[JobState, int, int]]:
    with control_of(folder, library) as control:
        relate(library, control, extractor_of, anew=anew)
        return told(control)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = make_library(tmp_path)
    made.set_config(NONE)
    made.set_glossary(NAMES)
    yield made
    made.close()


def pairs(library: Library, label: Label = Label.CONFIDENTIAL) -> set[tuple[str, str, str]]:
    return {(e.source_doc, e.source, e.target) for e in edges(library, label) if e.relation == "co_occurs_with"}


def test_a_document_and_its_relations_are_one_transaction(library: Library) -> None:
    library.set_config(FOUND)
    put(library, "a.md", TEXTS[0])
    assert pairs(library) == {("a.md", "ACME", "BETA"), ("a.md", "BETA", "KYOTO"), ("a.md", "ACME", "KYOTO")}
    reader = library.store.reader()
    (revision,) = reader.documents(clearance=None)
    assert {
        edge.born
        for node in reader.nodes(Label.INTERNAL)
        for edge in reader.edges(Label.INTERNAL, [node], outgoing=True)
    } == {revision.born}
    for edge in edges(library):
        text = slice_text(TEXTS[0], evidence_span(edge.locator))  # type: ignore[arg-type]
        assert text in ("Acme", "Beta Works", "Kyoto", "Acme owns Beta Works", "Beta Works sits in Kyoto", FAR)
        assert edge.locator.startswith("a.md#line=")


def test_a_changed_or_withdrawn_document_changes_only_its_own(library: Library) -> None:
    library.set_config(FOUND)
    for number, text in enumerate(TEXTS):
        put(library, f"{number}.md", text)
    before = {edge.edge_row for edge in _living(library) if edge.record.source_doc != "0.md"}
    put(library, "0.md", "Acme is in Kyoto.")
    assert {edge.edge_row for edge in _living(library) if edge.record.source_doc != "0.md"} == before
    assert {pair for pair in pairs(library) if pair[0] == "0.md"} == {("0.md", "ACME", "KYOTO")}
    put(library, "0.md", "Acme is in Kyoto.")  # unchanged
    with library.writing() as writer:
        writer.withdraw_document("0.md")
    assert {edge.edge_row for edge in _living(library)} == before
    put(library, "3.md", TEXTS[3], Label.RESTRICTED)
    assert not [pair for pair in pairs(library) if pair[0] == "3.md"]


def _living(library: Library) -> list:  # type: ignore[type-arg]
    return [
        source
        for edge in library.store.reader().edge_page(Label.CONFIDENTIAL, after=None, limit=999)
        for source in edge
    ]


def test_none_leaves_the_graph_as_it_is(library: Library, tmp_path: Path) -> None:
    put(library, "a.md", TEXTS[0])
    assert documents_to_relate(library.snapshot(), extractor_of(library.snapshot())) == {}
    generation = library.snapshot().generation
    work(library, tmp_path)
    assert edges(library) == []
    assert Worked.read(library.store.reader()) == Worked()
    library.set_config(FOUND)
    work(library, tmp_path)
    assert len(pairs(library)) == 3
    library.set_config(NONE)
    assert documents_to_relate(library.snapshot(), extractor_of(library.snapshot())) == {Label.INTERNAL: 1}
    work(library, tmp_path)
    assert edges(library) == []
    assert library.store.reader(generation).nodes(Label.CONFIDENTIAL) == []


def test_the_job_tells_each_class_of_its_own(library: Library, tmp_path: Path) -> None:
    labels = (Label.PUBLIC, Label.INTERNAL, Label.INTERNAL, Label.CONFIDENTIAL, Label.RESTRICTED)
    for number, label in enumerate(labels):
        put(library, f"{number}.md", TEXTS[0], label)
    library.set_config(FOUND)
    assert work(library, tmp_path) == {
        Label.PUBLIC: (JobState.SUCCEEDED, 1, 1),
        Label.INTERNAL: (JobState.SUCCEEDED, 3, 3),
        Label.CONFIDENTIAL: (JobState.SUCCEEDED, 4, 4),
    }
    assert {edge.source_doc for edge in edges(library, Label.PUBLIC)} == {"0.md"}
    assert {edge.source_doc for edge in edges(library)} == {"0.md", "1.md", "2.md", "3.md"}
    assert documents_to_relate(library.snapshot(), extractor_of(library.snapshot())) == {}


def test_more_than_is_kept_is_told(library: Library, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    library.set_glossary(Glossary([EntityTerm(f"E{number}", f"name{number}x") for number in range(30)]))
    snapshot = replace(library.snapshot(), config=FOUND)
    rules = DocumentRules.of(FOUND, None, extractor_of(snapshot))
    with opened(library, rules=rules) as (ingest, _):
        text = " ".join(f"name{number}x" for number in range(30)).encode()
        (outcome,) = outcomes(ingest.feed(1, DocumentHead("a.md"), text, True) + ingest.finish(1))
    (warning,) = outcome.warnings
    assert (warning.kind, warning.locator) == (WarningKind.RELATIONS_LEFT_OUT, "a.md#line=1")
    assert warning.message == "the passage gives 371 more relations than are kept of one"
    library.set_config(FOUND)
    names = [EntityTerm(f"E{number}", f"name{number}x") for number in range(30)]
    library.set_glossary(Glossary([*names, EntityTerm("OTHER", "another name")]))  # so that there is work for the job
    caplog.set_level(logging.INFO, "groundwire_server")
    work(library, tmp_path)
    assert "371 relations stand in passages that give more than are kept of one" in caplog.text


steps = st.lists(
    st.one_of(
        st.tuples(
            st.just("put"),
            st.sampled_from("abc"),
            st.sampled_from(TEXTS),
            st.sampled_from([Label.PUBLIC, Label.INTERNAL, Label.CONFIDENTIAL, Label.RESTRICTED]),
        ),
        st.tuples(st.just("withdraw"), st.sampled_from("abc")),
        st.tuples(st.just("glossary"), st.sampled_from([NAMES, FEWER, Glossary()])),
        st.tuples(
            st.just("config"),
            st.sampled_from(
                [FOUND, NONE, replace(FOUND, chunk_chars=24, overlap_chars=8), replace(FOUND, chunker="whole")]
            ),
        ),
        st.just(("work",)),
    ),
    max_size=12,
)


@settings(max_examples=25)
@given(steps=steps)
def test_whatever_happened_the_end_is_the_same(tmp_path_factory: pytest.TempPathFactory, steps: list[tuple]) -> None:  # type: ignore[type-arg]
    folder = tmp_path_factory.mktemp("relate")
    changed, fresh = make_library(folder, "a"), make_library(folder, "b")
    changed.set_config(NONE)
    there: dict[str, tuple[str, Label]] = {}
    for name, *given_step in steps:
        if name == "put":
            doc, text, label = given_step
            put(changed, doc, text, label)
            there[doc] = (text, label)
        elif name == "withdraw" and given_step[0] in there:
            with changed.writing() as writer:
                writer.withdraw_document(given_step[0])
            del there[given_step[0]]
        elif name == "glossary":
            changed.set_glossary(given_step[0])
        elif name == "config":
            changed.set_config(given_step[0])
        elif name == "work":
            _all_work(changed, folder)
    _all_work(changed, folder)
    fresh.set_config(changed.config)
    fresh.set_glossary(changed.snapshot().glossary)
    for doc, (text, label) in there.items():
        put(fresh, doc, text, label)
    assert edges(changed) == edges(fresh)
    assert documents_to_relate(changed.snapshot(), extractor_of(changed.snapshot())) == {}
    for each in (changed, fresh):
        each.close()


def _all_work(library: Library, folder: Path) -> None:
    with control_of(folder, library) as control:
        recut(library, control, alone=False, extractor=lambda snapshot: extractor_of(snapshot))
        relate(library, control, extractor_of)


# ---- an extractor that is asked later, as a model is


@dataclass
class Slow:
    """Finds that every document mentions X, one document at a time, and breaks when it is told."""

    version: str = "slow/1"
    name: str = "co_occurrence"
    unverified: bool = True
    clearance: Label = Label.INTERNAL
    immediate: bool = False
    parallel: int = 1
    asked: list[str] = field(default_factory=list)
    breaks_at: int = 10**9
    unread: frozenset[str] = frozenset()
    before: dict[str, object] = field(default_factory=dict)

    def extract(self, document: SourceDocument, check: Check = lambda: None) -> Extraction:
        check()
        if document.label > self.clearance:
            return Extraction()
        if len(self.asked) >= self.breaks_at:
            raise GroundwireError(ErrorReason.MODEL_FAILED, "gone")
        self.asked.append(document.doc_id)
        action = self.before.pop(document.doc_id, None)
        if action is not None:
            action()  # type: ignore[operator]
        if document.doc_id in self.unread:
            return Extraction(unread=(0,))
        span = document.passages[0].span
        return Extraction((FoundRelation(("document", document.doc_id), "mentions", ("entity", "X"), span, 0),))


def run(library: Library, folder: Path, slow: Slow, *, anew: bool = False) -> dict[Label, tuple[JobState, int, int]]:
    with control_of(folder, library) as control:
        relate(library, control, lambda _: slow, anew=anew)
        return told(control)


def test_what_is_done_is_not_asked_again(library: Library, tmp_path: Path) -> None:
    for name in "abcd":
        put(library, name, TEXTS[0], left_to_job=True)
    with pytest.raises(GroundwireError, match="gone"):
        run(library, tmp_path, Slow(breaks_at=2))
    assert [edge.source_doc for edge in edges(library)] == ["a", "b"]
    slow = Slow()
    run(library, tmp_path, slow)
    assert slow.asked == ["c", "d"]
    rows = Worked.read(library.store.reader()).rows  # of labels without documents too: nobody looks behind it again
    assert len(set(rows.values())) == 1
    assert rows.keys() == {Label.PUBLIC, Label.INTERNAL, Label.CONFIDENTIAL}
    put(library, "b", TEXTS[1], left_to_job=True)  # what was found in its former text goes with that text
    assert [edge.source_doc for edge in edges(library)] == ["a", "c", "d"]
    put(library, "e", TEXTS[1], left_to_job=True)
    run(library, tmp_path, slow)
    assert slow.asked == ["c", "d", "b", "e"]
    run(library, tmp_path, slow, anew=True)
    assert slow.asked[4:] == ["a", "c", "d", "b", "e"]
    assert [edge.source_doc for edge in edges(library)] == ["a", "b", "c", "d", "e"]


def test_open_documents_go_first_and_too_strict_ones_are_not_shown(library: Library, tmp_path: Path) -> None:
    for name, label in (("a", Label.CONFIDENTIAL), ("b", Label.INTERNAL), ("c", Label.RESTRICTED), ("d", Label.PUBLIC)):
        put(library, name, TEXTS[0], label)
    slow = Slow()
    assert run(library, tmp_path, slow) == {
        Label.PUBLIC: (JobState.SUCCEEDED, 1, 1),
        Label.INTERNAL: (JobState.SUCCEEDED, 2, 2),
        Label.CONFIDENTIAL: (JobState.SUCCEEDED, 3, 3),
    }
    assert slow.asked == ["d", "b"]


def test_a_document_that_changes_under_the_work_keeps_nothing_of_it(library: Library, tmp_path: Path) -> None:
    put(library, "a", TEXTS[0])
    put(library, "b", TEXTS[0])

    def withdraw() -> None:
        with library.writing() as writer:
            writer.withdraw_document("b")

    slow = Slow(before={"a": lambda: put(library, "a", TEXTS[2]), "b": withdraw})
    run(library, tmp_path, slow)
    assert slow.asked == ["a", "b", "a"]
    (edge,) = edges(library)
    assert (edge.source_doc, evidence_span(edge.locator).end) == ("a", len(TEXTS[2]))  # type: ignore[union-attr]


def test_what_could_not_be_read_fails_the_job_of_those_who_may_read_it(library: Library, tmp_path: Path) -> None:
    for name, label in (("a", Label.PUBLIC), ("b", Label.INTERNAL), ("c", Label.INTERNAL)):
        put(library, name, TEXTS[0], label)
    slow = Slow(unread=frozenset("b"))
    with control_of(tmp_path, library) as control:
        with pytest.raises(GroundwireError) as caught:
            relate(library, control, lambda _: slow)
        seen = told(control)
    assert caught.value.reason is ErrorReason.MODEL_FAILED
    assert seen[Label.PUBLIC] == (JobState.SUCCEEDED, 1, 1)
    assert seen[Label.INTERNAL][0] is not JobState.SUCCEEDED
    assert [edge.source_doc for edge in edges(library)] == ["a", "c"]
    run(library, tmp_path, Slow())  # it is passed over until the graph is built anew
    assert [edge.source_doc for edge in edges(library)] == ["a", "c"]
    run(library, tmp_path, Slow(), anew=True)
    assert [edge.source_doc for edge in edges(library)] == ["a", "b", "c"]


def test_work_that_is_stopped_keeps_what_is_done(library: Library, tmp_path: Path) -> None:
    put(library, "a", TEXTS[0])
    put(library, "b", TEXTS[0])
    with control_of(tmp_path, library) as control:
        slow = Slow(before={"b": control.stop})
        put(library, "c", TEXTS[0])
        with pytest.raises(JobStopped):
            relate(library, control, lambda _: slow)
    assert slow.asked == ["a", "b"]
    assert [edge.source_doc for edge in edges(library)] == ["a", "b"]


def test_other_settings_in_the_middle_begin_anew(library: Library, tmp_path: Path) -> None:
    put(library, "a", TEXTS[0])
    put(library, "b", TEXTS[0])
    first, second = Slow(), Slow(version="slow/2")
    now = [first]
    first.before["b"] = lambda: now.__setitem__(0, second)
    with control_of(tmp_path, library) as control:
        relate(library, control, lambda _: now[0])
    assert (first.asked, second.asked) == (["a", "b"], ["a", "b"])
    assert Worked.read(library.store.reader()).version == "slow/2"


def test_several_documents_are_worked_on_at_a_time_and_stored_in_order(library: Library, tmp_path: Path) -> None:
    names = [f"{number}.md" for number in range(9)]
    for name in names:
        put(library, name, TEXTS[0])
    together = threading.Barrier(3, timeout=20)  # it opens when three are in the middle of it
    slow = Slow(parallel=3, before=dict.fromkeys(names, together.wait))
    assert run(library, tmp_path, slow)[Label.INTERNAL] == (JobState.SUCCEEDED, 9, 9)
    rows = [(edge.edge_row, edge.record.source_doc) for edge in _living(library)]
    assert [name for _, name in sorted(rows)] == names


def test_of_several_at_a_time_one_that_breaks_ends_the_others(library: Library, tmp_path: Path) -> None:
    for number in range(6):
        put(library, f"{number}.md", TEXTS[0])
    with pytest.raises(GroundwireError, match="gone"):
        run(library, tmp_path, Slow(parallel=3, breaks_at=2))
    found = [edge.source_doc for edge in edges(library)]
    assert found == [f"{number}.md" for number in range(len(found))]
    again = Slow(parallel=3)
    run(library, tmp_path, again)
    assert sorted(again.asked) == [f"{number}.md" for number in range(len(found), 6)]


# ---- killed in the middle

KILLS = [
    ("names", "groundwire_server.store.sqlite.writer:SqliteWriter.replace_edges", "after", 30),
    ("names", "groundwire_server.relations.extractors.worked:Worked.write", "before", 2),
    ("names", "groundwire_server.library.library:Library._publish", "before", 2),
    ("model", "groundwire_server.store.sqlite.writer:SqliteWriter.set_meta", "before", 40),
    ("model", "groundwire_server.library.library:Library._publish", "after", 60),
]


@pytest.mark.parametrize(("extractor", "point", "moment", "call"), KILLS)
def test_killed_work_goes_on_where_it_was(tmp_path: Path, extractor: str, point: str, moment: str, call: int) -> None:
    program = [sys.executable, "-m", "tests.ingest.dying_relate", str(tmp_path), extractor, point, moment, str(call)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert "begun" in done.stdout
    library = make_library(tmp_path)
    found = {edge.source_doc for edge in edges(library)}
    worked = Worked.read(library.store.reader())
    done_rows = worked.row(Label.INTERNAL) if worked != Worked() else 0
    spans = {span.doc_id for span in library.store.reader().revision_spans() if span.first_row <= done_rows}
    assert found == spans  # what is noted as done is there, and nothing else
    asked = [f"{int(line.split()[1]):03}.md" for line in done.stdout.splitlines() if line.startswith("asked")]
    assert set(asked) - found <= set(asked[-2:])  # lost is the answer that was to be stored, and the one behind it
    dying_relate.work(tmp_path, library)
    assert {edge.source_doc for edge in edges(library)} == dying_relate.FILES.keys()
    library.close()
