"""How a text falls into what names are made of."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.glossary.mentions import _atoms
from groundwire_server.text import is_cjk, normalize
from tests.support.hostile_text import hostile_text


def by_character(normal: str) -> Iterator[tuple[str, int, int]]:
    """The same, one character after another."""
    start = 0
    while start < len(normal):
        end = start + 1
        if _alone(normal[start]):
            yield normal[start], start, end
        elif _in_word(normal[start]):
            while end < len(normal) and _in_word(normal[end]) and not _alone(normal[end]):
                end += 1
            yield normal[start:end], start, end
        start = end


def _alone(char: str) -> bool:
    return is_cjk(char) or char in "%‰#" or unicodedata.category(char)[0] == "S"


def _in_word(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char)[0] == "M"


@settings(max_examples=200)
@given(hostile_text() | st.text(alphabet="aé5%#$+ 京カ゛\u3099\u0301ー・.-²½\u200d\n", max_size=40))
def test_atoms_are_those_of_a_look_at_each_character(text: str) -> None:
    normal = normalize(text)
    atoms = _atoms(normal)
    assert list(zip(atoms.texts, atoms.starts, atoms.ends, strict=True)) == list(by_character(normal))
