"""`groundwire trace ... --format`: relations, figures and their sources as a picture."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from tests.cli.commands import run, write, write_lines

GLOSSARY = """
[[metric]]
code = "REVENUE"
unit = "USD"
additivity = "sum"
[[metric]]
code = "COGS"
unit = "USD"
additivity = "none"
[[metric]]
code = "MARGIN"
derivation = "(REVENUE - COGS) / REVENUE"
[[entity]]
code = "ACME"
label = "Acme & <Söhne>"
[[entity]]
code = "ACME_JP"
parent = "ACME"
synonyms = {ja = ["アクメ日本"]}
[[entity]]
code = "ACME_UK"
parent = "ACME"
"""


def plant() -> None:
    write(".", {"glossary.toml": GLOSSARY})
    assert run("glossary", "load", "glossary.toml").code == 0
    facts = [
        {"metric": "REVENUE", "entity": "ACME_JP", "period": "FY2024", "value": "120.50", "unit": "USD"},
        {"metric": "COGS", "entity": "ACME_JP", "period": "FY2024", "value": "60", "unit": "USD"},
    ]
    rows = [{**fact, "source_doc": "book.csv", "locator": f"row={place}"} for place, fact in enumerate(facts, 2)]
    assert run("facts", "load", write_lines("facts.jsonl", rows)).code == 0


OPERATIONS = [
    ("around", "ACME", "--hops", "2"),
    ("paths", "ACME_JP", "ACME_UK"),
    ("closure", "ACME", "--relation", "parent_of"),
    ("ancestors", "ACME_JP", "ACME_UK"),
    ("rollup", "REVENUE", "ACME", "FY2024"),
    ("compare", "REVENUE", "FY2024", "ACME_JP", "ACME_UK"),
    ("derivation", "MARGIN", "ACME_JP", "FY2024"),
]


def test_every_operation_has_a_picture_in_every_form() -> None:
    plant()
    for words in OPERATIONS:
        drawn = {form: run("trace", *words, "--format", form) for form in ("mermaid", "dot", "svg")}
        assert {ran.code for ran in drawn.values()} == {0}, drawn
        assert drawn["mermaid"].out.startswith("flowchart TD\n")
        assert drawn["dot"].out.startswith("digraph trace {\n")
        texts = "\n".join(ElementTree.fromstring(drawn["svg"].out).itertext())
        assert "ACME" in texts
        assert drawn["svg"].out == run("trace", *words, "--format", "svg").out


def test_a_sum_is_shown_with_what_it_goes_over_its_figures_their_sources_and_what_is_missing() -> None:
    plant()
    ran = run("trace", "rollup", "REVENUE", "ACME", "FY2024", "--operands", "5", "--format", "svg")
    texts = [text.strip() for text in ElementTree.fromstring(ran.out).itertext() if text.strip()]
    for shown in ("Acme & <Söhne>", "parent_of", "glossary.toml#entity=ACME_JP", "120.50 USD", "book.csv#row=2"):
        assert shown in texts, texts
    assert "partial" in texts
    assert "not found" in texts  # ACME_UK has no figure
    assert any(text.startswith("summary") for text in texts)
    assert "summary" in ran.err


def test_a_derivation_is_shown_down_to_its_cells() -> None:
    plant()
    out = run("trace", "derivation", "MARGIN", "ACME_JP", "FY2024", "--format", "mermaid").out
    assert "book.csv#35;row=2" in out
    assert out.count("|") >= 4  # the two operands, by their places in the formula


def test_formats_for_people_and_programs_are_those_without_one() -> None:
    plant()
    for words in OPERATIONS[:2]:
        assert run("trace", *words, "--format", "table").out == run("trace", *words).out
    frames = [frame["frame"] for frame in run("trace", *OPERATIONS[0], "--format", "json").frames]
    assert frames == ["StreamHeader", "SnippetBatch", "StreamSummary"]
    ran = run("trace", *OPERATIONS[0], "--json", "--format", "svg")
    assert ran.code == 2
    assert "say two things" in ran.complaint


@pytest.mark.parametrize("form", ["mermaid", "dot", "svg"])
def test_what_is_refused_is_said_in_the_picture(form: str) -> None:
    plant()
    ran = run("trace", "rollup", "COGS", "ACME", "FY2024", "--format", form)
    assert "refused" in ran.out, ran
    ran = run("trace", "around", "Nobody", "--format", form)
    assert (ran.code, ran.out) == (1, "")
