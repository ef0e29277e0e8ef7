"""Pages of lists: tokens hold for one caller and one request, and nobody makes one."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.v1 import admin_pb2
from groundwire_server.errors import ErrorReason
from groundwire_server.evidence import Label, Principal
from groundwire_server.rpc.findings import Findings
from groundwire_server.rpc.paging import MAX_PAGE_BYTES, Page, Pager

PAGER = Pager(b"secret")
CALLER = Principal("local", Label.INTERNAL)
List = admin_pb2.ListDocumentsRequest


def begin(request: Any, caller: Principal = CALLER, pager: Pager = PAGER) -> tuple[Page, list[ErrorReason]]:
    findings = Findings()
    page = pager.begin(request, caller, findings)
    return page, [each.reason for each in findings.violations]


def token(request: Any, *place: str | int, caller: Principal = CALLER) -> str:
    page, _ = begin(request, caller)
    response = admin_pb2.ListDocumentsResponse()
    return page.fill(response.documents, [(admin_pb2.DocumentRevision(), place)], more=True)


places = st.lists(st.text(st.characters(exclude_categories=["Cs"])) | st.integers(), min_size=1).map(tuple)


@given(places)
def test_a_place_comes_back_as_it_was(place: tuple[str | int, ...]) -> None:
    request = List(library_id="a", doc_id_prefix="日本/", page_size=7)
    made = token(request, *place)
    following = List(library_id="a", doc_id_prefix="日本/", page_size=9, page_token=made)
    page, faults = begin(following)
    assert (page.after, page.limit, faults) == (place, 9, [])


@pytest.mark.parametrize(
    "other",
    [
        List(library_id="b"),
        List(library_id="a", doc_id_prefix="x"),
        List(library_id="a", include_withdrawn=True),
        admin_pb2.ListRevisionsRequest(library_id="a"),
    ],
)
def test_a_token_of_another_request_is_refused(other: Any) -> None:
    other.page_token = token(List(library_id="a"), "x")
    page, faults = begin(other)
    assert (page.after, faults) == (None, [ErrorReason.CONTRADICTION])


@pytest.mark.parametrize(
    "other",
    [
        replace(CALLER, clearance=Label.CONFIDENTIAL),
        replace(CALLER, name="somebody"),
        replace(CALLER, tenant="t"),
        replace(CALLER, groups=frozenset({"g"})),
    ],
)
def test_a_token_of_another_caller_is_refused(other: Principal) -> None:
    made = token(List(library_id="a"), "x")
    assert begin(List(library_id="a", page_token=made), other)[1] == [ErrorReason.CONTRADICTION]


def test_a_changed_token_is_none() -> None:
    raw = bytearray(base64.urlsafe_b64decode(token(List(library_id="a"), "x", 3)))
    for at in range(len(raw)):
        changed = bytes(raw[:at]) + bytes([raw[at] ^ 1]) + bytes(raw[at + 1 :])
        for bad in (changed, bytes(raw[:at])):
            request = List(library_id="a", page_token=base64.urlsafe_b64encode(bad).decode())
            page, faults = begin(request)
            assert page.after is None
            assert faults == ([ErrorReason.VALUE_MALFORMED] if bad else [])


@pytest.mark.parametrize("bad", ["x", "WzFd", "=", "日本", "A" * 100_000, "\x00", "W10="])
def test_what_is_no_token_is_refused(bad: str) -> None:
    assert begin(List(library_id="a", page_token=bad))[1] == [ErrorReason.VALUE_MALFORMED]


def test_a_token_of_another_server_is_none() -> None:
    made = token(List(library_id="a"), "x")
    assert begin(List(library_id="a", page_token=made), pager=Pager(b"other"))[1] == [ErrorReason.VALUE_MALFORMED]


@pytest.mark.parametrize(("asked", "limit"), [(0, 100), (1, 1), (1000, 1000), (1001, 1000), (2**31 - 1, 1000)])
def test_sizes(asked: int, limit: int) -> None:
    assert begin(List(page_size=asked))[0].limit == limit


def test_a_page_is_never_over_1_mib_and_never_empty_before_the_end() -> None:
    rows = [(admin_pb2.DocumentRevision(title="x" * (MAX_PAGE_BYTES - 100)), (str(n),)) for n in range(4)]
    rows += [(admin_pb2.DocumentRevision(doc_id=str(n)), (str(n),)) for n in range(4, 9)]
    seen: list[str] = []
    request, left = List(library_id="a"), rows
    while True:
        page, faults = begin(request)
        assert faults == []
        response = admin_pb2.ListDocumentsResponse()
        request.page_token = page.fill(response.documents, left, more=False)
        assert 0 < response.ByteSize() <= 1 << 20
        seen += [str(place[0]) for _, place in left[: len(response.documents)]]
        left = left[len(response.documents) :]
        if not request.page_token:
            break
        following, _ = begin(request)
        assert following.after == (seen[-1],)
    assert seen == [str(n) for n in range(9)]
