"""The reading methods, described as tools for a model's function calling."""

from __future__ import annotations

from dataclasses import dataclass

from groundwire._model.named import NamedEnum

__all__ = ["ToolDescription", "ToolForm", "ToolList"]


class ToolForm(NamedEnum):
    """Shape of a tool definition."""

    UNSPECIFIED = 0
    MCP = 1
    OPENAI = 2
    ANTHROPIC = 3


@dataclass(frozen=True, slots=True)
class ToolDescription:
    """A tool. The schemas and the definition are JSON text; `grpc_method` is what a call of the tool calls."""

    name: str
    description: str = ""
    input_schema_json: str = ""
    output_schema_json: str = ""
    grpc_method: str = ""
    definition_json: str = ""


@dataclass(frozen=True, slots=True)
class ToolList:
    """Tools, sorted by name. `etag` changes whenever a schema does."""

    tools: tuple[ToolDescription, ...] = ()
    etag: str = ""
