"""Which libraries a question is put to, and what happens when the router errs."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from groundwire_server.errors import Cause, ErrorReason, FailedPrecondition, InvalidRequest, UnknownResource
from groundwire_server.evidence import Call, CallCancelled, CallOptions, CancelToken, DegradationKind
from groundwire_server.library import LibraryConfig, Snapshot
from groundwire_server.narrative import (
    KeywordLibraryRouter,
    RouterChoice,
    Unreachable,
    choose_libraries,
    library_routers,
    make_library_router,
)
from groundwire_server.security import local_principal
from tests.support.libraries import make_library
from tests.support.router_package import FAULTY_ROUTERS, installed_routers

DESCRIPTIONS = {
    "finance": "Annual reports, revenue and profit of the group. 決算と売上高",
    "people": "Handbook of the staff: holidays, travel, expenses. 人事と休暇",
    "law": "Contracts and statutes of the group. 契約と法律",
}
KEYWORD = RouterChoice.default()


@pytest.mark.parametrize(
    ("question", "chosen"),
    [
        ("How did revenue develop?", {"finance": "revenue"}),
        ("来年の休暇は何日ですか", {"people": "休暇"}),
        ("決算の契約", {"finance": "決算", "law": "契約"}),
        ("revenue and expenses", {"finance": "revenue and", "people": "expenses"}),
        ("the group", {"finance": "group", "law": "group"}),  # stands in two descriptions of three, "the" in all
        ("law", {"law": "law"}),
        ("Who wrote Hamlet?", {}),
        ("の と は 高", {}),  # single characters pick nothing
        ("", {}),
    ],
)
def test_words_that_set_libraries_apart_pick_them(question: str, chosen: dict[str, str]) -> None:
    assert KeywordLibraryRouter().route(question, DESCRIPTIONS) == chosen


@pytest.fixture
def snapshots(tmp_path: Path) -> list[Snapshot]:
    return [
        make_library(tmp_path, library_id=name, config=LibraryConfig(description=text)).snapshot()
        for name, text in DESCRIPTIONS.items()
    ]


@pytest.fixture
def package(tmp_path: Path) -> Iterator[None]:
    (tmp_path / "package").mkdir()
    with installed_routers(tmp_path / "package"):
        yield


def packaged(name: str, seconds: float = 30.0) -> RouterChoice:
    router = make_library_router(name)
    assert router is not None
    return RouterChoice(name, router, seconds)


def ids(snapshots: Sequence[Snapshot]) -> list[str]:
    return [snapshot.library_id for snapshot in snapshots]


def call(*library_ids: str, forbid: frozenset[DegradationKind] = frozenset()) -> Call:
    return Call(local_principal(), CallOptions(library_ids=library_ids, forbid=forbid))


def test_the_router_picks_and_the_plan_says_which_and_why(snapshots: list[Snapshot]) -> None:
    chosen = choose_libraries("revenue and expenses", call(), snapshots, choice=KEYWORD)
    assert ids(chosen.snapshots) == ["finance", "people"]
    assert chosen.step is not None
    assert (chosen.step.stage, chosen.step.backend) == ("library_router", "keyword")
    assert chosen.step.detail == "2 of 3: finance (revenue and), people (expenses)"
    assert chosen.timing is not None
    assert (chosen.timing.stage, chosen.timing.items_in, chosen.timing.items_out) == ("library_router", 3, 2)
    assert chosen.degradations == ()


@pytest.mark.usefixtures("package")
def test_a_router_of_another_package_is_known_by_its_name(snapshots: list[Snapshot]) -> None:
    assert set(library_routers()) == {"keyword", "last", "endless", *FAULTY_ROUTERS}
    chosen = choose_libraries("revenue", call(), snapshots, choice=packaged("last"))
    assert ids(chosen.snapshots) == ["people"]
    assert chosen.step is not None
    reason = "it is the last one of 3 " + "!" * 500
    assert chosen.step.detail == f"1 of 3: people ({reason[:80]})"


def test_a_package_that_is_gone_is_not_known_any_more(tmp_path: Path) -> None:
    with installed_routers(tmp_path):
        pass
    assert library_routers() == ("keyword",)
    with pytest.raises(InvalidRequest) as raised:
        make_library_router("last", "tuning.library_router")
    (violation,) = raised.value.violations
    assert (violation.field, violation.reason) == ("tuning.library_router", ErrorReason.UNKNOWN_NAME)
    assert violation.description == "'last' is none of none, keyword"


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize("name", FAULTY_ROUTERS)
def test_a_router_that_errs_leads_to_all_libraries_with_a_mark(snapshots: list[Snapshot], name: str) -> None:
    choice = packaged(name, 0.05 if "hangs" in name else 30.0)
    chosen = choose_libraries("revenue", call(), snapshots, choice=choice)
    assert ids(chosen.snapshots) == ["finance", "law", "people"]
    (fallback,) = chosen.degradations
    assert fallback.kind is DegradationKind.LIBRARY_ROUTER_FALLBACK
    assert fallback.component == f"library_router:{name}"
    assert (fallback.cause is None) is (name in ("nothing", "meddles"))
    assert chosen.step is not None
    assert chosen.step.detail.startswith("all 3: ")
    assert "secret" not in repr(chosen)
    forbidden = call(forbid=frozenset({DegradationKind.LIBRARY_ROUTER_FALLBACK}))
    with pytest.raises(FailedPrecondition) as raised:
        choose_libraries("revenue", forbidden, snapshots, choice=choice)
    assert raised.value.reason is ErrorReason.DEGRADATION_FORBIDDEN


@pytest.mark.usefixtures("package")
def test_an_answer_without_end_is_read_as_far_as_there_are_libraries(snapshots: list[Snapshot]) -> None:
    chosen = choose_libraries("revenue", call(), snapshots, choice=packaged("endless"))
    assert ids(chosen.snapshots) == ["finance"]


def test_routers_that_hang_are_counted_and_no_more_are_asked(tmp_path: Path, snapshots: list[Snapshot]) -> None:
    def reasons() -> list[ErrorReason]:
        chosen = [choose_libraries("revenue", call(), snapshots, choice=packaged("hangs", 0.001)) for _ in range(20)]
        return [each.cause.reason for one in chosen for each in one.degradations if each.cause]

    def waiting() -> list[threading.Thread]:
        return [each for each in threading.enumerate() if each.name == "groundwire-library-router"]

    (tmp_path / "package").mkdir()
    with installed_routers(tmp_path / "package"):
        assert reasons() == [ErrorReason.DEADLINE] * 16 + [ErrorReason.OVERLOADED] * 4
        hanging = waiting()
        assert len(hanging) == 16
    for thread in hanging:
        thread.join()
    assert ids(choose_libraries("revenue", call(), snapshots, choice=KEYWORD).snapshots) == ["finance"]


def test_who_is_gone_waits_for_no_router(tmp_path: Path, snapshots: list[Snapshot]) -> None:
    (tmp_path / "package").mkdir()
    token = CancelToken()
    token.cancel()
    with installed_routers(tmp_path / "package"), pytest.raises(CallCancelled):
        choose_libraries("revenue", Call(local_principal(), cancel=token), snapshots, choice=packaged("hangs", 600.0))


def test_named_libraries_are_taken_without_the_router(snapshots: list[Snapshot]) -> None:
    chosen = choose_libraries("revenue", call("people", "law", "people"), snapshots, choice=KEYWORD)
    assert ids(chosen.snapshots) == ["law", "people"]
    assert chosen.step is None


def test_an_unknown_library_is_not_found_and_the_known_ones_are_named(snapshots: list[Snapshot]) -> None:
    with pytest.raises(UnknownResource) as raised:
        choose_libraries("revenue", call("finanse"), snapshots)
    assert raised.value.reason is ErrorReason.UNKNOWN_LIBRARY
    assert raised.value.details == {"library_id": "finanse"}
    assert "finance, law, people" in raised.value.hint


def test_a_single_library_needs_no_router(snapshots: list[Snapshot]) -> None:
    chosen = choose_libraries("anything", call(), snapshots[:1], choice=KEYWORD)
    assert ids(chosen.snapshots) == ["finance"]
    assert chosen.degradations == ()


def closed(description: str | None) -> Unreachable:
    return Unreachable("archive", Cause(ErrorReason.STORE_VERSION, "Written by a newer version."), description)


def test_a_library_that_cannot_be_opened_can_still_be_named(snapshots: list[Snapshot]) -> None:
    chosen = choose_libraries("revenue", call("archive", "law"), snapshots, [closed("")])
    assert (ids(chosen.snapshots), chosen.unreachable) == (["law"], (closed(""),))


@pytest.mark.parametrize(
    ("description", "question", "picked"),
    [
        ("Letters of the founder", "revenue and letters", ["archive", "finance"]),
        ("Letters of the founder", "revenue", ["finance"]),
        # Nobody knows what is in it: an answer without it must say so.
        (None, "revenue", ["archive", "finance"]),
        (None, "Who wrote Hamlet?", ["archive", "finance", "law", "people"]),
    ],
)
def test_one_that_cannot_be_opened_is_picked_by_what_its_file_says(
    snapshots: list[Snapshot], description: str | None, question: str, picked: list[str]
) -> None:
    chosen = choose_libraries(question, call(), snapshots, [closed(description)], KEYWORD)
    assert sorted([*ids(chosen.snapshots), *(each.library_id for each in chosen.unreachable)]) == picked
    assert chosen.step is not None
    assert ("archive (unknown)" in chosen.step.detail) is (description is None and question == "revenue")
