"""Titles of documents as names: what a text names, in three scripts, and what is hidden changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.evidence import Label, slice_text
from groundwire_server.library import MOST_NAMESAKES, TitleBook, TitleMention, title_names
from groundwire_server.text import find_term
from tests.support.hostile_text import HOSTILE_PIECES, hostile_text
from tests.support.libraries import Doc, make_library, new_document

TITLES = (
    "Faith (1920 film)",
    "New York",
    "New York City",
    "It",
    "京都市",
    "東京（曖昧さ回避）",
    "ニューヨーク",
    "北京大学",
    "Mummy's Boys",
    "1984",
    "山",
    "",
    "St. Kitts",
    "Ｆｏｏ",
)


def book_of(folder: Path, titles: Sequence[str], labels: Sequence[Label] = ()) -> tuple[TitleBook, np.ndarray]:
    docs = [Doc(f"d{n}", f"text {n}", title=title) for n, title in enumerate(titles)]
    if labels:
        docs = [Doc(doc.doc_id, doc.text, doc.title, label) for doc, label in zip(docs, labels, strict=True)]
    snapshot = make_library(folder, docs).snapshot()
    return snapshot.titles(), np.array([label <= Label.INTERNAL for label in labels or [Label.PUBLIC] * len(docs)])


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> TitleBook:
    return book_of(tmp_path_factory.mktemp("titles"), TITLES)[0]


def named(book: TitleBook, text: str, visible: np.ndarray | None = None) -> list[tuple[str, list[str]]]:
    found = book.find(text, np.ones(len(TITLES), np.bool_) if visible is None else visible)
    return [(slice_text(text, one.span), [TITLES[place] for place in one.revisions]) for one in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He moved to New York City in May.", [("New York City", ["New York City"])]),
        ("NEW YORK-based, in new\nyork.", [("NEW YORK", ["New York"]), ("new\nyork", ["New York"])]),
        ("Faith is a film; faith is not.", [("Faith", ["Faith (1920 film)"])]),
        ("It rained, and it snowed.", [("It", ["It"])]),
        ("彼は京都市で生まれ、東京へ移った。", [("京都市", ["京都市"]), ("東京", ["東京（曖昧さ回避）"])]),
        ("ﾆｭｰﾖｰｸとヨークの間", [("ﾆｭｰﾖｰｸ", ["ニューヨーク"])]),
        ("他毕业于北京大学。", [("北京大学", ["北京大学"])]),
        ("In Mummy’s Boys of 1936", [("Mummy’s Boys", ["Mummy's Boys"])]),
        ("1984 was a year; 山 is a mountain.", []),
        ("on St Kitts, St. Kitts", [("St Kitts", ["St. Kitts"]), ("St. Kitts", ["St. Kitts"])]),
        ("a FOO, ｆｏｏ", [("FOO", ["Ｆｏｏ"])]),
        ("Newyork City, xNew York", []),
        ("", []),
    ],
)
def test_a_text_names_what_others_are_about(book: TitleBook, text: str, expected: list[tuple[str, list[str]]]) -> None:
    assert named(book, text) == expected


def test_a_note_in_brackets_may_stand_there_too(book: TitleBook) -> None:
    assert named(book, "See Faith (1920 film).") == [("Faith (1920 film", ["Faith (1920 film)"])]
    assert title_names("Faith (1920 film)") == ("faith", "faith 1920 film")
    assert title_names("(1920)") == ("1920",)


def test_a_hidden_name_does_not_take_the_place_of_a_shorter_one(book: TitleBook) -> None:
    visible = np.array([title != "New York City" for title in TITLES])
    assert named(book, "New York City", visible) == [("New York", ["New York"])]


def test_what_too_many_are_called_names_none_of_them(tmp_path: Path) -> None:
    book, visible = book_of(tmp_path, ["Summary"] * (MOST_NAMESAKES + 1) + ["Results"])
    assert [one.name for one in book.find("Summary of Results", visible)] == ["results"]
    visible[0] = False
    assert [one.name for one in book.find("Summary of Results", visible)] == ["summary", "results"]


def test_later_titles_are_added_and_not_seen_by_older_readers(tmp_path: Path) -> None:
    library = make_library(tmp_path, [Doc("a", "Beta", title="Alpha")])
    before = library.snapshot()
    with library.writing() as writer:
        writer.replace_document(new_document(Doc("b", "Alpha", title="Beta")))
    after = library.snapshot()
    assert [one.name for one in after.titles().find("Alpha Beta", np.ones(2, np.bool_))] == ["alpha", "beta"]
    assert [one.name for one in before.titles().find("Alpha Beta", np.ones(1, np.bool_))] == ["alpha"]
    assert after.titles().place("b", np.ones(2, np.bool_)) == 1
    assert after.titles().place("b", np.ones(1, np.bool_)) is None


@given(text=hostile_text(), titles=st.lists(st.sampled_from(HOSTILE_PIECES) | st.text(max_size=6), max_size=8))
def test_what_is_found_stands_there_between_borders(text: str, titles: list[str]) -> None:
    book, visible = TitleBook(), np.ones(len(titles), np.bool_)
    for number, title in enumerate(titles):
        book._add(f"d{number}", title)
    end = 0
    for one in book.find(text, visible):
        assert end <= one.span.start < one.span.end <= len(text)
        end = one.span.end
        assert one.name in title_names(slice_text(text, one.span))
        assert all(one.name in title_names(titles[place]) for place in one.revisions)


@given(
    text=st.lists(st.sampled_from(["New", "York", "City", "京都", "it", "It", " ", ", ", "。"]), max_size=12).map(
        " ".join
    ),
    open_titles=st.lists(st.sampled_from(["New York", "City", "York City", "京都", "It"]), max_size=4),
    hidden_titles=st.lists(st.sampled_from(["New York City", "New", "京都 it", "York"]), max_size=4),
)
def test_hidden_titles_change_nothing(text: str, open_titles: list[str], hidden_titles: list[str]) -> None:
    alone, both = TitleBook(), TitleBook()
    for number, title in enumerate(open_titles):
        alone._add(f"o{number}", title)
        both._add(f"o{number}", title)
    for number, title in enumerate(hidden_titles):
        both._add(f"h{number}", title)
    visible = np.array([True] * len(open_titles) + [False] * len(hidden_titles), np.bool_)
    assert both.find(text, visible) == alone.find(text, visible[: len(open_titles)])


@given(words=st.lists(st.sampled_from(["Ann", "Lee", "of", "Bo", "x-y", "京都", "市"]), max_size=10))
def test_every_name_that_stands_alone_is_met(words: list[str]) -> None:
    """Against the finder of terms: a title that it finds is met, unless a longer one covers it."""
    text, titles = " ".join(words), ["Ann Lee", "Bo", "Lee of", "京都市", "x y"]
    book = TitleBook()
    for number, title in enumerate(titles):
        book._add(f"d{number}", title)
    found: list[TitleMention] = book.find(text, np.ones(len(titles), np.bool_))
    for title in titles:
        for span in find_term(text, title):
            assert any(one.span.start < span.end and span.start < one.span.end for one in found), (title, found)
