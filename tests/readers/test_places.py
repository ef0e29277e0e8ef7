from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.evidence import Span
from groundwire_server.readers import Axis, HeadingMap, PlaceMap, line_starts, places_by_line
from tests.support.hostile_text import hostile_text


def test_lines_end_as_editors_count() -> None:
    text = "one\ntwo\r\nthree\rfour\u2028still four\x0bstill four\n"
    assert [text[start:][:4] for start in line_starts(text)] == ["one\n", "two\r", "thre", "four", ""]


@given(hostile_text())
def test_line_starts_agree_with_a_plain_count(text: str) -> None:
    lines = re.split(r"\r\n|\r|\n", text)
    starts = list(line_starts(text))
    assert len(starts) == len(lines)
    assert [text.startswith(line, start) for start, line in zip(starts, lines, strict=True)] == [True] * len(lines)


@given(hostile_text(), st.data())
def test_a_span_lies_on_the_lines_that_its_first_and_last_code_point_are_on(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    ((key, place),) = places_by_line(text).locate(Span(start, end))
    ends = {0} | {match.end() for match in re.finditer(r"\r\n|\r|\n", text)}
    first, last = (1 + sum(0 < at <= offset for at in ends) for offset in (start, max(start, end - 1)))
    assert (key, place) == ("line", str(first) if first == last else f"{first}-{last}")


def test_the_widest_axis_on_which_a_span_parts_is_the_last_one_named() -> None:
    pages = Axis("page", (0, 10))
    paragraphs = Axis("para", (0, 4, 10, 14), ("1", "2", "1", "2"))
    places = PlaceMap((pages, paragraphs))
    assert places.locate(Span(0, 10)) == (("page", "1"), ("para", "1-2"))
    assert places.locate(Span(3, 11)) == (("page", "1-2"),)
    assert places.locate(Span(14, 14)) == (("page", "2"), ("para", "2"))
    assert PlaceMap().locate(Span(0, 3)) == ()


def test_a_heading_holds_from_its_start_on() -> None:
    headings = HeadingMap((5, 9), ("A", "A > B"))
    assert [headings.at(offset) for offset in (0, 4, 5, 8, 9, 99)] == ["", "", "A", "A", "A > B", "A > B"]
    assert HeadingMap().at(3) == ""
