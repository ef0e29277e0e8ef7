"""Outside names are found however they are written, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.evidence import RefusalReason, Span
from groundwire_server.glossary import EntityTerm, Glossary, Synonym
from groundwire_server.security import SecurityGate

GATE = SecurityGate(["Initech", "Hooli Bank", "競合電機", "ヨーク", "中国石油", "対抗Corp"])


@pytest.mark.parametrize(
    "text",
    [
        "What was Initech's revenue in 2023?",
        "INITECH",
        "ｉｎｉｔｅｃｈ の売上",
        "Ini\u200btech revenue",
        "I\u00adnitech\ufeff",
        "initech売上",
        "hooli\u3000bank",
        "Hooli\nBank and us",
        "競合電機の利益",
        "競 合　電\n機の利益",
        "競\u200d合電機",
        "ヨークの人口",
        "ﾖｰｸの人口",
        "中国石油的收入",
        "対抗Corp は?",
        "Hooli-Bank",
        "hooli_bank_2023",
        "HOOLI–BANK's revenue",
        "Hooli.Bank, Hooli/Bank",
        "Ｈｏｏｌｉ＿Ｂａｎｋ",
        "Hooli \u200b- \u2060Bank",
        "my_initech_file",
        "競・合・電・機",
    ],
)
def test_a_named_outside_name_is_refused(text: str) -> None:
    refusal = GATE.refusal(text, "ja")
    assert refusal is not None
    assert refusal.reason is RefusalReason.OUT_OF_SCOPE
    assert not any(character.isdigit() for character in refusal.text)


@pytest.mark.parametrize(
    "text",
    [
        "Initechnology grew",
        "reinitech",
        "hoolibank",
        "Hooli river bank",
        "They met Hooli. Bank of Ireland grew",
        "Hooli---- bank",
        "Hooli; bank",
        "ニューヨークの人口",
        "競合する電機",
        "中国の石油",
        "",
        "😀",
    ],
)
def test_what_only_looks_like_one_passes(text: str) -> None:
    assert GATE.find(text) is None
    assert GATE.passes(text)


def test_inside_han_the_longer_known_name_wins() -> None:
    text = "中国石油大学的学生"
    assert GATE.find(text) == Span(0, 4)
    assert GATE.find(text, known=[Span(0, 6)]) is None
    assert GATE.find(text, known=[Span(0, 4)]) == Span(0, 4)


def test_in_spaced_scripts_a_longer_known_name_hides_nothing() -> None:
    assert GATE.find("Initech market share", known=[Span(0, 20)]) == Span(0, 7)


def test_the_first_place_is_told_in_code_points_of_the_source() -> None:
    assert GATE.find("😀ﬁ Ｉnitech, Initech") == Span(3, 10)


def test_an_empty_gate_lets_everything_through() -> None:
    gate = SecurityGate(["", "  ", "\u200b"])
    assert not gate
    assert gate.find("Initech") is None


NAMES = ["Initech", "競合電機", "Hooli Bank"]
PADDING = st.text(alphabet="。、 .!?()\n", max_size=3)


@given(name=st.sampled_from(NAMES), before=PADDING, after=PADDING, hidden=st.lists(st.integers(0, 20), max_size=4))
def test_invisible_characters_never_hide_a_name(name: str, before: str, after: str, hidden: list[int]) -> None:
    written = name
    for at in hidden:
        at %= len(written) + 1
        written = written[:at] + "\u200b" + written[at:]
    assert GATE.find(before + written + after) is not None
    assert GATE.find(before + written.upper() + after) is not None


JOINED = st.lists(
    st.sampled_from([" ", "-", "_", "‐", "–", "・", ",", "/", "＿", "－", "\u3000"]), min_size=1, max_size=3
)
UNSEEN = st.sampled_from(["\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\ufe0f"])


@given(marks=JOINED, unseen=st.lists(UNSEEN, max_size=4), wide=st.booleans(), outside=st.sampled_from([" ", "-", "_"]))
def test_words_of_a_name_may_be_joined_by_marks(marks: list[str], unseen: list[str], wide: bool, outside: str) -> None:
    gate = SecurityGate([f"Rival{outside}Industries"])
    written = "Rival" + "".join(unseen) + "".join(marks) + "Industries"
    if wide:
        written = "".join(chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in written)
    assert gate.find(f"the {written} report") is not None
    assert gate.find(f"({written})") is not None


@given(
    letter=st.sampled_from("azÀяß9"), text=st.sampled_from(["Rival-Industries", "Rival Industries", "rival_industries"])
)
def test_a_letter_at_a_border_makes_another_word(letter: str, text: str) -> None:
    gate = SecurityGate(["Rival Industries"])
    assert gate.passes(letter + text)
    assert gate.passes(text + letter)


@given(name=st.text(min_size=1, max_size=8), before=PADDING, after=PADDING)
def test_any_name_is_found_as_it_is_written(name: str, before: str, after: str) -> None:
    gate = SecurityGate([name])
    assert not gate or gate.find(f"{before}\n{name}\n{after}") is not None


def test_what_the_glossary_reads_as_the_name_the_gate_does_too() -> None:
    glossary = Glossary([EntityTerm("RIVAL", label="Rival Industries", synonyms=(Synonym("競合電機", "ja"),))])
    gate = SecurityGate(["Rival Industries", "競合電機"])
    marks = " -‐‑–—'’.,/&·・:()[]\"“”\n"
    written = [f"{left}{mark}{right}" for mark in marks for left, right in (("Rival", "Industries"), ("競合", "電機"))]
    read = [each for each in written if glossary.find_terms(f"Is {each} here")]
    assert len(read) > len(marks)
    assert [each for each in read if gate.passes(f"Is {each} here")] == []
