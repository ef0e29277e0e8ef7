"""A proxy between client and server that cuts connections after so many bytes, wherever that falls."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

__all__ = ["CuttingProxy", "cutting_proxy"]


class CuttingProxy:
    """Passes bytes both ways. The n-th connection is cut when as many bytes as its budget says have gone through it in
    both directions together; those after the last budget are never cut.
    """

    def __init__(self, target: str, budgets: Sequence[int]) -> None:
        host, _, port = target.rpartition(":")
        self._target = (host, int(port))
        self._budgets = iter(budgets)
        self.cuts = 0
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def close(self) -> None:
        """Cut everything and take no more."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._listener.close()
        with self._lock:
            for each in self._open:
                _shut(each)
        for thread in self._threads:
            thread.join(timeout=60)

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(self._target)
            except OSError:
                near.close()
                continue
            left = [next(self._budgets, None)]
            with self._lock:
                self._open |= {near, far}
            for source, sink in ((near, far), (far, near)):
                thread = threading.Thread(target=self._carry, args=(source, sink, left), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _carry(self, source: socket.socket, sink: socket.socket, left: list[int | None]) -> None:
        with suppress(OSError):
            while some := source.recv(65536):
                with self._lock:
                    if left[0] is not None:
                        some, cut = some[: left[0]], len(some) >= left[0]
                        left[0] -= len(some)
                        self.cuts += cut and len(some) > 0
                    else:
                        cut = False
                sink.sendall(some)
                if cut:
                    break
        _shut(source)
        _shut(sink)


@contextmanager
def cutting_proxy(target: str, budgets: Sequence[int]) -> Iterator[CuttingProxy]:
    """A proxy in front of a server."""
    proxy = CuttingProxy(target, budgets)
    try:
        yield proxy
    finally:
        proxy.close()


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
