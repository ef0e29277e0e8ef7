"""How a process of a server is started: a new interpreter, which gets its settings through a pipe.

The pipe stays open for as long as the one that started it lives: where it ends, so does the process. Nothing that the
settings hold stands in arguments or in the environment.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import groundwire_server
from groundwire_server.settings import Settings

__all__ = ["MODULE", "Started", "receive_settings", "start_process"]

MODULE = "groundwire_server.rpc.workers"
_LENGTH_BYTES = 8


class Started:
    """A process that was started.

    Attributes:
        process: it.
        report: descriptor, not blocking, of what it tells (`Report`); its end follows.
    """

    def __init__(self, process: subprocess.Popen[bytes], report: int) -> None:
        self.process = process
        self.report = report

    def close(self) -> None:
        """Let go of the pipes of a process that has ended."""
        os.close(self.report)
        if self.process.stdin is not None:
            self.process.stdin.close()


def start_process(words: Sequence[str], settings: Settings, lock: int) -> Started:
    """Start one.

    Args:
        words: what it is to be: "writer", or "reader" and its number.
        settings: it works by.
        lock: descriptor of the data folder's lock, which it inherits.
    """
    # The folder that this very package came from goes first, and the working folder is not looked at (-P).
    home = str(Path(groundwire_server.__file__).parent.parent)
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH", ""))))}
    told, tells = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(told, False)
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", MODULE, str(tells), str(lock), *words],
            stdin=subprocess.PIPE,
            pass_fds=(tells, lock),
            env=environ,
            bufsize=0,
            start_new_session=True,  # Ctrl-C at the terminal is for the supervisor, which stops them in their order
        )
    except BaseException:
        os.close(told)
        raise
    finally:
        os.close(tells)
    started = Started(process, told)
    packed = pickle.dumps(settings)
    try:
        assert process.stdin is not None
        process.stdin.write(len(packed).to_bytes(_LENGTH_BYTES, "little") + packed)
    except BrokenPipeError:
        pass  # it is gone already, which is noticed by who watches it
    return started


def receive_settings(pipe: int) -> Settings:
    """In the process: the settings. Raises EOFError when the one that started it is gone."""
    length = int.from_bytes(_read(pipe, _LENGTH_BYTES), "little")
    settings = pickle.loads(_read(pipe, length))
    assert isinstance(settings, Settings)
    return settings


def _read(pipe: int, size: int) -> bytes:
    parts: list[bytes] = []
    while size:
        part = os.read(pipe, size)
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
