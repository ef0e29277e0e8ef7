"""Documents cut anew after a change of settings: as if they had come under the new ones, whatever happens meanwhile."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.errors import ErrorReason, FailedPrecondition
from groundwire_server.evidence import Label, Principal
from groundwire_server.ingest import (
    DocumentHead,
    DocumentRules,
    IngestLimits,
    IngestOpening,
    documents_to_recut,
    recut,
)
from groundwire_server.jobs import JobControl, JobState, JobStopped
from groundwire_server.library import Library, LibraryConfig, Recut
from groundwire_server.store import StoredChunk
from tests.ingest.dying_recut import CUT, FILES, control_of
from tests.ingest.support import INGEST, OTHER_INGEST, desk_for, make_library, opened, send

SMALL = LibraryConfig(chunk_chars=20, overlap_chars=5)
WHOLE = LibraryConfig(chunker="whole")
READER = Principal("reader", Label.INTERNAL)
NOTES = """---
title: Notes
year: 2024
---
# One

A first line of it.
A second line of it.

## Two

日本の売上高は増えた。東京は首都である。
"""
LINES = (
    b'{"doc_id": "x/1", "title": "Title", "text": "One line.\\nAnother line of it.\\nA third."}\n'
    b'{"doc_id": "x/2", "text": "b"}'
)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = make_library(tmp_path)
    yield made
    made.close()


def chunks(library: Library) -> list[tuple[object, ...]]:
    """All that is said of the active chunks but which revision they are of and when it came."""

    def shown(chunk: StoredChunk) -> tuple[object, ...]:
        of_document = (chunk.doc_id, chunk.title, chunk.label, chunk.valid_as_of, chunk.attributes)
        return (*of_document, chunk.seq, chunk.span, chunk.text, chunk.locator, chunk.header, chunk.heading)

    return sorted((shown(chunk) for chunk in library.store.reader().iter_chunks(clearance=None)), key=repr)


def cuts(library: Library) -> dict[str, tuple[int, str]]:
    """Revision and cut of each active document."""
    found = library.store.reader().documents(clearance=None)
    return {revision.doc_id: (revision.revision, revision.chunker) for revision in found}


def cut_anew(library: Library, folder: Path) -> dict[Label, tuple[JobState, int, int]]:
    """Do the work; what each class of callers was told at last."""
    with control_of(folder, library) as control:
        recut(library, control)
        return told(control)


def told(control: JobControl) -> dict[Label, tuple[JobState, int, int]]:
    jobs = [job for job in control._board.jobs() if job.order and job.order.work_id == control.work_id]
    return {
        job.audience: (job.state, job.progress.done, job.progress.total or 0)
        for job in jobs
        if job.progress is not None
    }


lines = st.lists(
    st.sampled_from(
        ["# Head", "## Sub", "", "A line of words.", "日本の売上高は増えた。", "e\u0301 👩‍👩‍👧", "```", "---", "x" * 70]
    ),
    min_size=1,
    max_size=14,
)
budgets = st.sampled_from([LibraryConfig(), SMALL, WHOLE, CUT, LibraryConfig(chunk_chars=60, overlap_chars=40)])


@settings(max_examples=40)
@given(
    texts=st.lists(lines, min_size=1, max_size=3),
    before=budgets,
    after=budgets,
    newline=st.sampled_from(["\n", "\r\n"]),
)
def test_what_is_cut_anew_is_as_what_came_so(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[list[str]],
    before: LibraryConfig,
    after: LibraryConfig,
    newline: str,
) -> None:
    files = {
        f"{number}.{suffix}": newline.join(text).encode()
        for number, text in enumerate(texts)
        for suffix in ("md", "txt")
    }
    files |= {"n.md": NOTES.replace("\n", newline).encode(), "l.jsonl": LINES}
    folder = tmp_path_factory.mktemp("recut")
    changed, fresh = make_library(folder, "a"), make_library(folder, "b")
    for library, config in ((changed, before), (fresh, after)):
        library.set_config(config)
        with opened(library, rules=DocumentRules.of(config)) as (ingest, _):
            for seq, (name, raw) in enumerate(files.items(), 1):
                ingest.feed(seq, DocumentHead(name), raw, True)
            ingest.finish(len(files))
    changed.set_config(after)
    cut_anew(changed, folder)
    assert chunks(changed) == chunks(fresh)
    assert {cut for _, cut in cuts(changed).values()} == {after.cut}
    assert Recut.read(changed.store.reader()) == Recut()
    revision = 1 if before.cut == after.cut else 2
    assert {number for number, _ in cuts(changed).values()} == {revision}
    for each in (changed, fresh):
        each.close()


def test_a_document_keeps_the_chunker_that_it_came_with(library: Library, tmp_path: Path) -> None:
    send(library, ("own.md", NOTES.encode()), chunker="whole")
    send(library, ("a.md", NOTES.encode()), ingest_id=OTHER_INGEST)
    library.set_config(SMALL)
    cut_anew(library, tmp_path)
    assert cuts(library) == {"own.md": (1, "whole"), "a.md": (2, SMALL.cut)}
    library.set_config(WHOLE)
    cut_anew(library, tmp_path)
    assert cuts(library) == {"own.md": (1, "whole"), "a.md": (3, "whole")}


def test_a_document_that_came_with_its_own_chunker_takes_the_budget(library: Library, tmp_path: Path) -> None:
    library.set_config(WHOLE)
    cut_anew(library, tmp_path)
    with opened(library, rules=DocumentRules.of(WHOLE)) as (ingest, _):
        ingest.feed(1, DocumentHead("own.md", chunker="paragraph"), NOTES.encode(), True)
        ingest.finish(1)
    library.set_config(LibraryConfig(chunker="whole", chunk_chars=20, overlap_chars=5))
    cut_anew(library, tmp_path)
    assert cuts(library) == {"own.md": (2, SMALL.cut)}


def test_each_class_of_callers_is_told_of_its_own_and_nobody_of_restricted(library: Library, tmp_path: Path) -> None:
    for number, label in enumerate(Label):
        for place in range(number + 1):
            identity = f"{number}{place}000000-0000-4000-8000-000000000000"
            send(library, (f"{label.name}/{place}.md", NOTES.encode()), ingest_id=identity, label=label)
    library.set_config(SMALL)
    counted = {label: documents_to_recut(library.snapshot(), library.config, Principal("x", label)) for label in Label}
    assert counted == {Label.PUBLIC: 1, Label.INTERNAL: 3, Label.CONFIDENTIAL: 6, Label.RESTRICTED: 6}
    done = JobState.SUCCEEDED
    assert cut_anew(library, tmp_path) == {
        Label.PUBLIC: (done, 1, 1),
        Label.INTERNAL: (done, 3, 3),
        Label.CONFIDENTIAL: (done, 6, 6),
    }
    assert {cut for doc_id, (_, cut) in cuts(library).items() if doc_id.startswith("RESTRICTED")} == {
        LibraryConfig().cut
    }


@contextmanager
def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> Iterator[None]:
    """Something that happens once, after the first documents are cut and before they are stored."""
    writing, acted = Library.writing, []

    def first(library: Library) -> object:
        if not acted:
            acted.append(True)
            act()
        return writing(library)

    with monkeypatch.context() as patch:
        patch.setattr(Library, "writing", first)
        yield
    assert acted


def test_what_came_or_went_meanwhile_is_left_alone(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(library, *((name, NOTES.encode()) for name in ("a.md", "b.md", "c.md")))
    library.set_config(SMALL)

    def act() -> None:
        with opened(library, OTHER_INGEST, rules=DocumentRules.of(library.config)) as (
            other,
            _,
        ):
            other.feed(1, DocumentHead("a.md"), b"# New\n\nwords", True)
            other.finish(1)
        with library.writing() as writer:
            writer.withdraw_document("b.md")

    with meanwhile(monkeypatch, act):
        cut_anew(library, tmp_path)
    assert cuts(library) == {"a.md": (2, SMALL.cut), "c.md": (2, SMALL.cut)}
    assert {chunk[7] for chunk in chunks(library) if chunk[0] == "a.md"} == {"# New\n\nwords"}


def test_settings_that_change_meanwhile_are_those_that_hold(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(library, *((name, NOTES.encode()) for name in ("a.md", "b.md")))
    library.set_config(SMALL)
    with meanwhile(monkeypatch, lambda: library.set_config(WHOLE)):
        cut_anew(library, tmp_path)
    assert cuts(library) == {"a.md": (2, "whole"), "b.md": (2, "whole")}
    assert Recut.read(library.store.reader()) == Recut()


def test_what_is_stored_is_cut_by_the_settings_of_that_moment(library: Library) -> None:
    rules = DocumentRules.of(library.config)
    with desk_for(library).open_documents(library, IngestOpening(INGEST), lambda: rules) as ingest:
        ingest.feed(1, DocumentHead("a.md"), NOTES.encode(), True)
        rules = DocumentRules.of(SMALL)
        ingest.feed(2, DocumentHead("b.md"), NOTES.encode(), True)
        ingest.finish(2)
    assert {cut for _, cut in cuts(library).values()} == {SMALL.cut}


def test_work_that_is_broken_off_leaves_whole_documents_and_the_next_goes_on(library: Library, tmp_path: Path) -> None:
    send(library, *FILES.items())
    library.set_config(CUT)
    with control_of(tmp_path, library) as control:
        report, reports = control.report, []

        def stop_later(*args: object, **options: object) -> None:
            report(*args, **options)  # type: ignore[arg-type]
            reports.append(args)
            if len(reports) == 2:
                control.stop()

        control.report = stop_later  # type: ignore[method-assign, assignment]
        with pytest.raises(JobStopped):
            recut(library, control)
    found = list(cuts(library).values())
    assert (found.count((2, CUT.cut)), found.count((1, LibraryConfig().cut))) == (64, 86)
    assert Recut.read(library.store.reader()).earlier == {LibraryConfig().cut}
    assert cut_anew(library, tmp_path)[Label.INTERNAL] == (JobState.SUCCEEDED, 86, 86)
    assert set(cuts(library).values()) == {(2, CUT.cut)}


def test_a_passage_that_would_be_too_large_stays_as_it_was_and_is_told_to_those_who_may_read_it(
    library: Library, tmp_path: Path
) -> None:
    send(library, ("small.txt", b"words"))
    with opened(library, OTHER_INGEST, limits=IngestLimits(max_part_bytes=1 << 20)) as (ingest, _):
        ingest.feed(1, DocumentHead("large.txt", label=Label.CONFIDENTIAL), b"words and words\n" * 40_000, True)
        ingest.finish(1)
    library.set_config(WHOLE)
    with control_of(tmp_path, library) as control:
        with pytest.raises(FailedPrecondition) as failed:
            recut(library, control)
        states = {label: state for label, (state, _, _) in told(control).items()}
    assert failed.value.reason is ErrorReason.DOCUMENT_TOO_LARGE
    assert "large.txt" not in failed.value.message
    assert states == {
        Label.PUBLIC: JobState.SUCCEEDED,
        Label.INTERNAL: JobState.SUCCEEDED,
        Label.CONFIDENTIAL: JobState.RUNNING,
    }
    assert cuts(library) == {"small.txt": (2, "whole"), "large.txt": (1, LibraryConfig().cut)}
    library.set_config(SMALL)
    cut_anew(library, tmp_path)
    assert {cut for _, cut in cuts(library).values()} == {SMALL.cut}


@pytest.mark.parametrize("hidden", [False, True])
def test_what_stays_as_it_was_cuts_nothing_of_those_who_may_not_read_it(
    library: Library, tmp_path: Path, hidden: bool
) -> None:
    """A document that came with its own chunker keeps it, whatever hidden ones stand in the same cut."""
    if hidden:
        with opened(library, OTHER_INGEST, limits=IngestLimits(max_part_bytes=1 << 20)) as (ingest, _):
            ingest.feed(1, DocumentHead("large.txt", label=Label.CONFIDENTIAL), b"words and words\n" * 40_000, True)
            ingest.finish(1)
    library.set_config(WHOLE)
    with control_of(tmp_path, library) as control, suppress(FailedPrecondition):
        recut(library, control)
    with opened(library, INGEST) as (ingest, _):
        ingest.feed(1, DocumentHead("own.txt", label=Label.PUBLIC, chunker="paragraph"), b"one\n\ntwo", True)
        ingest.finish(1)
    own = 1, LibraryConfig().cut
    assert cuts(library)["own.txt"] == own
    with control_of(tmp_path, library) as control, suppress(FailedPrecondition):
        recut(library, control)
    assert cuts(library)["own.txt"] == own


STORE = "groundwire_server.store.sqlite"
POINTS = [
    ("groundwire_server.ingest.recut:cut_text", "after", 100),
    (f"{STORE}.writer:SqliteWriter.recut_document", "after", 70),
    (f"{STORE}.store:SqliteStore._commit", "before", 2),
    (f"{STORE}.store:SqliteStore._commit", "after", 2),
    ("groundwire_server.library.library:Library._publish", "before", 2),
    ("groundwire_server.library.recut:Recut.write", "before", 1),
]


@pytest.mark.parametrize(("point", "moment", "call"), POINTS)
def test_killed_work_is_taken_up_again(tmp_path: Path, point: str, moment: str, call: int) -> None:
    program = [sys.executable, "-m", "tests.ingest.dying_recut", str(tmp_path), point, moment, str(call)]
    done = subprocess.run(program, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "begun\n"), done.stderr
    library = make_library(tmp_path)
    half = set(cuts(library).values())
    assert half <= {(1, LibraryConfig().cut), (2, CUT.cut)}
    assert Recut.read(library.store.reader()).earlier == {LibraryConfig().cut}
    cut_anew(library, tmp_path)
    assert set(cuts(library).values()) == {(2, CUT.cut)}
    assert len(cuts(library)) == len(FILES)
    assert Recut.read(library.store.reader()) == Recut()
    library.close()
