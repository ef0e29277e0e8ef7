"""A process that reads: it answers reads by itself and passes everything else on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from groundwire_server.engine import Engine
from groundwire_server.engine.followed import FollowingEngine
from groundwire_server.rpc.methods import Handler, contract_methods
from groundwire_server.rpc.role import ListenOn, Role
from groundwire_server.rpc.work import WorkPool
from groundwire_server.rpc.workers.forward import Forwarding
from groundwire_server.rpc.workers.link import WriterLink
from groundwire_server.rpc.workers.socket_path import SOCKET
from groundwire_server.settings import Settings

__all__ = ["FORWARDED", "NEWEST", "Reader"]

_PACKAGE = "groundwire.v1."

FORWARDED = frozenset(
    f"{_PACKAGE}{name}"
    for name in (
        "IngestService/IngestDocuments",
        "IngestService/IngestFacts",
        "IngestService/WithdrawDocument",
        "AdminService/SaveLibrary",
        "AdminService/UpdateGlossary",
        "AdminService/DeleteLibrary",
        "AdminService/StartReindex",
        "AdminService/PurgeRevisions",
        "AdminService/GetJob",
        "AdminService/WatchJob",
        "AdminService/CancelJob",
        "AdminService/ListJobs",
    )
)
"""Methods that write, or tell of the work of the process that does."""

NEWEST = frozenset(
    f"{_PACKAGE}{name}"
    for name in (
        "AdminService/ListLibraries",
        "AdminService/ListDocuments",
        "AdminService/GetDocument",
        "AdminService/ListRevisions",
        "AdminService/DiffRevisions",
        "AdminService/ListFacts",
        "AdminService/ListRelations",
        "ToolService/VerifyCitation",
    )
)
"""Methods that look after what is stored: they see all that is, also what another process was just told was stored."""


class Reader(Role):
    """One of several on one port.

    Args:
        data: the data folder.
        number: from 1 on.
        lifeline: as `Role` has it.
    """

    writes = False

    def __init__(self, data: Path, number: int, lifeline: int | None = None) -> None:
        self.number = number
        self.name = f"reader-{number}"
        self.lifeline = lifeline
        self.where = ListenOn(shared=True)
        self._socket = data / SOCKET
        self._link: WriterLink | None = None

    def open_engine(self, settings: Settings) -> Engine:
        """The engine that reads; raises as `FollowingEngine` does."""
        return FollowingEngine(settings, process=self.name, writer_fault=self._writer_fault)

    def methods(
        self, built: Mapping[str, Handler], engine: Engine, pool: WorkPool, stopping: asyncio.Event
    ) -> Mapping[str, Handler]:
        """Its own answers, and what it passes on."""
        assert isinstance(engine, FollowingEngine)
        self._link = link = WriterLink(self._socket)
        follow = partial(pool.run, engine.follow)
        methods = dict(built)
        contract = contract_methods()
        for name in FORWARDED & set(built):
            methods[name] = Forwarding(link, contract[name], follow, stopping)
        for name in NEWEST & set(built):
            methods[name] = _at_the_newest(built[name], follow)
        return methods

    async def close(self) -> None:
        """Let go of the other process."""
        if self._link is not None:
            await self._link.close()

    def _writer_fault(self) -> str:
        return "" if self._link is None else self._link.fault


def _at_the_newest(handler: Handler, follow: Callable[[], Awaitable[object]]) -> Handler:
    async def handle(request: Any, call: Any) -> Any:
        await follow()
        return await handler(request, call)

    return handle
