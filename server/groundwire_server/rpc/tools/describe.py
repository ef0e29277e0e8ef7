"""The tools of one server for one caller, in the form and language that was asked for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Container
from typing import Any

from groundwire.v1 import tools_pb2
from groundwire_server.engine import ToolNames
from groundwire_server.rpc.tools import words_en, words_ja, words_zh
from groundwire_server.rpc.tools.answer import answer_schema
from groundwire_server.rpc.tools.catalogue import TOOLS, Tool, left_out
from groundwire_server.rpc.tools.schema import Enumeration, Schema, SchemaWriter

__all__ = ["LANGUAGES", "MAX_NAMES", "MAX_NAMES_CHARS", "describe_tools"]

LANGUAGES = {"en": words_en, "ja": words_ja, "zh": words_zh}
"""Words of each language."""

MAX_NAMES = 500
# All enumerations of all tools have room in one frame.
MAX_NAMES_CHARS = 16 << 10
# Codes that are explained to the model; a longer list would cost more attention than it saves.
_MAX_EXPLAINED = 50


def describe_tools(
    names: ToolNames, methods: Container[str], form: tools_pb2.ToolForm.ValueType, language: str
) -> tools_pb2.ListToolsResponse:
    """The tools whose methods are there, sorted by name, and a tag that changes with any part of them."""
    enumerations = {
        "ChannelName": _explained(names.channels),
        "EntityName": _explained(names.entities),
        "LibraryId": _listed(names.libraries),
        "MetricName": _explained(names.metrics),
    }
    # No name is there to choose: any text may be tried, and the answer says that it is not known.
    offered = {kind: each for kind, each in enumerations.items() if each.names != ()}
    define = _FORMS[form or tools_pb2.TOOL_FORM_MCP]
    response = tools_pb2.ListToolsResponse()
    for tool in TOOLS:
        if tool.method in methods:
            response.tools.append(_describe(tool, offered, define, language))
    response.etag = hashlib.sha256(response.SerializeToString(deterministic=True)).hexdigest()[:32]
    return response


def _describe(
    tool: Tool,
    enumerations: dict[str, Enumeration],
    define: Callable[[str, str, Schema, Schema], Any],
    language: str,
) -> tools_pb2.ToolDescription:
    method, words = tool.descriptor, LANGUAGES[language]
    description = words.TOOLS[tool.name]
    writer = SchemaWriter(closed=True, words=words.FIELDS, enumerations=enumerations, left_out=left_out())
    given = writer.write(method.input_type)
    answered = answer_schema(method.output_type, streamed=method.server_streaming)
    return tools_pb2.ToolDescription(
        name=tool.name,
        description=description,
        input_schema_json=_json(given),
        output_schema_json=_json(answered),
        grpc_method=f"/{tool.method}",
        definition_json=_json(define(tool.name, description, given, answered)),
    )


def _listed(names: tuple[str, ...]) -> Enumeration:
    short = len(names) <= MAX_NAMES and sum(map(len, names)) <= MAX_NAMES_CHARS
    return Enumeration(names if short else None)


def _explained(codes: tuple[tuple[str, str], ...]) -> Enumeration:
    """The codes, and the labels of a few in the description."""
    listed = _listed(tuple(code for code, _ in codes))
    labelled = [(code, label) for code, label in codes if label and label != code]
    if listed.names is None or not labelled or len(codes) > _MAX_EXPLAINED:
        return listed
    return Enumeration(listed.names, "; ".join(f"{code} = {label}" for code, label in labelled))


def _mcp(name: str, description: str, given: Schema, answered: Schema) -> Any:
    hints = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}
    return {
        "name": name,
        "description": description,
        "inputSchema": given,
        "outputSchema": answered,
        "annotations": hints,
    }


def _openai(name: str, description: str, given: Schema, _answered: Schema) -> Any:
    return {"type": "function", "function": {"name": name, "description": description, "parameters": given}}


def _anthropic(name: str, description: str, given: Schema, _answered: Schema) -> Any:
    return {"name": name, "description": description, "input_schema": given}


_FORMS: dict[tools_pb2.ToolForm.ValueType, Callable[[str, str, Schema, Schema], Any]] = {
    tools_pb2.TOOL_FORM_MCP: _mcp,
    tools_pb2.TOOL_FORM_OPENAI: _openai,
    tools_pb2.TOOL_FORM_ANTHROPIC: _anthropic,
}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
