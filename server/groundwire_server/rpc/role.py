"""What one process of a server is to the others: by itself all of it, or one of several."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from groundwire_server.engine import Engine
from groundwire_server.rpc.door import Door, make_door
from groundwire_server.rpc.methods import Handler
from groundwire_server.rpc.work import WorkPool
from groundwire_server.settings import Settings

__all__ = ["ListenOn", "Role"]


@dataclass(frozen=True, slots=True)
class ListenOn:
    """Where a server listens.

    Attributes:
        socket: path of a socket in the file system, for other processes of this server alone; empty: the port of the
            settings.
        shared: other processes of this server listen on the same port.
    """

    socket: str = ""
    shared: bool = False


class Role:
    """A server of one process. Others are in `rpc.workers`.

    Attributes:
        name: of the process, for logs and metrics.
        number: among the processes of a server.
        where: it listens.
        lifeline: descriptor that ends when the process that started this one does; None: nobody watches over it.
        writes: it stores what comes in, and has the jobs.
    """

    name = "server"
    number = 0
    where = ListenOn()
    lifeline: int | None = None
    writes = True

    def open_engine(self, settings: Settings) -> Engine:
        """What it answers from; raises as `Engine` does."""
        return Engine(settings)

    def door(self, settings: Settings, engine: Engine, own_token: str) -> Door:
        """Who may come in; raises as `make_door` does."""
        return make_door(settings, engine.local_principal, own_token=own_token)

    def methods(
        self, built: Mapping[str, Handler], engine: Engine, pool: WorkPool, stopping: asyncio.Event
    ) -> Mapping[str, Handler]:
        """What answers each method, given what answers all of them where there is one process. Inside the loop.

        Args:
            stopping: set when the server stops.
        """
        return built

    async def close(self) -> None:
        """After the last call."""
