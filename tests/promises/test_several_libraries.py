"""Several libraries over the wire: which ones are asked, and what happens when a router or a library fails.

The faults are real: packages of routers that raise, hang and answer nonsense; store files overwritten, before they are
opened and while they are read.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from groundwire.v1 import admin_pb2, narrative_pb2, router_pb2, stream_pb2
from groundwire_server.errors import InvalidRequest
from tests.rpc.house import House, house, snippets
from tests.rpc.serving import failure_of
from tests.support.router_package import FAULTY_ROUTERS, installed_routers

SAME = "Revenue of the group rose. グループの売上高は増えた。集团收入增长。"
LIBRARIES = {
    "finance": ("Annual reports: revenue and profit 売上高 收入", {"same.md": SAME, "f.md": "Profit fell. 利益 利润"}),
    "people": (
        "Handbook of the staff: holidays 休暇 假期",
        {"p.md": "Thirty days of holidays. 休暇は三十日。假期三十天。"},
    ),
    "archive": (
        "Letters of the founder 書簡 书信",
        {"same.md": SAME, "l.md": "A letter on revenue. 売上高の書簡 收入"},
    ),
}
# So much that what a question finds has not been read by opening the library alone.
FILLER = {f"filler/{number}.md": f"Nothing to see here, {number}. " * 40 for number in range(60)}
EVERYTHING = sorted(LIBRARIES)
QUESTIONS = {  # by language: for finance alone, and one that no description shares a word with
    "en": ("What was the revenue?", "Who wrote Hamlet?"),
    "ja": ("売上高はいくらですか", "ハムレットは誰が"),
    "zh": ("收入是多少", "谁写了哈姆雷特"),
}
CANARY = "kanarienvogel"
FALLBACK = stream_pb2.DEGRADATION_KIND_LIBRARY_ROUTER_FALLBACK
UNREACHABLE = stream_pb2.DEGRADATION_KIND_LIBRARY_UNREACHABLE


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the three libraries."""
    folder = tmp_path_factory.mktemp("several") / "data"
    with house(folder) as before:
        for name, (description, texts) in LIBRARIES.items():
            library = admin_pb2.Library(library_id=name, description=description)
            before.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=library))
            before.store({**texts, **FILLER} if name == "finance" else texts, library=name)
    return folder


@pytest.fixture(scope="module")
def plain(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A server over a copy that nobody writes to."""
    copy = tmp_path_factory.mktemp("plain") / "data"
    shutil.copytree(data, copy)
    with house(copy) as here:
        yield here


@pytest.fixture(scope="module")
def routed(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A server beside which a package of routers is installed; they have little time."""
    folder = tmp_path_factory.mktemp("routed")
    shutil.copytree(data, folder / "data")
    (folder / "package").mkdir()
    with (
        installed_routers(folder / "package"),
        house(folder / "data", retrieval__library_router="last", retrieval__library_router_seconds=30.0) as here,
    ):
        yield here


def request(query: str, *, router: str = "", **options: Any) -> narrative_pb2.NarrativeRetrieveRequest:
    return narrative_pb2.NarrativeRetrieveRequest(
        query=query,
        mode=narrative_pb2.RETRIEVAL_MODE_LEXICAL,
        options=stream_pb2.CallOptions(explain=stream_pb2.EXPLAIN_LEVEL_PLAN, **options),
        tuning=narrative_pb2.RetrievalTuning(library_router=router),
    )


def ask(here: House, query: str, **more: Any) -> list[Any]:
    return list(here.narrative.NarrativeRetrieve(request(query, **more)))


def chosen(frames: list[Any]) -> list[str]:
    return [each.library_id for each in frames[0].header.snapshots]


def router_step(frames: list[Any]) -> Any:
    (step,) = [step for step in frames[0].header.plan if step.stage == "library_router"]
    return step


def degradations(frames: list[Any]) -> list[tuple[Any, str, str]]:
    return [(each.kind, each.component, each.library_id) for each in frames[-1].summary.degradations]


@pytest.mark.parametrize("language", QUESTIONS)
def test_a_question_goes_where_a_description_shares_its_words(plain: House, language: str) -> None:
    frames = ask(plain, QUESTIONS[language][0], language=language)
    assert chosen(frames) == ["finance"]
    assert {each.lineage.library_id for each in snippets(frames)} == {"finance"}
    step = router_step(frames)
    assert (step.backend, step.detail[:16]) == ("keyword", "1 of 3: finance ")
    assert degradations(frames) == []
    (timing,) = [each for each in frames[-1].summary.timings if each.stage == "library_router"]
    assert (timing.items_in, timing.items_out) == (3, 1)


@pytest.mark.parametrize("language", QUESTIONS)
def test_a_question_that_no_description_shares_a_word_with_goes_to_all_and_says_so(plain: House, language: str) -> None:
    query = QUESTIONS[language][1]
    frames = ask(plain, query)
    assert chosen(frames) == EVERYTHING
    assert degradations(frames) == [(FALLBACK, "library_router:keyword", "")]
    assert router_step(frames).detail == "all 3: it picked none"
    failure = failure_of(lambda: plain.narrative.NarrativeRetrieve(request(query, forbid=[FALLBACK])))
    assert (failure.code, failure.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "DEGRADATION_FORBIDDEN")


def test_named_libraries_are_asked_each_by_itself_and_equal_passages_stay_two(plain: House) -> None:
    frames = ask(plain, "revenue 売上高", library_ids=["finance", "archive"])
    assert chosen(frames) == ["archive", "finance"]
    assert [step.stage for step in frames[0].header.plan if step.stage == "library_router"] == []
    found = snippets(frames)
    twins = [each for each in found if each.text.text == SAME]
    assert sorted(each.lineage.library_id for each in twins) == ["archive", "finance"]
    assert len({each.snippet_id for each in twins}) == 2
    alone = {
        name: [each.text.text for each in snippets(ask(plain, "revenue 売上高", library_ids=[name]))]
        for name in ("archive", "finance")
    }
    for name, texts in alone.items():
        assert [each.text.text for each in found if each.lineage.library_id == name] == texts
    failure = failure_of(lambda: plain.narrative.NarrativeRetrieve(request("revenue", library_ids=["finanse"])))
    assert (failure.code, failure.reason) == (grpc.StatusCode.NOT_FOUND, "UNKNOWN_LIBRARY")


def test_the_router_can_be_left_out(plain: House) -> None:
    frames = ask(plain, "What was the revenue?", router="none")
    assert chosen(frames) == EVERYTHING
    assert degradations(frames) == []


# ---- routers that fail ---------------------------------------------------------------------------------------------


def test_the_setting_says_who_routes_and_a_call_may_say_otherwise(routed: House) -> None:
    frames = ask(routed, "What was the revenue?")
    assert chosen(frames) == ["people"]
    step = router_step(frames)
    assert (step.backend, step.detail[:41]) == ("last", "1 of 3: people (it is the last one of 3 !")
    assert chosen(ask(routed, "What was the revenue?", router="keyword")) == ["finance"]
    info = routed.admin.GetServerInfo(admin_pb2.GetServerInfoRequest())
    listed = {each.name for each in info.components if each.kind == "library_router"}
    assert listed == {"keyword", "last", "endless", *FAULTY_ROUTERS}


@pytest.mark.parametrize("name", [name for name in FAULTY_ROUTERS if "hangs" not in name])
@pytest.mark.parametrize("language", QUESTIONS)
def test_a_router_that_fails_leads_to_all_libraries_and_says_so(routed: House, name: str, language: str) -> None:
    query = QUESTIONS[language][0]
    frames = ask(routed, query, router=name)
    assert chosen(frames) == EVERYTHING
    assert degradations(frames) == [(FALLBACK, f"library_router:{name}", "")]
    assert {each.lineage.library_id for each in snippets(frames)} >= {"archive", "finance"}
    assert not any(b"secret" in frame.SerializeToString() for frame in frames)
    failure = failure_of(lambda: routed.narrative.NarrativeRetrieve(request(query, router=name, forbid=[FALLBACK])))
    assert (failure.code, failure.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "DEGRADATION_FORBIDDEN")
    assert b"secret" not in failure.raw
    assert "secret" not in routed.written.getvalue()


@pytest.mark.parametrize("name", ["hangs", "hangs-when-built"])
def test_a_router_that_hangs_is_waited_for_no_longer_than_it_may_take(data: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(data, tmp_path / "data")
    (tmp_path / "package").mkdir()
    with (
        installed_routers(tmp_path / "package"),
        house(tmp_path / "data", retrieval__library_router=name, retrieval__library_router_seconds=0.01) as here,
    ):
        frames = ask(here, "What was the revenue?")
        assert chosen(frames) == EVERYTHING
        assert degradations(frames) == [(FALLBACK, f"library_router:{name}", "")]
        assert router_step(frames).detail == "all 3: the library router took too long"


def test_a_router_that_nobody_has_is_refused_with_those_that_there_are(
    data: Path, tmp_path: Path, routed: House
) -> None:
    shutil.copytree(data, tmp_path / "data")
    names = ", ".join(["none", *sorted({"keyword", "last", "endless", *FAULTY_ROUTERS})])
    with (
        pytest.raises(InvalidRequest, match=f"retrieval.library_router: 'orakel' is none of {names}"),
        house(tmp_path / "data", retrieval__library_router="orakel"),
    ):
        pass
    failure = failure_of(lambda: routed.narrative.NarrativeRetrieve(request("revenue", router="orakel")))
    assert failure.code == grpc.StatusCode.INVALID_ARGUMENT
    assert failure.violations == [("tuning.library_router", "UNKNOWN_NAME", f"'orakel' is none of {names}")]


# ---- libraries that fail -------------------------------------------------------------------------------------------


def damage(folder: Path, library: str, start: int) -> None:
    store = folder / "libraries" / library / "store.sqlite"
    size = store.stat().st_size
    with store.open("r+b") as file:
        file.seek(start)
        file.write((CANARY * (size // len(CANARY))).encode())


@pytest.fixture(params=["at the start", "in use"])
def damaged(request: pytest.FixtureRequest, data: Path, tmp_path: Path) -> Iterator[House]:
    """A server whose library `finance` is damaged, before it is opened or while it is read."""
    shutil.copytree(data, tmp_path / "data")
    if request.param == "at the start":
        damage(tmp_path / "data", "finance", 100)
    with house(tmp_path / "data") as here:
        if request.param == "in use":
            assert chosen(ask(here, "holidays", router="none")) == EVERYTHING
            here.store({"late.md": "Nothing to see here either."}, library="finance")  # readers forget what they keep
            damage(tmp_path / "data", "finance", 4096)
        yield here


@pytest.mark.parametrize("language", QUESTIONS)
def test_one_library_that_fails_is_named_and_the_others_answer(damaged: House, language: str) -> None:
    query = QUESTIONS[language][0]
    frames = ask(damaged, query, library_ids=EVERYTHING)
    assert chosen(frames) == ["archive", "people"]
    assert degradations(frames) == [(UNREACHABLE, "library", "finance")]
    assert "archive" in {each.lineage.library_id for each in snippets(frames)}
    assert not any(CANARY.encode() in frame.SerializeToString() for frame in frames)
    cause = frames[-1].summary.degradations[0].cause
    assert "malformed" not in cause.message
    forbidden = request(query, library_ids=EVERYTHING, forbid=[UNREACHABLE])
    failure = failure_of(lambda: damaged.narrative.NarrativeRetrieve(forbidden))
    assert (failure.code, failure.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "DEGRADATION_FORBIDDEN")


def test_a_question_that_belongs_to_the_failed_library_alone_is_told_so(damaged: House) -> None:
    """Its description still routes: a question must not slip to libraries that know less, without a word."""
    failure = failure_of(lambda: damaged.narrative.NarrativeRetrieve(request("What was the profit?")))
    assert (failure.code, failure.reason) == (grpc.StatusCode.UNAVAILABLE, "LIBRARIES_UNREACHABLE")
    frames = ask(damaged, "profit or holidays")
    assert chosen(frames) == ["people"]
    assert degradations(frames) == [(UNREACHABLE, "library", "finance")]


def test_a_question_is_answered_from_what_is_left(damaged: House) -> None:
    options = stream_pb2.CallOptions(library_ids=EVERYTHING)
    frames = list(
        damaged.router.Ask(router_pb2.AskRequest(question="Who wrote the letter on revenue?", options=options))
    )
    assert [each.library_id for each in frames[0].header.snapshots] == ["archive", "people"]
    assert (UNREACHABLE, "library", "finance") in degradations(frames)
    assert {each.lineage.library_id for each in snippets(frames)} == {"archive"}


def test_where_nothing_is_known_of_a_failed_library_it_counts_as_picked(data: Path, tmp_path: Path) -> None:
    shutil.copytree(data, tmp_path / "data")
    damage(tmp_path / "data", "finance", 100)
    (tmp_path / "data" / "libraries" / "finance" / "library.toml").write_bytes(b"\xff\xfe" + CANARY.encode())
    with house(tmp_path / "data") as here:
        frames = ask(here, "How many holidays?")
        assert chosen(frames) == ["people"]
        assert degradations(frames) == [(UNREACHABLE, "library", "finance")]
        assert router_step(frames).detail == "2 of 3: finance (unknown), people (holidays)"
