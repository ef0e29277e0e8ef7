"""A stream that is cut anywhere goes on with nothing lost and nothing twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from groundwire.v1 import admin_pb2, glossary_pb2, ingest_pb2, narrative_pb2
from tests.rpc.house import HIDDEN_TEXT, TEXTS, House, furnish, house
from tests.rpc.resuming import ask, cuts, expected, refusal_of, requests, rest, resumed, token_of

REQUESTS = requests()
GONE = (grpc.StatusCode.ABORTED, "RESUME_SNAPSHOT_GONE")
MISMATCH = (grpc.StatusCode.INVALID_ARGUMENT, "RESUME_MISMATCH")


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> Any:
    def of(size: int) -> None:
        monkeypatch.setattr("groundwire_server.rpc.stream.MAX_BATCH_SNIPPETS", size)

    return of


@pytest.mark.parametrize("name", sorted(REQUESTS))
@pytest.mark.parametrize(("first", "then"), [(1, 20), (3, 2), (20, 1), (7, 7)])
def test_what_came_and_what_comes_are_the_whole(
    furnished: House, batches: Any, name: str, first: int, then: int
) -> None:
    request = REQUESTS[name]
    batches(first)
    whole = list(ask(furnished, request))
    places = list(cuts(whole))
    assert places
    batches(then)
    for cut in places:
        assert 0 < len(cut.token) <= 4096
        again = list(ask(furnished, resumed(request, cut.token)))
        assert rest(again) == expected(whole, cut.counts), cut.counts


@pytest.fixture
def cottage(tmp_path: Path) -> Iterator[House]:
    """A house of one's own, to write to."""
    with house(tmp_path / "data") as here:
        furnish(here)
        yield here


def every_cut(here: House) -> list[tuple[str, Any, list[Any], Any]]:
    """Each request, its whole stream and one of its places."""
    found = []
    for name, request in REQUESTS.items():
        whole = list(ask(here, request))
        found += [(name, request, whole, cut) for cut in cuts(whole)]
    return found


def all_go_on(here: House, places: list[tuple[str, Any, list[Any], Any]]) -> None:
    for name, request, whole, cut in places:
        assert rest(list(ask(here, resumed(request, cut.token)))) == expected(whole, cut.counts), (name, cut.counts)


def write_more(here: House) -> None:
    """Documents that would come first, others that are gone, figures that say otherwise, other names."""
    here.store(
        {"notes/japan.md": "日本の人口は減った。東京。", "many/002.txt": "", "many/003.txt": "rivers rivers rivers"}
    )
    here.store({f"new/{number}.txt": f"A report about rivers, number {number}. 北京的收入" for number in range(30)})
    here.ingest.WithdrawDocument(ingest_pb2.WithdrawDocumentRequest(library_id="default", doc_id="many/001.txt"))
    figures = ingest_pb2.FactRecords(
        facts=[
            ingest_pb2.FactRecord(
                metric="population",
                entity="Japan",
                period="2020",
                value="1",
                unit="persons",
                source_doc="late.csv",
                locator="row=1",
            )
        ],
        relations=[
            ingest_pb2.RelationRecord(
                subject="JPN", relation="parent_of", object="TOKYO", source_doc="late.jsonl", locator="line=1"
            )
        ],
    )
    here.store_facts(figures)


def test_writes_in_between_change_nothing_of_what_is_left(cottage: House) -> None:
    places = every_cut(cottage)
    write_more(cottage)
    all_go_on(cottage, places)
    for _, request, whole, _ in places[:1]:
        assert rest(list(ask(cottage, request))) != rest(whole)  # the writes do change what is asked anew


def test_a_restart_and_another_process_open_what_was_sealed(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        furnish(here)
        places = every_cut(here)
        write_more(here)
    with house(tmp_path / "data") as here:
        all_go_on(here, places)


def test_other_names_and_settings_do_not_reach_a_stream_that_has_begun(cottage: House) -> None:
    places = every_cut(cottage)
    removed = admin_pb2.TermRef(kind=glossary_pb2.TERM_KIND_METRIC, code="POPULATION")
    cottage.admin.UpdateGlossary(admin_pb2.UpdateGlossaryRequest(library_id="default", remove=[removed]))
    tuning = narrative_pb2.RetrievalTuning(fusion="rrf", glossary_variants=False)
    library = admin_pb2.Library(library_id="default", description="Other words", tuning=tuning)
    cottage.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=library))
    all_go_on(cottage, places)


def test_hidden_writes_leave_a_cursor_as_it_is(cottage: House) -> None:
    places = every_cut(cottage)
    lengths = [len(cut.token) for *_, cut in places]
    cottage.store({"secret/more.md": HIDDEN_TEXT * 3}, label=ingest_pb2.LABEL_CONFIDENTIAL)
    cottage.store({"secret/never.md": HIDDEN_TEXT * 5}, label=ingest_pb2.LABEL_RESTRICTED)
    all_go_on(cottage, places)
    assert [len(cut.token) for *_, cut in every_cut(cottage)] == lengths


@pytest.mark.parametrize(
    ("label", "outcome"), [(ingest_pb2.LABEL_CONFIDENTIAL, "goes on"), (ingest_pb2.LABEL_INTERNAL, "gone")]
)
def test_what_was_purged_cannot_be_told_of_any_more(
    tmp_path: Path, label: ingest_pb2.Label.ValueType, outcome: str
) -> None:
    """Purging what the caller may not see is nothing to it."""
    with house(tmp_path / "data", access__local_clearance="confidential") as here:
        furnish(here)
        here.store({"a/purged.md": "A report about rivers."}, label=label)
    with house(tmp_path / "data") as here:
        request = REQUESTS["retrieve"]
        whole = list(ask(here, request))
        (cut, *_) = cuts(whole)
    with house(tmp_path / "data", access__local_clearance="confidential") as here:
        here.store({"a/purged.md": "Nothing."}, label=label)
        purged = admin_pb2.PurgeRevisionsRequest(library_id="default", doc_id="a/purged.md", keep_last=0)
        _purge(here, purged)
    with house(tmp_path / "data") as here:
        if outcome == "gone":
            assert refusal_of(here, resumed(request, cut.token)) == GONE
        else:
            assert rest(list(ask(here, resumed(request, cut.token)))) == expected(whole, cut.counts)


def test_a_library_that_is_gone_ends_its_streams(cottage: House) -> None:
    request, token = REQUESTS["retrieve"], _first_token(cottage)
    asked = admin_pb2.DeleteLibraryRequest(library_id="default", validate_only=True)
    confirmation = cottage.admin.DeleteLibrary(asked).confirmation
    cottage.admin.DeleteLibrary(admin_pb2.DeleteLibraryRequest(library_id="default", confirmation=confirmation))
    assert refusal_of(cottage, resumed(request, token)) == GONE
    cottage.store(TEXTS)
    assert refusal_of(cottage, resumed(request, token)) == GONE


def test_a_cursor_is_of_its_request_alone(furnished: House) -> None:
    token = _first_token(furnished)
    request: Any = REQUESTS["retrieve"]
    others = []
    for change in (
        {"query": "report about bridges"},
        {"top_k": 51},
        {"mode": 4},
    ):
        other = type(request)()
        other.CopyFrom(request)
        for name, value in change.items():
            setattr(other, name, value)
        others.append(other)
    other = type(request)()
    other.CopyFrom(request)
    other.options.language = "en"
    others += [other, *(each for name, each in REQUESTS.items() if name != "retrieve")]
    for each in others:
        assert refusal_of(furnished, resumed(each, token)) == MISMATCH


def test_what_may_differ_may_differ(furnished: House) -> None:
    request = REQUESTS["retrieve"]
    whole = list(ask(furnished, request))
    (cut, *_) = cuts(whole)
    again = resumed(request, cut.token, request_id="another", explain=2)
    again.options.soft_budget.seconds = 20
    frames = list(ask(furnished, again))
    frames[-1].summary.ClearField("explanation")
    assert rest(frames) == expected(whole, cut.counts)


def test_forged_and_broken_tokens_are_all_alike(furnished: House) -> None:
    request, token = REQUESTS["retrieve"], _first_token(furnished)
    broken = [b"", b"x", bytes(4096), bytes(5000), token + b"x", token[:-1], token[1:], token[:40], token * 20]
    broken += [
        token[:place] + bytes([token[place] ^ bit]) + token[place + 1 :]
        for place in range(len(token))
        for bit in (1, 128)
    ]
    for each in broken:
        assert refusal_of(furnished, resumed(request, each)) == MISMATCH


def test_another_caller_cannot_use_it(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        furnish(here)
        token = _first_token(here)
    with house(tmp_path / "data", access__local_clearance="public") as here:
        assert refusal_of(here, resumed(REQUESTS["retrieve"], token)) == MISMATCH
    with house(tmp_path / "data", secret="another") as here:
        assert refusal_of(here, resumed(REQUESTS["retrieve"], token)) == MISMATCH


def test_a_cursor_grows_old(tmp_path: Path) -> None:
    with house(tmp_path / "data", limits__max_cursor_seconds=0.000001) as here:
        furnish(here)
        assert here.admin.GetServerInfo(admin_pb2.GetServerInfoRequest()).limits.cursor_lifetime.nanos == 1000
        assert refusal_of(here, resumed(REQUESTS["retrieve"], _first_token(here))) == GONE


def _first_token(here: House) -> bytes:
    return next(token_of(each) for each in ask(here, REQUESTS["retrieve"]) if token_of(each))


def _purge(here: House, request: Any) -> None:
    response = here.admin.PurgeRevisions(request)
    assert response.revisions == 1
    *_, last = here.admin.WatchJob(admin_pb2.WatchJobRequest(job_id=response.job.job_id))
    assert last.job.state == admin_pb2.JOB_STATE_SUCCEEDED
