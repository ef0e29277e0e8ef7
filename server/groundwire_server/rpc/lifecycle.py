"""A server's life: open the engine, listen, answer, stop. And the three ways to start one."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import uvloop

from groundwire_server.engine import Engine
from groundwire_server.kernels import warm_up_after_searches
from groundwire_server.rpc.admission import Admission
from groundwire_server.rpc.guard import Guard
from groundwire_server.rpc.log import OURS, ForeignLogs, Log, fault_fields, make_log
from groundwire_server.rpc.loop_thread import LoopThread
from groundwire_server.rpc.role import Role
from groundwire_server.rpc.server import WireServer
from groundwire_server.rpc.services import build_methods
from groundwire_server.rpc.telemetry import open_telemetry
from groundwire_server.rpc.work import WorkPool
from groundwire_server.settings import Settings

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider

__all__ = ["Running", "favour_the_loop", "listening", "running_server", "serve"]

# Clients of a server that others use may have calls on their way when the signal comes.
_LATE_SECONDS = 0.1
# For how long a thread that works keeps the interpreter from the loop that takes calls in. Python's own is 5 ms,
# and the loop comes by several times a call; at this throughput is the same (docs/load.md).
_SWITCH_SECONDS = 0.0002


class Running:
    """A server that answers.

    Attributes:
        address: where it listens.
        engine: what it answers from.
        pool: its threads.
        guard: its outermost layer.
        metrics: where its metrics are read; empty: nowhere.
        loop: where all of it runs.
        role: what this process is to others of the same server.
    """

    def __init__(self, address: str, engine: Engine, pool: WorkPool, guard: Guard, role: Role | None = None) -> None:
        self.address = address
        self.engine = engine
        self.pool = pool
        self.guard = guard
        self.metrics = ""
        self.loop = asyncio.get_running_loop()
        self.role = role or Role()

    @property
    def leftovers(self) -> dict[str, int]:
        """What has begun and not ended: calls, work in threads, places that are taken, and endings that no client knows
        of yet; all zero on a server that nobody is calling.
        """
        return {
            "calls": self.guard.open_calls,
            "work": self.pool.open_work,
            "slots": self.guard.admission.taken,
            "endings": self.guard.open_endings,
        }


@asynccontextmanager
async def listening(
    settings: Settings,
    log: Log,
    *,
    late_seconds: float = 0.0,
    provider: TracerProvider | None = None,
    own_token: str = "",
    role: Role | None = None,
) -> AsyncIterator[Running]:
    """A server inside the running loop. Leaving stops it: no new calls, those that run may end, then all is closed.

    Args:
        late_seconds: how long to refuse calls that others may have on their way (`Guard.drain`).
        provider: of the traces of the program which the server is a part of; by default one of its own, as the settings
            say.
        own_token: of a program that has the server for itself (`make_door`).
        role: what this process is to others of the same server; None: there are no others.

    Raises:
        FailedPrecondition: another process has the data folder, or a model that must be there is not; traces must be
            sent, and what sends them is not installed.
        Unavailable: a port is taken.
        InvalidRequest: a file of a library does not hold.
    """
    asyncio.get_running_loop().set_exception_handler(_say_fault(log))
    role = role or Role()
    engine = await asyncio.to_thread(role.open_engine, settings)
    admission = Admission(settings.limits)
    # Reads that wait for a model take little from the loop, and must not wait for each other's.
    pool = WorkPool(settings.reading_threads, admission.crowded if settings.llm.provider == "none" else None)
    stopping = asyncio.Event()
    try:
        async with open_telemetry(
            settings.telemetry, log, number=role.number, process=role.name, provider=provider
        ) as telemetry:
            door = role.door(settings, engine, own_token)
            limits = settings.limits
            guard = Guard(
                door.authenticate,
                log,
                limits.max_call_seconds,
                observer=telemetry.observer,
                limits=limits,
                admission=admission,
                many_a_peer=bool(role.where.socket),
            )
            methods = role.methods(build_methods(engine, pool, stopping), engine, pool, stopping)
            wire = WireServer(methods, guard, settings.server, door, role.where)
            server = Running(await wire.start(), engine, pool, guard, role)
            try:
                server.metrics = await telemetry.answer(server)
                engine.announce(server.address)
                yield server
            finally:
                stopping.set()
                await wire.stop(settings.server.drain_seconds, late_seconds)
    finally:
        await role.close()
        await asyncio.to_thread(pool.shutdown)
        await asyncio.to_thread(engine.close)


@contextmanager
def running_server(settings: Settings, log: Log | None = None) -> Iterator[str]:
    """A server in a thread of this process, for a command or a test; gives its address. Raises as `listening` does."""
    with running(settings, log) as server:
        yield server.address


@contextmanager
def running(
    settings: Settings,
    log: Log | None = None,
    *,
    provider: TracerProvider | None = None,
    own_token: str = "",
    role: Role | None = None,
) -> Iterator[Running]:
    """The same; gives the whole of it."""
    log = log or make_log(settings.log)
    thread = LoopThread(lambda: listening(settings, log, provider=provider, own_token=own_token, role=role))
    server = thread.start()
    try:
        yield server
    finally:
        thread.stop()


def serve(
    settings: Settings, announce: Callable[[str], None] | None = None, *, role: Role | None = None
) -> signal.Signals:
    """Answer until SIGTERM or SIGINT; a second signal does not wait for calls that run. Raises as `listening` does.

    Args:
        announce: gets one line with the address once the server answers; by default it is printed.
        role: what this process is to others of the same server; None: there are no others. The end of its lifeline is
            as good as SIGTERM.

    Returns:
        The signal that ended it, the first one.
    """
    log = make_log(settings.log)
    if role is not None:
        log = log.bind(process=role.name)
    foreign = ForeignLogs(log)
    logging.getLogger().addHandler(foreign)
    logging.getLogger(OURS).setLevel(logging.INFO)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(_until_signal(settings, log, announce or _print_line, role or Role()))
    finally:
        logging.getLogger().removeHandler(foreign)


async def _until_signal(settings: Settings, log: Log, announce: Callable[[str], None], role: Role) -> signal.Signals:
    loop = asyncio.get_running_loop()
    asked: asyncio.Future[signal.Signals] = loop.create_future()
    this = asyncio.current_task()

    def stop(number: signal.Signals) -> None:
        if not asked.done():
            asked.set_result(number)
        elif this is not None:
            this.cancel()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop, number)
    if role.lifeline is not None:
        loop.add_reader(role.lifeline, _cut_off, loop, role.lifeline, stop)
    try:
        async with listening(settings, log, late_seconds=_LATE_SECONDS, role=role) as server:
            favour_the_loop()
            announce(f"groundwire answers on {server.address}, data in {settings.data}")
            log.info("serving", address=server.address, **({"metrics": server.metrics} if server.metrics else {}))
            threading.Thread(target=_speed_up, args=(server.engine,), name="groundwire-speed-up", daemon=True).start()
            await asked
            log.info("stopping", **server.leftovers)
    except asyncio.CancelledError:
        log.warning("stopped without waiting")
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
    log.info("stopped")
    return asked.result()


def favour_the_loop() -> None:
    """Have threads that work leave the interpreter to the loop soon, and never look for garbage in what is there now:
    modules, and the state of the libraries, which stay. A look through them stops all threads for a tenth of a second.
    """
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.freeze()


def _cut_off(loop: asyncio.AbstractEventLoop, lifeline: int, stop: Callable[[signal.Signals], None]) -> None:
    """Nobody writes to a lifeline: that there is something to read means that its other end is gone."""
    loop.remove_reader(lifeline)
    stop(signal.SIGTERM)


def _speed_up(engine: Engine) -> None:
    """Compiled searches come last: what loads them would stand in the way of the embedder."""
    engine.wait_for_embedder()
    warm_up_after_searches()
    gc.freeze()


def _print_line(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _say_fault(log: Log) -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    """The loop's own reports hold texts of exceptions; here they give type and place."""

    def say(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        log.error("loop fault", **(fault_fields(error) if isinstance(error, BaseException) else {}))

    return say
