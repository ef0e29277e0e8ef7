"""A model's text in sentences: whole ones only, the same however it came in pieces."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.router.prose import LONGEST_SENTENCE, Prose
from tests.support.hostile_text import hostile_text


def sentences(*pieces: str) -> list[tuple[str, str]]:
    prose = Prose()
    found = [each for piece in pieces for each in prose.feed(piece)]
    return [(each.before, each.text) for each in [*found, *prose.close()]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rose 3.5 % [1]. It fell [2].", ["It rose 3.5 % [1].", "It fell [2]."]),
        ("It rose. [1] [2] It fell.[3] Now", ["It rose. [1] [2]", "It fell.[3]", "Now"]),
        ("売上は増えた[1]。費用も増えた。[2]以上", ["売上は増えた[1]。", "費用も増えた。[2]", "以上"]),
        ("收入增长【1】。成本下降［2］！", ["收入增长【1】。", "成本下降［2］！"]),
        ("Acme Inc. grew by approx. 5 U.S. stores [1]. Mr. J. Doe left [2].", 2),
        ("See example.com and v2.0 of No. 5 [1]. e.g. this [2].", 1),
        ("1. It rose [1].\n2. It fell [2].", ["1. It rose [1].", "2. It fell [2]."]),
        ("He said “It rose. It fell.” in 2023 [1]. Then", ["He said “It rose. It fell.” in 2023 [1].", "Then"]),
        ("彼は「増えた。減った。」と言った[1]。次", ["彼は「増えた。減った。」と言った[1]。", "次"]),
        ('It says "Up. Down." [1] Next [2].', ['It says "Up. Down." [1]', "Next [2]."]),
        ("Yahoo! shares rose [1]. Was it so? Yes [2].", ["Yahoo! shares rose [1].", "Was it so?", "Yes [2]."]),
        ("It rose. [sic] Now [1].", ["It rose.", "[sic] Now [1]."]),
        ("Costs rose; income fell [1].", ["Costs rose; income fell [1]."]),
        ("\n\n  \n", []),
        ("", []),
    ],
)
def test_where_sentences_end(text: str, expected: list[str] | int) -> None:
    found = [text for _, text in sentences(text)]
    assert (len(found) if isinstance(expected, int) else found) == expected


def test_what_stands_between_is_kept() -> None:
    assert sentences("A [1]. B [2].\n\nC [3]. 増えた。減った。") == [
        ("", "A [1]."),
        (" ", "B [2]."),
        ("\n", "C [3]."),
        ("", "増えた。"),
        ("", "減った。"),
    ]


def test_nothing_is_given_before_it_is_certain() -> None:
    prose = Prose()
    for piece in ("It rose 3", ".", "5 %", " [1", "]", ".", " "):
        assert prose.feed(piece) == []
    assert [each.text for each in prose.feed("A")] == ["It rose 3.5 % [1]."]


def test_characters_that_turn_text_around_are_left_out() -> None:
    assert sentences("It rose \u202e12\u202c % \u200b[1].\x00") == [("", "It rose 12 % [1].")]


def test_a_text_without_an_end_is_cut() -> None:
    assert [len(text) for _, text in sentences("x" * (2 * LONGEST_SENTENCE + 5))] == [LONGEST_SENTENCE] * 2 + [5]


_MARKED = st.lists(
    st.sampled_from(
        [".", "。", "!", "[1]", "［2］", "[", "]", " ", "\n", "It", "a", "3", "5", "“", "”", '"', "Inc", "増"]
    )
).map("".join)


@settings(max_examples=200, deadline=None)
@given(st.one_of(_MARKED, hostile_text()), st.lists(st.integers(0, 400), max_size=12))
def test_pieces_make_no_difference(text: str, cuts: list[int]) -> None:
    places = sorted({min(cut, len(text)) for cut in cuts})
    pieces = [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]
    assert sentences(*pieces) == sentences(text)
    assert sentences(*text) == sentences(text)
