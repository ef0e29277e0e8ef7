"""Documents, figures, relations and terms that cannot be stored: each is named, and the others go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from groundwire.v1 import admin_pb2, errors_pb2, glossary_pb2, ingest_pb2, metric_pb2, narrative_pb2
from tests.bad_input.conftest import Tell
from tests.bad_input.table import of_call, of_cause, of_rows
from tests.rpc.house import (
    Documents,
    Facts,
    House,
    document_part,
    fact,
    finish,
    furnish,
    house,
    snippets,
    start,
    term,
)
from tests.rpc.serving import failure_of

PREFIX = "ERROR_REASON_"
REASONS = {value.number: value.name.removeprefix(PREFIX) for value in errors_pb2.ErrorReason.DESCRIPTOR.values}
METRIC = glossary_pb2.TERM_KIND_METRIC


def finds(here: House, words: str) -> list[str]:
    request = narrative_pb2.NarrativeRetrieveRequest(query=words, mode=narrative_pb2.RETRIEVAL_MODE_LEXICAL)
    return [each.lineage.doc_id for each in snippets(here.narrative.NarrativeRetrieve(request))]


# ---- documents -----------------------------------------------------------------------------------------------------

TEXT = b"A perfectly good text."


@pytest.mark.parametrize(
    ("doc_id", "raw", "head"),
    [
        ("photo.md", bytes(range(256)) * 4, {}),
        ("empty.md", b"", {}),
        ("blank.md", b" \n\t\n", {}),
        ("movie.mp4", TEXT, {}),
        ("page", TEXT, {"media_type": "application/x-unknown"}),
        ("text.md", TEXT, {"charset": "klingon"}),
        ("japanese.txt", "日本".encode("shift_jis"), {"charset": "utf-8"}),
        ("hash.md", TEXT, {"content_sha256": b"0" * 32}),
        ("short_hash.md", TEXT, {"content_sha256": b"0"}),
        ("", TEXT, {}),
        ("line\nbreak.md", TEXT, {}),
        ("x" * 513, TEXT, {}),
        ("chunker.md", TEXT, {"chunker": "scissors"}),
        ("meaning.md", TEXT, {"chunker": "semantic"}),
        ("attribute.md", TEXT, {"attributes": [{"name": "Colour", "value": {"string_value": "red"}}]}),
        ("built_in.md", TEXT, {"attributes": [{"name": "ingested_at", "value": {"string_value": "now"}}]}),
        ("typed.md", TEXT, {"attributes": [{"name": "size", "value": {"string_value": "large"}}]}),
        ("front.md", b"+++\nx = \n+++\nText.", {}),
        ("rows.jsonl", b'{"doc_id": "a", "text": "ok"}\nnot json\n', {}),
    ],
    ids=[
        "no_text",
        "empty",
        "blank",
        "suffix",
        "media_type",
        "charset",
        "wrong_charset",
        "hash",
        "short_hash",
        "no_id",
        "id_with_line_break",
        "id_of_513_bytes",
        "chunker",
        "chunker_without_model",
        "attribute_name",
        "built_in_attribute",
        "attribute_type",
        "front_matter",
        "json_lines",
    ],
)
def test_a_document(here: House, told: Tell, doc_id: str, raw: bytes, head: dict[str, Any]) -> None:
    frames = here.ingest.IngestDocuments(
        iter(
            [
                start(Documents),
                Documents(part=document_part(1, "before.md", b"It came before.")),
                Documents(part=document_part(2, doc_id, raw, **head)),
                Documents(part=document_part(3, "behind.md", b"Whatever came before: this ocelot is stored.")),
                finish(Documents, 3),
            ]
        )
    )
    outcomes = {frame.outcome.seq: frame.outcome for frame in frames if frame.HasField("outcome")}
    assert not outcomes[1].HasField("error")
    assert not outcomes[3].HasField("error")
    assert "behind.md" in finds(here, "ocelot")
    told(of_cause(outcomes[2].error, REASONS))


# ---- figures and relations -----------------------------------------------------------------------------------------


def row(**more: Any) -> dict[str, Any]:
    return {"metric": "population", "entity": "ROW", "period": "2020", "value": "5", "unit": "persons", **more}


@pytest.mark.parametrize(
    "fields",
    [
        {"value": ""},
        {"value": "n.a."},
        {"value": "1.234,5"},
        {"value": "9" * 1001},
        {"metric": ""},
        {"entity": " "},
        {"period": "soon"},
        {"period": ""},
        {"source_doc": ""},
        {"locator": ""},
        {"source_doc": "s" * 513},
        {"unit": "EUR"},
        {"decimals": 1001},
        {"entity": "two\nlines"},
        {"dimensions": [{"name": "segment"}]},
        {"dimensions": [{"name": f"d{n}", "member": "m"} for n in range(33)]},
        {"attributes": [{"name": "x"}]},
        {"attributes": [{"name": f"a{n}", "value": {"int_value": n}} for n in range(257)]},
        {"attributes": [{"name": f"a{n}", "value": {"string_value": "字" * 1000}} for n in range(25)]},
        {"review_status": 99},
        {"valid_as_of": {"seconds": 1 << 40}},
    ],
    ids=[
        "no_value",
        "value_no_number",
        "value_of_a_locale",
        "value_too_long",
        "no_metric",
        "blank_entity",
        "period",
        "no_period",
        "no_source",
        "no_locator",
        "source_of_513_bytes",
        "unit",
        "decimals",
        "control_character",
        "half_a_dimension",
        "33_dimensions",
        "attribute_without_value",
        "257_attributes",
        "attributes_too_large",
        "review_status",
        "valid_as_of",
    ],
)
def test_a_figure(here: House, told: Tell, fields: dict[str, Any]) -> None:
    bad = fact(**{**row(), **fields})
    frames = here.store_facts(ingest_pb2.FactRecords(facts=[bad, fact(**row(entity="GOOD"))]))
    query = {"metric": "population", "entity": "GOOD", "period": "2020"}
    found = here.metric.QueryMetric(metric_pb2.QueryMetricRequest(queries=[query]))
    assert [each.fact.value for each in snippets(found)] == ["5"]
    told(of_rows([each for frame in frames for each in frame.rejected.rows], REASONS))


@pytest.mark.parametrize(
    "fields",
    [
        {"relation": ""},
        {"object": ""},
        {"valid_from": "1.4.2019"},
        {"valid_from": "2020-01-01", "valid_to": "2019-01-01"},
        {"subject_kind": "Two Words"},
    ],
    ids=["no_relation", "no_object", "day", "days_reversed", "kind"],
)
def test_a_relation(here: House, told: Tell, fields: dict[str, Any]) -> None:
    given = {"subject": "ASIA", "relation": "parent_of", "object": "JPN", "source_doc": "s", "locator": "l", **fields}
    frames = here.store_facts(ingest_pb2.FactRecords(relations=[ingest_pb2.RelationRecord(**given)]))
    told(of_rows([each for frame in frames for each in frame.rejected.rows], REASONS))


WIDE = '[columns]\nmetric = "#A"\n[constants]\nentity = "A"\n[wide]\nheading = "period"\n'
FIGURES_IN_TABLES: list[tuple[dict[str, Any], str]] = [
    ({"name": "f.csv"}, "x,A,2024,3/4,"),
    ({"name": "f.csv"}, "x,A,2024,#DIV/0!,"),
    ({"name": "f.csv"}, "x,A,2024,¥12,"),
    ({"name": "f.csv"}, 'x,A,2024,"1.234,5",'),
    ({"name": "f.csv"}, "x,A,2024,$12,EUR"),
    ({"name": "f.csv"}, "x,A,2024,1,\nx,A,2024,2,"),
    ({"name": "f.csv"}, ",A,soon,1,"),
]


@pytest.mark.parametrize(
    ("head", "raw"),
    [
        ({"name": "f.csv"}, b"metric,entity,period,value,source_doc,locator\npopulation,A,2020,,s,l\n"),
        ({"name": "f.csv"}, b"metric,entity\npopulation,A\n"),
        ({"name": "f.csv"}, b""),
        ({"name": "f.csv"}, bytes(range(256))),
        ({"name": "f.jsonl"}, b'{"metric": \n'),
        ({"name": "f.doc"}, b"x"),
        ({"name": "f.csv", "form": "xml"}, b"x"),
        ({"name": "f.xlsx"}, b"x"),
        ({"name": "f.csv", "mapping_toml": "x = "}, b"a\n1\n"),
        ({}, b"a\n1\n"),
        *((head, f"metric,entity,period,value,unit\n{text}\n".encode()) for head, text in FIGURES_IN_TABLES),
        ({"name": "f.csv", "mapping_toml": WIDE}, b"(USD in millions)\n(in thousands)\nItem,2024\nx,1\n"),
        ({"name": "f.csv", "mapping_toml": WIDE}, b"Item,2023,2024\nx,1,2\nItem,2021,2022\nx,3,4\n"),
        ({"name": "f.csv", "mapping_toml": WIDE}, b"Item,Note\nx,1\n"),
        ({"name": "f.csv", "mapping_toml": '[constants]\nentity = "FILL IN"\n'}, b"metric,period,value\nx,2024,1\n"),
        ({"name": "f.csv", "mapping_toml": 'scale = 12\ndecimal = ";"\nprice = 1\n'}, b"metric\n"),
        ({"name": "f.jsonl", "mapping_toml": "scale = 1000\n"}, b"{}\n"),
        ({"name": "f.parquet"}, b"x"),
        ({"name": "f.json"}, b"{}"),
    ],
    ids=[
        "no_value",
        "columns_missing",
        "empty",
        "no_text",
        "broken_json",
        "suffix",
        "form",
        "no_workbook",
        "mapping",
        "no_name",
        "fraction",
        "computed_in_vain",
        "yen_sign",
        "decimal_comma",
        "two_units",
        "two_values",
        "several_at_once",
        "two_scales",
        "two_tables",
        "no_period_in_the_heading",
        "mapping_to_fill_in",
        "mapping_keys",
        "mapping_of_a_table",
        "no_parquet",
        "no_company_facts",
    ],
)
def test_a_file_of_figures(here: House, told: Tell, head: dict[str, Any], raw: bytes) -> None:
    file = ingest_pb2.FactFilePart(head=ingest_pb2.FactFileHead(**head), content=raw, last_part=True)
    part = Facts(part=ingest_pb2.FactPart(seq=1, file=file))
    frames = list(here.ingest.IngestFacts(iter([start(Facts), part, finish(Facts, 1)])))
    told(of_rows([each for frame in frames for each in frame.rejected.rows], REASONS))


# ---- glossary ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {"put": [term(METRIC, "ASSET_TURNOVER", "sales")]},
        {"put": [term(METRIC, "")]},
        {"put": [term(0, "X")]},
        {"put": [term(METRIC, "X", "n" * 513)]},
        {"put": [term(glossary_pb2.TERM_KIND_ENTITY, "X", entity={"fiscal_year_start": "13-01"})]},
        {"put": [term(glossary_pb2.TERM_KIND_ENTITY, "X", entity={"parent_code": "NOWHERE"})]},
        {"put": [term(METRIC, "X", entity={"entity_type": "company"})]},
        {"put": [term(METRIC, "X", metric={"derivation": "(REVENUE - "})]},
        {"put": [term(METRIC, "X", metric={"derivation": "X + REVENUE"})]},
        {"put": [term(METRIC, "X")], "if_snapshot_id": "old"},
    ],
    ids=[
        "shared_synonym",
        "no_code",
        "no_kind",
        "long_name",
        "fiscal_year",
        "parent",
        "detail_of_another_kind",
        "no_formula",
        "made_of_itself",
        "changed_meanwhile",
    ],
)
def test_a_term(here: House, told: Tell, fields: dict[str, Any]) -> None:
    request = admin_pb2.UpdateGlossaryRequest(library_id="default", **fields)
    told(of_call(failure_of(lambda: here.admin.UpdateGlossary(request))))


def test_a_glossary_that_a_person_has_broken(tmp_path: Path, told: Tell) -> None:
    with house(tmp_path / "data") as running:
        furnish(running)
        file = tmp_path / "data/libraries/default/glossary.toml"
        file.write_text("[[metric]]\nlabel = 'no code'\n")
        request = admin_pb2.UpdateGlossaryRequest(library_id="default", put=[term(METRIC, "X")])
        told(of_call(failure_of(lambda: running.admin.UpdateGlossary(request))))
        assert file.read_text() == "[[metric]]\nlabel = 'no code'\n"
        described = running.metric.DescribeMetrics(metric_pb2.DescribeMetricsRequest())
        assert "REVENUE" in {each.term.code for each in described.terms}


@pytest.mark.parametrize(
    "library",
    [
        {"settings": [{"name": "k2", "value": "1"}]},
        {"settings": [{"name": "k1", "value": "much"}]},
        {"index": {"chunker": "scissors"}},
        {"index": {"chunker": "semantic"}},
        {"index": {"relation_extractor": "magic"}},
        {"index": {"relation_extractor": "llm"}},
        {"settings": [{"name": "budget_unit", "value": "words"}]},
        {"index": {"chunk_chars": 0}},
        {"index": {"chunk_chars": 100, "overlap_chars": 100}},
        {"attributes": [{"name": "Year", "value_type": 1}]},
        {"documents": 5},
    ],
    ids=[
        "unknown_setting",
        "value",
        "chunker",
        "chunker_without_model",
        "relation_extractor",
        "relation_extractor_without_model",
        "budget_unit",
        "chunk_chars",
        "overlap",
        "attribute",
        "output_only",
    ],
)
def test_settings_of_a_library(here: House, told: Tell, library: dict[str, Any]) -> None:
    request = admin_pb2.SaveLibraryRequest(library={"library_id": "default", **library})
    told(of_call(failure_of(lambda: here.admin.SaveLibrary(request))))
