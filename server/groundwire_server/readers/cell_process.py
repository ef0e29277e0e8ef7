"""Rows of workbooks and Parquet files, read in a process of their own and handed over as they come.

A file that crashes, hangs or swells what reads it ends that process and nothing else. Rows wait in a pipe: neither side
holds more than a batch of them.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any

import groundwire_server
from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.readers.cells import SheetRow, decode_row, encode_row
from groundwire_server.readers.child import PLAIN_OPTIONS, limit, read_frame, write_frame
from groundwire_server.readers.document import ReadOptions, Source
from groundwire_server.readers.document_codec import decode_refusal, encode_refusal
from groundwire_server.readers.isolation import ENVIRONMENT
from groundwire_server.readers.parquet_cells import read_parquet_rows
from groundwire_server.readers.xlsx_cells import read_workbook_rows

__all__ = ["end_idle", "main", "stream_rows"]

_BATCH_ROWS = 256
_CLOCK_FACTOR = 20
_MOST_IDLE = 2


class _Processes:
    """Processes that wait for the next file. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[subprocess.Popen[bytes]] = []

    def take(self) -> subprocess.Popen[bytes]:
        """One that waits, or a new one."""
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if process.poll() is None:
                    return process
                _end(process)
        return _start()

    def give_back(self, process: subprocess.Popen[bytes]) -> None:
        """Keep it for the next file, if there is room."""
        with self._lock:
            if len(self._idle) < _MOST_IDLE:
                self._idle.append(process)
                return
        _end(process)

    def close(self) -> None:
        """End those that wait."""
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            _end(process)


_PROCESSES = _Processes()
atexit.register(_PROCESSES.close)


def end_idle() -> None:
    """End the processes that wait for a file. More can be read afterwards."""
    _PROCESSES.close()


def _start() -> subprocess.Popen[bytes]:
    home = str(Path(groundwire_server.__file__).parent.parent)
    environ = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
    environ["PYTHONPATH"] = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH", ""))))
    environ |= {"ARROW_DEFAULT_MEMORY_POOL": "system", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "groundwire_server.readers.cell_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environ,
        start_new_session=True,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    process.wait()


def stream_rows(kind: str, source: Source, sheets: Sequence[str] = ()) -> Iterator[SheetRow]:
    """Rows in order; one that is closed early ends the process.

    Args:
        kind: "xlsx" or "parquet". sheets: of a workbook; empty: all that people see.

    Raises:
        DocumentRefused: what the reader raises; DOCUMENT_TOO_LARGE over the bounds of time or memory; DOCUMENT_BROKEN
            when the process breaks down.
    """
    process = _PROCESSES.take()
    timed_out = threading.Event()
    timer = threading.Timer(source.options.max_seconds * _CLOCK_FACTOR, _time_out, (process, timed_out))
    timer.daemon = True
    timer.start()
    done = False
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        options = {name: getattr(source.options, name) for name in PLAIN_OPTIONS}
        head = {"kind": kind, "doc_id": source.doc_id, "sheets": list(sheets), "options": options}
        with contextlib.suppress(OSError):
            write_frame(process.stdin, head, source.raw)
        refusal = yield from _answers(process.stdout, process, source, timed_out)
        done = True
    finally:
        timer.cancel()
        if done and not timed_out.is_set():
            _PROCESSES.give_back(process)
        else:
            _end(process)
    if refusal is not None:
        raise refusal


def _time_out(process: subprocess.Popen[bytes], timed_out: threading.Event) -> None:
    timed_out.set()
    process.kill()


def _answers(
    stream: IO[bytes], process: subprocess.Popen[bytes], source: Source, timed_out: threading.Event
) -> Generator[SheetRow, None, DocumentRefused | None]:
    """The rows, and in the end the reader's own refusal, after which the process can go on."""
    options = source.options
    while True:
        answer = read_frame(stream)
        if answer is None:
            over_time = process.wait() == -getattr(signal, "SIGXCPU", 0) or timed_out.is_set()
            raise _over_time(source) if over_time else _broke_down(source)
        head, body = answer
        match head.get("kind"):
            case "rows":
                yield from map(decode_row, json.loads(body))
            case "end":
                return None
            case "refused":
                return decode_refusal(body)
            case _:
                raise DocumentRefused(
                    ErrorReason.DOCUMENT_TOO_LARGE,
                    f"{source.doc_id}: reading it takes more memory than the limit of {options.max_memory_bytes} "
                    "bytes.",
                    hint="Split the file, or raise limits.max_read_memory_bytes.",
                    details={"max_read_memory_bytes": str(options.max_memory_bytes)},
                )


def _over_time(source: Source) -> DocumentRefused:
    seconds = source.options.max_seconds
    return DocumentRefused(
        ErrorReason.DOCUMENT_TOO_LARGE,
        f"{source.doc_id}: reading it takes longer than the limit of {seconds:g} seconds.",
        hint="Split the file, or raise limits.max_read_seconds.",
        details={"max_read_seconds": f"{seconds:g}"},
    )


def _broke_down(source: Source) -> DocumentRefused:
    return DocumentRefused(
        ErrorReason.DOCUMENT_BROKEN,
        f"{source.doc_id}: the reader broke down on the file; nothing else was touched.",
        hint="Open it in the program that it is for, save it anew and send that.",
    )


def main() -> int:
    """The other side: requests on standard input, until it ends; their rows on standard output."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not run into an answer
    while (request := read_frame(requests)) is not None:
        try:
            if not _answer(*request, answers):
                break
        except BrokenPipeError:
            return 1
    return 0


def _answer(head: dict[str, Any], raw: bytes, answers: IO[bytes]) -> bool:
    """Whether the process may go on."""
    options = ReadOptions(**{name: head["options"][name] for name in PLAIN_OPTIONS})
    source = Source(head["doc_id"], raw, options=options)
    try:
        limit(options)
        rows = read_workbook_rows(source, head["sheets"]) if head["kind"] == "xlsx" else read_parquet_rows(source)
        while batch := list(islice(rows, _BATCH_ROWS)):
            packed = json.dumps(list(map(encode_row, batch)), ensure_ascii=False).encode("utf-8", "replace")
            write_frame(answers, {"kind": "rows"}, packed)
        write_frame(answers, {"kind": "end"}, b"")
    except DocumentRefused as error:
        write_frame(answers, {"kind": "refused"}, encode_refusal(error))
    except MemoryError:
        write_frame(answers, {"kind": "memory"}, b"")
        return False
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - libraries raise whatever comes to them on a damaged file
        refusal = DocumentRefused(
            ErrorReason.DOCUMENT_BROKEN,
            f"{head['doc_id']}: the file is damaged, or uses something that is not read.",
            hint="Open it in the program that it is for, save it anew and send that.",
            details={"fault": type(error).__name__},
        )
        write_frame(answers, {"kind": "refused"}, encode_refusal(refusal))
    return True


if __name__ == "__main__":
    sys.exit(main())
