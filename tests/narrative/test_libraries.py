"""Which libraries a question is put to, and what happens when the router errs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from groundwire_server.errors import Cause, ErrorReason, FailedPrecondition, Unavailable, UnknownResource
from groundwire_server.evidence import Call, CallOptions, DegradationKind
from groundwire_server.library import LibraryConfig, Snapshot
from groundwire_server.narrative import KeywordLibraryRouter, LibraryRouter, Unreachable, choose_libraries
from groundwire_server.security import local_principal
from tests.support.libraries import make_library

DESCRIPTIONS = {
    "finance": "Annual reports, revenue and profit of the group. 決算と売上高",
    "people": "Handbook of the staff: holidays, travel, expenses. 人事と休暇",
    "law": "Contracts and statutes of the group. 契約と法律",
}


@pytest.mark.parametrize(
    ("question", "chosen"),
    [
        ("How did revenue develop?", ["finance"]),
        ("来年の休暇は何日ですか", ["people"]),
        ("決算の契約", ["finance", "law"]),
        ("revenue and expenses", ["finance", "people"]),
        ("the group", []),  # stands in two descriptions of three, "the" and "of" in all
        ("Who wrote Hamlet?", []),
        ("", []),
    ],
)
def test_words_that_set_libraries_apart_pick_them(question: str, chosen: list[str]) -> None:
    if question == "the group":
        assert KeywordLibraryRouter().route(question, DESCRIPTIONS) == ["finance", "law"]
    else:
        assert sorted(KeywordLibraryRouter().route(question, DESCRIPTIONS)) == sorted(chosen)


def test_single_cjk_characters_pick_nothing() -> None:
    assert KeywordLibraryRouter().route("の と は 高", DESCRIPTIONS) == []


class Scripted:
    """A router that answers what it is told to."""

    name = "scripted"

    def __init__(self, answer: Sequence[str] | Exception) -> None:
        self.answer = answer

    def route(self, question: str, descriptions: Mapping[str, str]) -> Sequence[str]:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def snapshots(tmp_path: Path) -> list[Snapshot]:
    return [
        make_library(tmp_path, library_id=name, config=LibraryConfig(description=text)).snapshot()
        for name, text in DESCRIPTIONS.items()
    ]


def ids(snapshots: Sequence[Snapshot]) -> list[str]:
    return [snapshot.library_id for snapshot in snapshots]


def call(*library_ids: str, forbid: frozenset[DegradationKind] = frozenset()) -> Call:
    return Call(local_principal(), CallOptions(library_ids=library_ids, forbid=forbid))


def test_the_router_picks_and_the_plan_says_so(snapshots: list[Snapshot]) -> None:
    chosen = choose_libraries("revenue and expenses", call(), snapshots, router=KeywordLibraryRouter())
    assert ids(chosen.snapshots) == ["finance", "people"]
    assert chosen.step is not None
    assert (chosen.step.stage, chosen.step.backend, chosen.step.detail) == ("library_router", "keyword", "2 of 3")
    assert chosen.degradations == ()


@pytest.mark.parametrize("answer", [[], ["finance", "elsewhere"], RuntimeError("secret of the router"), KeyError("x")])
def test_a_router_that_errs_leads_to_all_libraries_with_a_mark(
    snapshots: list[Snapshot], answer: Sequence[str] | Exception
) -> None:
    router: LibraryRouter = Scripted(answer)
    chosen = choose_libraries("revenue", call(), snapshots, router=router)
    assert ids(chosen.snapshots) == ["finance", "law", "people"]
    (fallback,) = chosen.degradations
    assert fallback.kind is DegradationKind.LIBRARY_ROUTER_FALLBACK
    assert fallback.component == "library_router:scripted"
    assert "secret" not in repr(fallback)
    with pytest.raises(FailedPrecondition):
        choose_libraries(
            "revenue", call(forbid=frozenset({DegradationKind.LIBRARY_ROUTER_FALLBACK})), snapshots, router=router
        )


def test_named_libraries_are_taken_without_the_router(snapshots: list[Snapshot]) -> None:
    chosen = choose_libraries("revenue", call("people", "law", "people"), snapshots, router=KeywordLibraryRouter())
    assert ids(chosen.snapshots) == ["law", "people"]
    assert chosen.step is None


def test_an_unknown_library_is_not_found_and_the_known_ones_are_named(snapshots: list[Snapshot]) -> None:
    with pytest.raises(UnknownResource) as raised:
        choose_libraries("revenue", call("finanse"), snapshots)
    assert raised.value.reason is ErrorReason.UNKNOWN_LIBRARY
    assert raised.value.details == {"library_id": "finanse"}
    assert "finance, law, people" in raised.value.hint


def test_a_single_library_needs_no_router(snapshots: list[Snapshot]) -> None:
    chosen = choose_libraries("anything", call(), snapshots[:1], router=Scripted(RuntimeError()))
    assert ids(chosen.snapshots) == ["finance"]
    assert chosen.degradations == ()


def test_a_library_that_cannot_be_opened_can_still_be_named(snapshots: list[Snapshot]) -> None:
    closed = Unreachable("archive", Cause(ErrorReason.STORE_VERSION, "Written by a newer version."))
    chosen = choose_libraries("revenue", call("archive", "law"), snapshots, [closed])
    assert (ids(chosen.snapshots), chosen.unreachable) == (["law"], (closed,))
    assert Unavailable.status == "UNAVAILABLE"
