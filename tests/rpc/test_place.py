"""Where a stream stands: whatever was sent before, what is left is the rest, or the stream does not go on."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.v1 import narrative_pb2
from groundwire_server.errors import Aborted, ErrorReason
from groundwire_server.evidence import (
    EndReason,
    Header,
    Label,
    Lineage,
    Pin,
    PlanStep,
    Principal,
    Snippet,
    Summary,
    TextPassage,
    Trust,
)
from groundwire_server.rpc.cursor import BoundKey, Cursor, CursorKey
from groundwire_server.rpc.place import StreamPlace

ME = Principal("local", Label.INTERNAL)
REQUEST = narrative_pb2.NarrativeRetrieveRequest(query="x")
DAY = date(2025, 6, 30)


def key() -> BoundKey:
    return CursorKey(b"secret", 3600.0).bound_to("m", REQUEST, ME)


def snippet(name: str) -> Snippet:
    lineage = Lineage("default", "a.md", 1, "", "", None, None, text_sha256=b"")  # type: ignore[arg-type]
    return Snippet(name, lineage, Trust.CITABLE, TextPassage(name, ""), Label.PUBLIC)


def begun(cursor: Cursor | None = None, **more: Any) -> StreamPlace:
    place = StreamPlace(key, cursor, **more)
    place.pinned(lambda: (Pin("default", 7, "a" * 32, "b" * 32),))
    place.begin(Header((), (PlanStep("lexical", "bm25"),), DAY))
    return place


def send(place: StreamPlace, frames: list[list[str]]) -> tuple[list[str], list[bytes]]:
    """What is sent of some frames of snippets, and the cursor behind each that is."""
    sent: list[str] = []
    tokens = []
    for names in frames:
        left = [each.snippet_id for each in place.unsent_snippets([snippet(name) for name in names])]
        sent += left
        if left:
            tokens.append(place.sent_snippets(left))
    return sent, tokens


frames_of = st.lists(st.lists(st.text("ab", min_size=1, max_size=3), max_size=4), max_size=6)


@given(frames_of, st.data())
def test_before_and_behind_a_cursor_are_the_whole(frames: list[list[str]], data: st.DataObject) -> None:
    whole = [name for names in frames for name in names]
    _, tokens = send(begun(), frames)
    for token in tokens:
        cursor = key().open(token)
        dropped: list[str] = []
        place = begun(cursor, dropped=dropped)
        cut = data.draw(st.integers(0, len(whole)))
        sent, _ = send(place, [whole[:cut], whole[cut:]])  # cut otherwise than before
        assert (place.before, dropped) == (len(dropped), whole[: place.before])
        assert dropped + sent == whole


@given(frames_of.filter(any), st.data())
def test_what_is_not_what_was_sent_does_not_go_on(frames: list[list[str]], data: st.DataObject) -> None:
    whole = [name for names in frames for name in names]
    _, tokens = send(begun(), frames)
    cursor = key().open(data.draw(st.sampled_from(tokens)))
    count = cursor.resume.position.snippets
    at = data.draw(st.integers(0, count - 1))
    other = [*whole[:at], whole[at] + "!", *whole[at + 1 :]]
    with pytest.raises(Aborted) as gone:
        send(begun(cursor), [other])
    assert gone.value.reason is ErrorReason.RESUME_SNAPSHOT_GONE
    short = begun(cursor)
    send(short, [whole[:at]])
    with pytest.raises(Aborted):
        short.next(Summary(EndReason.EXHAUSTED))


@pytest.mark.parametrize("end", list(EndReason))
def test_what_brings_more(end: EndReason) -> None:
    place = begun()
    send(place, [["a", "b"]])
    token = place.next(Summary(end))
    if end not in (EndReason.TOP_K, EndReason.SOFT_BUDGET, EndReason.TOKEN_BUDGET):
        assert token == b""
        return
    resume = key().open(token).resume
    assert resume.position.snippets == 2
    assert resume.pages == (1 if end is EndReason.TOP_K else 0)
    assert resume.paid.snippets == (0 if end is EndReason.SOFT_BUDGET else 2)
    answer = begun(pages=False)
    send(answer, [["a"]])
    assert answer.next(Summary(end)) == b""


def test_what_has_less_than_was_sent_hands_over_the_place_before() -> None:
    place = begun()
    send(place, [["a", "b", "c"]])
    cursor = key().open(place.here())
    short = begun(cursor)
    send(short, [["a"]])
    for token in (short.here(), short.next(Summary(EndReason.SOFT_BUDGET))):
        again = key().open(token)
        assert (again.resume, again.digest) == (cursor.resume, cursor.digest)


def test_pages_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundwire_server.rpc.place._MOST_PAGES", 1)
    first = begun()
    send(first, [["a"]])
    second = begun(key().open(first.next(Summary(EndReason.TOP_K))))
    send(second, [["a", "b"]])
    assert second.next(Summary(EndReason.TOP_K)) == b""


def test_nothing_is_told_of_what_was_not_read() -> None:
    place = StreamPlace(key)
    assert place.sent_snippets(["a"]) == b""
