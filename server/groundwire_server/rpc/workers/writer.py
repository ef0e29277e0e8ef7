"""The process that writes: a whole server, on a socket that only the other processes of this one can reach."""

from __future__ import annotations

from pathlib import Path

from groundwire_server.engine import Engine
from groundwire_server.rpc.door import Door
from groundwire_server.rpc.role import ListenOn, Role
from groundwire_server.rpc.workers.identity import told_principal
from groundwire_server.rpc.workers.socket_path import SOCKET
from groundwire_server.settings import Settings

__all__ = ["Writer"]


class Writer(Role):
    """Who calls is what the process says that passes the call on.

    Args:
        data: the data folder.
        lock: descriptor of its lock, which the supervisor holds.
        lifeline: as `Role` has it.
    """

    name = "writer"

    def __init__(self, data: Path, lock: int, lifeline: int | None = None) -> None:
        self._lock = lock
        self.lifeline = lifeline
        self.where = ListenOn(socket=str(data / SOCKET))

    def open_engine(self, settings: Settings) -> Engine:
        """The engine that writes; raises as `Engine` does."""
        return Engine(settings, lock=self._lock)

    def door(self, settings: Settings, engine: Engine, own_token: str) -> Door:
        """Whoever reaches the socket comes in."""
        return Door(told_principal)
