"""The port that several processes of a server share, and nobody else."""

from __future__ import annotations

import errno
import socket
from contextlib import ExitStack

from groundwire_server.errors import ErrorReason, InvalidRequest, Unavailable
from groundwire_server.settings import ServerSettings

__all__ = ["SharedPort"]


class SharedPort:
    """Held from construction to `close`. Whoever listens elsewhere on it without being asked is refused by the system;
    another server of several processes by the name that this one holds.

    Attributes:
        number: of the port.

    Raises:
        InvalidRequest: the host has no address.
        Unavailable: NOT_SERVING, the port is taken, or the address is not of this machine.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self._held = ExitStack()
        try:
            found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        except OSError:
            why = f"{settings.host!r} has no address"
            raise InvalidRequest.one("server.host", ErrorReason.UNKNOWN_NAME, why) from None
        self.number = settings.port
        try:
            with self._held:
                for family, _, _, _, address in dict.fromkeys(found):
                    self._take(family, str(address[0]))
                self._held = self._held.pop_all()
        except OSError as error:
            raise Unavailable(
                ErrorReason.NOT_SERVING,
                f"Cannot listen on {settings.address}: the port is taken, or the address is not of this machine.",
                hint="Stop what listens there, or choose another with --port; 0 takes a free one.",
                details={"port": str(settings.port)},
            ) from error

    def close(self) -> None:
        """Let others have it."""
        self._held.close()

    def _take(self, family: int, host: str) -> None:
        if family == socket.AF_INET6 and not socket.has_ipv6:
            return
        with _made(family) as alone:  # refused where anybody listens, whatever that one shares
            alone.bind((host, self.number))
            alone.listen()
            self.number = int(alone.getsockname()[1])
        if hasattr(socket, "SO_PEERCRED"):  # Linux: a name that is given back when its holder dies, however it dies
            claim = self._held.enter_context(socket.socket(socket.AF_UNIX))
            claim.bind(f"\0groundwire port {host} {self.number}")
        # Bound and never listening: it gets no call, and the port stays taken while processes are replaced.
        place = self._held.enter_context(_made(family))
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        place.bind((host, self.number))


def _made(family: int) -> socket.socket:
    try:
        made = socket.socket(family)
    except OSError as error:
        if error.errno == errno.EAFNOSUPPORT:
            raise OSError(errno.EADDRNOTAVAIL, "no such addresses here") from error
        raise
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    return made
