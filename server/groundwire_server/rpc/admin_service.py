"""AdminService: what the server is, its libraries and their glossaries."""

from __future__ import annotations

from collections.abc import Iterable

from groundwire.v1 import admin_pb2
from groundwire_server.engine import Engine, GlossaryChange
from groundwire_server.errors import ErrorReason, InvalidRequest
from groundwire_server.rpc.call import RpcCall
from groundwire_server.rpc.decode_glossary import as_in_the_request, decode_term_names, decode_terms
from groundwire_server.rpc.decode_library import EmbedderName, as_in_the_library, decode_library_config
from groundwire_server.rpc.encode_admin import (
    encode_glossary_update,
    encode_listed_library,
    encode_server_info,
)
from groundwire_server.rpc.encode_job import encode_job
from groundwire_server.rpc.encode_library import encode_library
from groundwire_server.rpc.findings import Findings
from groundwire_server.rpc.paging import Pager
from groundwire_server.rpc.work import WorkPool

__all__ = ["AdminService"]


class AdminService:
    """The methods of the service that are built.

    Args:
        methods: full names of all methods that work; filled by the time of the first call.
    """

    def __init__(self, engine: Engine, pool: WorkPool, pager: Pager, methods: Iterable[str]) -> None:
        self._engine = engine
        self._pool = pool
        self._pager = pager
        self._methods = methods

    async def get_server_info(
        self, _request: admin_pb2.GetServerInfoRequest, call: RpcCall
    ) -> admin_pb2.GetServerInfoResponse:
        """What the server is, can do and allows, and what is really active."""
        info = self._engine.server_info(call.principal)
        return encode_server_info(info, self._methods, self._engine.settings.limits)

    async def list_libraries(
        self, request: admin_pb2.ListLibrariesRequest, call: RpcCall
    ) -> admin_pb2.ListLibrariesResponse:
        """A page of libraries."""
        findings = Findings()
        page = self._pager.begin(request, call.principal, findings)
        findings.settle()
        after = str(page.after[0]) if page.after else ""
        found = await self._pool.run(lambda: self._engine.list_libraries(call.principal, after=after, limit=page.limit))
        response = admin_pb2.ListLibrariesResponse()
        rows = ((encode_listed_library(each), (each.library_id,)) for each in found.libraries)
        response.next_page_token = page.fill(response.libraries, rows, found.more)
        return response

    async def save_library(self, request: admin_pb2.SaveLibraryRequest, call: RpcCall) -> admin_pb2.SaveLibraryResponse:
        """Create a library or change its settings."""
        findings = Findings()
        components = self._engine.server_info(call.principal).components
        embedder = next(EmbedderName(each.name, each.version) for each in components if each.kind == "embedder")
        config = decode_library_config(request.library, self._engine.settings.ingest, embedder, findings)
        findings.settle()
        try:
            update = await self._pool.run(
                lambda: self._engine.administration.save_library(
                    request.library.library_id,
                    config,
                    call.principal,
                    validate_only=request.validate_only,
                    if_snapshot_id=request.if_snapshot_id,
                )
            )
        except InvalidRequest as error:
            raise InvalidRequest([as_in_the_library(each, request.library) for each in error.violations]) from None
        job = None if update.job is None else encode_job(update.job)
        return admin_pb2.SaveLibraryResponse(library=encode_library(update.library), job=job)

    async def update_glossary(
        self, request: admin_pb2.UpdateGlossaryRequest, call: RpcCall
    ) -> admin_pb2.UpdateGlossaryResponse:
        """Change and check the glossary of a library."""
        findings = Findings()
        findings.required("library_id", request.library_id)
        change = GlossaryChange(
            put=decode_terms(request.put, "put", findings),
            remove=decode_term_names(request.remove, "remove", findings),
            replace_all=request.replace_all,
        )
        if request.replace_all and request.remove:
            findings.add("remove", ErrorReason.CONTRADICTION, "must be empty beside replace_all")
        put = {(term.kind, term.dimension.dimension, term.code) for term in request.put}
        for place, each in enumerate(request.remove):
            if (each.kind, each.dimension, each.code) in put:
                findings.add(f"remove[{place}]", ErrorReason.CONTRADICTION, f"{each.code[:80]!r} stands in put as well")
        findings.settle()
        try:
            update = await self._pool.run(
                lambda: self._engine.administration.update_glossary(
                    request.library_id,
                    change,
                    call.principal,
                    validate_only=request.validate_only,
                    if_snapshot_id=request.if_snapshot_id,
                )
            )
        except InvalidRequest as error:
            raise InvalidRequest([as_in_the_request(each) for each in error.violations]) from None
        return encode_glossary_update(update)
