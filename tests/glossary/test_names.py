"""When two spellings are one name."""

from __future__ import annotations

import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.glossary import (
    Ambiguous,
    NameIndex,
    Resolved,
    Unknown,
    resolve_name,
)
from groundwire_server.glossary.names import name_key, variant_keys, without_note, words_of

WORDS = st.lists(
    st.text(st.characters(codec="utf-8", categories=["L", "N"]), min_size=1, max_size=6), min_size=1, max_size=4
)


@given(WORDS, st.sampled_from([" ", "  ", "-", "\u3000", " - ", "_", "\t", "\u2028"]))
def test_spacing_case_and_width_make_no_other_name(words: list[str], gap: str) -> None:
    name = " ".join(words)
    assert name_key(gap.join(words)) == name_key(name)
    assert name_key(name.upper()) == name_key(name.upper().lower())
    assert name_key(unicodedata.normalize("NFD", name)) == name_key(name)
    assert name_key(f"  {name}. ") == name_key(name)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Long-term Debt", "LongTermDebt"),
        ("Ｎｅｔ　Income", "net income"),
        ("売上 高", "売上高"),
        ("ｳﾘｱｹﾞ", "ウリアゲ"),
        ("Antigua & Barbuda", "Antigua Barbuda"),
        ("stockholders' equity", "Stockholders’ Equity"),
        ("Côte d'Ivoire", "Co\u0302te d’Ivoire"),
        ("Amazon.com, Inc.", "amazon.com inc"),
    ],
)
def test_one_name(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("1.5", "15"), ("3 5", "35"), ("C", "C++"), ("10%", "10"), ("C", "C#"), ("か", "が"), ("US$", "US")],
)
def test_two_names(one: str, other: str) -> None:
    assert name_key(one) != name_key(other)


@pytest.mark.parametrize("name", ["—", "…", "()", "、"])
def test_a_name_of_punctuation_is_still_a_name(name: str) -> None:
    assert name_key(name)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Assets, Current", "current assets"),
        ("operating expenses", "Operating Expense"),
        ("Inventories", "inventory"),
        ("Taxes on income", "tax on income"),
        ("net sales", "sales net"),
        ("Korea, Republic of", "Republic of Korea"),
        ("総資産 合計", "合計 総資産"),
    ],
)
def test_variants(one: str, other: str) -> None:
    assert variant_keys(one) & variant_keys(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("debt to equity", "equity to debt"),
        ("price per share", "share per price"),
        ("income before taxes", "taxes before income"),
        ("basis", "basi"),
        ("gross profit", "gros profit"),
        ("New Corp", "News Corp"),
        ("net income", "net incomes statement"),
    ],
)
def test_no_variants(one: str, other: str) -> None:
    assert not variant_keys(one) & variant_keys(other)


def test_words_of_both_scripts() -> None:
    assert words_of("香港revenue 2024年") == ["香港", "revenue", "2024", "年"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Revenue (Note 2)", "Revenue"),
        ("売上高（注１）", "売上高"),
        ("总资产【审计】", "总资产"),
        ("Income Tax Expense (Benefit) [restated]", "Income Tax Expense (Benefit)"),
        ("(Loss) profit", "(Loss) profit"),
        ("(Note)", "(Note)"),
    ],
)
def test_a_note_at_the_end(name: str, expected: str) -> None:
    assert without_note(name) == expected


INDEX = NameIndex(
    [
        ("REVENUE", "REVENUE"),
        ("REVENUE", "Net sales"),
        ("REVENUE", "売上高"),
        ("SALES_TAX", "SALES_TAX"),
        ("SALES_TAX", "Sales tax"),
        ("GDP", "GDP"),
        ("GDP_REAL", "GDP_REAL"),
        ("GDP_REAL", "GDP (constant prices)"),
        ("DEBT", "DEBT"),
        ("DEBT", "long-term debt"),
        ("DEBT_NET", "DEBT_NET"),
        ("DEBT_NET", "Long-Term Debt"),
    ],
    variants=True,
)


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ("REVENUE", "REVENUE"),
        ("revenue", "REVENUE"),
        ("NET-SALES", "REVENUE"),
        ("sale, net", "REVENUE"),
        ("売 上 高", "REVENUE"),
        ("tax sales", "SALES_TAX"),
        ("GDP (current US$)", "GDP"),
        ("GDP (constant prices)", "GDP_REAL"),
        ("revenues (restated)", "REVENUE"),
        ("DEBT", "DEBT"),
        (" DEBT_NET ", "DEBT_NET"),
    ],
)
def test_a_name_resolves(raw: str, code: str) -> None:
    assert resolve_name(raw, (INDEX,)) == Resolved(code)


def test_a_shared_name_is_never_picked() -> None:
    assert resolve_name("long term debt", (INDEX,)) == Ambiguous(("DEBT", "DEBT_NET"))
    assert resolve_name("long term debts", (INDEX,)) == Ambiguous(("DEBT", "DEBT_NET"))


@pytest.mark.parametrize("raw", ["", "  ", "revenu", "revnue", "sales taxi", "ne", "売上"])
def test_nothing_near_is_applied(raw: str) -> None:
    assert isinstance(resolve_name(raw, (INDEX,)), Unknown)


def test_a_note_is_kept_where_it_must_be() -> None:
    assert resolve_name("GDP (current US$)", (INDEX,), drop_note=False, suggest=False) == Unknown()


def test_the_first_index_wins_within_a_step_and_an_earlier_step_before_it() -> None:
    first = NameIndex([("A", "asset")], variants=True)
    second = NameIndex([("B", "assets"), ("C", "asset")], variants=True)
    assert resolve_name("asset", (first, second)) == Resolved("A")
    assert resolve_name("assets", (first, second)) == Resolved("B")
    assert resolve_name("C", (first, second)) == Resolved("C")


def test_entities_have_no_plural() -> None:
    index = NameIndex([("NEWS", "New Corp")], variants=False)
    assert isinstance(resolve_name("New Corps", (index,)), Unknown)
    assert resolve_name("new corp", (index,)) == Resolved("NEWS")


def _likeness(one: str, other: str) -> float:
    """Dice over pairs of characters, counted in the plainest way."""
    pairs = [[f"\x02{key}\x03"[at : at + 2] for at in range(len(key) + 1)] for key in (name_key(one), name_key(other))]
    total, shared, rest = len(pairs[0]) + len(pairs[1]), 0, list(pairs[1])
    for pair in pairs[0]:
        if pair in rest:
            rest.remove(pair)
            shared += 1
    return 2 * shared / total


@pytest.mark.parametrize("seed", range(5))
def test_suggestions_are_the_nearest_names(seed: int) -> None:
    chosen = random.Random(seed)
    names = ["".join(chosen.choices("abcd 売上高", k=chosen.randint(1, 9))).strip() or "a" for _ in range(60)]
    index = NameIndex([(f"C{number}", name) for number, name in enumerate(names)], variants=False)
    for _ in range(40):
        raw = "".join(chosen.choices("abcd 売上高", k=chosen.randint(1, 9)))
        found = resolve_name(raw, (index,))
        if not isinstance(found, Unknown) or not raw.strip():
            continue
        best = sorted((-_likeness(raw, name), name) for name in names)
        near = [likeness for likeness, _ in best if -likeness >= 0.3]
        shown = [-_likeness(raw, index_name(index, suggestion, names)) for suggestion in found.suggestions]
        assert shown == sorted(shown)
        assert shown == near[: len(shown)]
        assert len(shown) == min(5, len(near))


def index_name(index: NameIndex, suggestion: str, names: list[str]) -> str:
    """The name behind a suggestion, which is a code where several terms share the name."""
    return suggestion if suggestion in names and suggestion not in index.codes else names[int(suggestion[1:])]


@given(st.text(st.characters(max_codepoint=127)))
def test_words_of_ascii_are_those_of_any_text(text: str) -> None:
    # Behind a word of another script the same text is read character by character.
    assert [*words_of(text), "漢"] == words_of(f"{text} 漢")
