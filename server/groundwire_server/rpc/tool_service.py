"""ToolService: whether a citation holds."""

from __future__ import annotations

from groundwire.v1 import tools_pb2
from groundwire_server.citation import CitationCheck
from groundwire_server.engine import Engine
from groundwire_server.rpc.call import RpcCall
from groundwire_server.rpc.decode_citation import decode_verify
from groundwire_server.rpc.encode_snippet import encode_lineage, encode_version
from groundwire_server.rpc.findings import Findings
from groundwire_server.rpc.work import WorkPool

__all__ = ["ToolService"]


class ToolService:
    """The methods of the service that are built."""

    def __init__(self, engine: Engine, pool: WorkPool) -> None:
        self._engine = engine
        self._pool = pool

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
