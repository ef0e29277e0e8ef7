"""Names of the glossary in one passage: what is found, where, and how much of it."""

from __future__ import annotations

import itertools
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.evidence import Label, Span
from groundwire_server.glossary import ChannelTerm, EntityTerm, Glossary, MemberTerm, MetricTerm, Synonym
from groundwire_server.relations.extractors import (
    MAX_MENTIONS,
    MAX_PAIRS,
    MAX_REACH,
    CoOccurrenceExtractor,
    Extraction,
    Passage,
    SourceDocument,
    evidence_span,
    extract_edges,
    make_extractor,
)

GLOSSARY = Glossary(
    [
        EntityTerm("ACME", "Acme", (Synonym("アクメ", "ja"), Synonym("顶点公司", "zh"))),
        EntityTerm("BETA", "Beta Works", (Synonym("ベータ工業", "ja"), Synonym("贝塔", "zh"))),
        EntityTerm("TWIN1", "First", (Synonym("Twin"),)),
        EntityTerm("TWIN2", "Second", (Synonym("Twin"),)),
        MetricTerm("REVENUE", "Revenue", (Synonym("売上高", "ja"), Synonym("营业收入", "zh"))),
        MetricTerm("PROFIT", "Profit"),
        ChannelTerm("ONLINE", "Online shops"),
        MemberTerm("segment", "CLOUD", "Cloud services"),
    ],
    ambiguous="report",
)


def document(*texts: str, label: Label = Label.INTERNAL, doc_id: str = "a/b #1.md") -> SourceDocument:
    """Passages that follow one another."""
    passages, start = [], 100
    for number, text in enumerate(texts):
        passages.append(Passage(text, Span(start, start + len(text)), f"a/b %231.md#line={number + 1}"))
        start += len(text)
    return SourceDocument(doc_id, label, tuple(passages))


def found(*texts: str, glossary: Glossary = GLOSSARY) -> list[tuple[str, str, str, str]]:
    """(start, relation, end, text that it stands on)."""
    given_text = "".join(texts)
    extraction = CoOccurrenceExtractor(glossary).extract(document(*texts))
    return [
        (
            ":".join(each.source),
            each.relation,
            ":".join(each.target),
            given_text[each.span.start - 100 : each.span.end - 100],
        )
        for each in extraction.relations
    ]


def test_a_pair_stands_on_the_stretch_between_its_names() -> None:
    doc = "document:a/b #1.md"
    assert found("In 2019 Acme bought Beta Works for cash.") == [
        (doc, "mentions", "entity:ACME", "Acme"),
        (doc, "mentions", "entity:BETA", "Beta Works"),
        ("entity:ACME", "co_occurs_with", "entity:BETA", "Acme bought Beta Works"),
    ]
    assert found("アクメはベータ工業を買収した。")[2][3] == "アクメはベータ工業"
    assert found("贝塔由顶点公司拥有。")[2] == ("entity:ACME", "co_occurs_with", "entity:BETA", "贝塔由顶点公司")


def test_every_kind_of_term_is_mentioned_and_pairs_hold_an_entity() -> None:
    rows = found("Revenue and profit of Acme in online shops and cloud services.")
    assert [row[2] for row in rows if row[1] == "mentions"] == [
        "metric:REVENUE",
        "metric:PROFIT",
        "entity:ACME",
        "channel:ONLINE",
        "segment:CLOUD",
    ]
    pairs = {(row[0], row[2]) for row in rows if row[1] == "co_occurs_with"}
    assert pairs == {
        ("channel:ONLINE", "entity:ACME"),
        ("entity:ACME", "metric:PROFIT"),
        ("entity:ACME", "metric:REVENUE"),
        ("entity:ACME", "segment:CLOUD"),
    }


def test_a_name_of_two_terms_means_none() -> None:
    assert found("Twin and Acme") == [("document:a/b #1.md", "mentions", "entity:ACME", "Acme")]


def test_passages_are_apart_and_each_is_a_source() -> None:
    rows = found("Acme sells. ", "Beta Works buys. ", "Acme met Beta Works. ", "Beta Works left Acme. ")
    assert [row[3] for row in rows if row[1] == "co_occurs_with"] == ["Acme met Beta Works", "Beta Works left Acme"]
    assert sum(row[2] == "entity:ACME" for row in rows) == 3


def test_what_overlapping_passages_share_is_found_once() -> None:
    text = "Acme met Beta Works"
    passages = tuple(Passage(text, Span(7, 7 + len(text)), f"d#line={line}") for line in ("1-2", "2-3"))
    extraction = CoOccurrenceExtractor(GLOSSARY).extract(SourceDocument("d", Label.PUBLIC, passages))
    assert [each.passage for each in extraction.relations] == [0, 0, 0]


def test_the_locator_names_the_exact_place() -> None:
    edges, _ = extract_edges(CoOccurrenceExtractor(GLOSSARY), document("Acme met Beta Works"))
    assert edges[2].locator == "a/b %231.md#line=1,span=100-119"
    assert evidence_span(edges[2].locator) == Span(100, 119)
    assert [evidence_span(other) for other in ("a#line=3", "a", "a#span=x-1", "a#span=3", "a#b")] == [None] * 5
    assert {(edge.source_doc, edge.label, edge.extractor) for edge in edges} == {
        ("a/b #1.md", Label.INTERNAL, "co_occurrence")
    }


def test_the_nearest_pairs_are_kept_and_the_others_counted() -> None:
    many = Glossary([EntityTerm(f"E{number}", f"name{number}x") for number in range(40)])
    text = " ".join(f"name{number}x" for number in range(40))
    extraction = CoOccurrenceExtractor(many).extract(document(text))
    pairs = [each for each in extraction.relations if each.relation == "co_occurs_with"]
    assert len(pairs) == MAX_PAIRS
    assert extraction.left_out == {0: 40 * 39 // 2 - MAX_PAIRS}
    lengths = sorted(
        text.index(f"name{second}x") + len(f"name{second}x") - text.index(f"name{first}x")
        for first, second in itertools.combinations(range(40), 2)
    )
    assert [each.span.end - each.span.start for each in pairs] == lengths[:MAX_PAIRS]


def test_mentions_are_bounded_and_a_pair_does_not_reach_far() -> None:
    many = Glossary([EntityTerm(f"E{number}", f"name{number}x") for number in range(MAX_MENTIONS + 5)])
    gap = "." * MAX_REACH
    text = gap.join(f"name{number}x" for number in range(MAX_MENTIONS + 5))
    extraction = CoOccurrenceExtractor(many).extract(document(text))
    assert {each.relation for each in extraction.relations} == {"mentions"}
    assert len(extraction.relations) == MAX_MENTIONS
    assert extraction.left_out == {0: 5}


def test_a_hostile_passage_does_not_take_long() -> None:
    two = Glossary([EntityTerm("A", "中"), EntityTerm("B", "日")])
    looked: list[None] = []
    extraction = CoOccurrenceExtractor(two).extract(document("中日" * 20_000), lambda: looked.append(None))
    assert [each.span.end - each.span.start for each in extraction.relations] == [1, 1, 2]
    assert looked == [None]


def test_the_version_is_that_of_the_glossary() -> None:
    first, second = make_extractor("co_occurrence", GLOSSARY), make_extractor("co_occurrence", Glossary())
    assert first == make_extractor("co_occurrence", Glossary(GLOSSARY.terms[::-1], ambiguous="report"))
    assert first != second
    assert first.version != second.version
    assert second.extract(document("Acme met Beta Works")) == Extraction()


# ---- against an oracle that looks at every pair of places

_NAMES = {
    "Acme": ("entity", "ACME"),
    "Beta Works": ("entity", "BETA"),
    "アクメ": ("entity", "ACME"),
    "ベータ工業": ("entity", "BETA"),
    "贝塔": ("entity", "BETA"),
    "顶点公司": ("entity", "ACME"),
    "Revenue": ("metric", "REVENUE"),
    "売上高": ("metric", "REVENUE"),
    "Profit": ("metric", "PROFIT"),
    "Cloud services": ("segment", "CLOUD"),
}
_BETWEEN = (" x ", "。\n", "; ", "\r\n\t(", " 👩\u200d👩 ", "\u2028", " e\u0301 ", "、")


@settings(max_examples=200)
@given(st.lists(st.tuples(st.sampled_from(sorted(_NAMES)), st.sampled_from(_BETWEEN)), max_size=12), st.data())
def test_it_finds_what_an_oracle_finds(pieces: list[tuple[str, str]], data: st.DataObject) -> None:
    text, places = data.draw(st.sampled_from(("", "- ", "🦊 "))), []
    for name, gap in pieces:
        places.append((_NAMES[name], len(text), len(text) + len(name)))
        text += name + gap
    nearest: dict[tuple[tuple[str, str], tuple[str, str]], tuple[int, int, int]] = {}
    for (one, start, _), (two, _, end) in itertools.combinations(places, 2):
        if one != two and "entity" in (one[0], two[0]):
            ends = (min(one, two), max(one, two))
            nearest[ends] = min(nearest.get(ends, (10**9, 0, 0)), (end - start, start, end))
    firsts: dict[tuple[str, str], tuple[int, int]] = {}
    for node, start, end in places:
        firsts.setdefault(node, (start, end))
    expected = {("document", "a/b #1.md", "mentions", *node, *place) for node, place in firsts.items()}
    expected |= {(*one, "co_occurs_with", *two, start, end) for (one, two), (_, start, end) in nearest.items()}
    extraction = CoOccurrenceExtractor(GLOSSARY).extract(document(text))
    assert {
        (*each.source, each.relation, *each.target, each.span.start - 100, each.span.end - 100)
        for each in extraction.relations
    } == expected
    assert len(extraction.relations) == len(expected)


@settings(max_examples=200)
@given(st.text(alphabet="Acme Beta Works売上高アクメベータ工業\r\n\t\u2028\u0301\u200d👩\x00Ａｃｍｅ", max_size=200))
def test_any_text_gives_places_within_it(text: str) -> None:
    for each in CoOccurrenceExtractor(GLOSSARY).extract(document(text)).relations:
        assert 100 <= each.span.start < each.span.end <= 100 + len(text)


def test_other_passages_change_nothing_of_one() -> None:
    texts = ["Acme met Beta Works. ", "Revenue of Acme. ", "nothing here. "]
    alone = {row for text in texts for row in found(text)}
    random.Random(5).shuffle(texts)
    assert set(found(*texts)) == alone
