"""Cursors: what goes in comes out, for the same request of the same caller, and tells nobody else anything."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.v1 import metric_pb2, narrative_pb2, stream_pb2
from groundwire_server.errors import Aborted, ErrorReason
from groundwire_server.evidence import Label, Pin, Position, Principal, Resume
from groundwire_server.rpc import cursor as module
from groundwire_server.rpc.cursor import MAX_TOKEN_BYTES, Cursor, CursorKey, CursorMismatch

ME = Principal("local", Label.INTERNAL)
REQUEST = narrative_pb2.NarrativeRetrieveRequest(query="人口 and 税金", top_k=3)
NOW = 1_800_000_000

counts = st.integers(0, 2**32 - 1)
positions = st.builds(Position, counts, counts, counts)
ids = st.binary(min_size=16, max_size=16).map(bytes.hex)
names = st.from_regex(r"\A[a-z0-9][a-z0-9_-]{0,62}\Z")
pins = st.builds(Pin, names, st.integers(0, 2**63), ids, ids) | st.builds(Pin, names)
resumes = st.builds(
    Resume, st.lists(pins, max_size=20).map(tuple), positions, positions, st.integers(0, 500), by_meaning=st.booleans()
)
cursors = st.builds(
    Cursor, resumes, st.dates(min_value=date(1, 1, 1)), st.binary(min_size=24, max_size=24), st.just(NOW)
)


def key(secret: bytes = b"secret", now: float = NOW) -> CursorKey:
    return CursorKey(secret, 3600.0, now=lambda: now)


@given(cursors)
def test_what_goes_in_comes_out(given_one: Cursor) -> None:
    bound = key().bound_to("m", REQUEST, ME)
    token = bound.seal(given_one)
    assert len(token) <= MAX_TOKEN_BYTES
    assert key().bound_to("m", REQUEST, ME).open(token) == given_one  # by another process, with the same secret


@given(cursors, st.integers(0, 2**63))
def test_its_length_and_its_bytes_tell_nothing_of_generations(given_one: Cursor, generation: int) -> None:
    other = replace(
        given_one,
        resume=replace(
            given_one.resume,
            pins=tuple(replace(pin, generation=generation) if pin.answered else pin for pin in given_one.resume.pins),
        ),
    )
    bound = key().bound_to("m", REQUEST, ME)
    one, two, again = bound.seal(given_one), bound.seal(other), bound.seal(given_one)
    assert len(one) == len(two) == len(again)
    assert len({one, two, again}) == 3
    for pin in given_one.resume.pins:
        if len(pin.library_id) > 3:
            assert pin.library_id.encode() not in one


OTHERS: list[tuple[Any, ...]] = [
    ("other", REQUEST, ME),
    ("m", narrative_pb2.NarrativeRetrieveRequest(query="人口 and 税金", top_k=4), ME),
    ("m", narrative_pb2.NarrativeRetrieveRequest(query="人口 and 税金 ", top_k=3), ME),
    ("m", metric_pb2.QueryMetricRequest(), ME),
    ("m", REQUEST, replace(ME, name="somebody")),
    ("m", REQUEST, replace(ME, clearance=Label.PUBLIC)),
    ("m", REQUEST, replace(ME, clearance=Label.CONFIDENTIAL)),
    ("m", REQUEST, replace(ME, tenant="t")),
    ("m", REQUEST, replace(ME, groups=frozenset({"g"}))),
]
ONE = Cursor(Resume((Pin("default", 7, "a" * 32, "b" * 32),)), date(2025, 6, 30), bytes(24), NOW)


@pytest.mark.parametrize("other", OTHERS, ids=range(len(OTHERS)))
def test_another_request_or_caller_cannot_open_it(other: tuple[Any, ...]) -> None:
    token = key().bound_to("m", REQUEST, ME).seal(ONE)
    with pytest.raises(CursorMismatch) as refused:
        key().bound_to(*other).open(token)
    assert (refused.value.reason, refused.value.details) == (
        ErrorReason.RESUME_MISMATCH,
        {"field": "options.resume"},
    )


def test_what_may_differ_may_differ() -> None:
    token = key().bound_to("m", REQUEST, ME).seal(ONE)
    other = narrative_pb2.NarrativeRetrieveRequest(query="人口 and 税金", top_k=3)
    other.options.request_id, other.options.explain = "q", stream_pb2.EXPLAIN_LEVEL_TRACE
    other.options.soft_budget.seconds = 1
    other.options.resume.token = token
    assert key().bound_to("m", other, ME).open(token) == ONE


@given(st.binary(max_size=200), st.integers(0, 149), st.integers(1, 255))
def test_whatever_was_not_sealed_here_does_not_open(noise: bytes, place: int, flip: int) -> None:
    bound = key().bound_to("m", REQUEST, ME)
    token = bound.seal(ONE)
    forged = token[:place] + bytes([token[place] ^ flip]) + token[place + 1 :]
    for each in (noise, forged, token[:place], token + noise + b"x", token[place + 1 :]):
        with pytest.raises(CursorMismatch):
            bound.open(each)
    with pytest.raises(CursorMismatch):
        key(b"other").bound_to("m", REQUEST, ME).open(token)


def test_it_grows_old_and_does_not_outlive_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    token = key().bound_to("m", REQUEST, ME).seal(ONE)
    assert key(now=NOW + 3600).bound_to("m", REQUEST, ME).open(token) == ONE
    with pytest.raises(Aborted) as old:
        key(now=NOW + 3602).bound_to("m", REQUEST, ME).open(token)
    assert old.value.reason is ErrorReason.RESUME_SNAPSHOT_GONE
    for name, value in (("__version__", "0.0.0"), ("_LAYOUT", 99)):
        with monkeypatch.context() as other:
            other.setattr(module, name, value)
            with pytest.raises(Aborted):
                key().bound_to("m", REQUEST, ME).open(token)


def test_too_many_libraries_have_no_cursor() -> None:
    many = tuple(Pin(f"library-{number}", number, "a" * 32, "b" * 32) for number in range(200))
    assert key().bound_to("m", REQUEST, ME).seal(replace(ONE, resume=Resume(many))) == b""
