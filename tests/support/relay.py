"""A relay between a client and a server that can be cut like a cable."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

__all__ = ["Relay", "relay_to"]


class Relay:
    """Passes bytes on in both directions, of as many connections as come.

    Attributes:
        address: where it listens.
    """

    def __init__(self, target: str) -> None:
        host, _, port = target.rpartition(":")
        self._target = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._open: set[socket.socket] = set()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def cut(self) -> None:
        """Reset all connections: nothing is said to either side."""
        for each in list(self._open):
            with suppress(OSError):
                each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                each.shutdown(socket.SHUT_RD)  # wakes the thread that reads; it closes, and that resets
        for thread in self._threads[1:]:
            thread.join(10)

    def close(self) -> None:
        """Cut, and take no further connection."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._threads[0].join(10)
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection(self._target)
            self._open |= {near, far}
            for source, sink in ((near, far), (far, near)):
                thread = threading.Thread(target=self._pass, args=(source, sink), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _pass(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                sink.sendall(data)
        for each in (source, sink):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RD)
            each.close()
            self._open.discard(each)


@contextmanager
def relay_to(target: str) -> Iterator[Relay]:
    """A relay to an address, until the block ends."""
    relay = Relay(target)
    try:
        yield relay
    finally:
        relay.close()
