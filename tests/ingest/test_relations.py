from __future__ import annotations

import json
from collections.abc import Iterable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import ErrorReason, InvalidRequest, RowRefused
from groundwire_server.evidence import Attribute, Label
from groundwire_server.glossary import (
    DEFAULT_RELATION_NAMES,
    EntityTerm,
    Glossary,
    MetricTerm,
    RelationNames,
    RelationTerm,
    Synonym,
)
from groundwire_server.ingest import RelationFields, RelationRules
from groundwire_server.ingest.relation_files import read_relation_file
from groundwire_server.ingest.relation_names import RelationMapping, parse_relation_mapping
from groundwire_server.ingest.relations import read_relation
from groundwire_server.store import EdgeRecord
from tests.support.hostile_text import hostile_text

GLOSSARY = Glossary(
    [
        EntityTerm("ACME", "Acme Inc", (Synonym("アクメ", "ja"), Synonym("Shared"))),
        EntityTerm("ACME_JP", "Acme Japan", (Synonym("Shared"),)),
        MetricTerm("REVENUE", "Revenue", (Synonym("売上高", "ja"),)),
    ],
    ambiguous="report",
)
RULES = RelationRules(GLOSSARY)


def fields(
    subject: str = "Acme Inc", relation: str = "competes_with", target: str = "X", **more: object
) -> RelationFields:
    return RelationFields(subject, relation, target, source_doc="d", locator="L1", **more)  # type: ignore[arg-type]


def ends(record: EdgeRecord) -> tuple[str, str, str, str, str]:
    return record.source_kind, record.source, record.relation, record.target_kind, record.target


def lines(*rows: dict[str, object]) -> bytes:
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()


def read(raw: bytes, rules: RelationRules = RULES, columns: dict[str, str] | None = None) -> list[EdgeRecord]:
    read = [record for _, record in read_relation_file("edges.jsonl", raw, rules, RelationMapping(columns or {}))]
    assert not [record for record in read if isinstance(record, RowRefused)]
    return [record for record in read if isinstance(record, EdgeRecord)]


def test_names_become_codes_and_what_is_unknown_its_own() -> None:
    assert ends(read_relation(fields("アクメ", "competes_with", "Ｚ Corp "), RULES)) == (
        "entity",
        "ACME",
        "competes_with",
        "literal",
        "Ｚ Corp",
    )
    assert ends(read_relation(fields("Ｎew Co", "competes_with", "acme inc"), RULES)) == (
        "entity",
        "New Co",
        "competes_with",
        "entity",
        "ACME",
    )
    assert ends(read_relation(fields("Revenue", "derives", "x", subject_kind="Metric"), RULES))[:2] == (
        "metric",
        "REVENUE",
    )


def test_without_a_glossary_names_are_codes() -> None:
    assert ends(read_relation(fields("Acme Inc", "likes", "b"), RelationRules())) == (
        "entity",
        "Acme Inc",
        "likes",
        "literal",
        "b",
    )


@pytest.mark.parametrize("relation", ["owned_by", "part_of", "subsidiary_of"])
def test_a_relation_is_turned_round_and_its_object_becomes_an_entity(relation: str) -> None:
    assert ends(read_relation(fields("Acme Japan", relation, "Holding"), RULES)) == (
        "entity",
        "Holding",
        "parent_of",
        "entity",
        "ACME_JP",
    )


@pytest.mark.parametrize(
    ("wrong", "column", "reason"),
    [
        (fields(""), "subject", ErrorReason.FACT_FIELD_MISSING),
        (fields(relation=" "), "relation", ErrorReason.FACT_FIELD_MISSING),
        (fields(target=""), "object", ErrorReason.FACT_FIELD_MISSING),
        (RelationFields("a", "b", "c", locator="L"), "source_doc", ErrorReason.FACT_FIELD_MISSING),
        (RelationFields("a", "b", "c", source_doc="d"), "locator", ErrorReason.FACT_FIELD_MISSING),
        (fields(valid_from="2019"), "valid_from", ErrorReason.VALUE_MALFORMED),
        (fields(valid_to="2019-02-30"), "valid_to", ErrorReason.VALUE_MALFORMED),
        (fields(valid_from="2019-02-02", valid_to="2019-02-01"), "valid_from", ErrorReason.CONTRADICTION),
        (fields(subject_kind="Nöde"), "subject_kind", ErrorReason.VALUE_MALFORMED),
        (fields("a\x00b"), "subject", ErrorReason.VALUE_MALFORMED),
        (fields(target="x" * 513), "object", ErrorReason.VALUE_MALFORMED),
        (fields("Shared"), "subject", ErrorReason.RELATION_UNKNOWN_END),
        (fields(target="Shared"), "object", ErrorReason.RELATION_UNKNOWN_END),
        (fields(target="Sales", object_kind="metric"), "object", ErrorReason.RELATION_UNKNOWN_END),
    ],
)
def test_a_bad_relation_names_its_field(wrong: RelationFields, column: str, reason: ErrorReason) -> None:
    with pytest.raises(RowRefused) as refused:
        read_relation(wrong, RULES)
    assert (refused.value.column, refused.value.reason) == (column, reason)


def test_an_ambiguous_name_lists_what_it_may_be() -> None:
    with pytest.raises(RowRefused, match="ACME, ACME_JP"):
        read_relation(fields("Shared"), RULES)


def test_a_file_with_everything() -> None:
    raw = lines(
        {
            "subject": "Acme Japan",
            "relation": "owned_by",
            "object": "Acme Inc",
            "valid_from": "2019-04-01",
            "label": "Confidential",
            "source_doc": "annual.pdf",
            "locator": "page=3",
            "pct": "51.50%",
            "note": "passed over",
        },
        {"subject": "X", "relation": "seat", "object": "Paris", "object_type": "city", "pct": 3},
    )
    assert read(raw) == [
        EdgeRecord(
            "entity",
            "ACME",
            "parent_of",
            "entity",
            "ACME_JP",
            "file",
            "annual.pdf",
            "page=3",
            "2019-04-01",
            "",
            (Attribute("pct", Decimal("51.50")),),
            Label.CONFIDENTIAL,
        ),
        EdgeRecord(
            "entity",
            "X",
            "seat",
            "city",
            "Paris",
            "file",
            "edges.jsonl",
            "line=2",
            attributes=(Attribute("pct", Decimal(3)),),
        ),
    ]


def test_an_object_that_is_an_entity_anywhere_in_the_file_is_one() -> None:
    rows: list[dict[str, object]] = [
        {"subject": "A", "relation": "supplies", "object": "B"},
        {"subject": "C", "relation": "supplies", "object": "D"},
        {"subject": "B", "relation": "supplies", "object": "49"},
        {"subject": "E", "relation": "owned_by", "object": "D"},
        {"subject": "F", "relation": "in", "object": "G", "subject_type": "city"},
        {"subject": "H", "relation": "in", "object": "F"},
    ]
    for ordered in (rows, rows[::-1]):
        kinds = {
            record.target: record.target_kind for record in read(lines(*ordered)) if record.relation != "parent_of"
        }
        assert kinds == {"B": "entity", "D": "entity", "49": "literal", "G": "literal", "F": "literal"}


def test_bad_rows_are_refused_one_by_one() -> None:
    good: dict[str, object] = {"subject": "A", "relation": "r", "object": "B"}
    raw = b"\n".join(
        [
            lines(good),
            b"no json",
            lines({**good, "object": ["B"]}),
            lines({**good, "pct": "half"}),
            lines({**good, "pct": True}),
            lines({**good, "source_doc": "x"}),
            lines({**good, "valid_to": 2019}),
            lines({"subject": "A"}),
            lines({**good, "object": 49}),
        ]
    )
    outcome = [
        (row, record.column if isinstance(record, RowRefused) else record.target)
        for row, record in read_relation_file("edges.jsonl", raw, RULES)
    ]
    assert outcome == [
        (1, "B"),
        (2, ""),
        (3, "object"),
        (4, "pct"),
        (5, "pct"),
        (6, "locator"),
        (7, "valid_to"),
        (8, "relation"),
        (9, "49"),
    ]


def test_labels_of_rows_that_say_none_are_the_librarys() -> None:
    row: dict[str, object] = {"subject": "A", "relation": "r", "object": "B"}
    raw = lines(row, {**row, "label": "public"}, {**row, "label": "??"})
    records = read(raw, RelationRules(default_label=Label.CONFIDENTIAL))
    assert [record.label for record in records] == [Label.CONFIDENTIAL, Label.PUBLIC, Label.RESTRICTED]


def test_a_mapping_says_where_fields_stand_and_what_relations_are_called() -> None:
    columns, changes, attributes, *_ = parse_relation_mapping(
        '[columns]\nsubject = "child"\nobject = "mother"\n[controlled_by]\ninverse = "controls"\n[owned_by]\n'
    )
    assert attributes == {}
    rules = RelationRules(names=DEFAULT_RELATION_NAMES.extended(changes))
    records = read(
        lines(
            {"child": "a", "relation": "controlled_by", "mother": "b"},
            {"child": "a", "relation": "owned_by", "mother": "b"},
            {"child": "a", "relation": "part_of", "mother": "b"},
        ),
        rules,
        columns,
    )
    assert [(record.source, record.relation, record.target) for record in records] == [
        ("b", "controls", "a"),
        ("a", "owned_by", "b"),
        ("b", "parent_of", "a"),
    ]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("owned_by = ", ["mapping_toml"]),
        ('owned_by = "parent_of"\nx = {inverse = 3}', ["mapping_toml.owned_by", "mapping_toml.x"]),
        ('owned_by = {inverse = "a", more = 1}', ["mapping_toml.owned_by"]),
        ("[columns]\nsubject = 3", ["mapping_toml.columns"]),
        ("[attributes]\nseat = 3", ["mapping_toml.attributes"]),
    ],
)
def test_a_malformed_mapping_names_its_entries(text: str, named: list[str]) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_relation_mapping(text)
    assert [violation.field for violation in refused.value.violations] == named


def test_names_that_lead_in_a_circle_are_refused() -> None:
    for names in ({"a": "b", "b": "c"}, {"a": "a"}):
        with pytest.raises(InvalidRequest) as refused:
            RelationNames(names)
        assert refused.value.violations[0].reason is ErrorReason.CONTRADICTION
    with pytest.raises(InvalidRequest):
        DEFAULT_RELATION_NAMES.extended({"parent_of": "child_of"})


ROWS = st.lists(
    st.fixed_dictionaries(
        {"subject": st.sampled_from("ABC"), "relation": st.sampled_from(["r", "owned_by"]), "object": hostile_text(3)},
        optional={"object_type": st.sampled_from(["", "entity", "city"]), "pct": st.integers()},
    ),
    max_size=6,
)


@given(ROWS, st.randoms())
def test_edges_do_not_depend_on_the_order_of_lines(rows: list[dict[str, object]], random: object) -> None:
    def edges(ordered: Iterable[dict[str, object]]) -> list[str]:
        outcome = read_relation_file("e.jsonl", lines(*ordered), RULES)
        return sorted(repr(ends(record)) for _, record in outcome if isinstance(record, EdgeRecord))

    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert edges(rows) == edges(shuffled)


@given(st.binary(max_size=200))
def test_no_bytes_raise(raw: bytes) -> None:
    for _, record in read_relation_file("e.jsonl", raw, RULES):
        assert isinstance(record, EdgeRecord | RowRefused)


def test_further_keys_of_a_row_are_attributes_where_the_mapping_says_so() -> None:
    mapping = parse_relation_mapping('[attributes]\nseat = "jurisdiction"\nsince = "year"')
    row = {"subject": "a", "relation": "r", "object": "b", "jurisdiction": "Japan", "year": 2019, "note": "x"}
    raw = lines({**row, "pct": 51}, {**row, "jurisdiction": None, "year": ""}, {**row, "year": {"a": 1}})
    found = [each for _, each in read_relation_file("r.jsonl", raw, RelationRules(), mapping)]
    assert isinstance(found[0], EdgeRecord)
    assert found[0].attributes == (
        Attribute("pct", Decimal(51)),
        Attribute("seat", "Japan"),
        Attribute("since", 2019),
    )
    assert isinstance(found[1], EdgeRecord)
    assert found[1].attributes == ()
    assert isinstance(found[2], RowRefused)


def test_a_glossary_says_how_relations_are_stored() -> None:
    glossary = Glossary([RelationTerm("bought_by", inverse_of="bought"), RelationTerm("part_of")])
    rules = RelationRules(glossary, glossary.relation_names)
    rows = [{"subject": "a", "relation": name, "object": "b"} for name in ("bought_by", "part_of", "owned_by")]
    found = [(each.source, each.relation, each.target) for each in read(lines(*rows), rules)]
    assert found == [("b", "bought", "a"), ("a", "part_of", "b"), ("b", "parent_of", "a")]


def test_a_name_that_is_related_to_its_own_code_is_another_one_in_the_whole_file() -> None:
    glossary = Glossary([EntityTerm("FSM", "Micronesia, Federated States of", (Synonym("Micronesia"),))])
    rules = RelationRules(glossary, glossary.relation_names)
    rows = [
        {"subject": "GUM", "relation": "part_of", "object": "Micronesia"},
        {"subject": "FSM", "relation": "part_of", "object": "Micronesia"},
        {"subject": "Micronesia", "relation": "part_of", "object": "Oceania"},
    ]
    found = [(each.source, each.target) for each in read(lines(*rows), rules)]
    assert found == [("Micronesia", "GUM"), ("Micronesia", "FSM"), ("Oceania", "Micronesia")]
    assert [(each.source, each.target) for each in read(lines(rows[0]), rules)] == [("FSM", "GUM")]
