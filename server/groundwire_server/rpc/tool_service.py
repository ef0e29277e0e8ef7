"""ToolService: what a model can call, and whether a citation holds."""

from __future__ import annotations

from collections.abc import Container

from groundwire.v1 import tools_pb2
from groundwire_server.citation import CitationCheck
from groundwire_server.engine import Engine
from groundwire_server.errors import ErrorReason
from groundwire_server.evidence import Call, CallOptions
from groundwire_server.rpc.call import RpcCall
from groundwire_server.rpc.decode_citation import decode_verify
from groundwire_server.rpc.decode_options import decode_libraries
from groundwire_server.rpc.encode_snippet import encode_lineage, encode_version
from groundwire_server.rpc.findings import Findings
from groundwire_server.rpc.tools import LANGUAGES, describe_tools
from groundwire_server.rpc.work import WorkPool

__all__ = ["ToolService"]


class ToolService:
    """The methods of the service.

    Args:
        methods: full names of all methods that work; filled by the time of the first call.
    """

    def __init__(self, engine: Engine, pool: WorkPool, methods: Container[str]) -> None:
        self._engine = engine
        self._pool = pool
        self._methods = methods

    async def list_tools(self, request: tools_pb2.ListToolsRequest, call: RpcCall) -> tools_pb2.ListToolsResponse:
        """The reading methods as tools."""
        findings = Findings()
        libraries = decode_libraries(request.library_ids, "library_ids", findings)
        findings.known("form", request.form, tools_pb2.ToolForm.DESCRIPTOR)
        if request.language and request.language not in LANGUAGES:
            why = f"{request.language[:40]!r} is none of {', '.join(LANGUAGES)}"
            findings.add("language", ErrorReason.UNKNOWN_NAME, why)
        findings.settle()
        asked = Call(call.principal, CallOptions(call.request_id, libraries), call.cancel)

        def work() -> tools_pb2.ListToolsResponse:
            names = self._engine.tool_names(asked)
            return describe_tools(names, self._methods, request.form, request.language or "en")

        return await self._pool.run(work)

    async def verify_citation(
        self, request: tools_pb2.VerifyCitationRequest, call: RpcCall
    ) -> tools_pb2.VerifyCitationResponse:
        """The verdict on a citation that was once given out."""
        findings = Findings()
        citation = decode_verify(request, findings)
        findings.settle()
        check = await self._pool.run(lambda: self._engine.verify(citation, call.principal))
        return _encode(check)


def _encode(check: CitationCheck) -> tools_pb2.VerifyCitationResponse:
    message = tools_pb2.VerifyCitationResponse(
        verdict=tools_pb2.CitationVerdict.ValueType(check.verdict),
        members=[tools_pb2.CitationVerdict.ValueType(each) for each in check.members],
    )
    if check.active is not None:
        message.active.CopyFrom(encode_lineage(check.active))
    if check.active_version is not None:
        message.active_version.CopyFrom(encode_version(check.active_version))
    return message
