"""A proxy between a client and a server that does to connections what networks do, at places told beforehand.

It passes bytes on over real sockets. What befalls a connection goes by bytes, by HTTP/2 frames and by what a test says
meanwhile, never by the clock (`lag` alone is one).
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

__all__ = ["REFUSED", "Connection", "FaultProxy", "Flow", "Inside", "Line", "Way", "fault_proxy"]

T = TypeVar("T")
Then = Literal["reset", "end", "vanish", "hold"]

_HEADER = 9
_PREFACE = 24
_KINDS = ("DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY", "WINDOW_UPDATE")
_PIECE = 1 << 16
_AHEAD = 1 << 14  # half of what it reads before the other side takes it
_RESET = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Inside:
    """A place in an HTTP/2 frame: `offset` bytes behind the beginning of the `number`-th of its kind, from 1.

    The head of a frame takes 9 bytes: less is a cut inside that. Behind the end of a frame it means its end.
    """

    kind: str = "DATA"
    number: int = 1
    offset: int = _HEADER + 1


@dataclass(frozen=True)
class Way:
    """One direction of a connection.

    at: where something happens to it, in bytes or inside a frame; None: nothing ever does.
    then: what. reset, end (in order): of both directions; vanish: what comes behind is lost, and so is an ending;
        hold: it waits until `Flow.grant`.
    drip: bytes that it carries at a time.
    lag: seconds that each piece takes.
    """

    at: int | Inside | None = None
    then: Then = "reset"
    drip: int = _PIECE
    lag: float = 0.0


@dataclass(frozen=True)
class Line:
    """What a connection goes through. refused: it is reset at once."""

    up: Way = Way()
    down: Way = Way()
    refused: bool = False


REFUSED = Line(refused=True)


class _Frames:
    """Follows HTTP/2 frames in the bytes of one direction, and finds a place in them."""

    def __init__(self, place: Inside, *, preface: bool) -> None:
        self._place = place
        self._skip = _PREFACE if preface else 0  # bytes up to the next head
        self._seen: Counter[str] = Counter()
        self._to_go: int | None = None  # bytes up to the place, once its frame has begun
        self.rest = 0  # bytes at the end of what was looked at that may begin a head

    def find(self, data: bytes) -> int | None:
        """Where in these bytes the place lies, None: behind them. The `rest` of them must come again."""
        self.rest = 0
        at = 0
        while self._to_go is None:
            step = min(self._skip, len(data) - at)
            at += step
            self._skip -= step
            if len(data) - at < _HEADER:
                self.rest = 0 if self._skip else len(data) - at
                return None
            self._skip = _HEADER + int.from_bytes(data[at : at + 3], "big")
            kind = _KINDS[data[at + 3]] if data[at + 3] < len(_KINDS) else str(data[at + 3])
            self._seen[kind] += 1
            if kind == self._place.kind and self._seen[kind] == self._place.number:
                self._to_go = at + min(self._place.offset, self._skip)
        if self._to_go <= len(data):
            return self._to_go
        self._to_go -= len(data)
        return None


@dataclass
class Flow:
    """One direction of a connection that is there.

    Attributes:
        passed: bytes that went through.
        lost: bytes that vanished.
        befallen: what its way tells has happened.
        left: whoever sends this way has ended the connection.
    """

    way: Way
    run: Callable[[Callable[[], None]], None]
    passed: int = 0
    lost: int = 0
    befallen: threading.Event = field(default_factory=threading.Event)
    left: threading.Event = field(default_factory=threading.Event)
    _credit: int | None = None
    _granted: asyncio.Event = field(default_factory=asyncio.Event)

    def grant(self, count: int | None = None) -> None:
        """Let so many further bytes through, None: all."""

        self.run(lambda: self.let_go(count))

    def let_go(self, count: int | None = None) -> None:
        """The same in the loop of the proxy."""
        self._credit = None if count is None or self._credit is None else self._credit + count
        self._granted.set()

    async def allowed(self, wanted: int) -> int:
        """How many of the bytes that wait may go through now; waits for one."""
        while self._credit is not None and self._credit <= 0:
            self._granted.clear()
            await self._granted.wait()
        if self._credit is None:
            return wanted
        count = min(wanted, self._credit)
        self._credit -= count
        return count

    def hold(self) -> None:
        """Let nothing through until `grant`."""
        self._credit = 0


class Connection:
    """A connection of a client, and the one to the server that it goes on in."""

    def __init__(
        self,
        line: Line,
        run: Callable[[Callable[[], None]], None],
        near: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        far: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        self.up = Flow(line.up, run)
        self.down = Flow(line.down, run)
        self._sides = (near[1], far[1])
        self._ways = (
            (self.up, near[0], far[1], line.up),
            (self.down, far[0], near[1], line.down),
        )

    @property
    def befallen(self) -> bool:
        """Whether anything that its line tells has happened."""
        return self.up.befallen.is_set() or self.down.befallen.is_set()

    def reset(self) -> None:
        """End both sides without a word."""
        for side in self._sides:
            with suppress(OSError):
                side.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            side.transport.abort()

    async def carry(self) -> None:
        """Until both directions have ended."""
        try:
            await asyncio.gather(*(self._carry(*way) for way in self._ways))
        finally:
            for side in self._sides:
                side.close()

    async def _carry(self, flow: Flow, source: asyncio.StreamReader, sink: asyncio.StreamWriter, way: Way) -> None:
        frames = _Frames(way.at, preface=flow is self.up) if isinstance(way.at, Inside) else None
        kept = b""
        try:
            while some := await source.read(way.drip):
                if way.lag:
                    await asyncio.sleep(way.lag)
                data = kept + some
                kept = b""
                place = None
                if not flow.befallen.is_set():
                    if frames is not None:
                        place = frames.find(data)
                        if place is None and frames.rest:
                            data, kept = data[: -frames.rest], data[-frames.rest :]
                    elif isinstance(way.at, int) and flow.passed + len(data) >= way.at:
                        place = way.at - flow.passed
                if place is None:
                    await self._pass(flow, sink, data)
                    continue
                await self._pass(flow, sink, data[:place])
                if self._befalls(flow, way.then):
                    return
                await self._pass(flow, sink, data[place:])
            await self._pass(flow, sink, kept)
        except OSError:
            pass
        flow.left.set()
        if flow.befallen.is_set() and way.then == "vanish":
            return
        with suppress(OSError, RuntimeError):
            if sink.can_write_eof() and not sink.is_closing():
                sink.write_eof()

    def _befalls(self, flow: Flow, then: Then) -> bool:
        """What the way tells happens now. Gives whether the connection is over."""
        if then == "reset":
            self.reset()
        elif then == "end":
            for side in self._sides:
                side.close()
        elif then == "hold":
            flow.hold()
        flow.befallen.set()
        return then in ("reset", "end")

    async def _pass(self, flow: Flow, sink: asyncio.StreamWriter, data: bytes) -> None:
        if flow.befallen.is_set() and flow.way.then == "vanish":
            flow.lost += len(data)
            return
        while data:
            count = await flow.allowed(len(data))
            with suppress(OSError):  # whoever would read is gone; the other direction tells of it
                sink.write(data[:count])
                await sink.drain()
            flow.passed += count
            data = data[count:]


class FaultProxy:
    """Passes connections on, each through the next of the lines; those behind the last are left alone.

    Attributes:
        address: where it listens.
        target: where connections that come are passed on to; may be changed.
        lines: of the connections to come; may be added to.
        connections: those that came and were not refused, in order.
    """

    def __init__(self, target: str, lines: Iterable[Line] = ()) -> None:
        self.target = target
        self.lines = list(lines)
        self.connections: list[Connection] = []
        self.refused = 0
        self._holder = _bound(0)  # keeps the port while nobody listens on it
        self._port: int = self._holder.getsockname()[1]
        self.address = f"127.0.0.1:{self._port}"
        self._listener: socket.socket | None = None
        self._accepting: asyncio.Task[None]
        self._tasks: set[asyncio.Task[None]] = set()
        self._sides: list[asyncio.StreamWriter] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.admit()

    @property
    def befallen(self) -> int:
        """How many connections something has happened to."""
        return self.refused + sum(each.befallen for each in self.connections)

    def refuse(self) -> None:
        """Connections that come from now on find nobody."""
        self._run(self._stop_listening())

    def admit(self) -> None:
        """They come through again."""
        self._run(self._listen())

    def reset(self) -> None:
        """Reset all connections that are there."""

        async def all_of_them() -> None:
            for each in self.connections:
                each.reset()

        self._run(all_of_them())

    def close(self) -> None:
        """Reset all, and take no more."""
        self.refuse()
        self._run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)
        self._loop.close()
        self._holder.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    def _soon(self, call: Callable[[], None]) -> None:
        self._loop.call_soon_threadsafe(call)

    async def _listen(self) -> None:
        if self._listener is None:
            self._listener = _bound(self._port)
            self._listener.setblocking(False)
            self._listener.listen()
            self._accepting = asyncio.create_task(self._accept(self._listener))

    async def _stop_listening(self) -> None:
        if self._listener is not None:
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the task that accepts
            await self._accepting
            self._listener.close()
            self._listener = None

    async def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                near, _ = await self._loop.sock_accept(listener)
                task = asyncio.create_task(self._serve(near))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _serve(self, near: socket.socket) -> None:
        line = self.lines.pop(0) if self.lines else Line()
        host, _, port = self.target.rpartition(":")
        try:
            if line.refused:
                raise ConnectionRefusedError
            far = await asyncio.open_connection(host, int(port), limit=_AHEAD)
        except asyncio.CancelledError:
            near.close()
            raise
        except OSError:
            self.refused += 1
            near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            near.close()
            return
        self._sides.append(far[1])
        here = await asyncio.open_connection(sock=near, limit=_AHEAD)
        self._sides.append(here[1])
        connection = Connection(line, self._soon, here, far)
        self.connections.append(connection)
        await connection.carry()

    async def _end(self) -> None:
        while self._tasks:  # one that has just been accepted comes to be something meanwhile
            for side in self._sides:
                side.transport.abort()  # whoever waits to read or write goes on
            for each in self.connections:
                each.up.let_go()
                each.down.let_go()
            await asyncio.wait(self._tasks, timeout=0.1)
            for task in self._tasks:
                task.cancel()
        await asyncio.gather(*(side.wait_closed() for side in self._sides), return_exceptions=True)


def _bound(port: int) -> socket.socket:
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    made.bind(("127.0.0.1", port))
    return made


@contextmanager
def fault_proxy(target: str, lines: Iterable[Line] = ()) -> Iterator[FaultProxy]:
    """A proxy in front of a server, until the block ends."""
    proxy = FaultProxy(target, lines)
    try:
        yield proxy
    finally:
        proxy.close()
