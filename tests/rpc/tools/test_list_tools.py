"""ListTools of a real server: forms, languages, names that the caller may see, the tag; answers as they are told."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message_factory import GetMessageClass
from jsonschema import Draft202012Validator

from groundwire.v1 import admin_pb2, glossary_pb2, ingest_pb2, tools_pb2
from groundwire_server.engine import ToolNames
from groundwire_server.rpc.methods import contract_methods
from groundwire_server.rpc.tools import LANGUAGES, TOOLS, describe_tools
from groundwire_server.rpc.tools.answer import FOLDED_LISTS, PASSED_OVER
from groundwire_server.rpc.tools.describe import MAX_NAMES, MAX_NAMES_CHARS
from tests.rpc.house import House, fact, furnish, house, term
from tests.rpc.serving import failure_of

FORMS = [tools_pb2.TOOL_FORM_MCP, tools_pb2.TOOL_FORM_OPENAI, tools_pb2.TOOL_FORM_ANTHROPIC]
NO_NAMES = ToolNames((), (), (), ())


def listed(here: House, **fields: Any) -> tools_pb2.ListToolsResponse:
    return here.tools.ListTools(tools_pb2.ListToolsRequest(**fields))


def definitions(here: House, name: str, **fields: Any) -> dict[str, Any]:
    """The `$defs` of a tool's request."""
    (tool,) = [each for each in listed(here, **fields).tools if each.name == name]
    held: dict[str, Any] = json.loads(tool.input_schema_json)["$defs"]
    return held


def test_tools_are_the_reading_methods_that_are_built(furnished: House) -> None:
    tools = listed(furnished).tools
    methods = set(furnished.admin.GetServerInfo(admin_pb2.GetServerInfoRequest()).methods)
    assert [each.name for each in tools] == sorted(each.name for each in TOOLS if each.method in methods)
    for each in tools:
        method = contract_methods()[each.grpc_method.removeprefix("/")]
        assert method.GetOptions().idempotency_level == method.GetOptions().NO_SIDE_EFFECTS
        assert re.fullmatch("[a-z_]{1,64}", each.name)


@pytest.mark.parametrize("form", [*FORMS, tools_pb2.TOOL_FORM_UNSPECIFIED])
def test_a_definition_has_the_shape_that_was_asked_for(furnished: House, form: int) -> None:
    for tool in listed(furnished, form=form).tools:
        whole, given = json.loads(tool.definition_json), json.loads(tool.input_schema_json)
        named = {"name": tool.name, "description": tool.description}
        if form == tools_pb2.TOOL_FORM_OPENAI:
            assert whole == {"type": "function", "function": {**named, "parameters": given}}
        elif form == tools_pb2.TOOL_FORM_ANTHROPIC:
            assert whole == {**named, "input_schema": given}
        else:
            hints = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}
            answered = json.loads(tool.output_schema_json)
            assert whole == {**named, "inputSchema": given, "outputSchema": answered, "annotations": hints}


@pytest.mark.parametrize("language", ["en", "zh", "ja"])
def test_every_language_says_the_same_things(furnished: House, language: str) -> None:
    words = LANGUAGES[language]
    assert list(words.TOOLS) == [each.name for each in TOOLS]
    assert set(words.FIELDS) == set(LANGUAGES["en"].FIELDS)
    pool = contract_methods()[TOOLS[0].method].input_type.file.pool
    for name in words.FIELDS:
        message, _, field = name.partition(".")
        assert field in pool.FindMessageTypeByName(f"groundwire.v1.{message}").fields_by_name
    for tool in listed(furnished, language=language).tools:
        assert tool.description == words.TOOLS[tool.name]
        assert len(tool.description) <= 1024
    assert (
        listed(furnished, language=language).etag != listed(furnished, language={"en": "ja"}.get(language, "en")).etag
    )


def test_only_names_that_the_caller_may_see_are_named(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        furnish(here)
        before = listed(here)
        hidden = fact("hidden_kpi", "hidden_corp", "2020", "1", unit="USD", label=ingest_pb2.LABEL_CONFIDENTIAL)
        here.store_facts(ingest_pb2.FactRecords(facts=[hidden]))
        after = listed(here)
        assert after == before
        assert b"hidden_" not in after.SerializeToString()
        seen = fact("own_kpi", "own_corp", "2020", "1", unit="USD")
        here.store_facts(ingest_pb2.FactRecords(facts=[seen]))
        held = definitions(here, "query_metric")
        assert held["MetricName"]["enum"] == ["POPULATION", "REVENUE", "own_kpi"]
        assert held["EntityName"]["enum"] == ["ACME", "ASIA", "JPN", "own_corp"]
        assert held["ChannelName"]["enum"] == ["TOTAL"]
        assert held["LibraryId"]["enum"] == ["default"]
        assert listed(here).etag != before.etag


def test_the_tag_is_the_same_until_a_schema_changes(tmp_path: Path) -> None:
    tags = []
    for _ in range(2):
        with house(tmp_path / "data") as here:
            if not tags:
                furnish(here)
            tags += [listed(here).etag for _ in range(3)]
            if len(tags) == 6:
                here.store({"new.md": "A document changes no schema."})
                assert listed(here).etag == tags[0]
                put = [term(glossary_pb2.TERM_KIND_METRIC, "MARGIN", "margin")]
                here.admin.UpdateGlossary(admin_pb2.UpdateGlossaryRequest(library_id="default", put=put))
                assert listed(here).etag != tags[0]
                assert "MARGIN" in definitions(here, "query_metric")["MetricName"]["enum"]
    assert len(set(tags)) == 1


def test_a_name_that_a_term_takes_in_is_offered_no_more(tmp_path: Path) -> None:
    """Figures that were loaded before the glossary knew their names are asked for by its codes."""
    with house(tmp_path / "data") as here:
        loaded = [fact("Own KPI", "ACME", "2020", "1", channel="Online stores")]
        here.store_facts(ingest_pb2.FactRecords(facts=loaded))
        held = definitions(here, "query_metric")
        assert (held["MetricName"]["enum"], held["ChannelName"]["enum"]) == (["Own KPI"], ["Online stores", "TOTAL"])
        before = listed(here).etag
        put = [
            term(glossary_pb2.TERM_KIND_METRIC, "KPI", "own kpi"),
            term(glossary_pb2.TERM_KIND_CHANNEL, "WEB", "online store", label="Web"),
        ]
        here.admin.UpdateGlossary(admin_pb2.UpdateGlossaryRequest(library_id="default", put=put))
        held = definitions(here, "query_metric")
        assert held["MetricName"]["enum"] == ["KPI"]
        assert held["ChannelName"] == {"type": "string", "enum": ["TOTAL", "WEB"], "description": "WEB = Web"}
        assert listed(here).etag != before


def test_the_libraries_that_are_named_bound_the_names(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        furnish(here)
        here.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=admin_pb2.Library(library_id="other")))
        put = [term(glossary_pb2.TERM_KIND_METRIC, "COST", "cost", label="Cost of sales")]
        here.admin.UpdateGlossary(admin_pb2.UpdateGlossaryRequest(library_id="other", put=put))
        held = definitions(here, "query_metric", library_ids=["other"])
        assert held["LibraryId"]["enum"] == ["other"]
        assert held["MetricName"] == {"type": "string", "enum": ["COST"], "description": "COST = Cost of sales"}
        assert "EntityName" not in held
        assert definitions(here, "query_metric")["MetricName"]["enum"] == ["COST", "POPULATION", "REVENUE"]


def test_a_server_without_libraries_lists_its_tools(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        assert "LibraryId" not in definitions(here, "query_metric")


@pytest.mark.parametrize(
    ("count", "length", "listed_at_all"),
    [(MAX_NAMES, 8, True), (MAX_NAMES + 1, 8, False), (100, MAX_NAMES_CHARS // 100, True), (100, 200, False)],
)
def test_enumerations_that_are_too_long_are_left_out(count: int, length: int, listed_at_all: bool) -> None:
    names = ToolNames((), tuple((f"{n:0{length}}", "") for n in range(count)), (), ())
    response = describe_tools(names, contract_methods(), tools_pb2.TOOL_FORM_MCP, "en")
    (tool,) = [each for each in response.tools if each.name == "query_metric"]
    name = json.loads(tool.input_schema_json)["$defs"]["MetricName"]
    assert ("enum" in name) is listed_at_all
    assert name["type"] == "string"


def test_the_largest_answer_goes_into_one_frame() -> None:
    long = tuple((f"{n:032}", "漢字のとても長い名前") for n in range(MAX_NAMES))
    names = ToolNames(tuple(code for code, _ in long), long, long, long)
    for form in FORMS:
        for language in LANGUAGES:
            assert describe_tools(names, contract_methods(), form, language).ByteSize() < 1 << 20


@pytest.mark.parametrize(
    ("fields", "code", "reason"),
    [
        ({"language": "fr"}, grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST"),
        ({"form": 9}, grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST"),
        ({"library_ids": [""]}, grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST"),
        ({"library_ids": ["nowhere"]}, grpc.StatusCode.NOT_FOUND, "UNKNOWN_LIBRARY"),
    ],
)
def test_what_is_not_there_is_refused(
    furnished: House, fields: dict[str, Any], code: grpc.StatusCode, reason: str
) -> None:
    failure = failure_of(lambda: listed(furnished, **fields))
    assert (failure.code, failure.reason) == (code, reason)


# ---- what a tool answers is what its output schema says


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("ask", {"question": "What does the fox do?"}),
    ("ask", {"question": "What was the population of Japan in 2020?"}),
    ("describe_metrics", {}),
    ("get_document", {"libraryId": "default", "docId": "notes/fox.md", "includeText": True, "includeChunks": True}),
    ("graph_trace", {"neighborhood": {"nodeIds": ["ASIA"]}}),
    ("list_documents", {"libraryId": "default"}),
    ("narrative_retrieve", {"query": "fox", "topK": 30, "options": {"explain": "EXPLAIN_LEVEL_PLAN"}}),
    (
        "query_metric",
        {
            "queries": [{"metric": "POPULATION", "entity": "JPN", "period": year} for year in ("2020", "2021", "1900")],
            "calculations": [{"operation": "OPERATION_GROWTH", "second": 1}],
        },
    ),
    ("route", {"question": "Why did the population of Japan fall?"}),
    (
        "verify_citation",
        {
            "lineage": {"libraryId": "default", "docId": "notes/fox.md", "revision": 1, "span": {"end": 60}},
            "quote": "fox",
        },
    ),
]


@pytest.mark.parametrize(("name", "request_json"), CALLS, ids=[name for name, _ in CALLS])
def test_an_answer_is_as_its_schema_says(furnished: House, name: str, request_json: dict[str, Any]) -> None:
    tools = {each.name: each for each in listed(furnished).tools}
    if name not in tools:
        assert name in {each.name for each in TOOLS}  # not built yet, so it is no tool
        return
    tool = tools[name]
    Draft202012Validator(json.loads(tool.input_schema_json)).validate(request_json)
    method = contract_methods()[tool.grpc_method.removeprefix("/")]
    request = ParseDict(request_json, GetMessageClass(method.input_type)())
    response: Any = GetMessageClass(method.output_type)
    make: Any = furnished.channel.unary_stream if method.server_streaming else furnished.channel.unary_unary
    answer = make(tool.grpc_method, type(request).SerializeToString, response.FromString)(request)
    folded = fold(answer) if method.server_streaming else MessageToDict(answer)
    Draft202012Validator(_closed(json.loads(tool.output_schema_json))).validate(folded)


def fold(frames: Iterable[Any]) -> dict[str, Any]:
    """A stream in one object, as `rpc.tools.answer` says."""
    whole: dict[str, Any] = {}
    for message in frames:
        name = message.WhichOneof("frame")
        frame = MessageToDict(message)
        if name in PASSED_OVER:
            continue
        if name in FOLDED_LISTS:
            whole.setdefault(FOLDED_LISTS[name], []).append(_only(frame, name))
        elif name in ("batch", "outcomes", "chunks"):
            for key, values in _only(frame, name).items():
                if isinstance(values, list):
                    whole.setdefault(key, []).extend(values)
        elif name == "text":
            whole["text"] = whole.get("text", "") + frame["text"]
        else:
            whole[name] = _only(frame, name)
    return whole


def _only(frame: dict[str, Any], name: str) -> Any:
    first, *rest = name.split("_")
    return frame[first + "".join(part.title() for part in rest)]


def _closed(schema: Any) -> Any:
    """The schema with no room for anything that it does not name: this server says nothing that it did not tell of."""
    if isinstance(schema, dict):
        more = {"additionalProperties": False} if schema.get("type") == "object" and "properties" in schema else {}
        return {key: _closed(part) for key, part in schema.items()} | more
    return [_closed(part) for part in schema] if isinstance(schema, list) else schema


def test_no_tool_is_made_of_nothing() -> None:
    assert not describe_tools(NO_NAMES, (), tools_pb2.TOOL_FORM_MCP, "en").tools
