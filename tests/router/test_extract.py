"""Quotations are verbatim, few, about the question, and none when nothing is."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.evidence import Label, Lineage, Snippet, TextPassage, Trust
from groundwire_server.router.extract import MAX_QUOTATIONS, PASSAGES, Wording, choose_quotations
from groundwire_server.router.quotable import quotable_spans
from groundwire_server.text import tokenize
from tests.support.hostile_text import hostile_text


def passage(text: str, name: str = "a.md", trust: Trust = Trust.CITABLE) -> Snippet:
    return Snippet(name, Lineage("default", name), trust, TextPassage(text), Label.INTERNAL)


def weigher(texts: Sequence[str]) -> Counter[str]:
    return Counter(token for text in texts for token in set(tokenize(text)))


def choose(wording: Wording, texts: Sequence[str], *, beside: Sequence[str] = ()) -> list[str]:
    """Sentences chosen from passages, weighed in a library that holds other texts too."""
    spread = weigher([*texts, *beside])
    count = len(texts) + len(beside)

    def weigh(token: str) -> float:
        return math.log(1 + (count - spread[token] + 0.5) / (spread[token] + 0.5))

    snippets = [passage(text, f"{number}.md") for number, text in enumerate(texts)]
    return [each.sentence for each in choose_quotations([wording], weigh, snippets)]


OTHERS = [f"The weather of day {number} was fair. The roads were dry and the shops were open." for number in range(30)]


def test_the_sentence_that_says_most_is_quoted_whole() -> None:
    text = "The canteen serves soup. Revenue fell 3.5 percent after the flood of May. Staff travelled."
    wording = Wording.of([], ["revenue", "flood"], "en")
    assert choose(wording, [text], beside=OTHERS) == ["Revenue fell 3.5 percent after the flood of May."]


@pytest.mark.parametrize(
    ("phrases", "language", "text", "quoted"),
    [
        (
            ["洪水", "店舗"],
            "ja",
            "食堂ではスープが出る。洪水で三店舗が閉鎖された。天気は晴れ。",
            "洪水で三店舗が閉鎖された。",
        ),
        (["洪水", "门店"], "zh", "食堂供应汤。洪水导致三家门店关闭。天气晴朗。", "洪水导致三家门店关闭。"),
    ],
)
def test_in_chinese_and_japanese(phrases: list[str], language: str, text: str, quoted: str) -> None:
    assert choose(Wording.of([], phrases, language), [text], beside=OTHERS) == [quoted]


def test_nothing_is_quoted_when_nothing_is_said() -> None:
    asked = Wording.of([], ["Eiffel tower", "built"], "en")
    texts = ["The hall was built in 2003. It is large."]
    assert choose(asked, texts, beside=OTHERS) == []  # the name is missing, whatever else matches
    assert choose(Wording.of([], ["xylophone"], "en"), texts, beside=OTHERS) == []
    assert choose(Wording.of([], [], "en"), texts, beside=OTHERS) == []
    assert choose(asked, []) == []


def test_common_words_alone_are_not_enough() -> None:
    asked = Wording.of([], ["the shops", "merger", "arbitration"], "en")
    assert choose(asked, OTHERS[:5], beside=OTHERS[5:]) == []


def test_in_passages_of_another_writing_only_terms_are_looked_for() -> None:
    text = "ニカラグア事件は国際紛争である。天気は晴れ。"
    asked = Wording.of(["ニカラグア"], ["International Court"], "en")
    assert choose(asked, [text], beside=OTHERS) == ["ニカラグア事件は国際紛争である。"]
    assert choose(Wording.of([], ["International Court", "晴れ"], "en"), [text], beside=OTHERS) == []


def test_headings_and_rows_of_tables_are_no_sentences() -> None:
    text = "# Flood of May\n\n| flood | May |\n| 1 | 2 |\n\nThe flood came in May.\n- flood May item"
    asked = Wording.of([], ["flood", "May"], "en")
    assert choose(asked, [text], beside=OTHERS)[0] == "The flood came in May."
    assert not any(sentence.startswith(("#", "|")) for sentence in choose(asked, [text], beside=OTHERS))


def test_a_row_of_a_table_is_quoted_whole_with_its_heads() -> None:
    rows = (
        "Zone; Ticket; Price\nZone: Inner city; Ticket: Single; Price: 2.90\nZone: Airport; Ticket: Single; Price: 4.60"
    )
    asked = Wording.of([], ["airport", "ticket"], "en")
    assert choose(asked, [f"Tariffs of the ferry; valid today.\n\n{rows}"], beside=OTHERS) == [
        "Zone: Airport; Ticket: Single; Price: 4.60"
    ]
    japanese = "種類; 料金\n種類: オートバイ; 料金: 六百円\n種類: 自転車; 料金: 百円"
    asked = Wording.of([], ["自転車", "料金"], "ja")
    assert choose(asked, [japanese], beside=OTHERS)[0].endswith("種類: 自転車; 料金: 百円")
    assert not any("種類; 料金" in row for row in choose(asked, [japanese], beside=OTHERS))


@pytest.mark.parametrize(
    ("phrases", "language", "text", "quoted"),
    [
        (
            ["lost ticket", "cost"],
            "en",
            "Q: What does a lost ticket cost?\nA: It is 25 euros. Ask at the desk.",
            ["Q: What does a lost ticket cost?\nA: It is 25 euros."],
        ),
        (
            ["紛失", "料金"],
            "ja",
            "問：紛失の料金は？\n答：二千円です。窓口でお支払いください。",
            ["問：紛失の料金は？\n答：二千円です。"],
        ),
        (
            ["丢失", "费用"],
            "zh",
            "问：丢失车票的费用是多少？\n答：二十五元。",
            ["问：丢失车票的费用是多少？\n答：二十五元。"],
        ),
        (["lost ticket", "cost"], "en", "What does a lost ticket cost?", []),
        (["lost ticket", "cost"], "en", "What does a lost ticket cost?\n\n# Trailers\n\nThey may stay.", []),
        (["lost ticket", "cost"], "en", "What does a lost ticket cost? " + "Of words " * 50 + ".", []),
    ],
)
def test_a_question_is_quoted_with_its_answer_or_not_at_all(
    phrases: list[str], language: str, text: str, quoted: list[str]
) -> None:
    assert choose(Wording.of([], phrases, language), [text], beside=OTHERS) == quoted


@given(text=hostile_text())
def test_what_can_be_quoted_stands_apart_and_in_order(text: str) -> None:
    spans = quotable_spans(text)
    assert all(text[span.start : span.end].strip() == text[span.start : span.end] != "" for span in spans)
    assert all(before.end <= after.start for before, after in itertools.pairwise(spans))


def test_a_dot_inside_a_word_ends_no_sentence() -> None:
    text = "Ask at example.com about the flood, e.g. in May. It was cold."
    assert choose(Wording.of([], ["flood", "example.com"], "en"), [text], beside=OTHERS) == [
        "Ask at example.com about the flood, e.g."
    ]


def test_sentences_come_in_the_order_of_the_passages_and_never_twice() -> None:
    texts = ["The flood came in May. It was cold.", "In May the flood closed stores.", "The flood came in May."]
    chosen = choose(Wording.of([], ["flood", "May", "stores", "cold"], "en"), texts, beside=OTHERS)
    assert len(set(chosen)) == len(chosen) <= MAX_QUOTATIONS
    places = [min(number for number, text in enumerate(texts) if sentence in text) for sentence in chosen]
    assert places == sorted(places)


def test_only_citable_passages_among_the_first_are_quoted() -> None:
    hint = passage("The flood came in May.", trust=Trust.CONTEXT_ONLY)
    assert choose_quotations([Wording.of([], ["flood"], "en")], lambda token: 1.0, [hint]) == []
    late = ["Nothing of it."] * PASSAGES + ["The flood came in May."]
    assert choose(Wording.of([], ["flood"], "en"), late) == []


PHRASES = st.lists(hostile_text(max_pieces=4), max_size=4)


@given(
    texts=st.lists(hostile_text(), max_size=6),
    terms=PHRASES,
    others=PHRASES,
    language=st.sampled_from(["en", "zh", "ja"]),
)
def test_every_quotation_is_an_exact_part_of_its_passage(
    texts: list[str], terms: list[str], others: list[str], language: str
) -> None:
    snippets = [passage(text, f"{number}.md") for number, text in enumerate(texts)]
    wording = Wording.of(terms, others, language)
    chosen = choose_quotations([wording, wording], lambda token: 1.0 + len(token), snippets)
    assert chosen == choose_quotations([wording], lambda token: 1.0 + len(token), snippets)
    assert len(chosen) <= MAX_QUOTATIONS
    for quotation in chosen:
        assert isinstance(quotation.snippet.payload, TextPassage)
        assert quotation.sentence in quotation.snippet.payload.text
        assert quotation.sentence.strip() == quotation.sentence != ""
