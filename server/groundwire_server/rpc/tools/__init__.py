"""Reading methods as tools for a model's function calling: words, JSON Schemas, definitions."""

from groundwire_server.rpc.tools.catalogue import TOOLS, Tool
from groundwire_server.rpc.tools.describe import LANGUAGES, describe_tools

__all__ = ["LANGUAGES", "TOOLS", "Tool", "describe_tools"]
