"""The way back from the normal form to the source."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given

from groundwire_server.evidence import Span, slice_text
from groundwire_server.text import align, normalize
from groundwire_server.text.align import MAY_JOIN
from tests.text import highlight_oracle, oracle


@given(oracle.texts())
def test_the_normal_form_is_the_same_with_a_way_back(text: str) -> None:
    assert align(text).normal == normalize(text)


@given(oracle.texts())
def test_every_position_comes_from_its_cluster(text: str) -> None:
    aligned = align(text)
    normal, places = highlight_oracle.aligned(text)
    assert aligned.normal == normal
    assert [aligned.span(at, at + 1) for at in range(len(normal))] == [Span(*place) for place in places]


def test_no_character_of_the_plain_blocks_joins_or_is_dropped() -> None:
    every = "".join(chr(code) for code in range(0x110000))
    plain = MAY_JOIN.sub("", every)
    assert len(plain) > 40_000
    assert not any(highlight_oracle.joins(character) for character in plain)


@given(oracle.texts())
def test_spans_ascend_and_hold_what_they_came_from(text: str) -> None:
    aligned = align(text)
    end = 0
    for at in range(len(aligned.normal)):
        span = aligned.span(at, at + 1)
        assert 0 <= span.start < span.end <= len(text)
        assert span.end >= end
        end = span.end
        assert aligned.normal[at] in normalize(slice_text(text, span))


@given(oracle.texts())
def test_the_whole_normal_form_comes_from_all_visible_characters(text: str) -> None:
    aligned = align(text)
    if aligned.normal:
        span = aligned.span(0, len(aligned.normal))
        assert normalize(text[: span.start]) == normalize(text[span.end :]) == ""


@pytest.mark.parametrize(
    ("text", "normal_part", "source_part"),
    [
        ("a ﬁne", "i", "ﬁ"),
        ("x ＲＯＥ y", "roe", "ＲＯＥ"),
        (unicodedata.normalize("NFD", "le café ici"), "café", unicodedata.normalize("NFD", "café")),
        ("ｶﾞｽ代", "ガ", "ｶﾞ"),
        ("\u1112\u1161\u11ab국", "한", "\u1112\u1161\u11ab"),
        ("A禰\U000e0100B", "禰", "禰\U000e0100"),
        ("①位", "1", "①"),
    ],
)
def test_examples(text: str, normal_part: str, source_part: str) -> None:
    aligned = align(text)
    at = aligned.normal.index(normal_part)
    assert slice_text(text, aligned.span(at, at + len(normal_part))) == source_part
