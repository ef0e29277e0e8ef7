"""Semantics 6: labels and the gate."""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import InvalidRequest
from groundwire_server.evidence import Label, Principal, RefusalReason, Span, parse_label
from groundwire_server.security import SecurityGate, drop_unreadable, local_principal
from tests.semantics.hostile import CHINESE, ENGLISH, JAPANESE, TEXTS, any_text, quick

NAMES = ("PUBLIC", "INTERNAL", "CONFIDENTIAL", "RESTRICTED")
labels = st.sampled_from(list(Label))


@dataclass(frozen=True)
class Row:
    """Anything with a label."""

    number: int
    label: Label


def wide(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) for c in text)


def test_the_four_labels_in_their_order() -> None:
    assert [label.name for label in sorted(Label)] == list(NAMES)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "dress",
    [
        str.lower,
        str.upper,
        str.title,
        wide,
        lambda s: wide(s.lower()),
        lambda s: f" {s}\t",
        lambda s: f"\u3000{s}\r\n",
        lambda s: f"\xa0{s}\u2003",
    ],
)
def test_labels_are_parsed_after_nfkc_trim_and_casefold(name: str, dress: object) -> None:
    assert callable(dress)
    assert parse_label(dress(name)).name == name


def test_the_long_s_and_ligatures_are_folded_like_anything() -> None:
    assert parse_label("re\u017ftricted") is Label.RESTRICTED
    assert parse_label("con\ufb01dential") is Label.CONFIDENTIAL


@pytest.mark.parametrize(
    "text",
    [
        "top secret",
        "RESTRICTED!",
        "publik",
        "pub lic",
        "0",
        "1",
        "社外秘",
        "机密",
        "公開",
        "public,internal",
        "ＰＵＢＬＩＣ．",
        "\U0001f512",
    ],
)
def test_an_unknown_label_is_restricted(text: str) -> None:
    assert parse_label(text) is Label.RESTRICTED


@quick
@given(any_text | st.text(alphabet="publicinternalPUBLICＰ \u200b\u0301", max_size=12))
def test_no_text_but_the_names_is_less_than_restricted(text: str) -> None:
    folded = unicodedata.normalize("NFKC", text).strip().casefold()
    if not folded:
        assert parse_label(text) is Label.INTERNAL
    elif folded in [name.lower() for name in NAMES]:
        assert parse_label(text).name == folded.upper()
    else:
        assert parse_label(text) is Label.RESTRICTED


def test_internal_is_the_default() -> None:
    assert parse_label(None) is parse_label("") is Label.INTERNAL
    assert parse_label("", Label.PUBLIC) is Label.PUBLIC
    assert parse_label("nosuch", Label.PUBLIC) is Label.RESTRICTED


# Clearance


@pytest.mark.parametrize("clearance", list(Label))
@pytest.mark.parametrize("label", list(Label))
def test_a_reader_below_the_label_does_not_see_the_row(clearance: Label, label: Label) -> None:
    expected = NAMES.index(label.name) <= NAMES.index(clearance.name) and label.name != "RESTRICTED"
    assert Principal("p", clearance).may_read(label) is expected


def test_restricted_is_read_by_nobody() -> None:
    assert not any(Principal("p", clearance).may_read(Label.RESTRICTED) for clearance in Label)


@quick
@given(st.lists(labels, max_size=20), labels)
def test_the_exit_keeps_the_order_and_drops_what_may_not_be_read(given_labels: list[Label], clearance: Label) -> None:
    rows = [Row(number, label) for number, label in enumerate(given_labels)]
    kept = drop_unreadable(rows, Principal("p", clearance))
    expected = [row for row in rows if row.label.value <= clearance.value and row.label is not Label.RESTRICTED]
    assert kept == expected


def test_on_loopback_the_caller_reads_internal_and_by_setting_up_to_confidential() -> None:
    assert local_principal().name == "local"
    assert local_principal().clearance is Label.INTERNAL
    assert local_principal("ｃｏｎｆｉｄｅｎｔｉａｌ").clearance is Label.CONFIDENTIAL
    assert local_principal(Label.PUBLIC).clearance is Label.PUBLIC
    for refused in (Label.RESTRICTED, "restricted", "nosuch", "top secret"):
        with pytest.raises(InvalidRequest):
            local_principal(refused)


# The gate


GATE = SecurityGate(["Beta Corp", "アクメ商事", "竞争公司", "Ökö", "ROE", "ヨーク", "한국전자"])


@pytest.mark.parametrize(
    "text",
    [
        "What did Beta Corp earn?",
        "beta corp",
        "ＢＥＴＡ　Ｃｏｒｐ",
        "Be\u200bta C\u200dorp",
        "B\ufe0feta\u2060 Corp",
        "beta\ncorp",
        "Beta \t Corp's sales",
        "売上はBeta Corpが上",
        "アクメ商事の売上",
        "ｱｸﾒ商事の売上",
        "ア ク メ 商 事",
        "アクメ\u3000商事",
        "アクメ\n商事",
        "アク\u200bメ商事",
        "竞争公司的收入",
        "竞 争 公 司",
        "竞\u200c争公司",
        "ÖKÖ",
        "O\u0308ko\u0308 grows",
        "the roe fell",
        "ヨーク の売上",
        "한국전자 매출",
        "한국 전자 매출",
        unicodedata.normalize("NFD", "한국전자"),
    ],
)
def test_an_outside_name_is_found_in_every_dress(text: str) -> None:
    span = GATE.find(text)
    assert span is not None
    assert 0 <= span.start < span.end <= len(text)
    assert not GATE.passes(text)
    refusal = GATE.refusal(text)
    assert refusal is not None
    assert refusal.reason is RefusalReason.OUT_OF_SCOPE


@pytest.mark.parametrize(
    "text",
    [
        "",
        "alphabeta corporate",
        "beta corporation",
        "Beta and Corp",
        "heroes",
        "ニューヨークの売上",
        "アクメの商事",
        "竞争和公司",
        "Ökönomie",
        ENGLISH,
        JAPANESE,
        CHINESE,
        *TEXTS[-4:],
    ],
)
def test_other_texts_pass(text: str) -> None:
    assert GATE.find(text) is None
    assert GATE.passes(text)
    assert GATE.refusal(text) is None


def test_blanks_between_letters_of_spaced_scripts_are_not_ignored() -> None:
    assert SecurityGate(["Beta"]).passes("B e t a")
    assert SecurityGate(["Beta"]).passes("be ta")


@quick
@given(
    st.sampled_from(["Beta Corp", "アクメ商事", "竞争公司", "Ökö", "パナソニック", "한국전자", "ガス会社AB"]),
    st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]),
    st.sampled_from([str.upper, str.lower, str.swapcase]),
    st.data(),
)
def test_a_name_is_found_in_any_form_case_and_spacing(
    name: str, form: str, case: Callable[[str], str], data: st.DataObject
) -> None:
    dressed = ""
    for c, following in pairwise([*name, " "]):
        between = data.draw(st.sampled_from(["", "\u200b", "\ufe0f", "\u200d\u200c", "\ufeff"]))
        if not c.isascii() and not following.isascii() and c not in "Öö":
            between += data.draw(st.sampled_from(["", " ", "\u3000", "\n", "\u200b \u200b", "\r\n", "\xa0"]))
        dressed += case(c) + between
    dressed = unicodedata.normalize(form, dressed)  # type: ignore[arg-type]
    gate = SecurityGate([name])
    for text in (dressed, f"👍 {dressed}。", f"x {dressed}, y", f"売上 {dressed} 売上"):
        assert not gate.passes(text)


def test_a_name_is_found_where_it_stands() -> None:
    text = "👍 売上は ｱｸﾒ 商事 が上"
    span = SecurityGate(["アクメ商事"]).find(text)
    assert span is not None
    assert text[span.start : span.end] == "ｱｸﾒ 商事"


def test_the_refusal_does_not_say_the_name_in_any_language() -> None:
    for language in ("en", "zh", "ja", "xx"):
        refusal = GATE.refusal("竞争公司 Beta Corp アクメ商事", language)
        assert refusal is not None
        assert not [name for name in ("竞争公司", "beta", "アクメ") if name in refusal.text.casefold()]


def test_inside_han_the_longest_name_wins() -> None:
    gate = SecurityGate(["東京電力"])
    text = "東京電力販売の売上"
    assert gate.find(text) == Span(0, 4)
    assert gate.find(text, known=[Span(0, 6)]) is None
    assert gate.find(text, known=[Span(0, 2)]) == Span(0, 4)
    assert gate.find("新東京電力の売上", known=[Span(0, 5)]) is None
    further = f"昨年の{text}"
    assert gate.find(further, known=[Span(3, 9)]) is None
    assert gate.find(further, known=[Span(3, 7)]) == Span(3, 7)  # one name for both: the gate holds
    assert gate.find(further, known=[Span(0, 6)]) == Span(3, 7)
    assert gate.find(f"{further}と東京電力", known=[Span(3, 9)]) == Span(13, 17)


def test_in_spaced_scripts_a_longer_known_name_hides_no_outside_name() -> None:
    text = "Beta Corp Holdings rose"
    assert SecurityGate(["Beta Corp"]).find(text, known=[Span(0, 18)]) == Span(0, 9)


def test_a_gate_without_names_lets_all_through() -> None:
    for gate in (SecurityGate(), SecurityGate(["", "  ", "\u200b"])):
        assert all(gate.passes(text) for text in TEXTS)


@quick
@given(
    st.text(alphabet="ab漢 \n\u200bＡ", max_size=10),
    st.text(alphabet="ab漢 \n\u200bＡ", max_size=10),
    st.sampled_from(["アクメ商事", "竞争公司"]),
)
def test_a_han_name_is_found_in_any_surroundings(left: str, right: str, name: str) -> None:
    assert not SecurityGate([name]).passes(f"{left}{name}{right}")
    assert not SecurityGate([name]).passes(f"{left} {name} {right}")
