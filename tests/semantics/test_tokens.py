"""Semantics 1: text and tokens."""

import string
import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.text import (
    TOKENIZER_ID,
    align,
    find_term,
    has_borders,
    is_cjk,
    normalize,
    sentence_spans,
    tokenize,
    tokenize_batch,
)
from tests.semantics.hostile import ALPHABET, CHINESE, ENGLISH, JAPANESE, TEXTS, any_text, hostile_texts, quick
from tests.semantics.oracles import (
    ZERO_WIDTH,
    is_sentence_end,
    is_variation_selector,
    normal_form,
    seed_tokens,
    tokens_of,
)

HAN = "".join(chr(c) for c in range(0x4E00, 0x9FFD, 37))
no_broken_words = hostile_texts.map(lambda text: text.replace("-", " "))


# Normal form


@quick
@given(hostile_texts)
def test_normal_form_is_nfkc_casefold_nfkc_without_the_invisible(text: str) -> None:
    assert normalize(text) == normal_form(text)


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_normal_form_of_hostile_texts(text: str) -> None:
    assert normalize(text) == normal_form(text)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("ＦＹ２０２４", "fy2024"),
        ("ｶﾞｽ", "ガス"),
        ("ﬁne", "fine"),
        ("Straße", "strasse"),
        ("STRASSE", "strasse"),
        ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
        ("①", "1"),
        ("㍿", "株式会社"),
        ("e\u0301", "é"),
        ("\u3000", " "),
        ("K", "k"),  # the Kelvin sign
    ],
)
def test_normal_form_by_example(text: str, normal: str) -> None:
    assert normalize(text) == normal


@pytest.mark.parametrize("invisible", [*sorted(ZERO_WIDTH), "\ufe00", "\ufe0e", "\ufe0f", "\U000e0100", "\U000e01ef"])
def test_invisible_characters_are_dropped(invisible: str) -> None:
    for text in ("revenue", "売上高", "营业收入", "ガス", "한국"):
        assert tokenize(invisible.join(text)) == tokenize(text)
        assert normalize(invisible.join(text)) == normalize(text)


@quick
@given(hostile_texts)
def test_equivalent_texts_have_the_same_tokens(text: str) -> None:
    expected = tokenize(text)
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert tokenize(unicodedata.normalize(form, text)) == expected


@quick
@given(st.text(alphabet=string.ascii_letters + "éÜñжЖλ漢字かなカナ ", max_size=40))
def test_case_does_not_matter(text: str) -> None:
    assert tokenize(text.upper()) == tokenize(text.lower()) == tokenize(text)


def test_underscore_separates() -> None:
    assert tokenize("net_income_2024") == ["net", "income", "2024"]
    assert tokenize("Ｎｅｔ＿Ｉｎｃｏｍｅ") == ["net", "income"]
    assert tokenize("売_上") == ["売", "上"]
    assert tokenize("___") == []


def test_tokenizer_id_holds_the_unicode_version() -> None:
    assert unicodedata.unidata_version in TOKENIZER_ID


# CJK runs


@pytest.mark.parametrize(
    ("name", "pair"),
    [
        ("unified", "漢字"),
        ("traditional", "營收"),
        ("simplified", "营收"),
        ("extension A", "㐀䶵"),
        ("extension B", "𠮷𩸽"),
        ("extension C", "\U0002a700\U0002b734"),
        ("extension D", "\U0002b740\U0002b81d"),
        ("extension E", "\U0002b820\U0002cea1"),
        ("extension F", "\U0002ceb0\U0002ebe0"),
        ("extension G", "\U00030000\U0003134a"),
        ("extension H", "\U00031350\U000323af"),
        ("extension I", "\U0002ebf0\U0002ee5d"),
        ("radicals", "⺀⺄"),
        ("numerals of Suzhou", "〡〢"),
        ("hiragana", "かな"),
        ("small kana", "っゃ"),
        ("katakana", "カナ"),
        ("katakana extension", "ㇰㇱ"),
        ("long vowel mark", "カー"),
        ("iteration mark of Han", "人々"),
        ("iteration mark of hiragana", "こゝ"),
        ("iteration mark of katakana", "ヒヽ"),
        ("zero of Han numbers", "二〇"),
        ("hangul", "한국"),
        ("middle dot", "ド・"),
    ],
)
def test_each_script_gives_singles_then_pairs(name: str, pair: str) -> None:
    assert tokenize(pair) == [pair[0], pair[1], pair], name
    assert is_cjk(pair[0])
    assert is_cjk(pair[1])


def test_compatibility_han_is_folded_and_belongs_to_the_run() -> None:
    assert tokenize("豈\uf900") == ["豈", "豈", "豈豈"]
    assert tokenize("\U0002f800字") == ["丽", "字", "丽字"]


def test_half_width_kana_is_folded_and_its_marks_belong_to_the_run() -> None:
    assert tokenize("ｽｰﾊﾟｰ") == tokenize("スーパー") == ["ス", "ー", "パ", "ー", "スー", "ーパ", "パー"]
    assert tokenize("ｶﾞｽ") == ["ガ", "ス", "ガス"]


def test_hangul_in_parts_equals_hangul_in_syllables() -> None:
    assert tokenize(unicodedata.normalize("NFD", "한국어")) == ["한", "국", "어", "한국", "국어"]


def test_all_singles_come_before_all_pairs() -> None:
    assert tokenize("東京タワー") == ["東", "京", "タ", "ワ", "ー", "東京", "京タ", "タワ", "ワー"]
    assert tokenize("한글かな漢") == ["한", "글", "か", "な", "漢", "한글", "글か", "かな", "な漢"]


def test_a_run_ends_where_another_letter_stands() -> None:
    assert tokenize("香港revenue増") == ["香", "港", "香港", "revenue", "増"]
    assert tokenize("売上。利益") == ["売", "上", "売上", "利", "益", "利益"]
    assert tokenize("売上 利益") == ["売", "上", "売上", "利", "益", "利益"]
    assert tokenize("2024年3月") == ["2024", "年", "3", "月"]


def test_a_run_goes_on_over_every_repeat() -> None:
    assert tokenize("ああ") == ["あ", "あ", "ああ"]
    assert tokenize("ああああ").count("ああ") == 3


@quick
@given(st.text(alphabet="漢字売上高かなカナー々ガ한국", min_size=1, max_size=30))
def test_a_run_of_n_gives_n_singles_and_n_minus_one_pairs(run: str) -> None:
    tokens = tokenize(run)
    assert tokens[: len(run)] == list(run)
    assert tokens[len(run) :] == [run[i : i + 2] for i in range(len(run) - 1)]


def test_japanese_uses_kana_and_not_only_han() -> None:
    assert {"カメ", "メラ", "です"} <= set(tokenize("これはカメラです"))


# Other runs


@pytest.mark.parametrize(
    "word",
    [
        "naïve",
        "выручка",
        "έσοδα",
        "الإيرادات",
        "รายได้",
        "कमाई",
        "მოგება",
        "հասույթ",
        "doanhthu",
        "résumé2024",
        "ʻokina",
    ],
)
def test_a_word_of_any_other_script_is_one_token(word: str) -> None:
    assert tokenize(f" {word}, {word}") == [normal_form(word)] * 2


def test_marks_belong_to_the_word() -> None:
    assert tokenize("q\u0307x") == ["q\u0307x"]
    assert tokenize("हिन्दी") == ["हिन्दी"]
    assert tokenize("ปี") == ["ปี"]


def test_digits_of_every_script_belong_to_words() -> None:
    assert tokenize("٣٤ ०१ ２０２４ x٣") == ["٣٤", "०१", "2024", "x٣"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("3.5", ["3", "5"]),
        ("1,234.50", ["1", "234", "50"]),
        ("don't", ["don", "t"]),
        ("U.S.", ["u", "s"]),
        ("COVID-19", ["covid", "19"]),
        ("FY2024Q3", ["fy2024q3"]),
        ("", []),
        ("!?…—", []),
        ("😀👍🏽🇯🇵", []),
        ("a😀b", ["a", "b"]),
        ("a\u2028b\x00c\x85d", ["a", "b", "c", "d"]),
    ],
)
def test_tokens_by_example(text: str, tokens: list[str]) -> None:
    assert tokenize(text) == tokens


@quick
@given(no_broken_words)
def test_tokens_of_any_mixture(text: str) -> None:
    assert tokenize(text) == tokens_of(text)


@pytest.mark.parametrize("text", [t for t in TEXTS if "-" not in t], ids=lambda t: repr(t[:12]))
def test_tokens_of_hostile_texts(text: str) -> None:
    assert tokenize(text) == tokens_of(text)


# Rare signs between Han and the rest, and letters that nobody sees: the text leaves them open.
OPEN = ("KANA REPEAT", "MASU MARK", "HENTAIGANA", "TONE MARK", "CLOSING MARK", "OLD CHINESE", "VIETNAMESE ALTERNATE")
UNSEEN = ("FILLER", "GRAPHEME JOINER", "VOWEL INHERENT", "FREE VARIATION")


def test_letters_marks_and_digits_of_all_unicode_go_where_their_script_goes() -> None:
    chosen = [
        c
        for c in map(
            chr, [*range(0x3400), *range(0x3400, 0xD800, 31), *range(0xF900, 0x20000), *range(0x20000, 0x31350, 997)]
        )
        if (unicodedata.category(c)[0] in "LM" or unicodedata.category(c) == "Nd")
        and not any(word in unicodedata.name(c, "") for word in OPEN + UNSEEN)
    ]
    assert len(chosen) > 20_000
    joined = " | ".join(f"a{c}漢" for c in chosen)
    assert tokenize(joined) == tokens_of(joined)


@quick
@given(st.text(alphabet=string.printable, max_size=60).map(lambda text: text.replace("-", "+")))
def test_plain_ascii_equals_the_seed(text: str) -> None:
    assert tokenize(text) == seed_tokens(text)


@quick
@given(st.text(alphabet=HAN + string.ascii_letters + string.digits + " .,/()_%", max_size=60))
def test_plain_han_and_ascii_equal_the_seed(text: str) -> None:
    assert tokenize(text) == seed_tokens(text)


@pytest.mark.parametrize("text", [ENGLISH, CHINESE.replace("？", "?").replace("。", ".")])
def test_sentences_of_ascii_and_han_equal_the_seed(text: str) -> None:
    assert tokenize(text) == seed_tokens(text)


@quick
@given(hostile_texts, hostile_texts)
def test_tokens_do_not_depend_on_what_stands_beyond_a_blank(left: str, right: str) -> None:
    left = left.replace("-", " ")
    assert tokenize(f"{left} | {right}") == tokenize(left) + tokenize(right)


@quick
@given(any_text)
def test_no_text_breaks_the_tokenizer_and_no_token_is_empty_or_holds_a_separator(text: str) -> None:
    for token in tokenize(text):
        assert token
        assert not any(c.isspace() or c == "_" for c in token)
        assert normalize(token) == token


def test_a_huge_line_is_tokenized_whole() -> None:
    assert tokenize("x" * 200_000) == ["x" * 200_000]
    assert len(tokenize("長" * 50_000)) == 99_999


# Words broken at a line end


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_word_broken_at_a_line_end_gives_both_parts_and_the_joined_word(line_end: str) -> None:
    text = f"the inter-{line_end}national Straf-{line_end}rä growth"
    assert Counter(tokenize(text)) == Counter(
        ["the", "inter", "national", "international", "straf", "rä", "strafrä", "growth"]
    )


def test_the_joined_word_is_found_by_its_plain_form_in_any_width_and_case() -> None:
    for text in ("Inter-\nNational", "ＩＮＴＥＲ-\nｎａｔｉｏｎａｌ", "inter\u2010\nnational"):
        assert "international" in tokenize(text)
        assert {"inter", "national"} <= set(tokenize(text))


def test_a_hyphen_within_a_line_joins_nothing() -> None:
    assert tokenize("well-known state-of-the-art") == ["well", "known", "state", "of", "the", "art"]
    assert tokenize("a - \nb") == ["a", "b"]
    assert tokenize("list\n- item") == ["list", "item"]
    assert tokenize("inter-") == ["inter"]
    assert tokenize("inter-\n\nnational") == ["inter", "national"]
    assert tokenize("-\nnational") == ["national"]


def test_a_line_end_without_a_hyphen_joins_nothing() -> None:
    assert tokenize("inter\nnational") == ["inter", "national"]


# Batches, alignment


@quick
@given(st.lists(hostile_texts, max_size=6))
def test_a_batch_holds_the_tokens_of_each_text(texts: list[str]) -> None:
    batch = tokenize_batch(texts)
    assert list(batch.lengths) == [len(tokenize(text)) for text in texts]
    words = iter(batch.words)
    for place, text in enumerate(texts):
        expected = Counter(tokenize(text))
        got = Counter(next(words) for _ in range(int(batch.word_counts[place])))
        for first, second, owner in zip(batch.first, batch.second, batch.texts, strict=True):
            if owner == place:
                got[chr(first) + (chr(second) if second else "")] += 1
        assert got == expected
    assert not list(words)


@quick
@given(hostile_texts)
def test_alignment_leads_back_into_the_source(text: str) -> None:
    aligned = align(text)
    assert aligned.source == text
    assert aligned.normal == normal_form(text)
    last = 0
    for place in range(len(aligned.normal)):
        span = aligned.span(place, place + 1)
        assert 0 <= span.start < span.end <= len(text)
        assert span.start >= last
        last = span.start
        assert aligned.normal[place] in normal_form(text[span.start : span.end])


# Sentences


@quick
@given(hostile_texts)
def test_sentences_cover_the_text_without_a_gap(text: str) -> None:
    spans = sentence_spans(text)
    assert "".join(text[span.start : span.end] for span in spans) == text
    assert all(span.start < span.end for span in spans)


@quick
@given(st.text(alphabet="ab1２漢か 。！？；.!?;,\n", max_size=40))
def test_sentences_end_at_the_eight_marks_and_nowhere_else(text: str) -> None:
    starts = {span.start for span in sentence_spans(text)} - {0}
    for start in starts:
        before = text[:start].rstrip()
        assert is_sentence_end(text, len(before) - 1)
    for place in range(len(text) - 1):
        following = text[place + 1 :].lstrip()
        if is_sentence_end(text, place) and following and following[0] not in "。！？；.!?;":
            assert len(text) - len(following) in starts or place + 1 in starts


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It rose 3.5 %. Then it fell.", ["It rose 3.5 %.", "Then it fell."]),
        ("増えた。減った！なぜ？理由；以上", ["増えた。", "減った！", "なぜ？", "理由；", "以上"]),
        ("收入增长。成本下降；为什么？", ["收入增长。", "成本下降；", "为什么？"]),
        ("one; two! three? four", ["one;", "two!", "three?", "four"]),
        ("v1.2.3 is out. Good", ["v1.2.3 is out.", "Good"]),
        ("Section 3. Next", ["Section 3.", "Next"]),
        ("x.5 y", ["x.", "5 y"]),
        ("5.x y", ["5.", "x y"]),
        ("１.５倍。次", ["１.５倍。", "次"]),
        ("no end", ["no end"]),
        ("line\nbreak", ["line\nbreak"]),
        ("", []),
    ],
)
def test_sentences_by_example(text: str, sentences: list[str]) -> None:
    assert [text[span.start : span.end].strip() for span in sentence_spans(text)] == sentences


@pytest.mark.parametrize("text", [ENGLISH, JAPANESE, CHINESE])
def test_sentences_of_each_language(text: str) -> None:
    ends = sum(1 for place in range(len(text)) if is_sentence_end(text, place))
    assert len(sentence_spans(text)) == ends


# Borders by script


def test_borders_by_script() -> None:
    text = "heroes 香港revenue 売上高は5000 stores ニューヨーク"
    for inner, expected in (
        ("roe", False),
        ("香港", True),
        ("revenue", True),
        ("売上高", True),
        ("5000", True),
        ("500", False),
        ("ヨーク", False),
        ("ニューヨーク", True),
    ):
        start = text.index(inner)
        assert has_borders(text, start, start + len(inner)) is expected, inner


@pytest.mark.parametrize(
    ("text", "term", "found"),
    [
        ("香港revenue", "revenue", ["revenue"]),
        ("Ｎｅｔ\r\n  ｉｎｃｏｍｅ", "net income", ["Ｎｅｔ\r\n  ｉｎｃｏｍｅ"]),
        ("heroes", "ROE", []),
        ("ROE, roe; ＲＯＥ", "roe", ["ROE", "roe", "ＲＯＥ"]),
        ("ニューヨーク", "ヨーク", []),
        ("営業利益率", "利益", ["利益"]),
        ("cafe\u0301s", "café", []),
        ("cafe\u0301 s", "café", ["cafe\u0301"]),
        ("営業 利益", "営業利益", []),
    ],
)
def test_a_term_is_found_between_borders(text: str, term: str, found: list[str]) -> None:
    assert [text[span.start : span.end] for span in find_term(text, term)] == found


def test_blanks_between_cjk_are_looked_through_where_wanted() -> None:
    text = "営 業\u3000利\n益 B e t a"
    assert [text[s.start : s.end] for s in find_term(text, "営業利益", across_blanks=True)] == ["営 業\u3000利\n益"]
    assert not list(find_term(text, "beta", across_blanks=True))


def test_every_character_of_the_alphabet_is_judged_by_one_rule() -> None:
    for c in ALPHABET:
        if is_variation_selector(c) or c in ZERO_WIDTH:
            assert tokenize(c) == []
