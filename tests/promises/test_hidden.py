"""Promise 3: what you may not see does not exist. It changes no score, rank, count, error, outcome or log line.

Two servers with one secret and the same open content answer everything alike, frame for frame; one of them holds hidden
rows beside it. A revision number alone tells of more: it counts all revisions of an id, whoever may read them.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from groundwire.v1 import admin_pb2, evidence_pb2, ingest_pb2, tools_pb2
from tests.promises.answers import QUERIES, answers, retrieval, streams
from tests.promises.worlds import (
    CANARIES,
    CONFIDENTIAL,
    INTERNAL,
    PUBLIC,
    RESTRICTED,
    DocumentStep,
    EdgeStep,
    FactStep,
    Step,
    WithdrawStep,
    begin,
    draw_hidden,
    draw_open,
    take,
    take_all,
)
from tests.rpc.house import House, house, snippets
from tests.support.canonical import canonical_message
from tests.support.eventually import eventually

# Who reads, what is open to them, what is hidden from them.
READERS = {
    "internal": ((PUBLIC, INTERNAL), (CONFIDENTIAL, RESTRICTED)),
    "public": ((PUBLIC,), (INTERNAL, CONFIDENTIAL, RESTRICTED)),
    "confidential": ((PUBLIC, INTERNAL, CONFIDENTIAL), (RESTRICTED,)),
}


@pytest.mark.parametrize(("seed", "reader"), [(1, "internal"), (2, "public")])
def test_hidden_rows_change_nothing(tmp_path: Path, seed: int, reader: str) -> None:
    _compare(tmp_path, seed, reader, steps=30)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["none", "deterministic"])
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("seed", [100, 101])
def test_hidden_rows_change_nothing_in_larger_libraries(tmp_path: Path, seed: int, reader: str, backend: str) -> None:
    _compare(tmp_path, seed, reader, steps=70, backend=backend)


def _compare(tmp_path: Path, seed: int, reader: str, *, steps: int, backend: str = "none") -> None:
    open_labels, hidden_labels = READERS[reader]
    dice = random.Random(seed)
    shown = draw_open(dice, steps, open_labels)
    hidden = draw_hidden(dice, steps, hidden_labels)
    settings = {"secret": "s", "access__local_clearance": reader, "embedding__backend": backend, "log__level": "debug"}
    modes = (0,) if backend == "none" else (1, 3, 4)
    seen: list[tuple[list[bytes], dict[str, bytes], list[str]]] = []
    for name, beside in (("without", []), ("with", hidden)):
        with house(tmp_path / name, **settings) as here:
            begin(here)
            half = len(shown) // 2
            told = take_all(here, shown[:half], beside[:half], random.Random(seed))
            between = datetime.now(UTC)
            told += take_all(here, shown[half:], beside[half:], random.Random(seed))
            if backend != "none":
                assert eventually(lambda here=here: _is_embedded(here), 60)  # type: ignore[misc]
                told = []  # the state of the embedding at a moment is a race; what it comes to is compared below
            before = len(here.log())
            read = answers(here, [between], modes) | _verdicts(here)
            lines = [_plain(line) for line in here.log()[before:]]
            seen.append((told, read, lines))
            for word in (*CANARIES, "alpha", "h/x.md"):
                assert word not in here.written.getvalue()
    (told, read, lines), (told_beside, read_beside, lines_beside) = seen
    for step, wanted, got in zip(shown, told, told_beside, strict=False):
        assert got == wanted, step
    assert read_beside.keys() == read.keys()
    for name, answer in read.items():
        assert read_beside[name] == answer, name
    assert lines_beside == lines


def _is_embedded(here: House) -> bool:
    (library,) = here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries
    return library.embedding_coverage == 1.0


def _plain(line: dict[str, Any]) -> str:
    """All but what goes with time; the frames do, as a batch is what came within some milliseconds."""
    timed = ("frames", "ms", "request_id", "timestamp")
    return repr(sorted((name, value) for name, value in line.items() if name not in timed))


def _verdicts(here: House) -> dict[str, bytes]:
    """Every citation that can be had, checked."""
    verdicts: dict[str, bytes] = {}
    for snippet in snippets(streams(here)):
        request = tools_pb2.VerifyCitationRequest(lineage=snippet.lineage)
        if snippet.HasField("text"):
            request.quote = snippet.text.text
        elif snippet.HasField("fact"):
            request.fact.CopyFrom(snippet.fact)
        else:
            request.edge.CopyFrom(snippet.edge)
        verdicts[f"cited {snippet.snippet_id}"] = canonical_message(here.tools.VerifyCitation(request))
    return verdicts


# What becomes of a write, where something hidden is already there.

FIGURE = (
    ("metric", "REVENUE"),
    ("entity", "ACME"),
    ("period", "2024"),
    ("value", "5"),
    ("unit", "USD"),
    ("source_doc", "x"),
    ("locator", "l"),
)
RELATION = (
    ("subject", "ACME"),
    ("relation", "owns"),
    ("object", "B"),
    ("object_kind", "entity"),
    ("source_doc", "x"),
    ("locator", "l"),
)
SECRET = DocumentStep("x", "the vault", CONFIDENTIAL, (("k", 1),))


def _elsewhere(label: int) -> Step:
    return DocumentStep("y", "other", label, (("k", "text"),), rehearse=True)


WRITES: dict[str, tuple[list[Step], list[Step], list[Step]]] = {
    # name: what is hidden, what stands in its place in the other library, what is done then
    "withdraw a hidden document": ([SECRET], [], [WithdrawStep("x")]),
    "withdraw a source of hidden figures": ([FactStep(FIGURE, RESTRICTED)], [], [WithdrawStep("x")] * 2),
    "withdraw a source of hidden relations": ([EdgeStep(RELATION, CONFIDENTIAL)], [], [WithdrawStep("x")] * 2),
    "withdraw what became hidden": (
        [DocumentStep("x", "open", INTERNAL), SECRET],
        [DocumentStep("x", "open", INTERNAL), WithdrawStep("x")],
        [WithdrawStep("x")],
    ),
    "withdraw open figures of a hidden document": (
        [SECRET, FactStep(FIGURE, CONFIDENTIAL), FactStep((*FIGURE[:3], ("value", "6"), *FIGURE[4:]), INTERNAL)],
        [FactStep((*FIGURE[:3], ("value", "6"), *FIGURE[4:]), INTERNAL)],
        [WithdrawStep("x")] * 2,
    ),
    "guess a hidden text": ([SECRET], [], [DocumentStep("x", "the vault", CONFIDENTIAL, (("k", 1),), rehearse=True)]),
    "send a hidden text again": ([SECRET], [], [SECRET, SECRET]),
    "rehearse under a hidden id": ([SECRET], [], [DocumentStep("x", "open", INTERNAL, rehearse=True)]),
    "guess a hidden figure": ([FactStep(FIGURE, CONFIDENTIAL)], [], [FactStep(FIGURE, CONFIDENTIAL, rehearse=True)]),
    "guess a hidden relation": (
        [EdgeStep(RELATION, RESTRICTED)],
        [],
        [EdgeStep(RELATION, RESTRICTED, rehearse=True)],
    ),
    "guess a hidden attribute": (
        [SECRET],
        [],
        [_elsewhere(CONFIDENTIAL), _elsewhere(RESTRICTED), _elsewhere(INTERNAL)],
    ),
    "guess a hidden attribute of a figure": (
        [FactStep(FIGURE, CONFIDENTIAL, attributes=(("k", 1),))],
        [],
        [FactStep((*FIGURE[:5], ("source_doc", "y"), ("locator", "l")), CONFIDENTIAL, attributes=(("k", "text"),))],
    ),
}


@pytest.mark.parametrize("name", WRITES)
def test_what_becomes_of_a_write_tells_nothing(tmp_path: Path, name: str) -> None:
    hidden, instead, then = WRITES[name]
    told: list[list[bytes]] = []
    for place, before in enumerate((instead, hidden)):
        with house(tmp_path / str(place), secret="s") as here:
            begin(here)
            for step in before:
                take(here, step)
            told.append([take(here, step) for step in then])
    assert told[1] == told[0]


def test_what_a_caller_may_not_read_stays_when_it_withdraws(tmp_path: Path) -> None:
    figure = FactStep((*FIGURE[:3], ("value", "6"), *FIGURE[4:]), INTERNAL)
    with house(tmp_path, access__local_clearance="internal") as here:
        for step in (SECRET, FactStep(FIGURE, CONFIDENTIAL), figure, WithdrawStep("x")):
            take(here, step)
    with house(tmp_path, access__local_clearance="confidential") as here:
        (library,) = here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries
        assert (library.documents, library.facts) == (1, 1)
        assert [each.lineage.doc_id for each in snippets(retrieval(here, "vault")())] == ["x"]


def test_a_library_of_hidden_documents_alone_is_cut_in_another_way_as_an_empty_one(tmp_path: Path) -> None:
    told = []
    for name, steps in (("empty", ()), ("hidden", (SECRET,))):
        with house(tmp_path / name) as here:
            here.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library={"library_id": "default"}))
            for step in steps:
                take(here, step)
            cut = {"library_id": "default", "index": {"chunker": "whole"}}
            planned = here.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=cut, validate_only=True)).job
            job = here.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=cut)).job
            last = [each.job for each in here.admin.WatchJob(admin_pb2.WatchJobRequest(job_id=job.job_id))][-1]
            told.append([(each.kind, each.progress.done, each.progress.total, each.parts) for each in (planned, last)])
            assert last.state == admin_pb2.JOB_STATE_SUCCEEDED
    assert told[0] == told[1]


def test_findings_count_no_figure_that_waits_for_review(tmp_path: Path) -> None:
    waiting = (("review_status", evidence_pb2.REVIEW_STATUS_PENDING),)
    with house(tmp_path) as here:
        take(here, FactStep(FIGURE, INTERNAL))
        take(here, FactStep((*FIGURE[:2], ("period", "2023"), *FIGURE[3:], *waiting), INTERNAL))
        update = admin_pb2.UpdateGlossaryRequest(library_id="default", validate_only=True)
        counts = {each.term.code: each.fact_count for each in here.admin.UpdateGlossary(update).findings}
    assert counts == {"ACME": 1, "REVENUE": 1}


def test_a_hidden_write_leaves_the_snapshot_as_it_was(tmp_path: Path) -> None:
    with house(tmp_path, secret="s") as here:
        take(here, DocumentStep("a", "alpha", PUBLIC))
        before = {query: next(retrieval(here, query)()).header.snapshots for query in QUERIES}
        for step in draw_hidden(random.Random(5), 15):
            take(here, step)
        after = {query: next(retrieval(here, query)()).header.snapshots for query in QUERIES}
        assert after == before
        asked = ingest_pb2.WithdrawDocumentRequest(library_id="default", doc_id="a")
        here.ingest.WithdrawDocument(asked)
        assert next(retrieval(here, QUERIES[0])()).header.snapshots != before[QUERIES[0]]
