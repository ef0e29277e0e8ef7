"""Differences of two texts: exact, ascending, and never slow."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.evidence import Span
from groundwire_server.text import Difference, differences

HOSTILE = ["\r\n", "\n", "\t", "\u2028", "e\u0301", "👩\u200d👩\u200d👧", "u\u0308", "\x00", "\ufeff", "　"]
WORDS = ["a", "bread", "3.5", "revenue", "売上", "收入", "ホテル", "。", ". ", "！", "\n", " ", *HOSTILE]
texts = st.lists(st.sampled_from(WORDS), max_size=40).map("".join)


def changed(old: str, new: str) -> list[tuple[str, str]]:
    return [(old[d.old.start : d.old.end], new[d.new.start : d.new.end]) for d in differences(old, new)]


def check(old: str, new: str, found: list[Difference]) -> None:
    """Put in place they make the new text; between them, and before and behind, both texts are equal."""
    made, at = [], 0
    for each in found:
        made += [old[at : each.old.start], new[each.new.start : each.new.end]]
        assert sum(map(len, made)) == each.new.end
        assert old[each.old.start : each.old.end] != new[each.new.start : each.new.end]
        at = each.old.end
    assert "".join([*made, old[at:]]) == new
    assert all(one.old.end < other.old.start or one.new.end < other.new.start for one, other in pairwise(found))


@given(texts, texts)
def test_any_two_texts(old: str, new: str) -> None:
    check(old, new, list(differences(old, new)))


@given(st.text(), st.text(), st.text())
def test_any_code_points(before: str, middle: str, after: str) -> None:
    for old, new in ((before + after, before + middle + after), (before + middle + after, before + after)):
        check(old, new, list(differences(old, new)))


@given(texts, st.lists(st.tuples(st.integers(0, 60), st.sampled_from(WORDS)), max_size=4))
def test_a_few_insertions(old: str, insertions: list[tuple[int, str]]) -> None:
    new = old
    for at, word in insertions:
        new = new[:at] + word + new[at:]
    found = list(differences(old, new))
    check(old, new, found)


@given(texts)
def test_equal_texts_have_none(text: str) -> None:
    assert list(differences(text, text)) == []


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("", "all", [("", "all")]),
        ("all", "", [("all", "")]),
        ("one\ntwo\nthree\n", "one\nthree\n", [("two\n", "")]),
        ("one\nthree\n", "one\ntwo\nthree\n", [("", "two\n")]),
        ("売上は12億円だった。\n次の行\n", "売上は15億円だった。\n次の行\n", [("2", "5")]),
        ("收入增长。利润下降。", "收入增长。利润上升。", [("下降", "上升")]),
        ("It rose 3.5 %. It fell.", "It rose 3.6 %. It fell.", [("5", "6")]),
        ("a\r\nb\r\n", "a\nb\n", [("\r", ""), ("\r", "")]),
        ("e\u0301", "é", [("e\u0301", "é")]),
        ("the quick fox", "the slow fox", [("quick", "slow")]),
        ("🙂 is 👩\u200d👧", "🙂 was 👩\u200d👧", [("i", "wa")]),
        ("}\n}\n}\n", "}\n}\n}\n}\n", [("", "}\n")]),
    ],
)
def test_what_a_person_would_mark(old: str, new: str, wanted: list[tuple[str, str]]) -> None:
    assert changed(old, new) == wanted


def _lines(count: int, kinds: int, seed: int) -> str:
    draw = random.Random(seed)
    return "".join(f"line {draw.randrange(kinds)} of a text\n" for _ in range(count))


BIG: dict[str, tuple[str, str]] = {
    "blank lines": ("\n" * 1_000_000, "\n" * 900_000 + "x\n" + "\n" * 100_000),
    "few kinds of lines": (_lines(60_000, 5, 1), _lines(60_000, 5, 2)),
    "many kinds of lines": (_lines(60_000, 50_000, 1), _lines(60_000, 50_000, 2)),
    "one line of one letter": ("a" * 1_000_000, "a" * 999_000 + "b" + "a" * 1_000),
    "one line of two letters": ("ab " * 350_000, "ba " * 350_000),
    "one line of words": (_lines(60_000, 9, 1).replace("\n", " "), _lines(60_000, 9, 2).replace("\n", " ")),
    "Han without marks": ("漢字" * 500_000, "字漢" * 500_000),
    "Han of some kinds": tuple("".join(random.Random(n).choices("一二三四五六七八九", k=500_000)) for n in (1, 2)),  # type: ignore[dict-item]
    "nothing in common": ("x\n" * 300_000, "y\n" * 300_000),
    "turned round": (_lines(40_000, 40_000, 3), "".join(reversed(_lines(40_000, 40_000, 3).splitlines(True)))),
}


@pytest.mark.parametrize("name", BIG)
def test_large_texts_take_a_bounded_number_of_steps(name: str) -> None:
    """It asks whether to go on every 50,000 steps; a quadratic comparison would do so a million times."""
    old, new = BIG[name]
    asked = 0

    def count() -> None:
        nonlocal asked
        asked += 1

    found = list(differences(old, new, count))
    assert asked < 200
    check(old, new, found)


def test_a_small_change_of_a_large_text_is_found_exactly() -> None:
    old = "".join(
        f"{n}. The price of bread in town {n % 97} was {n % 13}.5 on day {n}. 値段は{n % 7}円。\n"
        for n in range(20_000)
    )
    at = old.index("15000. The price") + 20
    new = old[:at] + "NEW " + old[at:]
    assert [(d.old, new[d.new.start : d.new.end]) for d in differences(old, new)] == [(Span(at, at), "NEW ")]


def test_it_can_be_stopped() -> None:
    class Stop(Exception):
        pass

    def stop() -> None:
        raise Stop

    old, new = BIG["few kinds of lines"]
    with pytest.raises(Stop):
        list(differences(old, new, stop))
