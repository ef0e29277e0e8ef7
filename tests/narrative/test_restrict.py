"""Filters narrow; the hint may be dropped once, and only with a mark."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import ErrorReason, FailedPrecondition, InvalidRequest
from groundwire_server.evidence import (
    AllOf,
    AnyOf,
    Attribute,
    Call,
    CallOptions,
    DegradationKind,
    EmptyFilterPolicy,
    Filter,
    Header,
    Negate,
    Operator,
    Predicate,
    Snippets,
    Summary,
    matches,
)
from groundwire_server.library import Snapshot
from groundwire_server.narrative import RetrievalMode, RetrieveRequest, retrieve
from groundwire_server.security import local_principal
from tests.support.libraries import Doc, make_library

TOPICS = ("stores", "travel")
DOCS = [
    Doc(
        f"{number}.md",
        f"Revenue note number{number} with words",
        attributes=(Attribute("topic", TOPICS[number % 2]), Attribute("year", 2020 + number)),
    )
    for number in range(6)
]
REQUEST = RetrieveRequest("revenue note", mode=RetrievalMode.LEXICAL)


def eq(field: str, value: str | int) -> Predicate:
    return Predicate(field, Operator.EQ, (value,))


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return make_library(tmp_path_factory.mktemp("library"), DOCS).snapshot()


def ask(snapshots: list[Snapshot], **options: object) -> tuple[Header, list[str], Summary]:
    frames = list(retrieve(REQUEST, Call(local_principal(), CallOptions(**options)), snapshots))  # type: ignore[arg-type]
    header, summary = frames[0], frames[-1]
    assert isinstance(header, Header)
    assert isinstance(summary, Summary)
    found = [one.lineage.doc_id for frame in frames if isinstance(frame, Snippets) for one in frame.snippets]
    return header, found, summary


def test_the_hard_filter_bounds_candidates_and_is_told(snapshot: Snapshot) -> None:
    tree = eq("topic", "travel")
    header, found, summary = ask([snapshot], filter=tree)
    assert sorted(found) == ["1.md", "3.md", "5.md"]
    assert summary.candidates == 3
    assert header.filter_applied == tree
    assert header.plan[0].detail == "readable,filter"
    (timing,) = [timing for timing in summary.timings if timing.stage == "restrict"]
    assert (timing.items_in, timing.items_out) == (6, 3)


def test_a_hard_filter_that_leaves_nothing_is_never_dropped(snapshot: Snapshot) -> None:
    _, found, summary = ask([snapshot], filter=eq("topic", "nobody"))
    assert found == []
    assert (summary.candidates, summary.degradations) == (0, ())


def test_a_hint_narrows_while_it_leaves_something(snapshot: Snapshot) -> None:
    header, found, summary = ask([snapshot], filter=eq("topic", "travel"), hint=eq("year", 2023))
    assert found == ["3.md"]
    assert header.hint_applied == eq("year", 2023)
    assert summary.degradations == ()


def test_a_hint_that_leaves_nothing_is_dropped_once_with_a_mark(snapshot: Snapshot) -> None:
    hint = eq("year", 1999)
    header, found, summary = ask([snapshot], filter=eq("topic", "travel"), hint=hint)
    assert sorted(found) == ["1.md", "3.md", "5.md"]
    assert header.hint_applied is None
    (dropped,) = summary.degradations
    assert dropped.kind is DegradationKind.FILTER_DROPPED
    assert dropped.dropped_filter == hint


def test_a_hint_stays_where_the_call_never_widens_or_where_it_is_not_at_fault(snapshot: Snapshot) -> None:
    _, found, summary = ask([snapshot], hint=eq("year", 1999), on_empty=EmptyFilterPolicy.NEVER_WIDEN)
    assert (found, summary.degradations) == ([], ())
    _, found, summary = ask([snapshot], filter=eq("topic", "nobody"), hint=eq("year", 1999))
    assert (found, summary.degradations) == ([], ())


def test_dropping_a_hint_can_be_forbidden(snapshot: Snapshot) -> None:
    forbidden = frozenset({DegradationKind.FILTER_DROPPED})
    with pytest.raises(FailedPrecondition):
        ask([snapshot], hint=eq("year", 1999), forbid=forbidden)


def test_every_fault_of_request_filter_and_hint_is_named_at_once(snapshot: Snapshot) -> None:
    options = CallOptions(filter=AllOf((eq("colour", "red"), eq("year", "late"))), hint=AnyOf(()))
    bad = replace(REQUEST, query=" ", top_k=-1)
    with pytest.raises(InvalidRequest) as raised:
        list(retrieve(bad, Call(local_principal(), options), [snapshot]))
    assert [(fault.field, fault.reason) for fault in raised.value.violations] == [
        ("query", ErrorReason.VALUE_REQUIRED),
        ("top_k", ErrorReason.VALUE_OUT_OF_RANGE),
        ("options.filter.all_of[0].predicate.field", ErrorReason.FILTER_UNKNOWN_FIELD),
        ("options.filter.all_of[1].predicate.eq", ErrorReason.FILTER_TYPE_MISMATCH),
        ("options.hint.any_of", ErrorReason.FILTER_EMPTY),
    ]
    assert "doc_id, ingested_at, media_type, title, topic, valid_as_of, year" in raised.value.violations[2].description


def test_over_several_libraries_a_predicate_needs_one_that_can_test_it(tmp_path: Path, snapshot: Snapshot) -> None:
    other = make_library(
        tmp_path, [Doc("x.md", "Revenue note", attributes=(Attribute("colour", "red"),))], library_id="other"
    ).snapshot()
    tree = AnyOf((eq("colour", "red"), eq("year", 2021)))
    _, found, _ = ask([snapshot, other], filter=tree)
    assert sorted(found) == ["1.md", "x.md"]
    with pytest.raises(InvalidRequest) as raised:
        ask([snapshot, other], filter=AnyOf((eq("shape", "round"), eq("year", "late"))))
    unknown, mismatch = raised.value.violations
    assert unknown.reason is ErrorReason.FILTER_UNKNOWN_FIELD
    assert "colour" in unknown.description
    assert "year" in unknown.description
    assert mismatch.reason is ErrorReason.FILTER_TYPE_MISMATCH


PREDICATES = st.one_of(
    st.builds(eq, st.just("topic"), st.sampled_from([*TOPICS, "x"])),
    st.builds(
        lambda operator, year: Predicate("year", operator, (year,)),
        st.sampled_from([Operator.EQ, Operator.NE, Operator.GT, Operator.LTE]),
        st.integers(2019, 2027),
    ),
)
FILTERS: st.SearchStrategy[Filter] = st.recursive(
    PREDICATES,
    lambda inner: st.one_of(
        st.builds(Negate, inner),
        st.builds(lambda members: AllOf(tuple(members)), st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda members: AnyOf(tuple(members)), st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=6,
)


@given(tree=FILTERS, hint=st.none() | FILTERS)
def test_filtering_only_narrows(snapshot: Snapshot, tree: Filter, hint: Filter | None) -> None:
    _, everything, _ = ask([snapshot])
    _, found, summary = ask([snapshot], filter=tree, hint=hint)
    kept = {
        doc.doc_id: {attribute.name: attribute.value for attribute in doc.attributes}
        for doc in DOCS
        if matches(tree, {attribute.name: attribute.value for attribute in doc.attributes})
    }
    wished = {name for name, attributes in kept.items() if hint is None or matches(hint, attributes)}
    assert set(found) == (wished or set(kept))
    assert set(found) <= set(everything)
    dropped = [each for each in summary.degradations if each.kind is DegradationKind.FILTER_DROPPED]
    assert len(dropped) == (1 if kept and not wished else 0)
