"""`groundwire relations export`, and the way back."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

import groundwire
from groundwire import GraphEdge, GraphNode, Lineage, ListedRelation
from groundwire_server.adjacency.sight import STATED_BY
from groundwire_server.cli.graphml_export import CHECKED, export_graphml
from groundwire_server.evidence import Attribute, Period, Value, format_node_id
from groundwire_server.ingest import RelationRules, graphml
from groundwire_server.ingest.documents import read_period
from groundwire_server.ingest.relation_files import read_relation_file
from groundwire_server.store import EdgeRecord
from tests.cli.commands import run, write, write_lines
from tests.support.hostile_text import hostile_text


def as_code(text: str) -> str:
    """What may stand as the code of an entity, hostile as it is."""
    folded = unicodedata.normalize("NFKC", "".join(sign for sign in text if sign.isprintable()))[:100]
    return unicodedata.normalize("NFKC", folded.strip()) or "x"


CODES = hostile_text(4).map(as_code)
VALUES: st.SearchStrategy[Value] = st.one_of(
    hostile_text(3).map(lambda text: text.encode("utf-8", "replace").decode()),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.decimals(allow_nan=False, allow_infinity=False, places=3),
    st.dates(),
    st.datetimes(timezones=st.just(UTC)),
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), max_size=3).map(tuple),
    st.sampled_from(["FY2024", "2024Q3", "2020-01-01/2020-12-31"]).map(read_period),
)
RECORDS = st.builds(
    EdgeRecord,
    source_kind=st.sampled_from(["entity", "document", "name"]),
    source=CODES,
    relation=st.sampled_from(["parent_of", "r & <s>", "関係"]),
    target_kind=st.sampled_from(["entity", "literal", "member"]),
    target=CODES,
    extractor=st.just("file"),
    source_doc=CODES,
    locator=CODES,
    valid_from=st.sampled_from(["", "2019-04-01"]),
    valid_to=st.sampled_from(["", "2024-03-31"]),
    attributes=st.lists(
        st.builds(Attribute, st.sampled_from(["label", "pct", "relation", "x_1"]), VALUES),
        max_size=3,
        unique_by=lambda attribute: attribute.name,
    ).map(lambda attributes: tuple(sorted(attributes, key=lambda each: each.name))),
)


def on_the_wire(attributes: tuple[Attribute, ...]) -> tuple[groundwire.Attribute, ...]:
    return tuple(
        groundwire.Attribute(each.name, groundwire.Period(each.value.canonical))
        if isinstance(each.value, Period)
        else groundwire.Attribute(each.name, each.value)
        for each in attributes
    )


def listed(records: list[EdgeRecord]) -> ListedRelation:
    """Sources of one relation, as a list has them."""
    first, *others = records
    source, target = (
        GraphNode(format_node_id(kind, code), kind, "name for people")
        for kind, code in ((first.source_kind, first.source), (first.target_kind, first.target))
    )
    sources = [Lineage("default", each.source_doc, source_locator=each.locator) for each in records]
    further = tuple(
        Lineage("default", each.source_doc, source_locator=each.locator, attributes=on_the_wire(each.attributes))
        for each in others
    )
    lineage = Lineage("default", sources[0].doc_id, source_locator=sources[0].source_locator, members=further)
    edge = GraphEdge(
        "a1b2",
        source,
        target,
        first.relation,
        first.extractor,
        first.valid_from,
        first.valid_to,
        attributes=on_the_wire(first.attributes),
    )
    return ListedRelation(edge, lineage, tuple(each.extractor for each in records))


def loaded(lines: list[str]) -> list[EdgeRecord]:
    raw = "\n".join(lines).encode()
    found = [each for _, each in read_relation_file("g.graphml", raw, RelationRules(), form="graphml")]
    assert all(isinstance(each, EdgeRecord) for each in found), found
    return [each for each in found if isinstance(each, EdgeRecord)]


@given(st.lists(RECORDS, min_size=1, max_size=3))
def test_what_is_exported_is_loaded_again_source_by_source(records: list[EdgeRecord]) -> None:
    first = records[0]
    sources = [
        replace(first, source_doc=each.source_doc, locator=each.locator, attributes=each.attributes) for each in records
    ]
    assert loaded(list(export_graphml([listed(sources)]))) == sources


def test_types_come_back_as_they_were() -> None:
    values: dict[str, Value] = {
        "a": Decimal("51.00"),
        "b": date(2024, 2, 29),
        "c": datetime(2024, 2, 29, 1, 2, 3, tzinfo=UTC),
        "d": ("x", "y\nz"),
        "e": "a\r\nb\x0bc\ufffe",
        "f": True,
        "g": read_period("FY2024"),
        "h": 7,
    }
    record = EdgeRecord(
        "entity", "A", "r", "literal", "B", "file", "d", "l",
        attributes=tuple(Attribute(name, value) for name, value in values.items()),
    )  # fmt: skip
    (back,) = loaded(list(export_graphml([listed([record])])))
    assert {each.name: each.value for each in back.attributes} == values
    assert [type(each.value) for each in back.attributes] == [type(value) for value in values.values()]


def test_who_finds_relations_without_a_model_is_known_alike_everywhere() -> None:
    assert graphml._CHECKED == CHECKED == STATED_BY


def test_what_a_model_found_is_left_out_and_never_loaded_as_stated() -> None:
    stated = EdgeRecord("entity", "A", "r", "entity", "B", "file", "d", "1")
    model = replace(stated, extractor="llm:tiny@1", locator="2")
    mixed = listed([model, stated])
    assert [each.locator for each in loaded(list(export_graphml([mixed])))] == ["1"]
    assert list(export_graphml([listed([model])])) == list(export_graphml([]))
    everything = "\n".join(export_graphml([mixed], unverified=True)).encode()
    outcomes = [each for _, each in read_relation_file("g", everything, RelationRules(), form="graphml")]
    assert [type(each).__name__ for each in outcomes] == ["RowRefused", "EdgeRecord"]


def relations(library: str) -> list[dict[str, object]]:
    found = run("relations", "list", "--library", library, "--json").frames
    for each in found:
        for lineage in (each["lineage"], *each["lineage"].get("members", [])):
            del lineage["ingested_at"], lineage["library_id"]
    return found


def test_a_library_comes_out_and_goes_into_another_one() -> None:
    rows = [
        {"subject": "A&B <Holdings>", "relation": "owned_by", "object": "グローバル", "valid_from": "2019-04-01",
         "source_doc": source, "locator": "row 1", "pct": "51.50"}
        for source in ("register.csv", "report.pdf")
    ]  # fmt: skip
    rows.append({"subject": "C", "relation": "competes_with", "object": "D", "object_type": "entity"})
    assert run("facts", "load", write_lines("owners.jsonl", rows)).code == 0
    out = run("relations", "export").out
    assert len([each for each in ElementTree.fromstring(out).iter() if each.tag.endswith("}edge")]) == 3
    write(".", {"copy.graphml": out})
    assert run("libraries", "create", "other").code == 0
    ran = run("facts", "load", "copy.graphml", "--library", "other")
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "3 stored, 0 unchanged, 0 refused")
    assert relations("other") == relations("default")
    assert run("relations", "export", "--library", "other").out == out
    assert run("facts", "load", "copy.graphml").out.splitlines()[-1] == "0 stored, 3 unchanged, 0 refused"
    only = run("relations", "export", "--relation", "competes_with").out
    assert "グローバル" not in only
