"""The YAML form of a glossary: the same terms as the TOML form, the same faults, each with its line."""

from __future__ import annotations

import tomllib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import InvalidRequest
from groundwire_server.glossary import Glossary, Resolved, Term
from tests.glossary.test_glossary import TOML, terms

YAML = """
metric:
  - code: REVENUE
    label: Revenue
    unit: USD
    additivity: sum
    nature: flow
    definition: What customers paid.
    synonyms: {en: [turnover, net sales], ja: [売上高], zh: [营业收入]}
  - code: MARGIN
    derivation: (REVENUE - COGS) / REVENUE
entity:
  # Norway, and a share that looks like a number
  - code: NO
    ids: {ticker: 7203, iso3166: NO}
    fiscal_year_start: 04-01
    fiscal_year_named_by: start
    parent: ON
  - code: ON
    label: ~
    parent:
    synonyms:
      any: [yes, 1e3, 12:30, 0x1F, 2024-01-01, "null"]
relation:
  - code: rivals
    symmetric: true
"""


def test_scalars_are_the_texts_that_stand_there() -> None:
    glossary = Glossary.from_yaml(YAML)
    norway = glossary.entities["NO"]
    assert (norway.parent_code, norway.fiscal_year_start) == ("ON", "04-01")
    assert [identifier.value for identifier in norway.identifiers] == ["7203", "NO"]
    assert glossary.entities["ON"].label == ""
    names = [synonym.text for synonym in glossary.entities["ON"].synonyms]
    assert names == ["yes", "1e3", "12:30", "0x1F", "2024-01-01", "null"]
    assert glossary.relations["rivals"].symmetric
    assert glossary.resolve_metric("売上高") == Resolved("REVENUE")
    assert type(norway.code) is str
    assert glossary.places == (
        "entity[0], line 14",
        "entity[1], line 19",
        "metric[1], line 10",
        "metric[0], line 3",
        "relation[0], line 25",
    )


def _as_yaml(value: object) -> str:
    """A value in flow style, every text in quotes and escaped but for letters and digits of ASCII."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_as_yaml(key)}: {_as_yaml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_as_yaml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    escaped = (c if c.isascii() and c.isalnum() else f"\\U{ord(c):08x}" for c in str(value))
    return f'"{"".join(escaped)}"'


def test_it_says_what_the_toml_form_says() -> None:
    glossary = Glossary.from_toml(TOML)
    assert Glossary.from_yaml(_as_yaml(tomllib.loads(glossary.to_toml()))) == glossary


@given(terms())
def test_any_glossary_is_the_same_in_yaml(made: list[Term]) -> None:
    glossary = Glossary(made, ambiguous="report")
    again = Glossary.from_yaml(_as_yaml(tomllib.loads(glossary.to_toml())), ambiguous="report")
    assert again == glossary


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("metric:\n  - code: A\n  - label: B\n", "metric[1].code: a text is needed (line 3)"),
        ("metric:\n  - code: A\n    additivity: yes\n", "metric[0].additivity: 'yes' is none of none, sum (line 2)"),
        ("metric:\n  - code: A\n    sinonyms: []\n", "metric[0].sinonyms: no such field"),
        ("metric:\n  - code: A\n    code: B\n", "glossary: 'code' stands already on line 2 (line 3)"),
        ("metric:\n  - code: A\n  - code: A\n", "metric[1].code: 'A' stands already at metric[0], line 2 (line 3)"),
        ("metric:\n  - code: [A]\n", "metric[0].code: a text is needed (line 2)"),
        ("metric:\n  - A\n", "metric: a list of maps is needed (line 1)"),
        ("metric: A\n", "metric: a list of maps is needed (line 1)"),
        ("\nthing:\n  - code: A\n", "thing: no such kind of term; known: metric, entity"),
        ("- code: A\n", "glossary: a map with lists of terms is needed"),
        ("A\n", "glossary: a map with lists of terms is needed"),
        (
            "metric:\n  - &a {code: A}\n  - *a\n",
            "glossary: anchors and aliases are not read; write the value out (line 2)",
        ),
        (
            "metric:\n  - code: A\n    <<: {unit: USD}\n",
            "merged keys (<<) are not read; write them out (line 3)",
        ),
        ("metric:\n  - code: !!python/object:os.system A\n", "glossary: tags (!...) are not read (line 2)"),
        ("metric:\n  - ? [a]\n    : b\n", "glossary: a key is a text (line 2)"),
        ("metric: []\n---\nmetric: []\n", "glossary: a second document begins (line 2)"),
        ("metric:\n\t- code: A\n", "glossary: no YAML at line 2, column 1"),
        ("metric: [\n", "glossary: no YAML at line 2, column 1"),
        ("metric: \x07\n", "glossary: no YAML"),
        ("relation:\n  - code: a\n    symmetric: maybe\n", "relation[0].symmetric: true or false is needed (line 2)"),
        (
            "entity:\n  - code: A\n    synonyms: {en: [null]}\n",
            "entity[0].synonyms.en: a list of texts is",
        ),
        ("[" * 50, "glossary: it is nested more than 8 deep (line 1)"),
        ("[" * 100_000, "glossary: no YAML at line 1"),
        ("metric: " + "{a: " * 9 + "}" * 9, "glossary: it is nested more than 8 deep (line 1)"),
    ],
)
def test_what_does_not_hold_is_named_with_its_line(text: str, fault: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        Glossary.from_yaml(text)
    assert fault in str(raised.value)


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "~\n", "---\n...\n", "metric: []\n", "metric:\n"])
def test_nothing_is_an_empty_glossary(text: str) -> None:
    if text == "metric:\n":
        with pytest.raises(InvalidRequest, match="a list of maps"):
            Glossary.from_yaml(text)
    else:
        assert len(Glossary.from_yaml(text)) == 0


@given(st.text(st.sampled_from("abAB:-[]{},&*!|>'\"%@`#?~ \n\t\r\u2028é売😀\u200d0"), max_size=60))
def test_any_text_is_a_glossary_or_a_typed_fault(text: str) -> None:
    with suppress(InvalidRequest):
        Glossary.from_yaml(text, ambiguous="report")
