from __future__ import annotations

import csv
import io
import json
from contextlib import suppress
from datetime import date
from decimal import Decimal
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import DocumentRefused, ErrorReason, InvalidRequest, RowRefused
from groundwire_server.evidence import Attribute, Label
from groundwire_server.glossary import EntityTerm, Glossary, MemberTerm, MetricTerm, Synonym
from groundwire_server.ingest import FactFileHead, FactIngestRules, RelationFields, RelationRules
from groundwire_server.ingest.fact_files import form_of, read_rows
from groundwire_server.ingest.relation_files import read_relation_file
from groundwire_server.ingest.relation_names import RelationMapping, parse_relation_mapping
from groundwire_server.ingest.relations import read_relation
from groundwire_server.store import EdgeRecord
from tests.support.hostile_text import hostile_text

GLOSSARY = Glossary(
    [
        EntityTerm("ACME", "Acme Inc", (Synonym("アクメ", "ja"),)),
        EntityTerm("ACME_JP", "Acme Japan"),
        MetricTerm("REVENUE", "Revenue"),
        MemberTerm("segment", "CLOUD", "Cloud"),
    ]
)
RULES = RelationRules(GLOSSARY, GLOSSARY.relation_names)
NONE = RelationMapping()


def stored(
    raw: str | bytes, form: str, rules: RelationRules = RULES, mapping: str | RelationMapping = NONE
) -> list[tuple[int, EdgeRecord | RowRefused]]:
    told = parse_relation_mapping(mapping) if isinstance(mapping, str) else mapping
    content = raw.encode() if isinstance(raw, str) else raw
    return list(read_relation_file("group.dat", content, rules, told, form=form))


def edges(*args: object, **named: object) -> list[EdgeRecord]:
    found = [each for _, each in stored(*args, **named)]  # type: ignore[arg-type]
    assert not [each for each in found if isinstance(each, RowRefused)]
    return [each for each in found if isinstance(each, EdgeRecord)]


def faults(*args: object, **named: object) -> list[tuple[int, str, str]]:
    """(row, column, reason) of everything that is wrong."""
    return [
        (row, fault.column, fault.reason.name)
        for row, each in stored(*args, **named)  # type: ignore[arg-type]
        if isinstance(each, RowRefused)
        for fault in (each, *each.further)
    ]


# ---- tables in text


def test_a_table_is_read_by_its_heading() -> None:
    raw = "Subject,relation,object,pct,valid_from,note\n"
    raw += "Acme Japan,owned_by,アクメ,51.0,2019-04-01,x\n\nB,competes_with,X\n"
    first, second = edges(raw, "relations_csv")
    assert (first.source, first.relation, first.target) == ("ACME", "parent_of", "ACME_JP")
    assert (first.source_doc, first.locator, first.valid_from) == ("group.dat", "row=2", "2019-04-01")
    assert first.attributes == (Attribute("pct", Decimal("51.0")),)
    assert (second.source_kind, second.source, second.target_kind, second.target) == ("entity", "B", "literal", "X")
    assert second.locator == "row=4"


@pytest.mark.parametrize("charset", ["cp932", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_charset_and_delimiter_are_found(charset: str, delimiter: str) -> None:
    rows = [["subject", "relation", "object", "備考"], ["アクメ", "parent_of", "Acme Japan", "日本の子会社です"]] * 1
    raw = "\r\n".join(delimiter.join(row) for row in rows).encode(charset)
    (edge,) = edges(raw, "relations_csv")
    assert (edge.source, edge.target) == ("ACME", "ACME_JP")


def test_a_mapping_gives_columns_constants_and_attributes() -> None:
    raw = "Mutter;Tochter;Anteil;Land\nAcme Inc;Acme Japan;51%;JP\n"
    mapping = """
[columns]
subject = "Mutter"
object = "Tochter"
pct = "Anteil"
[constants]
relation = "parent_of"
label = "PUBLIC"
source_doc = "register"
locator = "all"
[attributes]
country = "Land"
"""
    (edge,) = edges(raw, "relations_csv", mapping=mapping)
    assert (edge.source, edge.relation, edge.target) == ("ACME", "parent_of", "ACME_JP")
    assert edge.attributes == (Attribute("country", "JP"), Attribute("pct", Decimal(51)))
    assert (edge.label, edge.source_doc, edge.locator) == (Label.PUBLIC, "register", "all")


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("", ErrorReason.FACT_FIELD_MISSING),
        ("a,b\n1,2\n", ErrorReason.FACT_FIELD_MISSING),
        ("subject,relation\nA,r\n", ErrorReason.FACT_FIELD_MISSING),
        ("subject,relation,object,object\nA,r,B,C\n", ErrorReason.DOCUMENT_BROKEN),
        (b"subject,relation,object\x00\n", ErrorReason.DOCUMENT_UNSUPPORTED),
    ],
)
def test_a_table_that_is_none_of_relations_is_refused_whole(raw: str | bytes, reason: ErrorReason) -> None:
    with pytest.raises(DocumentRefused) as refused:
        stored(raw, "relations_csv")
    assert refused.value.reason is reason


def test_a_row_that_is_wider_than_its_heading_is_refused() -> None:
    assert faults("subject,relation,object\nA,r,B,C\nA,r,B,,\n", "relations_csv") == [(2, "", "VALUE_MALFORMED")]


HOSTILE_ROWS = st.lists(st.tuples(hostile_text(3), st.sampled_from(["r", "owned_by"]), hostile_text(3)), max_size=5)


@given(HOSTILE_ROWS)
def test_a_table_says_what_json_lines_say(rows: list[tuple[str, str, str]]) -> None:
    kept = [tuple(" ".join(printable(cell).split()) for cell in row) for row in rows]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["subject", "relation", "object"])
    writer.writerows(kept)
    lines = "\n".join(json.dumps(dict(zip(("subject", "relation", "object"), row, strict=True))) for row in kept)

    def outcome(raw: str, form: str) -> list[tuple[object, ...]]:
        return [
            (each.source_kind, each.source, each.relation, each.target_kind, each.target)
            if isinstance(each, EdgeRecord)
            else (each.column, each.reason)
            for _, each in stored(raw, form)
        ]

    assert outcome(text.getvalue(), "relations_csv") == outcome(lines, "relations_jsonl")


# ---- GraphML

GRAPH = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:gw="urn:groundwire:types">
  <key id="l" for="node" attr.name="label" attr.type="string"/>
  <key id="k" for="node" attr.name="kind" attr.type="string"/>
  <key id="r" for="edge" attr.name="relation" attr.type="string"/>
  <key id="f" for="edge" attr.name="valid_from" attr.type="string"/>
  <key id="p" for="edge" attr.name="share" attr.type="double" gw:is="attribute"/>
  <key id="d" for="edge" attr.name="signed" attr.type="string" gw:is="attribute" gw:type="date"/>
  <key id="w" for="edge" attr.name="weight" attr.type="double"/>
  <graph edgedefault="directed">
    <edge id="e1" source="n1" target="n0">
      <data key="r">owned_by</data><data key="f">2019-04-01</data><data key="p">51.00</data>
      <data key="d">2019-03-31</data><data key="w">0.5</data>
    </edge>
    <node id="n0"><data key="l">Acme Inc</data></node>
    <node id="n1"><data key="l">Acme Japan</data></node>
    <node id="n2"><data key="l">Revenue</data><data key="k">metric</data></node>
    <edge source="n0" target="n2"><data key="r">reports</data></edge>
  </graph>
</graphml>
"""


def test_graphml_gives_nodes_their_names_and_edges_their_relations() -> None:
    first, second = edges(GRAPH, "graphml")
    assert (first.source, first.relation, first.target) == ("ACME", "parent_of", "ACME_JP")
    assert (first.valid_from, first.locator, first.source_doc) == ("2019-04-01", "edge=e1", "group.dat")
    assert first.attributes == (Attribute("share", Decimal("51.00")), Attribute("signed", date(2019, 3, 31)))
    assert (second.source, second.target_kind, second.target) == ("ACME", "metric", "REVENUE")
    assert second.locator == "edge=2"


def test_a_mapping_takes_other_data_of_nodes_and_edges() -> None:
    raw = GRAPH.replace('"label"', '"company"').replace('"relation"', '"how"').replace('"kind"', '"class"')
    mapping = '[columns]\nsubject = "company"\nobject = "company"\nrelation = "how"\nobject_type = "class"\n'
    first, second = edges(raw, "graphml", mapping=mapping + '[attributes]\nheaviness = "weight"\n')
    assert Attribute("heaviness", Decimal("0.5")) in first.attributes
    assert (second.target_kind, second.target) == ("metric", "REVENUE")
    assert edges(raw, "graphml", mapping='[columns]\nrelation = "how"\n')[0].source == "n0"


def test_ends_that_the_file_does_not_declare_are_told_both_at_once() -> None:
    raw = GRAPH.replace('source="n1"', 'source="n8"').replace('target="n0"', 'target="n9"')
    assert faults(raw, "graphml") == [(1, "subject", "RELATION_UNKNOWN_END"), (1, "object", "RELATION_UNKNOWN_END")]


def test_values_that_are_not_of_their_type_are_refused() -> None:
    raw = GRAPH.replace("51.00", "half").replace("2019-03-31", "spring").replace("0.5", "NaN")
    assert [fault[1:] for fault in faults(raw, "graphml")] == [
        ("share", "VALUE_MALFORMED"),
        ("signed", "VALUE_MALFORMED"),
        ("weight", "VALUE_MALFORMED"),
    ]


def test_what_other_programs_leave_out_or_draw_is_understood() -> None:
    raw = """<graphml xmlns:y="http://www.yworks.com/xml/graphml">
      <key id="r" for="edge" attr.name="relation"><default>parent_of</default></key>
      <key id="k" for="node" attr.name="kind"><default>entity</default></key>
      <key id="n" for="node" attr.name="name"/><key id="d" for="node" yfiles.type="nodegraphics"/>
      <key id="e" for="edge" yfiles.type="edgegraphics"/>
      <graph edgedefault="directed">
        <node id="n0"><data key="d"><y:ShapeNode><y:Fill color="#FF"/><y:NodeLabel x="1">Acme Inc<y:M/></y:NodeLabel>
          </y:ShapeNode></data></node>
        <node id="n1"><data key="n"> </data></node><node id="n2"><data key="n">Three</data></node>
        <edge source="n0" target="n1"/>
        <edge source="n1" target="n2"><data key="r">competes_with</data></edge>
        <edge source="n2" target="n0"><data key="e"><y:Line><y:EdgeLabel>owner_of</y:EdgeLabel></y:Line></data></edge>
      </graph></graphml>"""
    found = [(each.source, each.relation, each.target) for each in edges(raw.replace("owner_of", " "), "graphml")]
    assert found == [
        ("ACME", "parent_of", "n1"),
        ("n1", "competes_with", "Three"),
        ("Three", "parent_of", "ACME"),
    ]
    assert {each.target_kind for each in edges(raw, "graphml")} == {"entity"}
    drawn = raw.replace("<default>parent_of</default>", "")
    assert [each[1:] for each in faults(drawn, "graphml")] == [("relation", "FACT_FIELD_MISSING")]
    assert [each.relation for _, each in stored(drawn, "graphml") if isinstance(each, EdgeRecord)][-1] == "owner_of"


def test_an_edge_between_several_nodes_is_told_and_not_left_out() -> None:
    raw = GRAPH.replace("</graph>", "<hyperedge id='h'><endpoint node='n0'/><endpoint node='n1'/></hyperedge></graph>")
    assert faults(raw, "graphml") == [(3, "hyperedge", "VALUE_MALFORMED")]


@pytest.mark.parametrize("number", ["1e999999999", "1E-5000", "-2e2000"])
def test_a_number_that_is_long_once_it_is_written_out_is_refused(number: str) -> None:
    key = '<key id="w" for="edge" attr.name="weight" attr.type="double" gw:is="attribute"/>'
    raw = (
        f"<graphml xmlns:gw='urn:groundwire:types'>{key}<graph><node id='a'/><node id='b'/><edge source='a' target='b'>"
        f"<data key='relation'>owns</data><data key='w'>{number}</data></edge></graph></graphml>"
    )
    assert faults(raw, "graphml") == [(1, "weight", "VALUE_OUT_OF_RANGE")]


def test_what_a_model_found_does_not_become_a_stated_relation_by_being_copied() -> None:
    raw = GRAPH.replace('attr.name="valid_from"', 'attr.name="extractor"').replace("2019-04-01", "llm:tiny@1")
    assert faults(raw, "graphml") == [(1, "extractor", "CONTRADICTION")]
    assert len(edges(raw.replace("llm:tiny@1", "glossary"), "graphml")) == 2


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"<graphml",
        b"<graph></graph>",
        b"subject,relation",
        b'<!DOCTYPE graphml [<!ENTITY a "b">]><graphml>&a;</graphml>',
        b'<!DOCTYPE graphml [<!ENTITY % x SYSTEM "file:///etc/passwd"> %x;]><graphml/>',
        '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE g [<!ENTITY a "b">]><graphml>&a;</graphml>'.encode("utf-16"),
        b"<graphml>" + b"<graph><node>" * 200,
    ],
)
def test_no_graphml_is_refused_whole(raw: bytes) -> None:
    with pytest.raises(DocumentRefused):
        stored(raw, "graphml")


def test_nested_graphs_count_as_one() -> None:
    raw = (
        "<graphml><key id='r' attr.name='relation'/><graph><node id='a'><graph><node id='b'/>"
        "<edge source='b' target='c'><data key='r'>x</data></edge></graph></node><node id='c'/>"
        "<edge source='a' target='b'><data key='r'>y</data></edge></graph></graphml>"
    )
    found = [(edge.source, edge.relation, edge.target) for edge in edges(raw, "graphml")]
    assert found == [("b", "x", "c"), ("a", "y", "b")]


def printable(text: str) -> str:
    return "".join(sign for sign in text if sign.isprintable() or sign == " ").strip()


@given(st.lists(st.tuples(hostile_text(4), hostile_text(4), hostile_text(4)), max_size=4))
def test_hostile_names_come_through_graphml(rows: list[tuple[str, str, str]]) -> None:
    kept = [row for row in (tuple(map(printable, row)) for row in rows) if all(row) and not row[2].isdigit()]
    nodes = sorted({name for source, _, target in kept for name in (source, target)})
    raw = "".join(
        [
            "<graphml><key id='r' attr.name='relation'/><graph>",
            *(f"<node id={quoteattr(name)}/>" for name in nodes),
            *(
                f"<edge source={quoteattr(source)} target={quoteattr(target)}>"
                f"<data key='r'>{escape(relation)}</data></edge>"
                for source, relation, target in kept
            ),
            "</graph></graphml>",
        ]
    )
    given_names = RelationRules()
    found = [each for _, each in stored(raw, "graphml", given_names)]
    expected = [each for _, each in stored_as_records(kept)]
    assert [ends_of(each) for each in found] == [ends_of(each) for each in expected]


def stored_as_records(rows: list[tuple[str, ...]]) -> list[tuple[int, EdgeRecord | RowRefused]]:
    lines = "\n".join(json.dumps(dict(zip(("subject", "relation", "object"), row, strict=True))) for row in rows)
    return stored(lines, "relations_jsonl", RelationRules())


def ends_of(each: EdgeRecord | RowRefused) -> tuple[object, ...]:
    if isinstance(each, RowRefused):
        return (each.reason, each.column)
    return each.source_kind, each.source, each.relation, each.target_kind, each.target


@given(st.sampled_from(["graphml", "relations_csv"]), st.binary(max_size=300))
def test_no_bytes_raise_anything_else(form: str, raw: bytes) -> None:
    for content in (raw, b"<graphml><graph>" + raw + b"</graph></graphml>", b"subject,relation,object\n" + raw):
        with suppress(DocumentRefused):
            assert all(isinstance(each, EdgeRecord | RowRefused) for _, each in stored(content, form))


# ---- ends, and all that is wrong with a row


def test_everything_that_is_wrong_with_a_row_is_told_at_once() -> None:
    row = "subject,relation,object,valid_from,valid_to,object_type,pct\n,,X,2021-01-01,2020-01-01,No Kind,much\n"
    assert faults(row, "relations_csv") == [(2, "pct", "VALUE_MALFORMED")]
    row = row.replace("much", "")
    assert faults(row, "relations_csv") == [
        (2, "subject", "FACT_FIELD_MISSING"),
        (2, "relation", "FACT_FIELD_MISSING"),
        (2, "valid_from", "CONTRADICTION"),
        (2, "object_kind", "VALUE_MALFORMED"),
    ]


def test_both_unknown_ends_are_told_with_what_is_near() -> None:
    mapping = 'ends = "known"\n'
    raw = "subject,relation,object\nAcme Jpan,parent_of,Acme Inq\nAcme Inc,parent_of,Acme Japan\n"
    refused, edge = (each for _, each in stored(raw, "relations_csv", mapping=mapping))
    assert isinstance(edge, EdgeRecord)
    assert isinstance(refused, RowRefused)
    told = [refused, *refused.further]
    assert [(each.column, each.reason) for each in told] == [
        ("subject", ErrorReason.RELATION_UNKNOWN_END),
        ("object", ErrorReason.RELATION_UNKNOWN_END),
    ]
    assert "near: Acme Japan" in told[0].message
    assert "near: Acme Inc" in told[1].message
    assert edges(raw, "relations_csv")[0].source == "Acme Jpan"
    literal = "subject,relation,object,object_type\nAcme Inc,seat,Tokyo,literal\n"
    assert edges(literal, "relations_csv", mapping=mapping)[0].target == "Tokyo"


def test_a_member_of_an_axis_that_the_glossary_has_must_be_known() -> None:
    known = RelationFields("ACME", "has_member", "cloud", object_kind="segment", source_doc="d", locator="1")
    assert read_relation(known, RULES).target == "CLOUD"
    with pytest.raises(RowRefused) as refused:
        read_relation(RelationFields("ACME", "r", "clowd", object_kind="segment", source_doc="d", locator="1"), RULES)
    assert (refused.value.column, refused.value.reason) == ("object", ErrorReason.RELATION_UNKNOWN_END)
    free = RelationFields("ACME", "r", "clowd", object_kind="region", source_doc="d", locator="1")
    assert read_relation(free, RULES).target == "clowd"


def test_a_mapping_that_holds_nonsense_is_refused_with_every_fault() -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_relation_mapping('ends = "some"\nowned_by = 3\n[columns]\nsubjekt = "x"\n[constants]\nrelation = 1\n')
    assert [(each.field, each.reason.name) for each in refused.value.violations] == [
        ("mapping_toml.columns.subjekt", "UNKNOWN_NAME"),
        ("mapping_toml.constants", "VALUE_MALFORMED"),
        ("mapping_toml.ends", "UNKNOWN_NAME"),
        ("mapping_toml.owned_by", "VALUE_MALFORMED"),
    ]


# ---- which form a file has


@pytest.mark.parametrize(
    ("name", "raw", "mapping", "form"),
    [
        ("a.csv", "subject,relation,object\n", "", "relations_csv"),
        ("a.csv", "metric,entity,period,value\n", "", "csv"),
        ("a.csv", "subject,relation,object,metric\n", "", "csv"),
        (
            "a.csv",
            "child;mother\n",
            '[columns]\nsubject="child"\nobject="mother"\n[constants]\nrelation="r"',
            "relations_csv",
        ),
        ("a.csv", "child;mother\n", "no toml [", "csv"),
        ("a.graphml", "", "", "graphml"),
    ],
)
def test_the_form_is_told_by_the_heading(name: str, raw: str, mapping: str, form: str) -> None:
    assert form_of(FactFileHead(name, mapping_toml=mapping), raw.encode()) == form


def test_forms_of_relations_are_read_with_the_label_of_the_head() -> None:
    rules = FactIngestRules(relations=RULES)
    for name, raw in (("a.graphml", GRAPH), ("a.csv", "subject,relation,object\nACME,r,X\n")):
        for _, each in read_rows(FactFileHead(name, label=Label.CONFIDENTIAL), raw.encode(), rules):
            assert isinstance(each, EdgeRecord)
            assert (each.label, each.source_doc) == (Label.CONFIDENTIAL, name)
