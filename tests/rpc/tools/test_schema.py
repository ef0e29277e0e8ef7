"""Schemas against protobuf's own reading: what one admits the other takes, both ways."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from groundwire.v1 import tools_pb2
from groundwire_server.engine import ToolNames
from groundwire_server.rpc.capabilities import BUILT, NOT_BUILT
from groundwire_server.rpc.methods import SERVICES, contract_methods
from groundwire_server.rpc.tools import TOOLS, Tool, describe_tools
from groundwire_server.rpc.tools.catalogue import NAMES_OF, REQUIRED, left_out
from tests.rpc.tools.drawing import instances, messages

NAMES = {
    "LibraryId": ["default", "finance"],
    "MetricName": ["REVENUE", "人口"],
    "EntityName": ["ACME", "JPN"],
    "ChannelName": ["TOTAL", "WEB"],
}
GIVEN = ToolNames(
    tuple(NAMES["LibraryId"]),
    tuple((code, f"{code}'s label") for code in NAMES["MetricName"]),
    tuple((code, "") for code in NAMES["EntityName"]),
    tuple((code, "") for code in NAMES["ChannelName"]),
)
LISTED = describe_tools(GIVEN, contract_methods(), tools_pb2.TOOL_FORM_MCP, "en")
INPUTS: dict[str, Any] = {each.name: json.loads(each.input_schema_json) for each in LISTED.tools}
VALIDATORS = {name: Draft202012Validator(schema) for name, schema in INPUTS.items()}
EACH = pytest.mark.parametrize("tool", TOOLS, ids=[tool.name for tool in TOOLS])


@EACH
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_what_a_schema_admits_is_a_request(tool: Tool, data: st.DataObject) -> None:
    value = data.draw(instances(INPUTS[tool.name]))
    VALIDATORS[tool.name].validate(value)
    ParseDict(json.loads(json.dumps(value)), GetMessageClass(tool.descriptor.input_type)())


@EACH
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_a_request_is_what_its_schema_admits(tool: Tool, data: st.DataObject) -> None:
    request = data.draw(messages(tool.descriptor.input_type, NAMES, left_out()))
    value = MessageToDict(request)
    VALIDATORS[tool.name].validate(value)
    assert ParseDict(value, type(request)()) == request


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("narrative_retrieve", {}, "'query' is a required property"),
        ("narrative_retrieve", {"query": "x", "topk": 3}, "Additional properties"),
        ("narrative_retrieve", {"query": "x", "topK": 2**31}, "greater than the maximum"),
        ("narrative_retrieve", {"query": "x", "mode": "RETRIEVAL_MODE_UNSPECIFIED"}, "is not one of"),
        ("narrative_retrieve", {"query": "x", "options": {"libraryIds": ["nowhere"]}}, "is not one of"),
        ("narrative_retrieve", {"query": "x", "options": {"filter": {}}}, "enough properties|non-empty"),
        (
            "narrative_retrieve",
            {"query": "x", "options": {"filter": {"negate": {}, "anyOf": {}}}},
            "too many properties|enough properties",
        ),
        ("narrative_retrieve", {"query": "x", "options": {"resume": {"token": ""}}}, "Additional properties"),
        ("narrative_retrieve", {"query": "x", "options": {"knownAt": "2024-02-03"}}, "does not match"),
        ("query_metric", {"queries": [{"metric": "REVENUE", "entity": "ACME"}]}, "'period' is a required property"),
        ("query_metric", {"queries": [{"metric": "x", "entity": "ACME", "period": "2024"}]}, "is not one of"),
        (
            "query_metric",
            {"product": {"metrics": [], "entities": ["ACME"], "periods": ["2024"]}},
            "non-empty|too short",
        ),
        (
            "graph_trace",
            {"neighborhood": {"nodeIds": ["ACME"]}, "closure": {"nodeIds": ["ACME"], "relations": ["parent_of"]}},
            "should not be valid|is not allowed",
        ),
        (
            "verify_citation",
            {"lineage": {"libraryId": "default"}, "quote": "x", "edge": {}},
            "should not be valid|is not allowed",
        ),
    ],
)
def test_what_the_server_would_refuse_is_not_admitted(
    name: str, value: Any, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = describe_tools(GIVEN, contract_methods(), tools_pb2.TOOL_FORM_MCP, "en")
    schema = next(json.loads(each.input_schema_json) for each in every.tools if each.name == name)
    if not set(value) <= set(schema["properties"]) and "Additional" not in fault:
        schema = _with_everything(name, monkeypatch)
    checker = Draft202012Validator(schema)
    faults = [error.message for error in checker.iter_errors(value)]
    assert any(part in message for part in fault.split("|") for message in faults), faults


def _with_everything(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The schema as it is once every feature is built."""
    monkeypatch.setattr("groundwire_server.rpc.tools.describe.left_out", lambda: frozenset())
    every = describe_tools(GIVEN, contract_methods(), tools_pb2.TOOL_FORM_MCP, "en")
    return next(json.loads(each.input_schema_json) for each in every.tools if each.name == name)


@EACH
def test_both_schemas_are_valid_and_plain_at_the_top(tool: Tool) -> None:
    described = next(each for each in LISTED.tools if each.name == tool.name)
    for text in (described.input_schema_json, described.output_schema_json):
        schema = json.loads(text)
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        assert not {"oneOf", "anyOf", "allOf", "not", "enum"} & set(schema)
        assert set(_references(schema)) <= {f"#/$defs/{name}" for name in schema.get("$defs", {})}


def _references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [each for part in value.values() for each in _references(part)]
    return [each for part in value for each in _references(part)] if isinstance(value, list) else []


def test_the_tables_name_what_the_contract_has() -> None:
    pool = SERVICES[0].file.pool
    for message, fields in REQUIRED.items():
        assert set(fields) <= set(pool.FindMessageTypeByName(f"groundwire.v1.{message}").fields_by_name)
    for name in NAMES_OF:
        message, _, each = name.partition(".")
        assert each in pool.FindMessageTypeByName(f"groundwire.v1.{message}").fields_by_name
    for place in left_out(BUILT | NOT_BUILT):
        message, _, each = place.partition(".")
        if not each:
            assert place in pool.FindEnumTypeByName("groundwire.v1.ExplainLevel").values_by_name
        else:
            assert each in pool.FindMessageTypeByName(f"groundwire.v1.{message}").fields_by_name


def test_what_is_not_built_is_not_offered_and_what_is_built_is() -> None:
    offered = {field for name in INPUTS for field in _fields(INPUTS[name])}
    for place in left_out(BUILT | NOT_BUILT):
        field = _camel(place.partition(".")[2])
        if field:
            assert (field in offered) is (place not in left_out()), place


def _fields(schema: dict[str, Any]) -> set[str]:
    held = set(schema.get("properties", {}))
    return held.union(*(_fields(each) for each in schema.get("$defs", {}).values()))


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)
