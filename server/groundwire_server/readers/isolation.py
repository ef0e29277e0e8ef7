"""Files that may crash, hang or swell what reads them are read in processes of their own, kept and used again.

A file costs its process at most: the next one gets a new process. Processes start anew, they are never forked.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import groundwire_server
from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.readers.child import PLAIN_OPTIONS, read_frame, write_frame
from groundwire_server.readers.document import ReaderOutput, Source
from groundwire_server.readers.document_codec import decode_outputs, decode_refusal

__all__ = ["ENVIRONMENT", "ReaderProcesses", "read_isolated"]

# Small leaks of libraries end with the process.
_FILES_A_PROCESS = 500
# The limit counts processor time, so that a busy machine refuses nothing; by the clock it is this many times as long.
_CLOCK_FACTOR = 10
_MAX_PROCESSES = 8
# What a process needs to start; nothing else that the server was told (secrets, addresses) is for hostile files.
ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "LANG", "LC_ALL")


class _Child:
    """One process, with what it has read so far."""

    def __init__(self) -> None:
        # The folder that this very package came from goes first, and the working folder is not looked at (-P).
        home = str(Path(groundwire_server.__file__).parent.parent)
        environ = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
        environ["PYTHONPATH"] = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH", ""))))
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "groundwire_server.readers.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environ,
            start_new_session=True,  # Ctrl-C at the terminal is for the server, which finishes what it has begun
        )
        self.files = 0
        self.timed_out = False

    def ask(self, head: dict[str, Any], raw: bytes, clock: float) -> tuple[str, bytes] | None:
        """Kind and body of the answer; None when the process ended without one, or was ended by the clock."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.files += 1
        timer = threading.Timer(clock, self._time_out)
        timer.daemon = True
        timer.start()
        try:
            write_frame(self._process.stdin, head, raw)
            answer = read_frame(self._process.stdout)
        except (OSError, ValueError):
            answer = None
        finally:
            timer.cancel()
        return None if answer is None else (str(answer[0].get("kind", "")), answer[1])

    def alive(self) -> bool:
        return self._process.poll() is None

    def over_time(self) -> bool:
        """After its end: whether it was the time that ended it."""
        return self.timed_out or self._process.wait() == -getattr(signal, "SIGXCPU", 0)

    def close(self) -> None:
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._process.wait()

    def _time_out(self) -> None:
        self.timed_out = True
        self._process.kill()


class ReaderProcesses:
    """A bounded set of processes that read; each reads one file at a time. Safe to use from several threads.

    Args:
        size: most processes at a time; whoever comes while all are busy waits.
    """

    def __init__(self, size: int) -> None:
        self._slots = threading.BoundedSemaphore(size)
        self._lock = threading.Lock()
        self._idle: list[_Child] = []

    def read(self, media_type: str, source: Source) -> list[ReaderOutput]:
        """What the reader of that media type makes of a file.

        Raises:
            DocumentRefused: what the reader raises; DOCUMENT_TOO_LARGE over the bound of time or memory;
                DOCUMENT_BROKEN when the process crashes on the file.
        """
        with self._slots:
            child = self._take()
            fresh = child.files == 0
            answer = self._ask(child, media_type, source)
            if answer is None and not child.timed_out and not child.over_time() and not fresh:
                # What it read before may have left it short of memory: the file is judged by a process of its own.
                child.close()
                child = _Child()
                answer = self._ask(child, media_type, source)
            return self._judge(child, source, answer)

    def close(self) -> None:
        """End the processes that are idle. More can be read afterwards."""
        with self._lock:
            idle, self._idle = self._idle, []
        for child in idle:
            child.close()

    def _ask(self, child: _Child, media_type: str, source: Source) -> tuple[str, bytes] | None:
        options = {name: getattr(source.options, name) for name in PLAIN_OPTIONS}
        head = {"media_type": media_type, "doc_id": source.doc_id, "charset": source.charset, "options": options}
        return child.ask(head, source.raw, source.options.max_seconds * _CLOCK_FACTOR)

    def _judge(self, child: _Child, source: Source, answer: tuple[str, bytes] | None) -> list[ReaderOutput]:
        doc_id, options = source.doc_id, source.options
        kind, body = answer or ("", b"")
        if kind in ("outputs", "refused"):
            self._give_back(child)
            try:
                outputs, refusal = _decode(kind, body)
            except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError):
                kind, outputs, refusal = "", [], None
            if refusal is not None:
                raise refusal
            if kind:
                return outputs
        over_time = answer is None and child.over_time()
        child.close()
        if over_time:
            raise DocumentRefused(
                ErrorReason.DOCUMENT_TOO_LARGE,
                f"{doc_id}: reading it takes longer than the limit of {options.max_seconds:g} seconds.",
                hint="Split the file, or raise limits.max_read_seconds.",
                details={"max_read_seconds": f"{options.max_seconds:g}"},
            )
        if kind == "memory":
            raise DocumentRefused(
                ErrorReason.DOCUMENT_TOO_LARGE,
                f"{doc_id}: reading it takes more memory than the limit of {options.max_memory_bytes} bytes.",
                hint="Split the file, or raise limits.max_read_memory_bytes.",
                details={"max_read_memory_bytes": str(options.max_memory_bytes)},
            )
        raise DocumentRefused(
            ErrorReason.DOCUMENT_BROKEN,
            f"{doc_id}: the reader broke down on the file; nothing else was touched.",
            hint="Open it in the program that it is for, save it anew and send that.",
        )

    def _take(self) -> _Child:
        with self._lock:
            while self._idle:
                child = self._idle.pop()
                if child.alive():
                    return child
                child.close()
        return _Child()

    def _give_back(self, child: _Child) -> None:
        if child.files >= _FILES_A_PROCESS:
            child.close()
            return
        with self._lock:
            self._idle.append(child)


def _decode(kind: str, body: bytes) -> tuple[list[ReaderOutput], DocumentRefused | None]:
    return ([], decode_refusal(body)) if kind == "refused" else (decode_outputs(body), None)


_PROCESSES = ReaderProcesses(max(1, min(os.cpu_count() or 1, _MAX_PROCESSES)))
atexit.register(_PROCESSES.close)


def read_isolated(media_type: str, source: Source) -> list[ReaderOutput]:
    """Read a file in one of the processes that this one keeps for it, at most one a core. Raises DocumentRefused."""
    return _PROCESSES.read(media_type, source)
