"""The process that starts the others, and starts each again that dies, until it is told to stop."""

from __future__ import annotations

import os
import selectors
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

from groundwire_server.errors import ErrorReason, GroundwireError
from groundwire_server.settings import ServerSettings, Settings
from groundwire_server.store import FolderLock, disk_errors
from groundwire_server.supervision.lines import Lines
from groundwire_server.supervision.place import Place
from groundwire_server.supervision.port import SharedPort

__all__ = ["supervise"]

_STOPPING = (signal.SIGTERM, signal.SIGINT)
# What a process may take to end behind what it may wait for the calls that run.
_MARGIN_SECONDS = 10.0
_END_SECONDS = 3.0


def supervise(
    settings: Settings, announce: Callable[[str], None], note: Callable[[str], None] = lambda line: None
) -> signal.Signals:
    """Serve with one process that writes and `server.workers` that read, until SIGTERM or SIGINT.

    First those that read end their calls and stop, then the one that writes. A second signal does not wait.

    Args:
        announce: gets one line with the address once all of them answer.
        note: gets lines for people.

    Returns:
        The signal that ended it, the first one.

    Raises:
        FailedPrecondition: another process has the data folder.
        Unavailable: the port is taken.
        GroundwireError: what kept one of the processes from starting, the first time.
    """
    with ExitStack() as held:
        with disk_errors(settings.data):
            settings.data.mkdir(parents=True, exist_ok=True)
            lock = FolderLock(settings.data / "lock")
        held.callback(lock.release)
        port = SharedPort(settings.server)
        held.callback(port.close)
        server = settings.server.model_copy(update={"port": port.number})
        alike = settings.model_copy(update={"server": server})
        supervisor = _Supervisor(alike, lock.descriptor)
        held.callback(supervisor.end)
        signals = held.enter_context(_signals())
        supervisor.start(signals, note)
        if not signals.asked:
            address = ServerSettings(host=server.host, port=server.port).address
            lock.announce(address)
            announce(f"groundwire answers on {address}, data in {settings.data}")
            supervisor.watch(signals)
        supervisor.stop(signals)
        return signals.asked[0]


class _Signals:
    """Signals that have come, and a descriptor that is readable when one more has."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.asked: list[signal.Signals] = []

    def take(self, number: int, _frame: object) -> None:
        if number in _STOPPING:
            self.asked.append(signal.Signals(number))


@contextmanager
def _signals() -> Iterator[_Signals]:
    """Handle SIGTERM, SIGINT and the deaths of children while the block runs."""
    reads, writes = socket.socketpair()
    reads.setblocking(False)
    writes.setblocking(False)
    signals = _Signals(reads.fileno())
    before = {number: signal.signal(number, signals.take) for number in (*_STOPPING, signal.SIGCHLD)}
    woken = signal.set_wakeup_fd(writes.fileno(), warn_on_full_buffer=False)
    try:
        yield signals
    finally:
        signal.set_wakeup_fd(woken)
        for number, handler in before.items():
            signal.signal(number, handler)
        reads.close()
        writes.close()


class _Supervisor:
    def __init__(self, settings: Settings, lock: int) -> None:
        self._log = Lines(settings.log)
        self._drain_seconds = settings.server.drain_seconds
        self._writer = Place("writer", ("writer",), settings, lock)
        self._readers = [
            Place(f"reader-{number}", ("reader", str(number)), settings, lock)
            for number in range(1, settings.server.workers + 1)
        ]

    @property
    def _all(self) -> list[Place]:
        return [self._writer, *self._readers]

    def start(self, signals: _Signals, note: Callable[[str], None]) -> None:
        """Start the one that writes, then those that read, until all answer or a signal comes."""
        for places in ([self._writer], self._readers):
            for place in places:
                place.start()
            while not signals.asked and not all(place.answers for place in places):
                self._wait(signals, None)
                for place in self._all:
                    self._check_start(place)
            for place in places:
                for line in place.report.notes if place.report is not None else ():
                    note(line)
        self._log.info("serving", pid=os.getpid(), **{place.name: place.pid for place in self._all})

    def _check_start(self, place: Place) -> None:
        if place.report is not None and place.report.failure is not None:
            raise place.report.failure
        code = place.ended()
        if code is None:
            return
        if place.report is not None and place.report.failure is not None:
            raise place.report.failure
        raise GroundwireError(
            ErrorReason.INTERNAL,
            f"The process {place.name} ended at its start, {_how(code)}.",
            hint="What it wrote to standard error may say why.",
        )

    def watch(self, signals: _Signals) -> None:
        """Start again what dies, until a signal comes."""
        while not signals.asked:
            due = [place.due for place in self._all if place.due is not None]
            self._wait(signals, max(0.0, min(due) - time.monotonic()) if due else None)
            for place in self._all:
                self._see_to(place)

    def _see_to(self, place: Place) -> None:
        code = place.ended()
        if code is not None:
            failure = None if place.report is None else place.report.failure
            reason = {} if failure is None else {"reason": failure.reason.name}
            self._log.warning("process ended", ended=place.name, how=_how(code), **reason)
        if place.due is not None and place.due <= time.monotonic():
            place.start()
            self._log.info("process started", started=place.name, pid=place.pid)

    def stop(self, signals: _Signals) -> None:
        """Have those that read end their calls, which they may pass on; then the one that writes."""
        self._log.info("stopping")
        for places in (self._readers, [self._writer]):
            for place in places:
                place.send(signal.SIGTERM)
            give_up = time.monotonic() + self._drain_seconds + _MARGIN_SECONDS
            hurried = False
            while any(place.pid is not None for place in places) and time.monotonic() < give_up:
                if len(signals.asked) > 1 and not hurried:
                    hurried = True
                    for place in self._all:
                        place.send(signal.SIGTERM)
                        place.send(signal.SIGTERM)
                self._wait(signals, max(0.0, give_up - time.monotonic()))
                for place in self._all:
                    place.ended()
        self.end()
        self._log.info("stopped")

    def end(self) -> None:
        """Leave no process behind."""
        for place in self._all:
            place.send(signal.SIGTERM)
        for place in self._all:
            place.end(_END_SECONDS)

    def _wait(self, signals: _Signals, seconds: float | None) -> None:
        """Until a signal comes, one of the processes tells something, or the time is over."""
        with selectors.DefaultSelector() as selector:
            selector.register(signals.descriptor, selectors.EVENT_READ)
            for place in self._all:
                if place.descriptor is not None:
                    selector.register(place.descriptor, selectors.EVENT_READ)
            ready = {key.fd for key, _ in selector.select(seconds)}
        if signals.descriptor in ready:
            with suppress(BlockingIOError):
                os.read(signals.descriptor, 4096)
        for place in self._all:
            place.listen()


def _how(code: int) -> str:
    """An exit code in words."""
    if code >= 0:
        return f"with exit code {code}"
    try:
        return f"by {signal.Signals(-code).name}"
    except ValueError:
        return f"by signal {-code}"
