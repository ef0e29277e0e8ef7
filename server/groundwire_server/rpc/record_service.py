"""AdminService: stored figures and relations as lists, for review and export."""

from __future__ import annotations

from groundwire.v1 import admin_pb2, evidence_pb2
from groundwire_server.engine import RecordReads
from groundwire_server.evidence import Principal, Snippet
from groundwire_server.graph import ListedEdge
from groundwire_server.rpc.call import RpcCall
from groundwire_server.rpc.decode_record import (
    as_edge_place,
    as_fact_place,
    decode_fact_wish,
    decode_relation_wish,
    from_edge_place,
    from_fact_place,
)
from groundwire_server.rpc.encode_snippet import fill_snippet
from groundwire_server.rpc.encode_value import wire_text
from groundwire_server.rpc.findings import Findings
from groundwire_server.rpc.paging import Pager
from groundwire_server.rpc.work import WorkPool

__all__ = ["RecordService"]


class RecordService:
    """The methods of AdminService that list what documents state."""

    def __init__(self, records: RecordReads, pool: WorkPool, pager: Pager) -> None:
        self._records = records
        self._pool = pool
        self._pager = pager

    async def list_facts(self, request: admin_pb2.ListFactsRequest, call: RpcCall) -> admin_pb2.ListFactsResponse:
        """A page of figures."""
        findings = Findings()
        wish = decode_fact_wish(request, findings)
        page = self._pager.begin(request, call.principal, findings)
        findings.settle()
        after = as_fact_place(page.after)
        listed, more = await self._pool.run(
            lambda: self._records.facts(request.library_id, wish, call.principal, after, page.limit)
        )
        response = admin_pb2.ListFactsResponse()
        rows = ((_fact(each.snippet, call.principal), from_fact_place(each.place)) for each in listed)
        response.next_page_token = page.fill(response.facts, rows, more)
        return response

    async def list_relations(
        self, request: admin_pb2.ListRelationsRequest, call: RpcCall
    ) -> admin_pb2.ListRelationsResponse:
        """A page of relations."""
        findings = Findings()
        wish = decode_relation_wish(request, findings)
        page = self._pager.begin(request, call.principal, findings)
        findings.settle()
        after = as_edge_place(page.after)
        listed, more = await self._pool.run(
            lambda: self._records.relations(request.library_id, wish, call.principal, after, page.limit)
        )
        response = admin_pb2.ListRelationsResponse()
        rows = ((_relation(each, call.principal), from_edge_place(each.place)) for each in listed)
        response.next_page_token = page.fill(response.relations, rows, more)
        return response


def _fact(snippet: Snippet, principal: Principal) -> admin_pb2.ListedFact:
    message = evidence_pb2.Snippet()
    fill_snippet(message, snippet, principal)
    return admin_pb2.ListedFact(fact=message.fact, lineage=message.lineage)


def _relation(listed: ListedEdge, principal: Principal) -> admin_pb2.ListedRelation:
    message = evidence_pb2.Snippet()
    fill_snippet(message, listed.snippet, principal)
    found_by = map(wire_text, listed.extractors)
    return admin_pb2.ListedRelation(edge=message.edge, lineage=message.lineage, extractors=found_by)
