"""The real server, which kills itself at one named point: `python -m tests.durability.victim ARGUMENTS OF GROUNDWIRE`.

KILL_POINT names the point. Right before the kill its name is written to the descriptor KILL_SAYS, so that nobody takes
another death for it.
"""

from __future__ import annotations

import builtins
import fnmatch
import functools
import importlib
import inspect
import io
import os
import signal
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tests.durability.points import POINTS, Point
from tests.durability.triggers import Call, DatabaseFile, FileCall, Statement
from tests.durability.vfs import hook_files

__all__ = ["main"]

_SERVER = "groundwire_server"


class _Fuse:
    """Counts passages and kills at the right one."""

    def __init__(self, point: Point, descriptor: int) -> None:
        self._point = point
        self._descriptor = descriptor
        self._passed = 0
        self._lock = threading.Lock()

    def passes(self) -> bool:
        """Count a passage. Whether it is the last one."""
        with self._lock:
            self._passed += 1
            return self._passed == self._point.passage

    def kill(self) -> None:
        """Never returns."""
        os.write(self._descriptor, self._point.name.encode())
        os.kill(os.getpid(), signal.SIGKILL)

    def around(self, when: str, whole: Callable[[], Any], half: Callable[[], Any] | None = None) -> Any:
        """Do something, and kill before, in the middle of or after it when its time has come."""
        if not self.passes():
            return whole()
        if when == "middle" and half is not None:
            half()
        elif when == "after":
            whole()
        return self.kill()


def arm(point: Point, fuse: _Fuse) -> None:
    """Lay the fuse. Raises when the place is not there."""
    match point.trigger:
        case Call():
            _arm_call(point.trigger, fuse)
        case Statement():
            _arm_statement(point.trigger, fuse)
        case FileCall(function="write"):
            _arm_open(point.trigger, fuse)
        case FileCall():
            _arm_file_call(point.trigger, fuse)
        case DatabaseFile():
            _arm_database_file(point.trigger, fuse)


def _arm_call(trigger: Call, fuse: _Fuse) -> None:
    module_name, _, qualified = trigger.target.partition(":")
    *outer, name = qualified.split(".")
    module = importlib.import_module(module_name)
    owner: Any = functools.reduce(getattr, outer, module)
    original = inspect.getattr_static(owner, name)
    assert inspect.isfunction(original), f"{trigger.target} is no plain function"
    if inspect.isgeneratorfunction(original) and trigger.when != "before":
        raise TypeError(f"{trigger.target} is a generator: it can be killed before it only")

    def counts(arguments: Sequence[Any]) -> bool:
        return not trigger.carries or any(_carries(each, trigger.carries) for each in arguments)

    @functools.wraps(original)
    def replacement(*args: Any, **kwargs: Any) -> Any:
        if not counts(args):
            return original(*args, **kwargs)
        return fuse.around(trigger.when, lambda: original(*args, **kwargs))

    @functools.wraps(original)
    async def awaited(*args: Any, **kwargs: Any) -> Any:
        due = counts(args) and fuse.passes()
        if due and trigger.when == "before":
            fuse.kill()
        result = await original(*args, **kwargs)
        if due:
            fuse.kill()
        return result

    wrapper = awaited if inspect.iscoroutinefunction(original) else replacement
    if outer:
        setattr(owner, name, wrapper)
        return
    for loaded in [each for key, each in sys.modules.items() if key.partition(".")[0] == _SERVER]:
        for key, value in list(vars(loaded).items()):
            if value is original:
                setattr(loaded, key, wrapper)


def _carries(argument: Any, member: str) -> bool:
    which = getattr(argument, "WhichOneof", None)
    return which is not None and which("message") == member


def _arm_statement(trigger: Statement, fuse: _Fuse) -> None:
    class Connection(sqlite3.Connection):
        def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
            whole = functools.partial(super().execute, sql, *parameters)
            done: sqlite3.Cursor = fuse.around(trigger.when, whole) if sql.startswith(trigger.begins) else whole()
            return done

        def executemany(self, sql: str, rows: Iterable[Any]) -> sqlite3.Cursor:
            if not sql.startswith(trigger.begins):
                return super().executemany(sql, rows)
            given = list(rows)
            if trigger.when == "middle" and len(given) < 2:
                return super().executemany(sql, given)
            do, half = super().executemany, given[: len(given) // 2]
            done: sqlite3.Cursor = fuse.around(trigger.when, lambda: do(sql, given), lambda: do(sql, half))
            return done

    connect = sqlite3.connect
    sqlite3.connect = functools.partial(connect, factory=Connection)  # type: ignore[assignment]


def _arm_database_file(trigger: DatabaseFile, fuse: _Fuse) -> None:
    hook_files(trigger.function, trigger.path, lambda whole, half: int(fuse.around(trigger.when, whole, half)))
    if not trigger.checkpoint_pages:
        return
    often = f"PRAGMA wal_autocheckpoint = {trigger.checkpoint_pages}"

    class Connection(sqlite3.Connection):
        def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
            return super().execute(often if sql.startswith("PRAGMA wal_autocheckpoint") else sql, *args)

    connect = sqlite3.connect
    sqlite3.connect = functools.partial(connect, factory=Connection)  # type: ignore[assignment]


def _arm_file_call(trigger: FileCall, fuse: _Fuse) -> None:
    original: Callable[..., Any] = getattr(os, trigger.function)

    def replacement(*args: Any, **kwargs: Any) -> Any:
        whole = functools.partial(original, *args, **kwargs)
        if not fnmatch.fnmatch(_path_of(args[1] if trigger.function == "replace" else args[0]), trigger.path):
            return whole()
        half = None
        if trigger.function == "pwrite":
            descriptor, content, offset = args
            half = functools.partial(original, descriptor, bytes(content)[: len(content) // 2], offset)
        return fuse.around(trigger.when, whole, half)

    setattr(os, trigger.function, replacement)


def _path_of(path: Any) -> str:
    return os.readlink(f"/proc/self/fd/{path}") if isinstance(path, int) else os.fspath(path)


def _arm_open(trigger: FileCall, fuse: _Fuse) -> None:
    original = io.open

    def opening(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        opened = original(file, mode, *args, **kwargs)
        if isinstance(file, int) or "r" in mode or not fnmatch.fnmatch(os.fspath(file), trigger.path):
            return opened
        write = opened.write

        def half(content: Any) -> None:
            cut = content if isinstance(content, str) else bytes(content)
            write(cut[: len(cut) // 2])
            opened.flush()

        return _Watched(
            opened, lambda content: fuse.around(trigger.when, lambda: write(content), lambda: half(content))
        )

    builtins.open = io.open = opening


class _Watched:
    """A file whose writes are watched."""

    def __init__(self, opened: Any, write: Callable[[Any], int]) -> None:
        self._opened = opened
        self.write = write

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opened, name)

    def writelines(self, parts: Iterable[Any]) -> None:
        for part in parts:
            self.write(part)

    def __enter__(self) -> _Watched:
        return self

    def __exit__(self, *exc: object) -> None:
        self._opened.close()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._opened)


def _save_each_write() -> None:
    directory: Any = importlib.import_module("groundwire_server.lexical.directory")
    directory._SAVE_AFTER_SECONDS = 0.0


def main() -> None:
    """Load all of the server, lay the fuse, and run the command."""
    for module in ("groundwire_server.cli.app", "groundwire_server.cli.serve", "groundwire_server.rpc"):
        importlib.import_module(module)
    (point,) = [each for each in POINTS if each.name == os.environ["KILL_POINT"]]
    if isinstance(point.trigger, FileCall) and point.trigger.function == "unlink":
        _save_each_write()  # else there is nothing to merge where the writes follow each other quickly
    arm(point, _Fuse(point, int(os.environ["KILL_SAYS"])))
    importlib.import_module("groundwire_server.cli").main()


if __name__ == "__main__":
    main()
