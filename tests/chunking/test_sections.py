"""Laws, questions, books and sentences, by hand: what begins a section and what only looks like it."""

from __future__ import annotations

import pytest

from groundwire_server.chunking import ChunkDraft, make_chunker
from groundwire_server.chunking.sentences import read_sentences
from groundwire_server.evidence import slice_text


def cut(name: str, *lines: str, budget: int = 480) -> list[ChunkDraft]:
    return make_chunker(name, budget, 0).chunk("\n".join(lines))


def headings(name: str, *lines: str) -> list[str]:
    return [chunk.heading for chunk in cut(name, *lines)]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            ("第一編　総則", "第一章　通則", "（趣旨）", "第一条　定める。", "２　前項を除く。", "第二条の二　削除"),
            ["第一編 総則 > 第一章 通則 > 第一条（趣旨）", "第一編 総則 > 第一章 通則 > 第二条の二"],
        ),
        (("第四条", "　第一項　甲。", "　第二項　乙。"), ["第四条 > 第一項", "第四条 > 第二項"]),
        (("第１０条　一。", "第1条の規定を準用する。", "第三条第二款规定除外。"), ["第１０条"]),
        (
            ("第一章 总则", "第一条【目的】一。", "第二条：二。"),
            ["第一章 总则 > 第一条【目的】", "第一章 总则 > 第二条"],
        ),
        (("第三条 三。", "第一款 甲。", "第二款 乙。"), ["第三条", "第三条 > 第一款", "第三条 > 第二款"]),
        (
            ("第一章　総則", "第九条　九。", "附　則", "第一条　施行する。"),
            ["第一章 総則 > 第九条", "附 則 > 第一条"],
        ),
        (("第一条 一。", "附则", "本法自公布之日起施行。"), ["第一条", "附则"]),
        (("第一条 附則の規定を除く。", "附則第二条を除く。"), ["第一条"]),
        (
            ("PART I", "Article 1 Scope", "a", "Section 2 applies to b.", "§ 3", "3.5 percent is due."),
            ["PART I > Article 1 Scope", "PART I > Article 1 Scope > § 3"],
        ),
        (("Art. 9 Data", "a", "Art. 10 does not apply.", "SCHEDULE 2", "b"), ["Art. 9 Data", "SCHEDULE 2"]),
    ],
)
def test_laws(lines: tuple[str, ...], expected: list[str]) -> None:
    assert headings("laws", *lines) == expected


@pytest.mark.parametrize("items", [("(a) rent;", "(b) tax."), ("1. rent", "2. tax"), ("（１）賃料", "（２）税")])
def test_an_article_with_items_is_one_chunk_where_it_fits(items: tuple[str, str]) -> None:
    (chunk,) = cut("laws", "Article 5 Duties", "The tenant pays", *items)
    assert chunk.text.endswith(items[1])


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Q. Why though\nis it so?", "A. Because.\nIt is."),
        ("1. Where?", "There."),
        ("問：何時？", "答：（１）三時。\n（２）四時。"),
    ],
)
def test_a_question_and_its_answer_are_one_chunk_where_they_fit(question: str, answer: str) -> None:
    first, second = cut("qa", question, answer, "Ｑ：次は？", "Ａ：無い。")
    assert first.text == f"{question}\n{answer}"
    assert second.text == "Ｑ：次は？\nＡ：無い。"


def test_pieces_of_a_long_answer_share_its_question() -> None:
    chunks = cut("qa", "Q: Why?", *(f"A{number}. {'word ' * 6}" for number in range(6)), budget=60)
    assert len(chunks) > 1
    assert {chunk.parent_id for chunk in chunks} == {"s0"}
    assert {chunk.heading for chunk in chunks} == {"Why?"}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("第一部 始", "第一章 海", "広い。", "第二章では山を見る。"), ["第一部 始 > 第一章 海"]),
        (
            ("Chapter 1", "Wide.", "Chapter Two: Hill", "High.", "Chapter 3 is short."),
            ["Chapter 1", "Chapter Two: Hill"],
        ),
        (
            ("", "1. Scope", "a", "", "3.5 million people", "b", "", "2.1.3 Deep", "c"),
            ["1. Scope", "1. Scope > 2.1.3 Deep"],
        ),
        (("", "３．結論", "結。", "", "２．５倍になった", "増。"), ["３．結論"]),
    ],
)
def test_books(lines: tuple[str, ...], expected: list[str]) -> None:
    assert headings("book", *lines) == expected


@pytest.mark.parametrize(
    "text",
    [
        "On Nov. 5 it rose. |In Jan. 2024 it fell. |",
        "The answer is no. |See No. 5 of the U.S. Treasury. |",
        "Dr. Sato paid 3.5 % (i.e. little) to J. Smith et al. in ca. 1900. |Why? |",
        "価格は3.5％です。|次。|「はい。」|他说：“好的。”|然后走了。|",
        "They met in Mar. |He left on Dec. 24. |",
    ],
)
def test_sentences(text: str) -> None:
    whole = text.replace("|", "")
    assert [slice_text(whole, span) for span in read_sentences(whole)] == text.split("|")[:-1]
