"""A grpc.aio server: channel options, the guard, our services, reflection and health."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from groundwire_server.errors import ErrorReason, InvalidRequest, Unavailable
from groundwire_server.rpc.door import Door, check_reach
from groundwire_server.rpc.guard import Guard
from groundwire_server.rpc.methods import SERVICES, Handler, Methods
from groundwire_server.rpc.reflection import ReflectionMethods
from groundwire_server.rpc.role import ListenOn
from groundwire_server.rpc.stream import MAX_FRAME_BYTES
from groundwire_server.settings import ServerSettings

__all__ = ["MAX_MESSAGE_BYTES", "WireServer"]

MAX_MESSAGE_BYTES = MAX_FRAME_BYTES
# A message over the limit is refused by the guard, with its reason; only what nobody sends by accident, by grpc alone.
_READ_BYTES = 16 << 20
_MIN_PING_MS = 5_000
# What it takes to tell the clients of calls that are cut short; only one that does not listen takes all of it.
_ENDING_SECONDS = 1.0

_OPTIONS = [
    ("grpc.max_receive_message_length", _READ_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    # Two servers on one port would share the calls of one in silence; a taken port is an error.
    ("grpc.so_reuseport", 0),
    # Clients may ping each 10 s, with and without calls; the default answers that with GOAWAY.
    ("grpc.http2.min_ping_interval_without_data_ms", _MIN_PING_MS),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", _MIN_PING_MS),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_ping_strikes", 0),
]


class WireServer:
    """Listens, answers, stops. Make, start and stop it inside one event loop.

    Args:
        door: what its port shows and asks for; None: no encryption, and the guard alone says who calls.
        where: it listens, where that is not a port of its own.

    Attributes:
        address: where it really listens, once it is started.
    """

    def __init__(
        self,
        built: Mapping[str, Handler],
        guard: Guard,
        settings: ServerSettings,
        door: Door | None = None,
        where: ListenOn | None = None,
    ) -> None:
        self._settings = settings
        self._door = door or Door()
        self._guard = guard
        self._where = where or ListenOn()
        options = [*_OPTIONS, *_connection_options(settings)]
        if self._where.socket:
            options = _OPTIONS  # the calls of all clients come on one connection, which lasts
        if self._where.shared:
            options = [(name, 1 if name == "grpc.so_reuseport" else value) for name, value in options]
        self._server = grpc.aio.server(interceptors=[guard], options=options)
        self._server.add_generic_rpc_handlers((Methods(built), ReflectionMethods()))
        self._health = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        self.address = settings.address

    async def start(self) -> str:
        """Listen. Returns the address.

        Raises:
            FailedPrecondition: other machines would reach it and the settings do not ask for that.
            Unavailable: the port is taken.
        """
        if self._where.socket:
            return await self._start_on_socket(Path(self._where.socket))
        host, port = self._settings.host, self._settings.port
        if not _is_loopback(host):
            check_reach(self._door, self._settings)
        try:
            bound = self._listen()
        except RuntimeError:
            bound = 0
        if bound == 0:
            raise Unavailable(
                ErrorReason.NOT_SERVING,
                f"Cannot listen on {self._settings.address}: the port is taken, or the address is not of this machine.",
                hint="Stop what listens there, or choose another with --port; 0 takes a free one.",
                details={"port": str(port)},
            )
        self.address = ServerSettings(host=host, port=bound).address
        await self._begin()
        return self.address

    async def _start_on_socket(self, path: Path) -> str:
        from groundwire_server.rpc.workers.socket_path import private_socket

        try:
            with private_socket(path) as target:
                self._server.add_insecure_port(target)
                await self._begin()
        except (OSError, RuntimeError) as error:
            raise Unavailable(ErrorReason.NOT_SERVING, f"Cannot listen on {path}.") from error
        self.address = f"unix:{path}"
        return self.address

    async def _begin(self) -> None:
        await self._server.start()
        for service in SERVICES:
            await self._health.set(service.full_name, health_pb2.HealthCheckResponse.SERVING)

    def _listen(self) -> int:
        if self._door.credentials is None:
            return self._server.add_insecure_port(self._settings.address)
        return self._server.add_secure_port(self._settings.address, self._door.credentials)

    async def stop(self, grace: float, late_seconds: float = 0.0) -> None:
        """Say NOT_SERVING, take no new call, wait up to `grace` seconds for those that run, then end them.

        Args:
            late_seconds: for how long none may have come before grpc stops (`Guard.drain`).
        """
        await self._health.enter_graceful_shutdown()
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._guard.drain(grace, late_seconds), grace + _ENDING_SECONDS)
        except asyncio.CancelledError:
            await self._server.stop(0)
            raise
        await self._server.stop(_ENDING_SECONDS)
        if self._where.socket:
            Path(self._where.socket).unlink(missing_ok=True)


def _connection_options(settings: ServerSettings) -> list[tuple[str, int]]:
    """How long a connection lasts. grpc spreads the age by a tenth either way, so that not all clients come at once."""
    keepalive = round(settings.keepalive_seconds * 1000)
    options = [
        ("grpc.keepalive_time_ms", keepalive),
        ("grpc.keepalive_timeout_ms", keepalive),
        ("grpc.http2.ping_timeout_ms", keepalive),  # else an answer is waited for a minute, whatever the other says
    ]
    if settings.connection_age_seconds:
        options += [
            ("grpc.max_connection_age_ms", max(1, round(settings.connection_age_seconds * 1000))),
            ("grpc.max_connection_age_grace_ms", round(settings.connection_grace_seconds * 1000)),
        ]
    return options


def _is_loopback(host: str) -> bool:
    """Whether every address that the name stands for is of this machine alone."""
    try:
        found = {str(info[4][0]) for info in socket.getaddrinfo(host, None)}
    except OSError:
        raise InvalidRequest.one("server.host", ErrorReason.UNKNOWN_NAME, f"{host!r} has no address") from None
    return all(ipaddress.ip_address(address.partition("%")[0]).is_loopback for address in found)
